"""Excel files: each visible sheet becomes a Parquet file, converted once.

`fastexcel` reads them (calamine, in Rust, straight into Arrow): of the well-kept readers it is the
one that is fast (1.2 million cells in 0.6 s, `openpyxl` 8 s) and still says which cells are errors
(`python-calamine` gives them as empty). What is in a column decides its type: one that holds this
and that, or an error such as #REF!, becomes text, and every cell is still to be seen.
"""

from __future__ import annotations

import logging
import re
import zipfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import fastexcel
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files.finding import File, some_of
from awhile.ask.engines.parquet import unique_names

__all__ = ["Sheet", "convert"]

_MOST_CELLS = 50_000_000
"""Of a sheet, empty ones included: the reader holds 24 bytes for each."""
_MOST_UNPACKED = 4 << 30
_DIMENSION = re.compile(rb'<dimension ref="(?:[A-Z]+\d+:)?([A-Z]+)(\d+)"')
_HEAD_BYTES = 4096
_HEADER_ROWS = 50
"""The header is looked for in so many rows."""
_ROW_GROUP = 20_480
_EXACT = 2**53
"""Excel's numbers are binary floating point; up to here each whole number is one of them."""
_TRUTHS = pa.array(["true", "false"])
_NO_DATE = pa.array([date(1899, 12, 30), date(1899, 12, 31)])
"""A time of day is an instant of the day before Excel's first."""
_MIDNIGHT = pa.scalar(0, pa.time64("us"))
_ERRORS = {
    "Div0": "#DIV/0!",
    "NA": "#N/A",
    "Name": "#NAME?",
    "Null": "#NULL!",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "GettingData": "#GETTING_DATA",
}
_ERROR = re.compile(r"Error\((\w+)\)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")

logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of every empty column


@dataclass(frozen=True, slots=True)
class Sheet:
    """A converted sheet: the Parquet file's name in the folder it was converted into."""

    name: str
    file: str
    rows: int
    said: tuple[str, ...]


def convert(file: File, folder: Path) -> tuple[list[Sheet], list[str]]:
    """Write the visible sheets that hold anything; the second are notes about the others.

    Raises `DatabaseNotOpened`.
    """
    _check_size(file)
    try:
        book = fastexcel.read_excel(file.path)
        names = book.sheet_names
    except fastexcel.FastExcelError as error:
        raise DatabaseNotOpened(_why_not_read(file, error)) from None
    sheets: list[Sheet] = []
    notes: list[str] = []
    for number, name in enumerate(names):
        try:
            # From the very first row: with `skip_rows` left out, empty ones would not be counted.
            sheet = book.load_sheet(number, header_row=None, skip_rows=0, dtypes="string")
            if sheet.visible != "visible":
                notes.append(f"sheet {name!r} of {file.name!r} is hidden, and left out")
                continue
            cells = _Cells(sheet)
            typed = book.load_sheet(
                number, header_row=cells.header, skip_rows=0, schema_sample_rows=None
            )
        except fastexcel.FastExcelError as error:
            notes.append(f"sheet {name!r} of {file.name!r} cannot be read: {_first_line(error)}")
            continue
        if cells.end == 0:
            notes.append(f"sheet {name!r} of {file.name!r} is empty, and left out")
            continue
        table, said = _typed(cells, typed)
        path = f"{number}.parquet"
        pq.write_table(table, folder / path, row_group_size=_ROW_GROUP, compression="zstd")
        sheets.append(Sheet(name, path, table.num_rows, said))
    return sheets, notes


class _Cells:
    """Every cell of a sheet as text, errors as Excel shows them."""

    def __init__(self, sheet: fastexcel.ExcelSheet) -> None:
        batch, failed = sheet.to_arrow_with_errors()
        self.columns: list[pa.Array] = list(batch.columns)
        errors: dict[int, dict[int, str]] = {}
        for error in () if failed is None else failed.errors:
            row, column = error.offset_position
            told = _ERROR.search(error.detail)
            shown = _ERRORS.get(told[1], "#ERROR!") if told else "#ERROR!"
            errors.setdefault(column, {})[row] = shown
        for column, found in errors.items():
            texts = self.columns[column].to_pylist()
            for row, shown in found.items():
                texts[row] = shown
            self.columns[column] = pa.array(texts, pa.string())
        self.errors = {column: len(found) for column, found in errors.items()}
        """How many cells are errors, by the column."""
        filled = [
            found for each in self.columns if len(found := pc.indices_nonzero(each.is_valid()))
        ]
        self.start: int = min((found[0].as_py() for found in filled), default=0)
        """The first row that is not empty."""
        self.end: int = max((found[-1].as_py() + 1 for found in filled), default=0)
        """The row behind the last one that is not empty."""
        self.titles = 0
        """How many rows stand above the one that names the columns."""
        self.header = self._header(min(len(filled), 2))
        """Which row names the columns; None where the first one is data already."""

    def _header(self, enough: int) -> int | None:
        # A title above a table stands alone in its row.
        heads = [column.slice(self.start, _HEADER_ROWS).to_pylist() for column in self.columns]
        for number, row in enumerate(zip(*heads, strict=True)):
            told = [cell for cell in row if cell is not None]
            if len(told) >= enough:
                named = number > 0 or not all(map(_NUMBER.match, told))
                return self.start + number if named else None
            self.titles += bool(told)
        return self.start


def _typed(cells: _Cells, sheet: fastexcel.ExcelSheet) -> tuple[pa.Table, tuple[str, ...]]:
    header = cells.header
    first = cells.start if header is None else header + 1
    before = 0 if header is None else first
    rows = max(cells.end - first, 0)
    batch, failed = sheet.to_arrow_with_errors()
    mixed = {error.offset_position[1] for error in (() if failed is None else failed.errors)}
    names: list[str] = []
    arrays: list[pa.Array] = []
    erroneous: list[str] = []
    for at, column in enumerate(cells.columns):
        title = None if header is None else column[header].as_py()
        texts = column.slice(first, rows)
        if title is None and texts.null_count == rows:
            continue
        names.append(" ".join((title or f"column_{at + 1}").split()))
        as_text = at in mixed or at in cells.errors
        array = None if as_text else _exact(batch.column(at).slice(first - before, rows), texts)
        arrays.append(_plain(texts) if array is None else array)
        if at in cells.errors:
            erroneous.append(names[-1])
    said: list[str] = []
    if cells.titles:
        rows_above = "row" if cells.titles == 1 else f"{cells.titles} rows"
        said.append(f"without the {rows_above} above the names of its columns")
    if erroneous:
        said.append(f"text, because cells are errors such as #REF!: {some_of(erroneous)}")
    return pa.table(arrays, names=unique_names(names)), tuple(said)


def _exact(array: pa.Array, texts: pa.Array) -> pa.Array | None:
    """The column as the type that all of its cells have; None where only text holds them all."""
    kind = array.type
    if pa.types.is_floating(kind):
        if pc.any(pc.is_in(texts, _TRUTHS)).as_py():
            return None
        whole = pc.all(pc.equal(pc.floor(array), array)).as_py()
        small = pc.all(pc.less_equal(pc.abs(array), _EXACT)).as_py()
        return array.cast(pa.int64()) if whole and small else array
    if pa.types.is_timestamp(kind):
        days = array.cast(pa.timestamp("s"), safe=False).cast(pa.date32(), safe=False)
        time = array.cast(pa.timestamp("us")).cast(pa.time64("us"))
        if pc.all(pc.is_in(days.drop_null(), _NO_DATE)).as_py():
            return time
        midnight = pc.all(pc.equal(time, _MIDNIGHT)).as_py()
        return days if midnight else array.cast(pa.timestamp("us"))
    if pa.types.is_duration(kind):
        return pa.array(map(_clock, array.cast(pa.int64()).to_pylist()), pa.string())
    if pa.types.is_boolean(kind) or pa.types.is_date32(kind):
        return array
    return None


def _clock(milliseconds: int | None) -> str | None:
    """A duration as Excel shows it, which DuckDB reads as an interval: `30:00:00`."""
    if milliseconds is None:
        return None
    seconds, rest = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else ""
    fraction = f".{rest:03}" if rest else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


def _plain(texts: pa.Array) -> pa.Array:
    """Dates and times among other things, without what the reader adds to them."""
    dates = pc.replace_substring_regex(texts, r"^(\d{4}-\d\d-\d\d) 00:00:00$", r"\1")
    return pc.replace_substring_regex(dates, r"^1899-12-3[01] (\d\d:\d\d:\d\d)", r"\1")


def _check_size(file: File) -> None:
    """Refuse what would fill memory: a cell far away makes a sheet of everything up to it."""
    if not zipfile.is_zipfile(file.path):
        return
    with zipfile.ZipFile(file.path) as book:
        infos = book.infolist()
        unpacked = sum(each.file_size for each in infos)
        if unpacked > _MOST_UNPACKED:
            raise DatabaseNotOpened(
                f"{file.name!r} unpacks to {unpacked >> 30} GB, and {_MOST_UNPACKED >> 30} GB are "
                "read at most; save its sheets as CSV"
            )
        for each in infos:
            if not each.filename.startswith("xl/worksheets/"):
                continue
            with book.open(each) as sheet:
                found = _DIMENSION.search(sheet.read(_HEAD_BYTES))
            if found and (cells := _number_of(found[1]) * int(found[2])) > _MOST_CELLS:
                raise DatabaseNotOpened(
                    f"a sheet of {file.name!r} reaches to {found[1].decode()}{found[2].decode()}, "
                    f"which is {cells:,} cells, and {_MOST_CELLS:,} are read at most; delete the "
                    "rows and columns beyond its data, or save it as CSV"
                )


def _number_of(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _why_not_read(file: File, error: Exception) -> str:
    reason = _first_line(error)
    if "password" in reason.lower() or "encrypted" in reason.lower():
        return f"{file.name!r} is protected by a password; save it without one"
    return f"{file.name!r} cannot be read as an Excel file: {reason}; open it in Excel and save it"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
