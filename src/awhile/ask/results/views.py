"""A view of a result: its rows in another order, or those of them that meet conditions.

A view is written once as a file like the result itself, and read like it: with the same names,
types and notes. Source: ours.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from awhile.ask.results.cache import spill_of
from awhile.ask.results.comparing import Comparison, comparison
from awhile.ask.results.numbers import order_key
from awhile.ask.results.operators import Operator
from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, scratch

__all__ = ["Filter", "Sort", "Stop", "Stopped", "View", "write_view"]

_GROUP_ROWS = 20_480
_GROUP_BYTES = 16 * 1024 * 1024
"""As a result's own row groups are: a page is read by decoding the groups that it touches."""
_BATCH_ROWS = 1_024
_MEMORY = "512MB"
"""Of one view that is being made; beyond it, temporary files are used."""


@dataclass(frozen=True, slots=True)
class Sort:
    """An order: NULLs come last either way, and rows that are equal keep theirs."""

    column: int
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one column, counted from 0.

    `contains` looks for a text in the cell as it is shown, upper and lower case alike. The others
    compare numbers as numbers, instants as instants, and everything else as its exact text. NULL
    meets `is null` alone.
    """

    column: int
    operator: Operator
    value: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a result: the rows that meet all filters, sorted."""

    sort: Sort | None = None
    filters: tuple[Filter, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is the result as it is."""
        return self.sort is None and not self.filters

    @property
    def digest(self) -> str:
        """Equal for equal views; letters and digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:24]


class Stopped(Exception):
    """The work has ended because a stop was asked."""


class Stop:
    """How one thread tells another that its work is not wanted any more."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._interrupts: list[Callable[[], None]] = []

    def ask(self) -> None:
        """May be called again, as long as the work has not ended: an interrupt that comes before a
        query has begun is lost."""
        self._asked.set()
        for interrupt in list(self._interrupts):
            with suppress(duckdb.Error):
                interrupt()

    def check(self) -> None:
        """Raise `Stopped` if it was asked."""
        if self._asked.is_set():
            raise Stopped

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Generator[None]:
        """Have `interrupt` called when a stop is asked while the block runs."""
        self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        except Exception:
            # What is raised while rows stream comes wrapped by Arrow and DuckDB.
            self.check()
            raise
        finally:
            self._interrupts.remove(interrupt)


def write_view(source: Source, view: View, part: Path, stop: Stop | None = None) -> None:
    """Write the rows of a view to `part`.

    Raises `IndexError` for a column that does not exist, `ValueError` for a value that a column
    cannot be compared with, `Stopped`.
    """
    stop, spill = stop or Stop(), spill_of(part)
    with (
        Stored.open(source) as stored,
        scratch(memory_limit=_MEMORY, temp_directory=str(spill)) as connection,
        stop.interrupting(connection.interrupt),
    ):
        compared = [
            comparison(column, kind, column_name(position))
            for position, (column, kind) in enumerate(
                zip(stored.columns, stored.kinds, strict=True)
            )
        ]
        for position in _used(view):
            if not 0 <= position < len(compared):
                raise IndexError(f"there is no column {position!r}; there are {len(compared)}")
        keyed = [position for position in _used(view) if compared[position].kind == "number"]
        where, values = _where(connection, view, compared)
        order = _order(view, compared)
        # Not from the file by DuckDB itself, which makes other types of some that Arrow noted down.
        connection.from_arrow(_numbered(stored, keyed, stop)).create_view("stored")
        wanted = ", ".join(one.name for one in compared)
        sql = f"SELECT {wanted} FROM stored{where}{order}"  # noqa: S608 - of positions and marks
        rows = connection.sql(sql, params=values or None)
        _write(rows.to_arrow_reader(_BATCH_ROWS), stored, part, stop)


def _used(view: View) -> list[int]:
    """The columns that are looked at."""
    used = {one.column for one in view.filters}
    return sorted(used if view.sort is None else used | {view.sort.column})


def _numbered(stored: Stored, keyed: list[int], stop: Stop) -> pa.RecordBatchReader:
    """All rows, each with its place and the keys of what is compared by them."""
    names = [column_name(at) for at in range(len(stored.columns))]
    fields = [*zip(names, stored.kinds, strict=True), ("place", pa.int64())]
    fields += [(f"key_of_{names[at]}", pa.string()) for at in keyed]
    schema = pa.schema(fields)

    def batches() -> Generator[pa.RecordBatch]:
        place = 0
        for batch in stored.file.iter_batches(_BATCH_ROWS):
            stop.check()
            places = pa.array(range(place, place + batch.num_rows), pa.int64())
            keys = [
                pa.array(list(map(order_key, batch.column(at).to_pylist())), pa.string())
                for at in keyed
            ]
            yield pa.RecordBatch.from_arrays([*batch.columns, places, *keys], schema=schema)
            place += batch.num_rows

    return pa.RecordBatchReader.from_batches(schema, batches())


def _where(
    connection: duckdb.DuckDBPyConnection, view: View, compared: list[Comparison]
) -> tuple[str, list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    for one in view.filters:
        condition, bound = compared[one.column].condition(connection, one.operator, one.value)
        conditions.append(f"({condition})")
        values.extend(bound)
    return (f" WHERE {' AND '.join(conditions)}" if conditions else ""), values


def _order(view: View, compared: list[Comparison]) -> str:
    if view.sort is None:
        return " ORDER BY place"
    direction = "DESC" if view.sort.descending else "ASC"
    keys = [f"{key} {direction} NULLS LAST" for key in compared[view.sort.column].keys]
    return f" ORDER BY {', '.join(keys)}, place"


def _write(rows: pa.RecordBatchReader, stored: Stored, part: Path, stop: Stop) -> None:
    schema = stored.file.schema_arrow
    # As the engines write results (`awhile.ask.engines.parquet`).
    with pq.ParquetWriter(
        part, schema, compression="zstd", use_dictionary=False, write_statistics=False
    ) as writer:
        writer.add_key_value_metadata(stored.metadata)
        waiting: list[pa.RecordBatch] = []
        rows_waiting = bytes_waiting = 0
        for batch in rows:
            stop.check()
            arrays = [
                array if array.type == kind else array.cast(kind)
                for array, kind in zip(batch.columns, stored.kinds, strict=True)
            ]
            waiting.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
            rows_waiting += batch.num_rows
            bytes_waiting += batch.nbytes
            if rows_waiting >= _GROUP_ROWS or bytes_waiting >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting, rows_waiting, bytes_waiting = [], 0, 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))
