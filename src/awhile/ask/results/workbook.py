"""A result as an Excel workbook: numbers and instants where Excel holds them exactly, else texts.

Excel shows fifteen digits of a number and has dates from 1900 to 9999 to the millisecond, without
zones; a sheet has 1,048,576 rows and 16,384 columns, a cell 32,767 characters. So a number or an
instant beyond these is written as its exact text, further rows go on in further sheets, and longer
cells are cut, which the last sheet says with their number. Source: "Excel specifications and
limits" (Microsoft).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import xlsxwriter  # pyright: ignore[reportMissingTypeStubs]

from awhile.ask.results.cache import spill_of
from awhile.ask.results.comparing import comparison
from awhile.ask.results.stored import Stored
from awhile.ask.results.texts import column_name, scratch, text_of

__all__ = ["write_workbook"]

_MOST_COLUMNS = 16_384
_MOST_ROWS = 1_048_576
_MOST_CHARACTERS = 32_767
_DIGITS = 15
_PLAIN = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_FRACTION_DIGITS = 3
_FIRST_DAY = date(1900, 3, 1)
"""Excel takes 1900 for a leap year."""
_BEFORE_FIRST = date(1899, 12, 30).toordinal()
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


@dataclass
class _Notes:
    """What could not be as it is in the database."""

    cut: int = 0
    """Cells that are longer than a cell of Excel may be."""
    replaced: int = 0
    """Cells with a character that no XML, and so no workbook, may have."""
    sheets: int = 1

    def sentences(self) -> list[str]:
        """The same for a person, in ASCII, as headers have to be; empty if all is exact."""
        said: list[str] = []
        if self.sheets > 1:
            said.append(
                f"A sheet of Excel has {_MOST_ROWS:,} rows, so these go on in {self.sheets} sheets."
            )
        if self.cut:
            said.append(
                f"{_cells(self.cut)} cut, because a cell of Excel has {_MOST_CHARACTERS:,} "
                "characters at most. The CSV and Parquet files have all of them."
            )
        if self.replaced:
            said.append(
                f"{_cells(self.replaced)} changed: a character that a workbook cannot have (U+FFFE "
                "or U+FFFF) is shown as U+FFFD."
            )
        return said


def _cells(count: int) -> str:
    return "1 cell is" if count == 1 else f"{count:,} cells are"


def write_workbook(source: Path, target: Path, about: Mapping[str, str]) -> list[str]:
    """Write the result at `source` as a workbook at `target`; what is not exact, in sentences.

    A group of rows is in memory at a time. `about` is what the last sheet says of it, by label.
    Temporary files in a folder beside `target` hold the sheets until they are packed. Raises
    `ValueError` for too many columns.
    """
    folder = spill_of(target)
    folder.mkdir(mode=0o700)
    try:
        return _written(source, target, about, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _written(source: Path, target: Path, about: Mapping[str, str], folder: Path) -> list[str]:
    with (
        xlsxwriter.Workbook(
            str(target), {"constant_memory": True, "tmpdir": str(folder)}
        ) as workbook,
        Stored.open(source) as stored,
        scratch() as connection,
    ):
        if len(stored.columns) > _MOST_COLUMNS:
            raise ValueError(
                f"the result has {len(stored.columns):,} columns and a sheet of Excel at most "
                f"{_MOST_COLUMNS:,}; take the CSV or the Parquet file"
            )
        writing = _Writing(workbook, stored)
        wanted = ", ".join(column.sql for column in writing.columns)
        for table in stored.groups(0, stored.row_count):
            told = connection.from_arrow(table).project(wanted)
            for row in told.fetchall():
                writing.row(row)
        writing.about({**about, **_whole(stored)})
        return writing.notes.sentences()


def _whole(stored: Stored) -> Mapping[str, str]:
    if not stored.truncated:
        return {"Rows": f"{stored.row_count:,}"}
    return {"Rows": f"the first {stored.row_count:,} of more: the rest was not read"}


@dataclass
class _Column:
    sql: str
    put: Callable[[int, int, Any], None]


@dataclass
class _Writing:
    """The workbook as far as it is written."""

    workbook: Any
    stored: Stored
    notes: _Notes = field(default_factory=_Notes)

    def __post_init__(self) -> None:
        self._bold = self.workbook.add_format({"bold": True})
        self._formats: dict[str, Any] = {}
        self.columns = [self._column(at, kind) for at, kind in enumerate(self.stored.kinds)]
        self._sheet = self._rows_sheet()

    def row(self, row: tuple[Any, ...]) -> None:
        """Write one, in a further sheet if this one is full."""
        if self._at == _MOST_ROWS:
            self.notes.sheets += 1
            self._sheet = self._rows_sheet()
        for place, (column, value) in enumerate(zip(self.columns, row, strict=True)):
            if value is not None:
                column.put(self._at, place, value)
        self._at += 1

    def about(self, about: Mapping[str, str]) -> None:
        """Write the last sheet."""
        lines = [*about.items(), *(("Note", one) for one in self.notes.sentences())]
        self._sheet = self.workbook.add_worksheet("About these rows")
        for at, (label, text) in enumerate(lines):
            self._sheet.write_string(at, 0, label, self._bold)
            self._text(at, 1, text)

    def _rows_sheet(self) -> Any:
        name = "Rows" if self.notes.sheets == 1 else f"Rows {self.notes.sheets}"
        self._sheet = self.workbook.add_worksheet(name)
        self._sheet.freeze_panes(1, 0)
        for place, column in enumerate(self.stored.columns):
            self._text(0, place, column.name, self._bold)
        self._at = 1
        return self._sheet

    def _column(self, at: int, kind: pa.DataType) -> _Column:
        name = column_name(at)
        text = text_of(name, kind)
        if pa.types.is_boolean(kind):
            return _Column(name, self._boolean)
        if pa.types.is_floating(kind):
            return _Column(text, self._float)
        if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            return _Column(text, self._number)
        declared = self.stored.columns[at]
        compared = comparison(declared, kind, name)
        if compared.as_type == "DATE":
            return _Column(text, self._day)
        if compared.as_type == "TIMESTAMP":
            return _Column(text, self._moment)
        # Of a column that holds this and that, a text that looks like a number may be a text.
        if compared.kind == "number" and declared.type != "ANY":
            return _Column(text, self._number)
        return _Column(text, self._text)

    def _boolean(self, at: int, place: int, value: bool) -> None:
        self._sheet.write_boolean(at, place, value)

    def _number(self, at: int, place: int, text: str) -> None:
        """A whole number or a decimal, with the decimals it has."""
        if _PLAIN.fullmatch(text):
            whole, _, rest = text.lstrip("-").partition(".")
            if len(f"{whole}{rest}".lstrip("0")) <= _DIGITS and text != "-0":
                shown = self._format(f"0.{'0' * len(rest)}" if rest else "0")
                self._sheet.write_number(at, place, _Exact(text) if rest else int(text), shown)
                return
        elif "e" in text and _is_shortest(text):
            self._sheet.write_number(at, place, _Exact(text))
            return
        self._text(at, place, text)

    def _float(self, at: int, place: int, text: str) -> None:
        number = _Exact(text)
        if number - number == 0:  # neither infinite nor no number
            self._sheet.write_number(at, place, number)
        else:
            self._text(at, place, text)

    def _day(self, at: int, place: int, text: str) -> None:
        try:
            day = date.fromisoformat(text)
        except ValueError:  # before Christ, after 9999, infinite; or not at all a date
            day = date.min
        if day >= _FIRST_DAY and day.isoformat() == text:
            count = day.toordinal() - _BEFORE_FIRST
            self._sheet.write_number(at, place, count, self._format("yyyy-mm-dd"))
        else:
            self._text(at, place, text)

    def _moment(self, at: int, place: int, text: str) -> None:
        start, _, fraction = text.partition(".")
        fraction = fraction.rstrip("0")
        try:
            moment = datetime.fromisoformat(start)
        except ValueError:
            self._text(at, place, text)
            return
        exact = len(fraction) <= _FRACTION_DIGITS and moment.isoformat(" ") == start
        if not exact or moment.date() < _FIRST_DAY:
            self._text(at, place, text)
            return
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        seconds += float(f"0.{fraction or 0}")
        count = moment.toordinal() - _BEFORE_FIRST + seconds / 86_400
        shown = self._format(f"yyyy-mm-dd hh:mm:ss{'.000' if fraction else ''}")
        self._sheet.write_number(at, place, _Exact(count), shown)

    def _text(self, at: int, place: int, text: str, shown: Any = None) -> None:
        if _NOT_IN_XML.search(text):
            text = _NOT_IN_XML.sub("\ufffd", text)
            self.notes.replaced += 1
        if len(text) > _MOST_CHARACTERS // 2 and _units(text) > _MOST_CHARACTERS:
            text = _cut(text)
            self.notes.cut += 1
        if text.startswith("<r>") and text.endswith("</r>"):
            # XlsxWriter (3.3.1) takes this for XML of its own; its rich text it escapes.
            plain = self._format("General")
            format_of_cell = [shown] if shown else []
            self._sheet.write_rich_string(at, place, text[0], plain, text[1:], *format_of_cell)
        else:
            self._sheet.write_string(at, place, text, shown)

    def _format(self, code: str) -> Any:
        if code not in self._formats:
            self._formats[code] = self.workbook.add_format({"num_format": code})
        return self._formats[code]


class _Exact(float):
    """XlsxWriter (3.3.1) writes sixteen digits of a number, and some need seventeen."""

    def __format__(self, format_spec: str) -> str:
        return repr(float(self))


def _is_shortest(text: str) -> bool:
    """Whether it is a number of binary floating point, written with no more digits than needed."""
    try:
        number = float(text)
    except ValueError:
        return False
    return number - number == 0 and Decimal(text) == Decimal(repr(number))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _cut(text: str) -> str:
    """As much as fits, with the length of the whole."""
    ending = f"… [{len(text):,} characters in all]"
    start = text[: _MOST_CHARACTERS - len(ending)]
    while _units(start) + len(ending) > _MOST_CHARACTERS:
        start = start[: len(start) - max((_units(start) + len(ending) - _MOST_CHARACTERS) // 2, 1)]
    return start + ending
