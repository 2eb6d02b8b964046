"""The DuckDB engine: one file, read-only, in processes that can be killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from awhile.ask.engines.contract import Capabilities, Scalar
from awhile.ask.engines.duckdb.guard import check
from awhile.ask.engines.duckdb.session import DuckDBSettings
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.pool import Worker
from awhile.processes import Child

__all__ = ["DuckDBEngine"]

_SPILL_PREFIX = "awhile-duckdb-"


class DuckDBEngine(PooledEngine):
    """One DuckDB file, read-only, locked down, in processes that can be killed.

    `side_by_side` queries run at once, each in a worker of its own, and one more worker is kept
    warm. A worker opens the file for its query and closes it `release_after_seconds` after the
    last, so that its owner can write in between. `grace_seconds` is how long an interrupt may
    take before the worker is killed. `memory_limit_bytes` is per worker; beyond it DuckDB spills
    to `spill_folder` (default: the system's temporary folder), which is emptied after a kill.
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
        release_after_seconds: float = 5.0,
    ) -> None:
        super().__init__(
            Capabilities(
                name="DuckDB",
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
        self._database = database
        self._memory_limit_bytes = memory_limit_bytes or _memory_share(side_by_side)
        self._threads = threads
        self._spill_folder = spill_folder or Path(tempfile.gettempdir())
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

    async def open(self) -> None:
        """Check that the file can be opened, and leave a worker warm."""
        _sweep(self._spill_folder)
        await super().open()

    def stamp(self) -> object:
        return stamp_of(self._database)

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        check(sql, parameters)

    async def start_worker(self) -> Worker:
        spill = Path(
            tempfile.mkdtemp(prefix=f"{_SPILL_PREFIX}{os.getpid()}-", dir=self._spill_folder)
        )
        settings = DuckDBSettings(
            database=self._database,
            spill_folder=spill,
            memory_limit_bytes=self._memory_limit_bytes,
            threads=self._threads,
            release_after_seconds=self._release_after_seconds,
        )
        try:
            child = await Child.start("awhile.ask.engines.duckdb.session:serve_duckdb", settings)
        except BaseException:
            shutil.rmtree(spill, ignore_errors=True)
            raise
        return Worker(child, partial(_remove_tree, spill))


def _remove_tree(folder: Path) -> None:
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
            _remove_tree(left)
