"""A very long cell, whole. Source: ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.results.cells import CellPart, cell_part
from tests.machine.results.writing import write_result


def test_a_long_cell_is_read_part_by_part_to_its_exact_text(tmp_path: Path) -> None:
    path = write_result(
        tmp_path / "long.parquet",
        "SELECT repeat('äb\t', 50000) || range AS text, 'x'::BLOB AS bytes, NULL AS nothing "
        "FROM range(3)",
    )
    parts = [cell_part(path, 2, 0, start, 70_000) for start in (0, 70_000, 140_000)]
    assert {part.characters for part in parts} == {150_001}
    assert "".join(part.text or "" for part in parts) == "äb\t" * 50_000 + "2"
    assert cell_part(path, 0, 1, 0, 10) == CellPart("78", 2)
    assert cell_part(path, 0, 2, 0, 10) == CellPart(None, 0)
    for row, column in ((3, 0), (0, 3)):
        with pytest.raises(IndexError):
            cell_part(path, row, column, 0, 10)
