"""A result as CSV: exact, whole cells, a row group in memory at a time.

Source: RFC 4180, in UTF-8. NULL is an empty field and an empty text is ``""``, as PostgreSQL's COPY
writes them; a reader that tells the two apart gets back what was there. DuckDB writes the lines, so
that no cell becomes an object on the way.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, runs_of_columns, scratch, text_of

__all__ = ["CsvForm", "csv_parts", "write_csv"]

_PART_BYTES = 256 * 1024
_BOM = "\ufeff"
_SPECIAL = '[",\\r\\n]|^\\s|\\s$'
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How it is written.

    Args:
        bom: begin with a byte order mark, without which Excel takes UTF-8 for another encoding.
        safe: put an apostrophe before cells that a spreadsheet would take for a formula (they begin
            with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and are no number). Those
            cells are not exact then.
        line_end: RFC 4180 has CRLF.
    """

    bom: bool = False
    safe: bool = False
    line_end: str = "\r\n"


def csv_parts(source: Source, form: CsvForm) -> Generator[bytes]:
    """The file, part by part. Raises `FileNotFoundError`."""
    with Stored.open(source) as stored, scratch() as connection:
        end = "chr(13) || chr(10)" if form.line_end == "\r\n" else "chr(10)"

        def lines(table: pa.Table, kinds: Sequence[pa.DataType]) -> Generator[bytes]:
            sides: list[pa.ChunkedArray] = []
            for run in runs_of_columns(len(kinds)):
                cells = " || ',' || ".join(
                    _cell(
                        text_of(column_name(at), kinds[at]),
                        plain=_is_plain(kinds[at]),
                        safe=form.safe,
                    )
                    for at in run
                )
                line = f"{cells} || {end}" if run.stop == len(kinds) else cells
                told = connection.from_arrow(table.select(run)).project(line)
                sides.append(told.to_arrow_table().column(0))
            whole = sides[0] if len(sides) == 1 else pc.binary_join_element_wise(*sides, ",")
            for chunk in whole.chunks:
                yield from _bytes(chunk)

        if form.bom:
            yield _BOM.encode()
        names = [pa.array([column.name], pa.string()) for column in stored.columns]
        places = [column_name(at) for at in range(len(names))]
        yield from lines(pa.Table.from_arrays(names, places), [pa.string()] * len(names))
        for table in stored.groups(0, stored.row_count):
            yield from lines(table, stored.kinds)


def write_csv(source: Path, target: Path, form: CsvForm) -> None:
    """Write the whole file at `target`."""
    with target.open("wb") as file:
        for part in csv_parts(source, form):
            file.write(part)


def _cell(text: str, *, plain: bool, safe: bool) -> str:
    """SQL for one field; `plain` values have nothing in them to be quoted for."""
    if plain:
        return f"coalesce({text}, '')"
    if safe:
        text = (
            f"CASE WHEN regexp_matches({text}, '{_FORMULA}') "
            f"AND NOT regexp_full_match({text}, '{_NUMBER}') THEN '''' || {text} ELSE {text} END"
        )
    return (
        f"CASE WHEN {text} IS NULL THEN '' "
        f"WHEN {text} = '' OR regexp_matches({text}, '{_SPECIAL}') "
        f"""THEN '"' || replace({text}, '"', '""') || '"' ELSE {text} END"""
    )


def _is_plain(kind: pa.DataType) -> bool:
    return (
        (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
        or (pa.types.is_boolean(kind) or pa.types.is_date32(kind))
        or (pa.types.is_time(kind) or pa.types.is_timestamp(kind))
    )


def _bytes(lines: pa.Array) -> Generator[bytes]:
    """What Arrow holds of a column of texts: one after the other, they are the file."""
    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return
    ends = memoryview(offsets).cast("i")
    content = memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]]
    for start in range(0, len(content), _PART_BYTES):
        yield bytes(content[start : start + _PART_BYTES])
