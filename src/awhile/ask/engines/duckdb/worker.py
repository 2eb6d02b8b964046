"""The worker process: opens the file locked down, carries out one order at a time.

Runs in a child process (`awhile.processes`), so that it can be killed: an interrupt can take
15 s inside a sort (measured, DuckDB 2.0.1), a kill 0.15 s.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Sequence
from contextlib import suppress

import duckdb
import pyarrow as pa

from awhile.ask.engines.contract import Column, Stage
from awhile.ask.engines.duckdb import describe
from awhile.ask.engines.duckdb.messages import (
    Begun,
    Described,
    Failed,
    Fetched,
    Interrupt,
    Interrupted,
    NotOpened,
    Opened,
    Progressed,
    ToDescribe,
    ToOpen,
    ToRun,
    WorkerSettings,
)
from awhile.ask.engines.duckdb.place import place_of
from awhile.ask.engines.duckdb.stamp import stamp_of
from awhile.ask.engines.parquet import ParquetResult
from awhile.processes import Link

__all__ = ["connect", "serve"]

_BATCH_ROWS = 8_192
_PROGRESS_SECONDS = 0.1
_INTERRUPT_AGAIN_SECONDS = 0.02
"""An interrupt that comes before the query has begun is lost (measured), so it is repeated."""
_TYPE_CHARACTERS = 200
"""An ENUM of a thousand values would be its own type's name; longer names are cut to the word."""


def connect(settings: WorkerSettings) -> duckdb.DuckDBPyConnection:
    """The file, read-only and locked down: no other file, no network, no setting can be changed.

    Raises `duckdb.Error`.
    """
    connection = duckdb.connect(
        str(settings.database),
        read_only=True,
        config={
            # With external access off this can no longer be set, so access goes off below.
            "temp_directory": str(settings.spill_folder),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
        },
    )
    wanted: dict[str, str] = {
        "enable_external_access": "false",
        "memory_limit": f"'{settings.memory_limit_bytes} bytes'",
        # Values of the query's own Python variables are none of its business.
        "python_enable_replacements": "false",
        # 128-bit integers and others keep all their digits on the way to Arrow.
        "arrow_lossless_conversion": "true",
        "errors_as_json": "true",
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        "progress_bar_time": "0",
        # The same answer on every machine; times with a zone are shown in UTC.
        "TimeZone": "'UTC'",
    }
    if settings.threads is not None:
        wanted["threads"] = str(settings.threads)
    wanted["lock_configuration"] = "true"
    try:
        for name, value in wanted.items():
            connection.execute(f"SET {name} = {value}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def serve(link: Link, settings: WorkerSettings) -> None:
    """Carry out orders for ever; the process ends with its parent or by a kill."""
    _Worker(link, settings).serve()


class _Worker:
    def __init__(self, link: Link, settings: WorkerSettings) -> None:
        self._link = link
        self._settings = settings
        self._orders: queue.SimpleQueue[ToOpen | ToDescribe | ToRun] = queue.SimpleQueue()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._opened: object = None
        self._stop_asked = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._text = _Text()

    def serve(self) -> None:
        threading.Thread(target=self._listen, name="orders", daemon=True).start()
        while True:
            try:
                order = self._orders.get(timeout=self._settings.release_after_seconds)
            except queue.Empty:
                # Whoever owns the file can write to it between our queries.
                self._release()
                continue
            self._link.send(Begun())
            try:
                answer = self._carry_out(order)
            finally:
                self._idle.set()
            self._link.send(answer)

    def _listen(self) -> None:
        while True:
            message = self._link.receive()
            if isinstance(message, Interrupt):
                self._stop_asked.set()
                threading.Thread(target=self._interrupt, daemon=True).start()
            elif isinstance(message, ToOpen | ToDescribe | ToRun):
                # Cleared here and not by the worker: the order and a later interrupt arrive in
                # this sequence, and must be seen in it.
                self._stop_asked.clear()
                self._idle.clear()
                self._orders.put(message)

    def _interrupt(self) -> None:
        while not self._idle.is_set() and self._stop_asked.is_set():
            if self._connection is not None:
                with suppress(duckdb.Error):  # released in this very moment
                    self._connection.interrupt()
            self._idle.wait(_INTERRUPT_AGAIN_SECONDS)

    def _release(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _carry_out(self, order: ToOpen | ToDescribe | ToRun) -> object:
        found = stamp_of(self._settings.database)
        if found != self._opened:
            # Replaced, since nobody writes to a file that is open here: the old one, which has no
            # name any more, would be read for as long as one question follows another.
            self._release()
        try:
            if self._connection is None:
                self._connection = connect(self._settings)
                self._opened = found
        except duckdb.Error as error:
            return NotOpened(_plain(error).message)
        try:
            match order:
                case ToOpen():
                    return Opened()
                case ToDescribe(seconds):
                    return Described(
                        describe.schema(self._connection, self._settings.database, seconds)
                    )
                case ToRun():
                    return self._run(self._connection, order)
        except duckdb.Error as error:
            if self._stop_asked.is_set() and isinstance(error, duckdb.InterruptException):
                return Interrupted()
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                # The connection is of no use after these; the next order opens a new one.
                self._release()
            return _plain(error, order.sql if isinstance(order, ToRun) else "")
        except (OSError, pa.ArrowException) as error:
            # An error while rows stream comes wrapped by Arrow; a full disk comes from Parquet.
            if self._stop_asked.is_set():
                return Interrupted()
            return Failed(f"{type(error).__name__}: {error}", None, None)

    def _run(self, connection: duckdb.DuckDBPyConnection, order: ToRun) -> object:
        progress = _ProgressReports(self._link, connection)
        try:
            columns, batches = _started(connection, order.sql)
            rows = size = 0
            truncated = False
            with ParquetResult(order.destination, columns, batches.schema, self._text) as result:
                for batch in batches:
                    if self._stop_asked.is_set():
                        raise duckdb.InterruptException
                    room = order.rows - rows
                    batch, cut = _within(batch, room, order.bytes - size)
                    rows += batch.num_rows
                    size += batch.nbytes
                    result.write(batch)
                    progress.rows, progress.stage = rows, "fetching"
                    if cut:
                        truncated = True
                        break
                result.finish(truncated=truncated)
            # Ends the rest of a query whose result was cut.
            batches.close()
            return Fetched(columns, rows, truncated)
        finally:
            progress.end()


def _started(
    connection: duckdb.DuckDBPyConnection, sql: str
) -> tuple[tuple[Column, ...], pa.RecordBatchReader]:
    """Start the query; its rows stream, so reading can stop at any batch."""
    try:
        relation = connection.sql(sql)
    except (duckdb.BinderException, duckdb.CatalogException):
        # A relation's binding errors carry no place (DuckDB 2.0.1); the same error from execute
        # does, and nothing has run by then.
        connection.execute(sql).close()
        raise
    columns = tuple(
        Column(name, _type_name(str(kind)))
        for name, kind in zip(relation.columns, relation.types, strict=True)
    )
    return columns, relation.to_arrow_reader(_BATCH_ROWS)


def _type_name(name: str) -> str:
    if name == '"NULL"':
        return "NULL"
    return name if len(name) <= _TYPE_CHARACTERS else name.partition("(")[0]


def _within(batch: pa.RecordBatch, rows: int, size: int) -> tuple[pa.RecordBatch, bool]:
    """As much of the batch as fits, and whether something was left."""
    fitting = min(batch.num_rows, rows)
    if batch.nbytes > size:
        low, high = 0, fitting
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if batch.slice(0, middle).nbytes <= size else (low, middle - 1)
            )
        fitting = low
    return batch.slice(0, fitting), fitting < batch.num_rows


def _plain(error: duckdb.Error, sql: str = "") -> Failed:
    """The engine's words and the place they speak of."""
    text = str(error)
    kind, separator, rest = text.partition(": ")
    try:
        told = json.loads(rest)
        message, position = f"{kind}: {told['exception_message']}", told.get("position")
    except (ValueError, TypeError, KeyError):
        return Failed(text if separator else kind, None, None)
    return Failed(message, *place_of(sql, position))


class _Text:
    """Any Arrow column as DuckDB's own text, by a connection of its own that knows no file."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None

    def __call__(self, batch: pa.RecordBatch, positions: Sequence[int]) -> Sequence[pa.Array]:
        if self._connection is None:
            self._connection = duckdb.connect()
            self._connection.execute("SET TimeZone = 'UTC'")
        names = [f"c{position}" for position in positions]
        table = pa.Table.from_arrays([batch.column(position) for position in positions], names)
        texts = ", ".join(f"{name}::VARCHAR" for name in names)
        told = self._connection.from_arrow(table).project(texts).to_arrow_table()
        return [column.combine_chunks() for column in told.columns]


class _ProgressReports(threading.Thread):
    """Sends the engine's percentage and the rows so far while a query runs.

    The percentage only counts until rows arrive: during fetching it starts again from nothing.
    """

    def __init__(self, link: Link, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(name="progress", daemon=True)
        self._link = link
        self._connection = connection
        self._over = threading.Event()
        self.rows = 0
        self.stage: Stage = "running"
        self.start()

    def run(self) -> None:
        highest = 0.0
        while not self._over.wait(_PROGRESS_SECONDS):
            percent = self._connection.query_progress()
            if self.stage == "running":
                highest = max(highest, min(percent, 100.0))
            known = highest if percent >= 0 or highest > 0 else None
            self._link.send(Progressed(known, self.rows, self.stage))

    def end(self) -> None:
        """Returns once nothing more will be sent."""
        self._over.set()
        self.join()
