"""A connection in a worker: one statement at a time, which only reads."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from awhile.ask.engines.card import identity
from awhile.ask.engines.contract import Estimate
from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.sqlalchemy.address import Address
from awhile.ask.engines.sqlalchemy.database import Database
from awhile.ask.engines.sqlalchemy.placing import placed
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, Stopped, serve, write_rows
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["SQLAlchemySettings", "serve_sqlalchemy"]


@dataclass(frozen=True, slots=True)
class SQLAlchemySettings:
    """What a worker needs to know before its first order."""

    address: Address
    release_after_seconds: float


def serve_sqlalchemy(link: Link, settings: SQLAlchemySettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(_Session, settings.address), settings.release_after_seconds)


def _connected(address: Address) -> Database:
    # Imported only where it is needed: a worker is ready in half the time without SQLAlchemy.
    match address.kind:
        case "mysql":
            from awhile.ask.engines.sqlalchemy.mysql.server import MySQLServer

            return MySQLServer(address)
        case "sqlite":
            from awhile.ask.engines.sqlalchemy.other import SQLiteFile

            return SQLiteFile(address)
        case "other":
            from awhile.ask.engines.sqlalchemy.other import OtherDatabase

            return OtherDatabase(address)


class _Session:
    """One connection, of no more use after a stop: that may still be under way, and must not meet
    the next query."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._database = _connected(address)
        self.token = self._database.token

    def stale(self) -> bool:
        return not self._database.usable

    def close(self) -> None:
        self._database.close()

    def catalog(self, principal: str | None) -> str:
        from awhile.ask.engines.sqlalchemy import describe

        return identity(describe.catalog(self._database))

    def describe(self, seconds: float, principal: str | None) -> Schema:
        from awhile.ask.engines.sqlalchemy import describe

        address = self._address
        return describe.schema(self._database, address.database, address.dialect, seconds)

    def estimate(self, order: ToEstimate) -> Estimate | None:
        """None: nobody has one that holds. But the names are looked up."""
        with self._places(order.sql):
            statement = self._database.checked(order.sql, order.parameters)
            with self._database.reading(None):
                self._database.look(statement)
            return None

    def run(self, order: ToRun, running: Running) -> Fetched:
        with self._places(order.sql):
            statement = self._database.checked(order.sql, order.parameters)
            with self._database.reading(order.seconds):
                running.check()
                try:
                    with self._database.rows(statement) as rows:
                        return write_rows(
                            order,
                            running,
                            rows.columns(),
                            rows.schema,
                            rows.batches(running.check),
                            columns_at_end=rows.columns,
                        )
                except Stopped:
                    raise Stopped(confirmed=self._database.stopped()) from None

    def percent(self, running: Running) -> float | None:
        return None

    def interrupt(self) -> None:
        self._database.interrupt()

    def end(self, token: object) -> None:
        self._database.end(token)

    @contextmanager
    def _places(self, sql: str) -> Generator[None]:
        """Say where in the text it is what the database speaks of."""
        try:
            yield
        except QueryError as error:
            if error.line is not None:
                raise
            line, column = placed(error.message, sql)
            raise QueryError(error.message, line, column, error.unknown_name) from None
