"""A stored result that the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.results.writing import write_result


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 000 rows in several row groups; the second column is a 128-bit number kept as text."""
    return write_result(
        tmp_path_factory.mktemp("stored") / "abc.parquet",
        "SELECT range AS n, (100000 - range)::VARCHAR AS n, "
        "if(range % 10 = 0, NULL, 'w' || range % 10) AS word, "
        "if(range = 7, repeat('ab', 20000), 'x')::BLOB AS b FROM range(50_000)",
        ["BIGINT", "HUGEINT", "VARCHAR", "BLOB"],
    )
