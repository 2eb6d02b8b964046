"""A DuckDB file opened in a worker: read-only, locked down, one query at a time."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from awhile.ask.engines.card import identity
from awhile.ask.engines.contract import Column, Estimate, Scalar
from awhile.ask.engines.duckdb import describe
from awhile.ask.engines.duckdb.reasons import why_not_opened
from awhile.ask.engines.duckdb.values import BEFORE, as_kept, type_name
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.parameters import bound
from awhile.ask.engines.place import place_of
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, Stopped, serve, write_rows
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["DuckDBSettings", "connect", "serve_duckdb"]

_BATCH_ROWS = 1_024
"""Where cells are large, a batch is what is in memory at once. With 8,192, narrow rows would come a
seventh faster (measured)."""

_EXPLAIN = "EXPLAIN "


@dataclass(frozen=True, slots=True)
class DuckDBSettings:
    """What a worker needs to know before its first order. `threads` None leaves it to DuckDB."""

    database: Path
    spill_folder: Path
    memory_limit_bytes: int
    threads: int | None
    release_after_seconds: float


def connect(settings: DuckDBSettings) -> duckdb.DuckDBPyConnection:
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


def serve_duckdb(link: Link, settings: DuckDBSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(_Session, settings), settings.release_after_seconds)


class _Session:
    """One opened file. It is stale as soon as another file has its name."""

    token = None

    def __init__(self, settings: DuckDBSettings) -> None:
        self._settings = settings
        # Nobody writes to a file that is open here, so another stamp means a file put in its
        # place: the old one, which has no name any more, would be read for as long as one
        # question follows another.
        self._opened = stamp_of(settings.database)
        self._of_no_use = False
        self._highest = 0.0
        try:
            self._connection = connect(settings)
        except duckdb.Error as error:
            message = _plain(error).message
            raise DatabaseNotOpened(why_not_opened(settings.database, message)) from None

    def stale(self) -> bool:
        return self._of_no_use or stamp_of(self._settings.database) != self._opened

    def close(self) -> None:
        self._connection.close()

    def catalog(self, principal: str | None) -> str:
        with self._errors():
            return identity(describe.catalog(self._connection))

    def describe(self, seconds: float, principal: str | None) -> Schema:
        with self._errors():
            return describe.schema(self._connection, self._settings.database, seconds)

    def estimate(self, order: ToEstimate) -> Estimate | None:
        """None: DuckDB has no figure of its own. But it plans the text: every name is looked up."""
        sql = bound(order.sql, order.parameters, _mark)
        with self._errors(sql, before=len(_EXPLAIN)):
            self._connection.execute(_EXPLAIN + sql, dict(order.parameters) or None).fetchall()
        return None

    def run(self, order: ToRun, running: Running) -> Fetched:
        self._highest = 0.0
        sql = bound(order.sql, order.parameters, _mark)
        values = dict(order.parameters) or None
        with self._errors(sql):
            rows = _planned(self._connection, sql, values)
            kept = as_kept(sql, rows.types)
        with self._errors(sql, before=len(BEFORE) if kept else 0):
            # Its rows stream, so reading can stop at any batch.
            kept_rows = rows if kept is None else self._connection.sql(kept, params=values)
            batches = kept_rows.to_arrow_reader(_BATCH_ROWS)
            columns = tuple(map(Column, rows.columns, map(type_name, rows.types)))
            fetched = write_rows(order, running, columns, batches.schema, batches)
            # Ends the rest of a query whose result was cut.
            batches.close()
            return fetched

    def percent(self, running: Running) -> float | None:
        """The engine's own, as long as no row has come: during fetching it starts again."""
        percent = self._connection.query_progress()
        if running.stage == "running":
            self._highest = max(self._highest, min(percent, 100.0))
        return self._highest if percent >= 0 or self._highest > 0 else None

    def interrupt(self) -> None:
        with suppress(duckdb.Error):
            self._connection.interrupt()

    def end(self, token: object) -> None:
        """Nothing of a DuckDB query is anywhere but in its process."""

    @contextmanager
    def _errors(self, sql: str = "", before: int = 0) -> Generator[None]:
        """`before` is how many characters stood before the text itself."""
        try:
            yield
        except duckdb.InterruptException:
            raise Stopped from None
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._of_no_use = True
            raise _plain(error, sql, before) from None


def _mark(name: str) -> str:
    return f"${name}"


def _planned(
    connection: duckdb.DuckDBPyConnection, sql: str, values: dict[str, Scalar] | None
) -> duckdb.DuckDBPyRelation:
    """The query with its columns, not yet run."""
    try:
        return connection.sql(sql, params=values)
    except (duckdb.BinderException, duckdb.CatalogException):
        # A relation's binding errors carry no place (DuckDB 2.0.1); the same error from execute
        # does, and nothing has run by then.
        connection.execute(sql, values).close()
        raise


def _plain(error: duckdb.Error, sql: str = "", before: int = 0) -> QueryError:
    """The engine's words and the place they speak of."""
    text = str(error)
    kind, separator, rest = text.partition(": ")
    try:
        told = json.loads(rest)
        message, position = f"{kind}: {told['exception_message']}", told.get("position")
    except (ValueError, TypeError, KeyError):
        return QueryError(text if separator else kind)
    if position is not None:
        position = max(int(position) - before, 0)
    return QueryError(message, *place_of(sql, position))
