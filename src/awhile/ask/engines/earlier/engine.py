"""Runs SELECTs over earlier results, in processes that can be killed."""

from __future__ import annotations

from pathlib import Path

from awhile.ask.engines.duckdb.engine import DuckDBProcesses
from awhile.ask.engines.duckdb.session import Limits
from awhile.ask.engines.earlier.session import EarlierSettings
from awhile.processes import Child

__all__ = ["EarlierResults"]

_RELEASE_SECONDS = 30.0


class EarlierResults(DuckDBProcesses):
    """DuckDB over kept results alone. What of them a query may read is given with the query.

    Nothing is started before the first query. The rest is as for `DuckDBProcesses`.
    """

    def __init__(
        self,
        *,
        side_by_side: int = 1,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        threads: int | None = None,
        spill_folder: Path | None = None,
    ) -> None:
        super().__init__(
            "DuckDB",
            side_by_side=side_by_side,
            grace_seconds=grace_seconds,
            memory_limit_bytes=memory_limit_bytes,
            threads=threads,
            spill_folder=spill_folder,
        )

    async def open(self) -> None:
        """Take queries (again)."""
        self._pool.open()

    def stamp(self) -> object:
        return None

    async def start_child(self, limits: Limits) -> Child:
        settings = EarlierSettings(limits, _RELEASE_SECONDS)
        return await Child.start("awhile.ask.engines.earlier.session:serve_earlier", settings)
