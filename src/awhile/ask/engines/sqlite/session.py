"""A SQLite file opened in a worker: read-only, locked down, one query at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import apsw.ext

from awhile.ask.engines.contract import Estimate, Scalar
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.parameters import without_value
from awhile.ask.engines.sqlite import describe
from awhile.ask.engines.sqlite.asking import cursor, rows
from awhile.ask.engines.sqlite.guard import Guard, plain
from awhile.ask.engines.sqlite.reasons import why_not_opened
from awhile.ask.engines.sqlite.values import Columns, Value
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, Stopped, serve, write_rows
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["SQLiteSettings", "connect", "serve_sqlite"]

_LOCK_WAIT_MS = 2_000
"""How long a query waits for somebody who is writing; in WAL mode none has to."""
_STEPS = 100_000
"""Of SQLite's virtual machine, a millisecond or so, between two looks at whether to stop."""
_LONGEST_CELL = 512 * 1024 * 1024

_LIMITS = {
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 500,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 500,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 127,
    apsw.SQLITE_LIMIT_LENGTH: _LONGEST_CELL,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 400_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    apsw.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    # What a view or a generated column calls must be harmless, whoever wrote the schema.
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE: 0,
    apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA: 0,
    # "colour" in double quotes is a column or an error, and never quietly the text 'colour'.
    apsw.SQLITE_DBCONFIG_DQS_DML: 0,
    # Folding a log into the file is its writers' business.
    apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE: 1,
}


@dataclass(frozen=True, slots=True)
class SQLiteSettings:
    """What a worker needs to know before its first order. No memory limit if that is None."""

    database: Path
    memory_limit_bytes: int | None
    release_after_seconds: float


def connect(settings: SQLiteSettings) -> apsw.Connection:
    """The file, read-only, without extensions or other files. Raises `apsw.Error`.

    Never `immutable`: SQLite would then take no lock and read half-written pages.
    """
    uri = f"file:{quote(str(settings.database))}?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri, flags=flags)
    try:
        connection.set_busy_timeout(_LOCK_WAIT_MS)
        for switch, value in _SWITCHES.items():
            connection.config(switch, value)
        for limit, value in _LIMITS.items():
            connection.limit(limit, value)
        for pragma in ("query_only = ON", "mmap_size = 0", "cell_size_check = ON"):
            rows(connection, f"PRAGMA {pragma}")
        # Reads the header and the schema: opening alone reads nothing.
        rows(connection, "SELECT count(*) FROM sqlite_schema")
    except apsw.Error:
        connection.close()
        raise
    return connection


def serve_sqlite(link: Link, settings: SQLiteSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    if settings.memory_limit_bytes is not None:
        apsw.hard_heap_limit(settings.memory_limit_bytes)
    serve(link, partial(_Session, settings), settings.release_after_seconds)


class _Session:
    """One opened file. It is stale as soon as another file has its name."""

    token = None

    def __init__(self, settings: SQLiteSettings) -> None:
        self._database = settings.database
        self._opened = self._identity()
        try:
            self._connection = connect(settings)
        except apsw.Error as error:
            raise DatabaseNotOpened(why_not_opened(settings.database, error)) from None
        self._guard = Guard(self._connection)

    def _identity(self) -> object:
        stamp = stamp_of(self._database)
        return stamp and stamp[:2]

    def stale(self) -> bool:
        return self._identity() != self._opened

    def close(self) -> None:
        self._connection.close()

    def catalog(self, principal: str | None) -> str:
        """SQLite counts the changes of a file's schema; another file counts from another number."""
        self._guard.disarm()
        with self._errors():
            return f"{self._opened} {rows(self._connection, 'PRAGMA schema_version')[0][0]}"

    def describe(self, seconds: float, principal: str | None) -> Schema:
        self._guard.disarm()
        with self._errors():
            return describe.schema(self._connection, self._database, seconds)

    def estimate(self, order: ToEstimate) -> Estimate | None:
        """None: SQLite has none. But it compiles the text, so every name is looked up."""
        self._guard.disarm()
        with self._errors(order.sql):
            self._guard.arm(describe.connected(self._connection))
            self._compiled(order)
            return None

    def _compiled(self, order: ToEstimate | ToRun) -> apsw.ext.QueryDetails:
        details = self._guard.compiled(order.sql)
        missing = [name for name in details.bindings_names if name not in order.parameters]
        if missing:
            raise without_value(missing)
        return details

    def run(self, order: ToRun, running: Running) -> Fetched:
        self._guard.disarm()
        with self._errors(order.sql):
            encoding = str(rows(self._connection, "PRAGMA encoding")[0][0])
            self._guard.arm(describe.connected(self._connection))
            details = self._compiled(order)
            self._connection.set_progress_handler(lambda: running.stop_asked, _STEPS)
            columns = Columns(details.description)
            try:
                return self._read(order, running, order.sql, columns, _as_it_is)
            except UnicodeDecodeError:
                # A text that is no Unicode costs its row in this way of reading: so once more from
                # the start, with texts as the bytes they are.
                running.rows = 0
                sql = _with_bytes(order.sql, len(details.description))
                return self._read(order, running, sql, columns, partial(_decoded, encoding))
            finally:
                self._connection.set_progress_handler(None)

    def _read(
        self,
        order: ToRun,
        running: Running,
        sql: str,
        columns: Columns,
        cells: Callable[[tuple[Value, ...]], tuple[Value, ...]],
    ) -> Fetched:
        found = cursor(self._connection, sql, _values(order.parameters))
        try:
            return write_rows(
                order,
                running,
                columns.columns(),
                columns.schema,
                columns.batches(map(cells, found), running.check),
                columns_at_end=columns.columns,
            )
        finally:
            found.close(force=True)

    def percent(self, running: Running) -> float | None:
        return None

    def interrupt(self) -> None:
        with suppress(apsw.Error):
            self._connection.interrupt()

    def end(self, token: object) -> None:
        """Nothing of a SQLite query is anywhere but in its process."""

    @contextmanager
    def _errors(self, sql: str = "") -> Generator[None]:
        try:
            yield
        except apsw.InterruptError:
            raise Stopped from None
        except apsw.Error as error:
            refusal = self._guard.refusal() if isinstance(error, apsw.AuthError) else None
            raise refusal or plain(error, sql) from None
        except MemoryError:
            raise plain(apsw.NoMemError("it needs more memory than a query may use"), "") from None


def _values(parameters: Mapping[str, Scalar]) -> Mapping[str, Any] | None:
    """Values as SQLite has types for them: a date is text there, and a decimal a number."""
    return {
        name: value.isoformat(sep=" ")
        if isinstance(value, datetime)
        else value.isoformat()
        if isinstance(value, date)
        else float(value)
        if isinstance(value, Decimal)
        else value
        for name, value in parameters.items()
    } or None


def _as_it_is(row: tuple[Value, ...]) -> tuple[Value, ...]:
    return row


def _with_bytes(sql: str, width: int) -> str:
    """The same rows, each cell after its type, and texts as bytes."""
    names = [f"c{place}" for place in range(width)]
    cells = ", ".join(
        f"typeof({name}), CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
        for name in names
    )
    # A line of its own ends a comment at the end of the text.
    inner = sql.rstrip().rstrip(";")
    return f"WITH awhile_rows({', '.join(names)}) AS (\n{inner}\n) SELECT {cells} FROM awhile_rows"  # noqa: S608 - the guard let it pass


def _decoded(encoding: str, row: tuple[Value, ...]) -> tuple[Value, ...]:
    """Cells from pairs of type and cell; a byte that is no text is shown as an escape."""
    return tuple(
        cell.decode(encoding, errors="backslashreplace")
        if kind == "text" and isinstance(cell, bytes)
        else cell
        for kind, cell in zip(row[::2], row[1::2], strict=True)
    )
