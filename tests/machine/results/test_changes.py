"""What changed between two results. Source: ours, "show what changed in the numbers"."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.results.changes import MOST_CHANGES, Change, Changes, NotComparable, changes
from tests.machine.results.writing import write_result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def compared(folder: Path, before: str, after: str) -> Changes:
    return changes(
        write_result(folder / "before.parquet", before),
        write_result(folder / "after.parquet", after),
    )


def test_rows_are_matched_by_what_they_are_about_and_numbers_subtracted_exactly(
    folder: Path,
) -> None:
    found = compared(
        folder,
        "SELECT * FROM (VALUES ('a', 9007199254740993, 0.10), ('b', 2, 0.20), ('c', 3, 0.30)) "
        "t(name, n, share)",
        "SELECT * FROM (VALUES ('b', 2, 0.20), ('a', 9007199254740994, 0.10), ('d', 4, 0.40)) "
        "t(name, n, share)",
    )
    assert (found.changed, found.new, found.gone, found.same) == (1, 1, 1, 1)
    assert found.keys == (0,)
    assert found.rows == (
        Change(
            "changed",
            ("a", "9007199254740993", "0.10"),
            ("a", "9007199254740994", "0.10"),
            (None, "+1", None),
        ),
        Change("new", None, ("d", "4", "0.40"), (None, None, None)),
        Change("gone", ("c", "3", "0.30"), None, (None, None, None)),
    )


def test_a_single_number_is_compared_with_a_single_number(folder: Path) -> None:
    found = compared(folder, "SELECT 60000 AS n", "SELECT 59998 AS n")
    assert found.rows == (Change("changed", ("60000",), ("59998",), ("-2",)),)


def test_rows_that_nothing_tells_apart_are_compared_as_wholes(folder: Path) -> None:
    found = compared(
        folder,
        "SELECT 'a' AS k, 1 AS n FROM range(3)",
        "SELECT 'a' AS k, 1 AS n FROM range(2) UNION ALL SELECT 'a', 2",
    )
    assert (found.changed, found.new, found.gone, found.same) == (0, 1, 1, 2)
    assert found.keys == ()


def test_null_is_like_null_and_unlike_everything_else(folder: Path) -> None:
    found = compared(
        folder,
        "SELECT * FROM (VALUES (NULL, 1), ('a', NULL)) t(k, n)",
        "SELECT * FROM (VALUES (NULL, 1), ('a', 5)) t(k, n)",
    )
    assert (found.changed, found.same) == (1, 1)
    assert found.rows[0].differences == (None, None)


def test_columns_of_one_name_keep_their_own_values(folder: Path) -> None:
    found = compared(folder, "SELECT 'k' AS k, 1 AS n, 2 AS n", "SELECT 'k' AS k, 1 AS n, 5 AS n")
    assert found.rows[0].differences == (None, None, "+3")


def test_other_columns_cannot_be_compared(folder: Path) -> None:
    with pytest.raises(NotComparable):
        compared(folder, "SELECT 1 AS a", "SELECT 1 AS b")


def test_of_very_many_changes_some_are_shown_and_all_are_counted(folder: Path) -> None:
    found = compared(
        folder,
        "SELECT 'k' || range AS k, range AS n FROM range(5000)",
        "SELECT 'k' || range AS k, range + 1 AS n FROM range(5000)",
    )
    assert (found.changed, len(found.rows)) == (5000, MOST_CHANGES)
    assert found.rows[0].before == ("k0", "0")
