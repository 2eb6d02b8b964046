"""Earlier results opened in a worker: an empty database, and beside it what each query names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import duckdb

from awhile.ask.engines.duckdb.session import DuckDBSession, Limits, connect, plain
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.workers.serving import serve
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["EarlierSession", "EarlierSettings", "serve_earlier"]


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
        folder = settings.limits.spill_folder / "catalog"
        folder.mkdir(exist_ok=True)
        self._empty = folder / "results.duckdb"
        duckdb.connect(self._empty).close()
        super().__init__(settings.limits.spill_folder)

    def open(self) -> duckdb.DuckDBPyConnection:
        try:
            return connect(self._empty, self._limits, self.results.files)
        except duckdb.Error as error:
            why = plain(error).message
            raise DatabaseNotOpened(f"the results could not be opened: {why}") from None

    def has_changed(self) -> bool:
        return False

    def described(self, seconds: float) -> Schema:
        return Schema(tables=(), database="results")
