"""Pages of a stored result: any part of it, nothing rounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.results import page
from awhile.ask.results.pages import CELL_CHARACTERS
from tests.machine.results.writing import write_result


def numbers(path: Path, offset: int, limit: int) -> list[int]:
    return [int(row[0] or "") for row in page(path, offset, limit).rows]


@pytest.mark.parametrize("offset", [0, 20_479, 20_480, 30_000, 49_998])
def test_a_page_may_begin_anywhere(offset: int, written: Path) -> None:
    assert numbers(written, offset, 5) == list(range(offset, min(offset + 5, 50_000)))


def test_a_page_may_span_several_groups(written: Path) -> None:
    assert numbers(written, 16_000, 30_000) == list(range(16_000, 46_000))


def test_a_page_beyond_the_end_is_empty_and_knows_the_count(written: Path) -> None:
    got = page(written, 50_000, 10)
    assert (got.rows, got.row_count, got.matching_rows) == ([], 50_000, 50_000)


def test_a_page_of_no_rows_has_its_columns(tmp_path: Path) -> None:
    path = write_result(tmp_path / "none.parquet", "SELECT 1 AS n WHERE false")
    got = page(path, 0, 10)
    assert ([column.name for column in got.columns], got.rows) == (["n"], [])


def test_a_giant_cell_is_cut_and_says_so_in_the_cell(written: Path) -> None:
    cell = page(written, 7, 1).rows[0][3]
    assert cell is not None
    assert cell.startswith("6162" * 10)
    assert cell.endswith("… [40000 bytes in all]")
    assert len(cell) < CELL_CHARACTERS + 100


def test_a_row_of_very_many_columns_is_whole_and_in_their_order(tmp_path: Path) -> None:
    """Ours: a thousand columns are more than one query of DuckDB's can have."""
    cells = ", ".join(f"'{at}-' || range AS c" for at in range(1_000))
    path = write_result(tmp_path / "wide.parquet", f"SELECT {cells} FROM range(2)")
    assert page(path, 1, 1).rows == [[f"{at}-1" for at in range(1_000)]]


def test_large_cells_do_not_share_a_group_of_rows(tmp_path: Path) -> None:
    """Ours: what a page reads is a group at a time, so none may be much larger than a cell."""
    path = write_result(
        tmp_path / "wide.parquet", "SELECT repeat('x', 9_000_000) || range FROM range(4)"
    )
    import pyarrow.parquet as pq

    assert pq.ParquetFile(path).metadata.num_row_groups >= 2
    assert [str(row[0])[-30:] for row in page(path, 3, 1).rows] == [
        "x… [9000001 characters in all]"
    ]
