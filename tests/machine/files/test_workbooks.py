"""Excel: each sheet a table, each column the type that all of its cells have, each error seen."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter  # pyright: ignore[reportMissingTypeStubs]

from awhile.ask.engines.files import workbooks
from tests.machine.files.opening import Opened, opened, refusal


def write(path: Path, **sheets: list[list[Any]]) -> None:
    """A workbook of cells by their Python types; a text that begins with # is a formula's error."""
    book: Any = xlsxwriter.Workbook(path)
    with book:
        forms = {
            date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
            time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        hours = book.add_format({"num_format": "[h]:mm:ss"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            if name.startswith("Hidden"):
                sheet.hide()
            for row, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if cell is None:
                        continue
                    if type(cell) in forms:
                        sheet.write_datetime(row, column, cell, forms[type(cell)])
                    elif isinstance(cell, str) and cell.startswith("#"):
                        sheet.write_formula(row, column, "=1/0", None, cell)
                    elif isinstance(cell, tuple):
                        sheet.write_number(row, column, cell[0], hours)
                    else:
                        sheet.write(row, column, cell)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Generator[Opened]:
    folder = tmp_path_factory.mktemp("excel")
    day, noon = date(2025, 1, 2), datetime(2025, 1, 2, 12)  # noqa: DTZ001 - Excel knows no zones
    write(
        folder / "book.xlsx",
        Kinds=[
            ["id", "part", "day", "at", "clock", "span", "yes", "text"],
            [1, 0.25, day, noon, time(3, 4, 5), (1.25,), True, "007"],
            [2, 1, date(2025, 1, 3), day, time(13), (0.5,), False, "x"],
            [None] * 8,
        ],
        Mixed=[
            ["number or text", "date or text", "truth or number", "wrong", "whole"],
            [1, day, True, 1.5, 9007199254740991],
            ["n/a", "later", 5, "#REF!", 2],
            [2.5, time(3, 4), 0, "#N/A", 3],
        ],
        Names=[["a", "a", None, "A", " two\nlines "], [1, 2, 3, 4, 5]],
        Titled=[[], [None, "Report of 2025"], [], [None, "id", "name"], [None, 1, "a"]],
        **{"No names": [[1, 2], [3, 4]]},
        Empty=[],
        Hidden=[["secret"], [1]],
    )
    write(folder / "single.xlsx", Sheet1=[["id"], [1]])
    write(folder / "other.xlsx", Names=[["id"], [1]], More=[["id"], [2]])
    with opened(folder, named=["book.xlsx", "single.xlsx", "other.xlsx"]) as files:
        yield files


def test_each_sheet_is_a_table_and_a_single_one_is_named_after_its_file(book: Opened) -> None:
    card = book.card()
    assert [table.name for table in card.tables] == [
        *("Kinds", "Mixed", "Names", "Titled", "No_names", "single", "other_Names", "More")
    ]
    assert [table.row_count for table in card.tables] == [2, 3, 1, 1, 2, 1, 1, 1]
    assert card.notes == (
        "sheet 'Empty' of 'book.xlsx' is empty, and left out",
        "sheet 'Hidden' of 'book.xlsx' is hidden, and left out",
    )


def test_a_column_has_the_type_of_its_cells(book: Opened) -> None:
    assert book.columns("Kinds") == {
        "id": "BIGINT",
        "part": "DOUBLE",
        "day": "DATE",
        "at": "TIMESTAMP",
        "clock": "TIME",
        "span": "VARCHAR",
        "yes": "BOOLEAN",
        "text": "VARCHAR",
    }
    assert book.rows('SELECT * REPLACE ("at"::VARCHAR AS "at") FROM Kinds') == [
        ["1", "0.25", "2025-01-02", "2025-01-02 12:00:00", "03:04:05", "30:00:00", "true", "007"],
        ["2", "1.0", "2025-01-03", "2025-01-02 00:00:00", "13:00:00", "12:00:00", "false", "x"],
    ]
    assert book.rows("SELECT sum(epoch(span::INTERVAL)) / 3600 FROM Kinds") == [["42.0"]]


def test_a_column_of_this_and_that_is_text_and_errors_are_seen(book: Opened) -> None:
    assert set(list(book.columns("Mixed").values())[:4]) == {"VARCHAR"}
    assert book.rows("FROM Mixed") == [
        ["1", "2025-01-02", "true", "1.5", "9007199254740991"],
        ["n/a", "later", "5", "#REF!", "2"],
        ["2.5", "03:04:00", "0", "#N/A", "3"],
    ]
    assert book.comment("Mixed") == (
        "sheet 'Mixed' of 'book.xlsx'; text, because cells are errors such as #REF!: 'wrong'"
    )


def test_names_are_made_unique_and_titles_above_them_left_out(book: Opened) -> None:
    assert list(book.columns("Names")) == ["a", "a_2", "column_3", "A_3", "two lines"]
    assert book.rows("FROM Titled") == [["1", "a"]]
    assert list(book.columns("Titled")) == ["id", "name"]
    assert book.comment("Titled").endswith("without the row above the names of its columns")
    assert list(book.columns("No_names")) == ["column_1", "column_2"]


def test_a_workbook_is_converted_once_for_each_version_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "book.xlsx"
    converted: list[str] = []
    really = workbooks.convert

    def convert(*told: Any) -> Any:
        converted.append(told[0].name)
        return really(*told)

    monkeypatch.setattr(workbooks, "convert", convert)
    write(path, a=[["x"], [1]])
    for _ in range(2):
        with opened(tmp_path, path) as files:
            assert files.rows("FROM book") == [["1"]]
    assert len(converted) == 1
    write(path, a=[["x"], [2]])
    os.utime(path, ns=(1, 1))
    with opened(tmp_path, path) as files:
        assert files.rows("FROM book") == [["2"]]
    assert len(converted) == 2
    [version] = (tmp_path / "of the session" / "converted").glob("*/*")  # the earlier one is gone
    assert version.stat().st_mode & 0o077 == 0


def test_a_cell_far_away_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    write(tmp_path / "far.xlsx", a=[["x"], [1]])
    book: Any = xlsxwriter.Workbook(tmp_path / "far.xlsx")
    with book:
        book.add_worksheet("a").write(1_048_575, 16_383, 1)
    said = refusal(tmp_path, "far.xlsx")
    assert "reaches to XFD1048576" in said
    assert "delete the rows and columns beyond its data" in said


def test_what_is_no_workbook_is_refused_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "not.xlsx").write_text("id,name\n1,a\n")
    said = refusal(tmp_path, "not.xlsx")
    assert "cannot be read as an Excel file" in said
    assert "open it in Excel and save it" in said
