"""SQLite's values as text that loses nothing, and the types their columns have.

SQLite types values, not columns: one column may hold `12`, `'12 pcs'` and a blob. So every cell is
kept as text (of a blob: `x'0aff'`, as SQLite itself writes one), and a column's type is the
declared one, or for a computed column what its values had in common.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import pyarrow as pa

from awhile.ask.engines.contract import Column
from awhile.ask.engines.rows import bounded

__all__ = ["Columns", "Value"]

Value = int | float | str | bytes | None

_NAMES: dict[type, str] = {int: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}


class Columns:
    """The columns of one result, learning their types as rows go by."""

    def __init__(self, described: Sequence[tuple[str, str | None]]) -> None:
        self._names = [name for name, _ in described]
        self._declared = [declared for _, declared in described]
        self._seen: list[set[type]] = [set() for _ in described]
        self.schema = pa.schema([(f"c{place}", pa.string()) for place in range(len(described))])

    def columns(self) -> tuple[Column, ...]:
        """Names and types, as far as they are known."""
        return tuple(
            Column(name, declared.upper() if declared else _common(seen))
            for name, declared, seen in zip(self._names, self._declared, self._seen, strict=True)
        )

    def batches(
        self, rows: Iterator[tuple[Value, ...]], each: Callable[[], None]
    ) -> Generator[pa.RecordBatch]:
        """The rows in batches of bounded size; `each` is called after every row."""
        yield from map(self._batch, bounded(rows, each))

    def _batch(self, rows: list[tuple[Value, ...]]) -> pa.RecordBatch:
        arrays: list[pa.Array] = []
        for cells, seen in zip(zip(*rows, strict=True), self._seen, strict=True):
            kinds = set(map(type, cells)) - {type(None)}
            seen |= kinds
            arrays.append(_array(cells, kinds))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _array(cells: tuple[Value, ...], kinds: set[type]) -> pa.Array:
    """Texts; of a column of whole numbers (or of texts) all at once, at a quarter of the time."""
    if kinds == {int}:
        return pa.array(cells, pa.int64()).cast(pa.string())
    texts = cells if kinds <= {str} else [_text(cell) for cell in cells]
    return pa.array(texts, pa.string())


def _common(seen: set[type]) -> str:
    if len(seen) == 1:
        return _NAMES[next(iter(seen))]
    if not seen:
        return "NULL"
    return "NUMERIC" if seen == {int, float} else "ANY"


def _text(value: Value) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return repr(value)
