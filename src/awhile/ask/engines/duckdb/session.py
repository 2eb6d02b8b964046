"""A DuckDB database opened in a worker: read-only, locked down, one query at a time."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa

from awhile.ask.engines.card import identity
from awhile.ask.engines.contract import Column, Estimate, Scalar
from awhile.ask.engines.duckdb import describe
from awhile.ask.engines.duckdb.confined import Confined
from awhile.ask.engines.duckdb.kept import KeptResults, named_by
from awhile.ask.engines.duckdb.pivot import looks_up_values
from awhile.ask.engines.duckdb.reading import ReadOnlyFiles
from awhile.ask.engines.duckdb.reasons import why_not_opened
from awhile.ask.engines.duckdb.values import BEFORE, as_kept, type_name
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.parameters import bound
from awhile.ask.engines.place import place_of
from awhile.ask.engines.quoting import literal
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, Stopped, serve, write_rows
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = [
    "DuckDBSession",
    "DuckDBSettings",
    "FileSession",
    "Limits",
    "connect",
    "plain",
    "serve_duckdb",
]

_BATCH_ROWS = 1_024
"""Where cells are large, a batch is what is in memory at once. With 8,192, narrow rows would come a
seventh faster (measured)."""

_EXPLAIN = "EXPLAIN "

_WRAPPED: Mapping[str, type[duckdb.Error]] = {
    "FATAL Error": duckdb.FatalException,
    "INTERNAL Error": duckdb.InternalException,
    "INTERRUPT Error": duckdb.InterruptException,
    "Out of Memory Error": duckdb.OutOfMemoryException,
}
"""Those that are treated differently from the others."""

_NO_MEMORY = (
    "it needs more memory at once than a query may use; ask for less at once, or raise "
    "memory_limit_mb"
)
_NO_ROOM = (
    "it needs more memory than a query may use, and more temporary files than the disk has room "
    "for (half of what is free, among the queries at once); ask for less at once, make room, or "
    "raise memory_limit_mb"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What DuckDB may use in a worker. `threads` None leaves it to DuckDB.

    Nothing but what does not fit into memory is ever written, into `spill_folder`, and there no
    more than `spill_limit_bytes`.
    """

    spill_folder: Path
    spill_limit_bytes: int
    memory_limit_bytes: int
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class DuckDBSettings:
    """What a worker needs to know before its first order."""

    database: Path
    limits: Limits
    release_after_seconds: float


def connect(
    database: Path,
    limits: Limits,
    files: Sequence[ReadOnlyFiles] = (),
) -> duckdb.DuckDBPyConnection:
    """The file, read-only and locked down: no other file, no network, no setting can be changed.

    Besides it, `files` can be read. Raises `duckdb.Error`.
    """
    connection = duckdb.connect(
        str(database),
        read_only=True,
        config={
            # With external access off this can no longer be set, so access goes off below.
            "temp_directory": str(limits.spill_folder),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
        },
    )
    wanted: dict[str, str] = {
        "enable_external_access": "false",
        "memory_limit": f"'{limits.memory_limit_bytes} bytes'",
        "max_temp_directory_size": f"'{limits.spill_limit_bytes} bytes'",
        # Values of the query's own Python variables are none of its business.
        "python_enable_replacements": "false",
        "errors_as_json": "true",
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        "progress_bar_time": "0",
        # The same answer on every machine; times with a zone are shown in UTC.
        "TimeZone": "'UTC'",
    }
    if limits.threads is not None:
        wanted["threads"] = str(limits.threads)
    wanted["lock_configuration"] = "true"
    try:
        if files:
            _reach(connection, files)
        for name, value in wanted.items():
            connection.execute(f"SET {name} = {value}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _reach(connection: duckdb.DuckDBPyConnection, files: Sequence[ReadOnlyFiles]) -> None:
    for each in files:
        connection.register_filesystem(each)
    prefixes = ", ".join(literal(each.prefix) for each in files)
    connection.execute(f"SET allowed_directories = [{prefixes}]")
    # What is read is in the system's cache already; these would be copies beside it.
    connection.execute("SET enable_external_file_cache = false")
    connection.execute("SET parquet_metadata_cache = true")


def serve_duckdb(link: Link, settings: DuckDBSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(FileSession, settings), settings.release_after_seconds)


class DuckDBSession(ABC):
    """One opened database; what it is, and when it is stale, differs.

    Every order begins with `read`: whatever the one before it was given, it is given its own.
    """

    token = None

    def __init__(self, spill_folder: Path) -> None:
        self.confined = Confined(spill_folder)
        self.results = KeptResults()
        """What can be read beside the database."""
        self._of_no_use = False
        self._highest = 0.0
        try:
            self.connection = self.confined(self.open)
        except BaseException:
            self.confined.close()
            raise

    @abstractmethod
    def open(self) -> duckdb.DuckDBPyConnection:
        """A connection that is locked down, but reaches the files of `results`.

        Raises `DatabaseNotOpened`.
        """

    @abstractmethod
    def has_changed(self) -> bool:
        """Whether what was opened is no longer what is there."""

    @abstractmethod
    def described(self, seconds: float) -> Schema:
        """The schema card."""

    def said(self, error: duckdb.Error, sql: str = "", before: int = 0) -> QueryError:
        """The engine's words and the place they speak of; `before` is how many characters stood
        before the text itself."""
        if self.results.trouble is not None:
            return QueryError(self.results.trouble)
        return plain(error, sql, before)

    def doubt(self) -> str | None:
        """Why the rows, all of them read by now, may not be what they seem to be."""
        return None

    def read(self, tables: Mapping[str, Path]) -> None:
        """Have these results as tables, and none that were tables before.

        Raises `DatabaseNotOpened`, `QueryError` and `Stopped`.
        """
        results = KeptResults(tables)
        if results.entries == self.results.entries:
            self.results.begin()
            return
        self._of_no_use = True  # should this fail half-way
        self.confined(self.connection.close)
        self.results = results
        self.connection = self.confined(self.open)
        with self._errors():
            self.confined(results.add_to, self.connection)
        self._of_no_use = False

    def stale(self) -> bool:
        return self._of_no_use or self.has_changed()

    def close(self) -> None:
        self.confined(self.connection.close)
        self.confined.close()

    def catalog(self, principal: str | None) -> str:
        self.read({})
        with self._errors():
            return identity(self.confined(describe.catalog, self.connection))

    def describe(self, seconds: float, principal: str | None) -> Schema:
        self.read({})
        with self._errors():
            return self.confined(self.described, seconds)

    def estimate(self, order: ToEstimate) -> Estimate | None:
        """None: DuckDB has no figure of its own. But it plans the text: every name is looked up."""
        self.read(named_by(order))
        sql = self._begun(order)
        with self._errors(sql, before=len(_EXPLAIN)):
            self.confined(_explained, self.connection, sql, dict(order.parameters) or None)
        return None

    def run(self, order: ToRun, running: Running) -> Fetched:
        self._highest = 0.0
        self.read(named_by(order))
        running.check()
        sql = self._begun(order)
        values = dict(order.parameters) or None
        with self._errors(sql):
            rows = self.confined(_planned, self.connection, sql, values)
            kept = as_kept(sql, rows.types)
        with self._errors(sql, before=len(BEFORE) if kept else 0):
            # Its rows stream, so reading can stop at any batch.
            if kept is not None:
                rows_kept = self.confined(self.connection.sql, kept, params=values)
            else:
                rows_kept = rows
            batches = self.confined(rows_kept.to_arrow_reader, _BATCH_ROWS)
            columns = tuple(map(Column, rows.columns, map(type_name, rows.types)))
            fetched = write_rows(
                order,
                running,
                columns,
                batches.schema,
                self._each(batches),
                columns_at_end=lambda: self._at_end(columns),
            )
            # Ends the rest of a query whose result was cut.
            self.confined(batches.close)
            return fetched

    def _begun(self, order: ToEstimate | ToRun) -> str:
        sql = bound(order.sql, order.parameters, _mark)
        # Such a PIVOT leaves its values behind, as a temporary type: the next query opens anew.
        self._of_no_use = self._of_no_use or looks_up_values(sql)
        return sql

    def _each(self, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        while (batch := self.confined(_next, batches)) is not None:
            yield batch

    def _at_end(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        if (why := self.doubt()) is not None:
            raise QueryError(why)
        return columns

    def percent(self, running: Running) -> float | None:
        """The engine's own, as long as no row has come: during fetching it starts again."""
        try:
            percent = self.connection.query_progress()
        except duckdb.Error:  # closed, to be opened anew for this query
            return None
        if running.stage == "running":
            self._highest = max(self._highest, min(percent, 100.0))
        return self._highest if percent >= 0 or self._highest > 0 else None

    def interrupt(self) -> None:
        with suppress(duckdb.Error):
            self.connection.interrupt()

    def end(self, token: object) -> None:
        """Nothing of a DuckDB query is anywhere but in its process."""
        del token

    @contextmanager
    def _errors(self, sql: str = "", before: int = 0) -> Generator[None]:
        try:
            yield
        except duckdb.InterruptException:
            raise Stopped from None
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._of_no_use = True
            raise self.said(error, sql, before) from None


class FileSession(DuckDBSession):
    """One DuckDB file. It is stale as soon as another file has its name."""

    def __init__(self, settings: DuckDBSettings) -> None:
        self._settings = settings
        # Nobody writes to a file that is open here, so another stamp means a file put in its
        # place: the old one, which has no name any more, would be read for as long as one
        # question follows another.
        self._opened = stamp_of(settings.database)
        super().__init__(settings.limits.spill_folder)

    def open(self) -> duckdb.DuckDBPyConnection:
        database = self._settings.database
        try:
            return connect(database, self._settings.limits, self.results.files)
        except duckdb.Error as error:
            raise DatabaseNotOpened(why_not_opened(database, plain(error).message)) from None

    def has_changed(self) -> bool:
        return stamp_of(self._settings.database) != self._opened

    def described(self, seconds: float) -> Schema:
        return describe.schema(self.connection, self._settings.database, seconds)


def _next(batches: pa.RecordBatchReader) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except (OSError, pa.ArrowException) as error:
        # What DuckDB says while rows stream comes wrapped by Arrow.
        text = str(error)
        kind = _WRAPPED.get(text.partition(": ")[0], duckdb.Error)
        raise kind(text) from None


def _mark(name: str) -> str:
    return f"${name}"


def _explained(
    connection: duckdb.DuckDBPyConnection, sql: str, values: dict[str, Scalar] | None
) -> None:
    connection.execute(_EXPLAIN + sql, values).fetchall()


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


def plain(error: duckdb.Error, sql: str = "", before: int = 0) -> QueryError:
    """The engine's words and the place they speak of."""
    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        # DuckDB's own words are about settings that no query can change here.
        return QueryError(_NO_ROOM if "max_temp_directory_size" in text else _NO_MEMORY)
    kind, separator, rest = text.partition(": ")
    try:
        told = json.loads(rest)
        message, position = f"{kind}: {told['exception_message']}", told.get("position")
    except (ValueError, TypeError, KeyError):
        return QueryError(text if separator else kind)
    if position is not None:
        position = max(int(position) - before, 0)
    return QueryError(message, *place_of(sql, position))
