"""What drivers give, as text that loses nothing; a column's type is what its values are.

Each driver makes Python's own objects of the values, and names the types of its columns in words
of its own, if at all. So every cell is kept as text, and the type is that of the objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from awhile.ask.engines.contract import Column
from awhile.ask.engines.rows import bounded

__all__ = ["Result"]

_NAMES: dict[type, str] = {
    bool: "BOOLEAN",
    int: "INTEGER",
    float: "DOUBLE",
    Decimal: "DECIMAL",
    str: "TEXT",
    bytes: "BLOB",
    bytearray: "BLOB",
    memoryview: "BLOB",
    date: "DATE",
    time: "TIME",
    datetime: "TIMESTAMP",
    timedelta: "INTERVAL",
    UUID: "UUID",
    dict: "JSON",
    list: "JSON",
    tuple: "JSON",
}
_NUMBERS = {int, float, Decimal}


class Result:
    """A result that is being read, learning its columns' types as rows go by."""

    def __init__(self, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
        self._names = names
        self._rows = rows
        self._seen: list[set[type]] = [set() for _ in names]
        self.schema = pa.schema([(f"c{place}", pa.string()) for place in range(len(names))])

    def columns(self) -> tuple[Column, ...]:
        return tuple(
            Column(name, _common(seen)) for name, seen in zip(self._names, self._seen, strict=True)
        )

    def batches(self, each: Callable[[], None]) -> Generator[pa.RecordBatch]:
        yield from map(self._batch, bounded(self._rows, each))

    def _batch(self, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
        arrays: list[pa.Array] = []
        for cells, seen in zip(zip(*rows, strict=True), self._seen, strict=True):
            seen |= set(map(type, cells)) - {type(None)}
            arrays.append(pa.array([_text(cell) for cell in cells], pa.string()))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _common(seen: set[type]) -> str:
    names = {_NAMES.get(kind, kind.__name__.upper()) for kind in seen}
    if len(names) == 1:
        return names.pop()
    if not seen:
        return "NULL"
    return "NUMERIC" if seen <= _NUMBERS else "ANY"


def _text(cell: Any) -> str | None:
    """The cell as text; one that has none costs a cell, and says so."""
    try:
        match cell:
            case None:
                return None
            case str():
                return cell.encode(errors="backslashreplace").decode()
            case bool():
                return "true" if cell else "false"
            case float():
                return repr(cell)
            case Decimal() if cell.is_finite():
                return f"{cell:f}"
            case datetime():
                return cell.isoformat(sep=" ")
            case date() | time():
                return cell.isoformat()
            case bytes() | bytearray():
                return f"x'{cell.hex()}'"
            case memoryview():
                return f"x'{cell.tobytes().hex()}'"
            case dict() | list() | tuple():
                return json.dumps(cell, default=_text, ensure_ascii=False)
            case _:
                return str(cell)
    except Exception as error:  # noqa: BLE001 - whatever a driver's object does when it is asked
        return f"(no text: {type(error).__name__})"
