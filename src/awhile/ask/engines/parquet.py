"""Writing a result as Parquet so that no value, name or type is lost.

Source: ours. An engine gives what Parquet holds exactly as itself, and every other type (128-bit
integers, intervals, bit strings, unions, ...) as its own text. Names are made unique, because
Parquet readers look columns up by name; the names and types as the query gave them are in the
file's key-value metadata under `awhile.columns`, in order:

    [{"name": "sum(amount)", "type": "HUGEINT"}, ...]

and `awhile.truncated` is `true` when the query had more rows than were read.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from awhile.ask.engines.contract import Column

__all__ = ["COLUMNS_KEY", "TRUNCATED_KEY", "ParquetResult", "unique_names"]

COLUMNS_KEY = "awhile.columns"
TRUNCATED_KEY = "awhile.truncated"

_GROUP_ROWS = 20_480
"""Rows in a row group: a page of rows is read by decoding the groups it touches."""
_GROUP_BYTES = 16 * 1024 * 1024


_HOW: Mapping[str, Any] = {
    "compression": "zstd",
    # Neither earns its keep (measured): compressed, a million rows took half the room and the time
    # without dictionaries, and the statistics of a cell of 200 MB a gigabyte of memory.
    "use_dictionary": False,
    "write_statistics": False,
}


def unique_names(names: Iterable[str]) -> list[str]:
    """Names no two of which are equal, upper and lower case alike; none of them is empty.

    The first holder of a name keeps it, so `n, n, n_2` becomes `n, n_3, n_2`.
    """
    given = [name or f"column_{position}" for position, name in enumerate(names, start=1)]
    taken = {name.casefold() for name in given}
    seen: set[str] = set()
    unique: list[str] = []
    for name in given:
        chosen, number = name, 2
        while chosen.casefold() in seen or (chosen != name and chosen.casefold() in taken):
            chosen = f"{name}_{number}"
            number += 1
        seen.add(chosen.casefold())
        unique.append(chosen)
    return unique


class ParquetResult:
    """A result file being written: under a temporary name until `finish`, else gone again."""

    def __init__(self, destination: Path, columns: Sequence[Column], schema: pa.Schema) -> None:
        self._destination = destination
        self._part = part_of(destination)
        self._columns = columns
        names = unique_names(column.name for column in columns)
        self._schema = pa.schema(
            [(name, field.type) for name, field in zip(names, schema, strict=True)]
        )
        self._writer = pq.ParquetWriter(self._part, self._schema, **_HOW)
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._pending_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        for part in _parts(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)):
            self._pending.append(part)
            self._pending_rows += part.num_rows
            self._pending_bytes += part.nbytes
            if self._pending_rows >= _GROUP_ROWS or self._pending_bytes >= _GROUP_BYTES:
                self._write_group()

    def finish(self, *, truncated: bool, columns: Sequence[Column] | None = None) -> None:
        """Close the file and give it its real name.

        `columns` replace those given at first, where a type is known only once all is read.
        """
        self._write_group()
        described = [{"name": each.name, "type": each.type} for each in columns or self._columns]
        self._writer.add_key_value_metadata(
            {COLUMNS_KEY: json.dumps(described), TRUNCATED_KEY: json.dumps(truncated)}
        )
        self._writer.close()
        self._part.replace(self._destination)

    def _write_group(self) -> None:
        if self._pending:
            table = pa.Table.from_batches(self._pending, self._schema)
            self._writer.write_table(table, row_group_size=max(table.num_rows, 1))
        self._pending, self._pending_rows, self._pending_bytes = [], 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc is not None:
            self._writer.close()
            self._part.unlink(missing_ok=True)


def _parts(batch: pa.RecordBatch) -> Generator[pa.RecordBatch]:
    """The batch in parts that a row group has room for, or of one row."""
    if batch.nbytes <= _GROUP_BYTES or batch.num_rows <= 1:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _parts(batch.slice(0, half))
    yield from _parts(batch.slice(half))


def part_of(destination: Path) -> Path:
    """The temporary name in the same folder, so that the rename is atomic."""
    return destination.with_name(f".{destination.name.removeprefix('.')}.part")
