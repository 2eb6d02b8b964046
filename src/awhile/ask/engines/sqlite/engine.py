"""The SQLite engine: one file, read-only, in processes that can be killed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from awhile.ask.engines.contract import Capabilities, Scalar
from awhile.ask.engines.sqlite.guard import check
from awhile.ask.engines.sqlite.session import SQLiteSettings
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.pool import Worker
from awhile.processes import Child

__all__ = ["SQLiteEngine"]


class SQLiteEngine(PooledEngine):
    """One SQLite file, read-only, in processes that can be killed. Others may write to it.

    `side_by_side` queries run at once, each in a worker of its own, and one more worker is kept
    warm. `grace_seconds` is how long an interrupt may take before the worker is killed.
    `memory_limit_bytes` is per worker; what sorts need beyond SQLite's cache goes to temporary
    files, which have no name and end with the process.
    """

    def __init__(
        self,
        database: Path,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        release_after_seconds: float = 5.0,
    ) -> None:
        super().__init__(
            Capabilities(
                name="SQLite",
                dialect="sqlite",
                percent="none",
                estimate="none",
                interrupt="prompt",
                stop_within_seconds=grace_seconds + 1.0,
                stop_is_proven=True,
                side_by_side=side_by_side,
            ),
            grace_seconds=grace_seconds,
        )
        self._database = database
        self._settings = SQLiteSettings(database, memory_limit_bytes, release_after_seconds)

    @classmethod
    def from_database(
        cls, database: str, *, side_by_side: int, memory_limit_bytes: int | None
    ) -> SQLiteEngine:
        """The engine of a path, or of a URL: `sqlite:///relative`, `sqlite:////absolute`."""
        return cls(
            Path(database.removeprefix("sqlite:///")),
            side_by_side=side_by_side,
            memory_limit_bytes=memory_limit_bytes,
        )

    def stamp(self) -> object:
        """In WAL mode what is written is in the log until it is folded into the file."""
        log = self._database.with_name(f"{self._database.name}-wal")
        return stamp_of(self._database), stamp_of(log)

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        check(sql, parameters)

    async def start_worker(self) -> Worker:
        return Worker(
            await Child.start("awhile.ask.engines.sqlite.session:serve_sqlite", self._settings)
        )
