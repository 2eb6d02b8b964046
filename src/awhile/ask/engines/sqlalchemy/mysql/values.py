"""Results as the server's own text, kept as numbers where those lose nothing.

Decimals, dates, times, JSON, ... stay text: what MySQL can hold (`0000-00-00`, `-838:59:59`) has no
place in any narrower type.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pymysql.constants import FIELD_TYPE as KIND
from pymysql.constants import FLAG

from awhile.ask.engines.contract import Column
from awhile.ask.engines.rows import bounded
from awhile.ask.engines.sqlalchemy.mysql import geometry

__all__ = ["Result"]

_BINARY = 63
"""The character set of what is no text."""
_LETTER_BYTES = 4
"""The most bytes a letter can take in utf8mb4, by which the server counts lengths."""
_MORE_THAN_TEXT = 2**16 * _LETTER_BYTES

_INTEGERS = {
    KIND.TINY: "TINYINT",
    KIND.SHORT: "SMALLINT",
    KIND.INT24: "MEDIUMINT",
    KIND.LONG: "INT",
    KIND.LONGLONG: "BIGINT",
}
_DECIMALS = (KIND.DECIMAL, KIND.NEWDECIMAL)
_OTHERS = {
    KIND.FLOAT: "FLOAT",
    KIND.DOUBLE: "DOUBLE",
    KIND.NULL: "NULL",
    KIND.TIMESTAMP: "TIMESTAMP",
    KIND.DATE: "DATE",
    KIND.NEWDATE: "DATE",
    KIND.TIME: "TIME",
    KIND.DATETIME: "DATETIME",
    KIND.YEAR: "YEAR",
    KIND.JSON: "JSON",
    KIND.GEOMETRY: "GEOMETRY",
}
_LETTERS = (
    *(KIND.STRING, KIND.VAR_STRING, KIND.VARCHAR),
    *(KIND.TINY_BLOB, KIND.BLOB, KIND.MEDIUM_BLOB, KIND.LONG_BLOB),
)

Cell = bytes | None


class Result:
    """A result that is being read."""

    def __init__(self, fields: Sequence[Any], cells: Iterable[tuple[Cell, ...]]) -> None:
        self._cells = cells
        self._columns = tuple(Column(_name(field), _type(field)) for field in fields)
        self._readers = [_reader(field) for field in fields]
        self.schema = pa.schema(
            [(f"c{place}", _kept_as(field)) for place, field in enumerate(fields)]
        )

    def columns(self) -> tuple[Column, ...]:
        return self._columns

    def batches(self, each: Callable[[], None]) -> Generator[pa.RecordBatch]:
        yield from map(self._batch, bounded(iter(self._cells), each))

    def _batch(self, rows: Sequence[tuple[Cell, ...]]) -> pa.RecordBatch:
        columns: Iterator[tuple[Cell, ...]] = zip(*rows, strict=True)
        arrays = [
            _array(cells, reader, field.type)
            for cells, reader, field in zip(columns, self._readers, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _array(
    cells: Sequence[Cell], reader: Callable[[bytes], str] | None, kind: pa.DataType
) -> pa.Array:
    if reader is None:
        return pa.array(cells, kind)
    texts = [None if cell is None else reader(cell) for cell in cells]
    return pa.array(texts, pa.string()).cast(kind)


def _name(field: Any) -> str:
    return str(field.name)


def _is_bytes(field: Any) -> bool:
    return field.type_code in _LETTERS and field.charsetnr == _BINARY


def _kept_as(field: Any) -> pa.DataType:
    if field.type_code in _INTEGERS:
        return pa.uint64() if field.flags & FLAG.UNSIGNED else pa.int64()
    if field.type_code in (KIND.FLOAT, KIND.DOUBLE):
        return pa.float64()
    return pa.binary() if _is_bytes(field) else pa.string()


def _reader(field: Any) -> Callable[[bytes], str] | None:
    """What makes a text of a cell; None where it stays as it is."""
    if _is_bytes(field):
        return None
    match field.type_code:
        case KIND.BIT:
            width = int(field.length)
            return lambda cell: f"{int.from_bytes(cell, 'big'):0{width}b}"
        case KIND.GEOMETRY:
            return geometry.as_text
        case KIND.TIMESTAMP:
            # The session's time zone is UTC, whatever the server's.
            return lambda cell: f"{cell.decode()}+00"
        case _:
            return _text


def _text(cell: bytes) -> str:
    # A column may hold what is no letter in its own character set; that costs a cell.
    return cell.decode(errors="backslashreplace")


def _type(field: Any) -> str:
    """What the column would be declared as, as far as the server tells."""
    code = field.type_code
    if code in _INTEGERS:
        return f"{_INTEGERS[code]} UNSIGNED" if field.flags & FLAG.UNSIGNED else _INTEGERS[code]
    if code in _DECIMALS:
        signs = (not field.flags & FLAG.UNSIGNED) + (field.scale > 0)
        return f"DECIMAL({field.length - signs},{field.scale})"
    if code == KIND.BIT:
        return f"BIT({field.length})"
    if code in _LETTERS:
        return _letters(field)
    return _OTHERS.get(code, "ANY")


def _letters(field: Any) -> str:
    if field.flags & FLAG.ENUM:
        return "ENUM"
    if field.flags & FLAG.SET:
        return "SET"
    plain = field.charsetnr == _BINARY
    if field.flags & FLAG.BLOB:
        return ("LONG" if field.length > _MORE_THAN_TEXT else "") + ("BLOB" if plain else "TEXT")
    length = field.length if plain else field.length // _LETTER_BYTES
    varies = "VAR" if field.type_code != KIND.STRING else ""
    return f"{varies}{'BINARY' if plain else 'CHAR'}({length})"
