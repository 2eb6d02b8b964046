"""The engine for every database that SQLAlchemy speaks with and that has no engine of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

import anyio

from awhile.ask.engines.contract import Capabilities, Scalar
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.sqlalchemy.address import Address
from awhile.ask.engines.sqlalchemy.mysql.rules import checked_for_mysql
from awhile.ask.engines.sqlalchemy.other import checked_for_other
from awhile.ask.engines.sqlalchemy.session import SQLAlchemySettings
from awhile.ask.engines.sqlalchemy.urls import address_of
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.pool import Worker
from awhile.processes import Child

__all__ = ["SQLAlchemyEngine"]

_LOOK_SECONDS = 60.0
"""How long a look at the catalog holds: a server has no file whose time tells of a change."""
_PAID = frozenset({"athena", "bigquery", "databricks", "redshift", "snowflake"})
"""By SQLGlot's name: warehouses whose queries are billed, each or by the time they run."""
_OPEN_SECONDS = 30.0
"""How long a database may take to answer at all, whatever its driver would wait."""


class SQLAlchemyEngine(PooledEngine):
    """One database, by its URL, read through workers with a connection each.

    `side_by_side` queries run at once, and one more worker is kept warm. A connection is closed
    `release_after_seconds` after its last query. `grace_seconds` is how long a stop may take before
    the worker is killed. Raises `ValueError` for a URL that cannot be used, with what is missing.
    """

    def __init__(
        self,
        database: str | Address,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        release_after_seconds: float = 30.0,
    ) -> None:
        self._address = database if isinstance(database, Address) else address_of(database)
        super().__init__(
            _capabilities(self._address, side_by_side, grace_seconds),
            grace_seconds=grace_seconds,
            look_seconds=_LOOK_SECONDS,
        )
        self._settings = SQLAlchemySettings(self._address, release_after_seconds)

    @classmethod
    def from_database(
        cls, database: str, *, side_by_side: int, memory_limit_bytes: int | None
    ) -> SQLAlchemyEngine:
        """The engine of a URL; how much memory a query may use is the server's to say."""
        return cls(database, side_by_side=side_by_side)

    async def open(self) -> None:
        """See `Engine.open`."""
        with anyio.move_on_after(_OPEN_SECONDS) as scope:
            await super().open()
        if scope.cancelled_caught:
            raise DatabaseNotOpened(
                f"{self._address.name} has not answered for {_OPEN_SECONDS:g} s; is the address "
                "right, and nothing between that holds connections back?"
            )

    def stamp(self) -> object:
        """There are no files."""
        return None

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        self.prepared(sql, parameters)

    def prepared(
        self, sql: str, parameters: Mapping[str, Scalar] | None
    ) -> tuple[str, Mapping[str, Scalar]]:
        given, functions = parameters or {}, self._address.functions
        if self._address.kind == "mysql":
            return checked_for_mysql(sql, given, functions).sql, {}
        checked_for_other(sql, given, self._address.dialect, functions)
        # The worker checks it once more, for it knows which tables there are.
        return sql, given

    async def start_worker(self) -> Worker:
        return Worker(
            await Child.start(
                "awhile.ask.engines.sqlalchemy.session:serve_sqlalchemy", self._settings
            )
        )


def _capabilities(address: Address, side_by_side: int, grace_seconds: float) -> Capabilities:
    known = address.kind != "other"
    ending = {"mysql": 5.0, "sqlite": 1.0, "other": math.inf}[address.kind]
    return Capabilities(
        name=address.product,
        dialect=address.dialect,
        percent="none",
        estimate="none",
        interrupt="prompt" if known else "may_lag",
        stop_within_seconds=grace_seconds + ending,
        stop_is_proven=known,
        side_by_side=side_by_side,
        costs_money=address.dialect in _PAID,
    )
