"""Pages of a stored result: any part of it, in any order, nothing rounded."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from awhile.ask.results import ResultFolder, page
from awhile.ask.results.pages import CELL_CHARACTERS

COLUMNS = [
    {"name": "n", "type": "BIGINT"},
    {"name": "n", "type": "HUGEINT"},
    {"name": "word", "type": "VARCHAR"},
    {"name": "", "type": "BLOB"},
]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """50 000 rows in several row groups; the second column is a 128-bit number kept as text."""
    path = tmp_path / "abc.parquet"
    metadata = {"awhile.columns": json.dumps(COLUMNS), "awhile.truncated": "false"}
    with duckdb.connect() as connection:
        table = connection.sql(
            "SELECT range AS n, (100000 - range)::VARCHAR AS n_2, "
            "if(range % 10 = 0, NULL, 'w' || range % 10) AS word, "
            "if(range = 7, repeat('ab', 20000), 'x')::BLOB AS column_4 FROM range(50_000)"
        ).to_arrow_table()
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.add_key_value_metadata(metadata)
        writer.write_table(table, row_group_size=16_384)
    return path


def numbers(path: Path, offset: int, limit: int, sort: tuple[int, bool] | None = None) -> list[int]:
    return [int(row[0] or "") for row in page(path, offset, limit, sort).rows]


@pytest.mark.parametrize("offset", [0, 16_383, 16_384, 30_000, 49_998])
def test_a_page_may_begin_anywhere(offset: int, stored: Path) -> None:
    wanted = list(range(offset, min(offset + 5, 50_000)))
    assert numbers(stored, offset, 5) == wanted


def test_a_page_may_span_several_groups(stored: Path) -> None:
    assert numbers(stored, 16_000, 20_000) == list(range(16_000, 36_000))


def test_a_page_beyond_the_end_is_empty_and_knows_the_count(stored: Path) -> None:
    got = page(stored, 50_000, 10)
    assert (got.rows, got.row_count) == ([], 50_000)


def test_sorting_by_a_number_kept_as_text_sorts_by_the_number(stored: Path) -> None:
    assert numbers(stored, 0, 3, (1, False)) == [49_999, 49_998, 49_997]
    assert numbers(stored, 49_997, 3, (1, False)) == [2, 1, 0]


def test_equal_rows_keep_their_order_and_nulls_come_last(stored: Path) -> None:
    assert numbers(stored, 0, 3, (2, False)) == [1, 11, 21]
    assert numbers(stored, 0, 3, (2, True)) == [9, 19, 29]
    for descending in (False, True):
        assert numbers(stored, 45_000, 3, (2, descending)) == [0, 10, 20]


def test_a_sort_is_done_once(stored: Path) -> None:
    page(stored, 0, 1, (2, True))
    [copy] = stored.parent.glob(".*.parquet")
    written = copy.stat().st_mtime_ns
    page(stored, 20_000, 1, (2, True))
    assert copy.stat().st_mtime_ns == written
    assert len(list(stored.parent.iterdir())) == 2


def test_a_column_that_does_not_exist_is_refused(stored: Path) -> None:
    with pytest.raises(IndexError, match="there are 4"):
        page(stored, 0, 1, (4, False))


def test_a_giant_cell_is_cut_and_says_so_in_the_cell(stored: Path) -> None:
    cell = page(stored, 7, 1).rows[0][3]
    assert cell is not None
    assert cell.startswith("6162" * 10)
    assert cell.endswith("… [40000 bytes in all]")
    assert len(cell) < CELL_CHARACTERS + 100


def test_deleting_a_result_deletes_its_sorted_copies(stored: Path) -> None:
    folder = ResultFolder(stored.parent)
    assert folder.path("abc") == stored
    page(stored, 0, 1, (0, True))
    folder.delete("abc")
    assert list(stored.parent.iterdir()) == []
    folder.delete("abc")


def test_a_draft_is_nobody_elses_until_it_is_kept(tmp_path: Path) -> None:
    """Ours: a worker that was frozen removes its own draft, not the result of who took over."""
    folder = ResultFolder(tmp_path)
    frozen, later = folder.draft("abc"), folder.draft("abc")
    assert frozen != later
    later.write_bytes(b"later")
    frozen.write_bytes(b"frozen")
    assert folder.keep("abc", later) == folder.path("abc")
    frozen.unlink()
    assert folder.path("abc").read_bytes() == b"later"
    folder.draft("abc").write_bytes(b"left behind by a crash")
    folder.delete("abc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("run_id", ["../x", "a/b", "", ".", "a.b"])
def test_an_id_that_could_name_another_file_is_refused(run_id: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no run id"):
        ResultFolder(tmp_path).path(run_id)
