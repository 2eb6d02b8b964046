"""The PostgreSQL engine: a database on a server, read through a weak role."""

from __future__ import annotations

from collections.abc import Mapping

from awhile.ask.engines.contract import Capabilities, Scalar
from awhile.ask.engines.postgres.address import address_of
from awhile.ask.engines.postgres.guard import checked
from awhile.ask.engines.postgres.session import PostgresSettings
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.pool import Worker
from awhile.processes import Child

__all__ = ["PostgresEngine"]

_LOOK_SECONDS = 60.0
"""How long a look at the catalog holds: a server has no file whose time tells of a change."""


class PostgresEngine(PooledEngine):
    """One PostgreSQL database, read through a weak role in read-only transactions.

    `side_by_side` queries run at once, each in a worker of its own with one connection, and one
    more worker is kept warm. A connection is closed `release_after_seconds` after its last query.
    `grace_seconds` is how long a cancel may take before the worker is killed, and its server
    process ended. After `look_seconds` the catalog is looked at for changes. Raises `ValueError`
    for a URL that cannot be read.
    """

    def __init__(
        self,
        url: str,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        release_after_seconds: float = 30.0,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._address = address_of(url)
        super().__init__(
            Capabilities(
                name="PostgreSQL",
                dialect="postgres",
                percent="of_rows",
                estimate="rows_and_cost",
                interrupt="prompt",
                stop_within_seconds=grace_seconds + 5.0,
                stop_is_proven=True,
                side_by_side=side_by_side,
                principals=self._address.role_by_principal,
            ),
            grace_seconds=grace_seconds,
            look_seconds=look_seconds,
        )
        self._settings = PostgresSettings(self._address, release_after_seconds)

    @classmethod
    def from_database(
        cls, database: str, *, side_by_side: int, memory_limit_bytes: int | None
    ) -> PostgresEngine:
        """The engine of a URL; how much memory a query may use is the server's to say."""
        return cls(database, side_by_side=side_by_side)

    def stamp(self) -> object:
        """There are no files."""
        return None

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        checked(
            sql,
            parameters or {},
            self._address.functions,
            private=self._address.role_by_principal,
        )

    async def start_worker(self) -> Worker:
        return Worker(
            await Child.start("awhile.ask.engines.postgres.session:serve_postgres", self._settings)
        )
