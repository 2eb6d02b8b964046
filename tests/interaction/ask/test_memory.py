"""Memory stays flat, however large a result or one of its cells is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.studies.memory import CELL, ROWS, databases, serving

pytestmark = [pytest.mark.anyio, pytest.mark.long]

ENGINES = [
    "duckdb",
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
]


@pytest.mark.parametrize("engine", ENGINES)
async def test_D8_fifty_million_rows_and_a_cell_of_200_megabytes_leave_memory_flat(
    engine: str, tmp_path: Path
) -> None:
    """Field case D8: read to the budget, and said to be the first of more."""
    with databases(tmp_path, engine) as database, serving(database, tmp_path / "data") as app:
        await app.run("SELECT 1")
        with app.watched() as rows:
            answer = await app.run(ROWS[engine].format(50_000_000))
        assert (answer["row_count"], answer["truncated"]) == (1_000_000, True)
        assert (rows.server < 100, rows.worker < 150) == (True, True), rows
        with app.watched() as cell:
            answer = await app.run(CELL[engine].format(200_000_000))
        assert (answer["row_count"], answer["truncated"]) == (1, False)
        assert answer["rows"][0][0].endswith("… [200000000 characters in all]")
        assert (cell.server < 100, cell.worker < 1500) == (True, True), cell
        with app.watched() as leaving:
            assert await app.download(f"{answer['run_id']}.csv") > 200_000_000
        assert (leaving.server < 100, leaving.worker < 1500) == (True, True), leaving


async def test_D8_five_million_rows_leave_with_flat_memory(tmp_path: Path) -> None:
    """Field case D8: as CSV, as Parquet, and sorted."""
    with (
        databases(tmp_path, "duckdb") as database,
        serving(database, tmp_path / "data", row_budget="6000000") as app,
    ):
        answer = await app.run(ROWS["duckdb"].format(5_000_000))
        assert (answer["row_count"], answer["truncated"]) == (5_000_000, False)
        for name, most in (("csv", 100), ("parquet", 100), ("csv?sort=2&desc=true", 700)):
            with app.watched() as leaving:
                assert await app.download(f"{answer['run_id']}.{name}") > 10_000_000
            assert leaving.server < most, (name, leaving)
