"""Pages of rows from a stored result, every cell as exact text.

Source: ours. Cells are what DuckDB writes for a value as VARCHAR, which loses nothing, except:

- timestamps and times always have all the digits their type can hold (six for TIMESTAMP), so
  that a column lines up; with a zone they are in UTC
- binary values are hexadecimal digits, two a byte
- a cell of more than 20 000 characters is cut, and says in the cell how long it is
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from awhile.ask.schema import Column

__all__ = ["Page", "page"]

CELL_CHARACTERS = 20_000

_GROUP_ROWS = 20_480
_SORT_MEMORY = "1GB"
_TIME = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d+))?")
_FRACTION_DIGITS = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP_NS": 9, "TIME_NS": 9}
_STORED_AS_TEXT = ("HUGEINT", "UHUGEINT", "BIGNUM", "INTERVAL", "TIME WITH TIME ZONE", "BIT")
"""Types of DuckDB's that a result keeps as text and that do not sort as text."""
_NUMBERS = re.compile(r"(ANY|NUM|DEC|(TINY|SMALL|MEDIUM|BIG)?INT|REAL|DOUBLE|FLOAT)")
"""Types whose values other engines' results keep as text, all digits of them. `ANY` (SQLite's
columns that hold this and that) sorts as SQLite does: numbers first."""

_sorting = threading.Lock()
"""One sort at a time: each may use a gigabyte, and two of one file would both write it."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a result. `row_count` is of the whole result that was kept.

    `truncated` means that the query had more rows than were kept: what is here is the first
    `row_count` of more.
    """

    columns: tuple[Column, ...]
    rows: list[list[str | None]]
    row_count: int
    truncated: bool


def page(path: Path, offset: int, limit: int, sort: tuple[int, bool] | None = None) -> Page:
    """Rows `offset` to `offset + limit` of the result at `path`.

    `sort` is a column's position and whether to sort descending; NULLs come last, and rows that
    are equal keep their order. The first page of a sort writes a sorted copy beside the file
    (about a second for a million rows); every later page of it is read from that.

    Raises `FileNotFoundError`, and `IndexError` for a column that does not exist. Blocking: call
    it in a thread.
    """
    if offset < 0 or limit < 0:
        raise ValueError(f"a page cannot begin at {offset!r} or have {limit!r} rows")
    with pq.ParquetFile(path) as file:
        columns, truncated = _described(file)
        row_count = file.metadata.num_rows
    source = path
    if sort is not None:
        position, descending = sort
        if not 0 <= position < len(columns):
            raise IndexError(f"there is no column {position!r}; there are {len(columns)}")
        source = _sorted_copy(path, columns, position, descending)
    with pq.ParquetFile(source) as file:
        table = _read(file, offset, limit)
    return Page(columns, _texts(table, columns), row_count, truncated)


def _described(file: pq.ParquetFile) -> tuple[tuple[Column, ...], bool]:
    """Names and types as the query gave them (see `awhile.ask.engines.parquet`)."""
    told = file.metadata.metadata or {}
    columns = tuple(Column(one["name"], one["type"]) for one in json.loads(told[b"awhile.columns"]))
    return columns, bool(json.loads(told.get(b"awhile.truncated", b"false")))


def _read(file: pq.ParquetFile, offset: int, limit: int) -> pa.Table:
    """Decode only the row groups that the page touches."""
    groups: list[int] = []
    first = start = 0
    for group in range(file.metadata.num_row_groups):
        end = start + file.metadata.row_group(group).num_rows
        if end > offset and start < offset + limit:
            if not groups:
                first = start
            groups.append(group)
        start = end
    table = file.read_row_groups(groups)
    return table.slice(max(offset - first, 0), limit)


def _texts(table: pa.Table, columns: tuple[Column, ...]) -> list[list[str | None]]:
    if table.num_rows == 0:
        return []
    names = [f"c{position}" for position in range(len(columns))]
    kinds = [field.type for field in table.schema]
    wanted = ", ".join(_text_of(name, kind) for name, kind in zip(names, kinds, strict=True))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1; SET TimeZone = 'UTC'")
        told = connection.from_arrow(table.rename_columns(names)).project(wanted)
        rows = [list(row) for row in told.fetchall()]
    for position, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
            digits = _FRACTION_DIGITS.get(column.type, 6)
            for row in rows:
                row[position] = row[position] and _with_fraction(row[position], digits)
    return rows


def _text_of(name: str, kind: pa.DataType) -> str:
    size, unit, start = f"length({name}::VARCHAR)", "characters", f"{name}::VARCHAR"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        size, unit, start = (
            f"octet_length({name})",
            "bytes",
            f"lower(hex({name}[1:{CELL_CHARACTERS}]))",
        )
    return (
        f"CASE WHEN {size} > {CELL_CHARACTERS} "
        f"THEN left({start}, {CELL_CHARACTERS}) || '… [' || {size} || ' {unit} in all]' "
        f"ELSE {start} END"
    )


def _with_fraction(text: str, digits: int) -> str:
    """The same instant with exactly `digits` digits of a second (no finer ones are ever there)."""
    if digits == 0:
        return _TIME.sub(lambda found: found[1], text)
    return _TIME.sub(lambda found: f"{found[1]}.{(found[2] or '').ljust(digits, '0')}", text)


def _sorted_copy(path: Path, columns: tuple[Column, ...], position: int, descending: bool) -> Path:
    direction = "DESC" if descending else "ASC"
    copy = path.with_name(f".{path.stem}.{position}.{direction.lower()}.parquet")
    with _sorting:
        if copy.exists():
            return copy
        with pq.ParquetFile(path) as file:
            name = '"' + file.schema_arrow.names[position].replace('"', '""') + '"'
            is_text = pa.types.is_string(file.schema_arrow.field(position).type)
        keys = _sort_keys(name, columns[position].type) if is_text else [name]
        order = ", ".join(f"{key} {direction} NULLS LAST" for key in keys)
        part = copy.with_name(f"{copy.name}.{uuid4().hex}.part")
        spill = copy.with_name(f"{copy.name}.{uuid4().hex}.spill.part")
        try:
            with duckdb.connect(config={"temp_directory": str(spill)}) as connection:
                connection.execute(f"SET memory_limit = '{_SORT_MEMORY}'; SET TimeZone = 'UTC'")
                connection.execute(
                    f"COPY (SELECT * FROM read_parquet({_literal(path)}) "  # noqa: S608 - quoted
                    f"ORDER BY {order}, file_row_number) "
                    f"TO {_literal(part)} "
                    f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_GROUP_ROWS})"
                )
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)
    return copy


def _sort_keys(name: str, kind: str) -> list[str]:
    """What a column of texts is sorted by."""
    if kind in _STORED_AS_TEXT:
        return [f"TRY_CAST({name} AS {kind})"]
    if _NUMBERS.match(kind) and not kind.endswith("]"):
        # Roughly first, for every size; then all digits of those that are near one another.
        return [f"TRY_CAST({name} AS DOUBLE)", f"TRY_CAST({name} AS DECIMAL(38, 10))", name]
    return [name]


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
