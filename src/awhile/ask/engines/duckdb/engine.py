"""The DuckDB engine: one database, read-only, in processes that can be killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from awhile.ask.engines.contract import (
    Budget,
    Capabilities,
    OnStopped,
    QueryResult,
    Report,
    Scalar,
)
from awhile.ask.engines.duckdb.guard import check
from awhile.ask.engines.duckdb.kept import ToEstimateOver, ToRunOver
from awhile.ask.engines.duckdb.session import DuckDBSettings, Limits
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.messages import Answered
from awhile.ask.engines.workers.pool import Worker
from awhile.processes import Child

__all__ = ["DuckDBEngine", "DuckDBProcesses", "remove_tree"]

_SPILL_PREFIX = "awhile-duckdb-"


class DuckDBProcesses(PooledEngine):
    """What engines have in common whose queries DuckDB runs, in processes that can be killed.

    `side_by_side` queries run at once, each in a worker of its own, and one more worker is kept
    warm. `grace_seconds` is how long an interrupt may take before the worker is killed.
    `memory_limit_bytes` is per worker; beyond it DuckDB spills to `spill_folder` (default: the
    system's temporary folder), which is emptied after a kill, `spill_limit_bytes` at most for each
    worker (default: those at once take half of what is free as they start).
    """

    def __init__(
        self,
        name: str,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        threads: int | None = None,
        spill_folder: Path | None = None,
        spill_limit_bytes: int | None = None,
    ) -> None:
        super().__init__(
            Capabilities(
                name=name,
                dialect="duckdb",
                percent="estimate",
                estimate="none",
                # Up to 15 s inside a sort (measured, DuckDB 2.0.1).
                interrupt="may_lag",
                stop_within_seconds=grace_seconds + 1.0,
                stop_is_proven=True,
                side_by_side=side_by_side,
            ),
            grace_seconds=grace_seconds,
        )
        self._memory_limit_bytes = memory_limit_bytes or _memory_share(side_by_side)
        self._threads = threads
        self._spill_folder = spill_folder or Path(tempfile.gettempdir())
        self._spill_limit_bytes = spill_limit_bytes

    @abstractmethod
    async def start_child(self, limits: Limits) -> Child:
        """A process that serves a session within these limits."""

    async def open(self) -> None:
        """Check that the database can be opened, and leave a worker warm."""
        _sweep(self._spill_folder)
        await super().open()

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        check(sql, parameters)

    async def look_up(
        self,
        sql: str,
        tables: Mapping[str, Path],
        *,
        parameters: Mapping[str, Scalar] | None = None,
    ) -> None:
        """See `ReadsResults.look_up`."""
        self.check(sql, parameters)
        order = ToEstimateOver(sql, parameters or {}, tables=tables)
        await self._pool.order(order, Answered)

    async def run_over(
        self,
        sql: str,
        tables: Mapping[str, Path],
        *,
        report: Report,
        budget: Budget,
        destination: Path,
        on_stopped: OnStopped | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> QueryResult:
        """See `ReadsResults.run_over`."""
        self.check(sql, parameters)
        order = ToRunOver(
            sql,
            budget.rows,
            budget.bytes,
            destination,
            budget.seconds,
            parameters or {},
            principal,
            tables,
        )
        return await self.carry_out(order, report, on_stopped)

    async def start_worker(self) -> Worker:
        spill = self.private_folder()
        try:
            room = self._spill_limit_bytes or self._disk_share()
            limits = Limits(spill, room, self._memory_limit_bytes, self._threads)
            child = await self.start_child(limits)
        except BaseException:
            remove_tree(spill)
            raise
        return Worker(child, partial(remove_tree, spill))

    def _disk_share(self) -> int:
        """Half of what is free, divided among the queries that may run at once."""
        free = shutil.disk_usage(self._spill_folder).free
        return max(free // 2 // self._capabilities.side_by_side, 1)

    def private_folder(self) -> Path:
        """A new temporary folder of this process; whatever a killed one leaves is swept."""
        prefix = f"{_SPILL_PREFIX}{os.getpid()}-"
        return Path(tempfile.mkdtemp(prefix=prefix, dir=self._spill_folder))


class DuckDBEngine(DuckDBProcesses):
    """One DuckDB file, read-only, locked down, in processes that can be killed.

    A worker opens the file for its query and closes it `release_after_seconds` after the last, so
    that its owner can write in between. The rest is as for `DuckDBProcesses`.
    """

    def __init__(
        self,
        database: Path,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        threads: int | None = None,
        spill_folder: Path | None = None,
        spill_limit_bytes: int | None = None,
        release_after_seconds: float = 5.0,
    ) -> None:
        super().__init__(
            "DuckDB",
            side_by_side=side_by_side,
            grace_seconds=grace_seconds,
            memory_limit_bytes=memory_limit_bytes,
            threads=threads,
            spill_folder=spill_folder,
            spill_limit_bytes=spill_limit_bytes,
        )
        self._database = database
        self._release_after_seconds = release_after_seconds

    @classmethod
    def from_database(
        cls, database: str, *, side_by_side: int, memory_limit_bytes: int | None
    ) -> DuckDBEngine:
        """The engine of a path, or of a URL: `duckdb:///relative`, `duckdb:////absolute`."""
        return cls(
            Path(database.removeprefix("duckdb:///")),
            side_by_side=side_by_side,
            memory_limit_bytes=memory_limit_bytes,
        )

    def stamp(self) -> object:
        return stamp_of(self._database)

    async def start_child(self, limits: Limits) -> Child:
        settings = DuckDBSettings(self._database, limits, self._release_after_seconds)
        return await Child.start("awhile.ask.engines.duckdb.session:serve_duckdb", settings)


def remove_tree(folder: Path) -> None:
    """Remove a folder and what is in it, as far as that is possible."""
    shutil.rmtree(folder, ignore_errors=True)


def _memory_share(side_by_side: int) -> int:
    """Six tenths of the machine's memory, divided among the queries that may run at once."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(total * 6 // 10 // side_by_side, 256 * 1024 * 1024)


def _sweep(folder: Path) -> None:
    """Remove what workers of killed programs spilled."""
    for left in folder.glob(f"{_SPILL_PREFIX}*"):
        owner = left.name.removeprefix(_SPILL_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists() and Path("/proc/self").exists():
            remove_tree(left)
