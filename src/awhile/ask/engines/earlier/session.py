"""Earlier results opened in a worker: for each query, a catalog of the results that it names.

DuckDB reaches them by the read-only descriptors that data files are reached by, and nothing else
(`awhile.ask.engines.files.reading`); the kernel denies its threads to write.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import duckdb

from awhile.ask.engines.contract import Estimate
from awhile.ask.engines.duckdb.session import DuckDBSession, Limits, connect, plain
from awhile.ask.engines.earlier.views import view_of
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.files.reading import PREFIX, Entry, ReadOnlyFiles, location_of
from awhile.ask.engines.quoting import literal
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, serve
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["EarlierSession", "EarlierSettings", "ToEstimateOver", "ToRunOver", "serve_earlier"]

_NO_TABLES: Mapping[str, Path] = {}


@dataclass(frozen=True, slots=True)
class ToRunOver(ToRun):
    """Run one SELECT over these files, by the names of their tables."""

    tables: Mapping[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class ToEstimateOver(ToEstimate):
    """Look one SELECT over these files up, without running it."""

    tables: Mapping[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class EarlierSettings:
    """What a worker needs to know before its first order."""

    limits: Limits
    release_after_seconds: float


def serve_earlier(link: Link, settings: EarlierSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(EarlierSession, settings), settings.release_after_seconds)


class EarlierSession(DuckDBSession):
    """The results of one query after the other."""

    def __init__(self, settings: EarlierSettings) -> None:
        self._limits = settings.limits
        # Beside what DuckDB itself may write, and gone with it.
        self._catalogs = settings.limits.spill_folder / "catalogs"
        self._tables: Mapping[str, Path] = _NO_TABLES
        self._stamps: Mapping[str, object] = {}
        self._files = ReadOnlyFiles({})
        self._number = 0
        super().__init__(settings.limits.spill_folder)

    def open(self) -> duckdb.DuckDBPyConnection:
        self._number += 1
        folder = self._catalogs / str(self._number)
        folder.mkdir(parents=True)
        entries = {
            location_of(number, (f"{name}.parquet",)): _entry(name, path)
            for number, (name, path) in enumerate(self._tables.items())
        }
        self._files = ReadOnlyFiles(entries)
        try:
            self._build(folder / "results.duckdb", entries)
            return connect(folder / "results.duckdb", self._limits, self._prepare)
        except duckdb.Error as error:
            why = self._files.trouble or plain(error)
            raise DatabaseNotOpened(f"the results could not be opened: {why}") from None

    def has_changed(self) -> bool:
        return False

    def described(self, seconds: float) -> Schema:
        return Schema(tables=(), database="results")

    def estimate(self, order: ToEstimate) -> Estimate | None:
        self.read(order.tables if isinstance(order, ToEstimateOver) else _NO_TABLES)
        return super().estimate(order)

    def run(self, order: ToRun, running: Running) -> Fetched:
        self.read(order.tables if isinstance(order, ToRunOver) else _NO_TABLES)
        running.check()
        return super().run(order, running)

    def percent(self, running: Running) -> float | None:
        with suppress(duckdb.Error):  # one query's connection is closed for the next one's
            return super().percent(running)
        return None

    def said(self, error: duckdb.Error, sql: str = "", before: int = 0) -> QueryError:
        if self._files.trouble is not None:
            return QueryError(self._files.trouble)
        return super().said(error, sql, before)

    def read(self, tables: Mapping[str, Path]) -> None:
        """Open these, and nothing of what was open before."""
        stamps = {name: (path, stamp_of(path)) for name, path in tables.items()}
        if stamps == self._stamps:
            self._files.begin()
            return
        self.confined(self.connection.close)
        self._tables, self._stamps = tables, stamps
        shutil.rmtree(self._catalogs, ignore_errors=True)
        self.connection = self.confined(self.open)

    def _build(self, database: Path, entries: Mapping[str, Entry]) -> None:
        with closing(duckdb.connect(database)) as connection:
            self._prepare(connection)
            connection.execute("SET enable_external_access = false")
            for entry, location in zip(entries.values(), entries, strict=True):
                connection.execute(view_of(connection, entry.name, entry.path, location))

    def _prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.register_filesystem(self._files)
        connection.execute(f"SET allowed_directories = [{literal(PREFIX)}]")
        connection.execute("SET enable_external_file_cache = false")


def _entry(name: str, path: Path) -> Entry:
    stamp = stamp_of(path)
    if stamp is None:
        raise DatabaseNotOpened(f"the rows of {name} are gone; list_runs shows what is kept")
    return Entry(name, path, stamp)
