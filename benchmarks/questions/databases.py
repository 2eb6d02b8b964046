"""The databases the questions are on, each with the schema card its engine gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import apsw
import duckdb
import psycopg

from awhile.ask.engines.duckdb import describe as duckdb_describe
from awhile.ask.engines.duckdb import guard as duckdb_guard
from awhile.ask.engines.postgres import describe as postgres_describe
from awhile.ask.engines.postgres import guard as postgres_guard
from awhile.ask.engines.postgres.link import Server
from awhile.ask.engines.sqlite import describe as sqlite_describe
from awhile.ask.engines.sqlite import guard as sqlite_guard

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from awhile.ask.schema import Schema
    from checks.postgres import Cluster

__all__ = ["TODAY", "Database", "on_duckdb", "on_postgres", "on_sqlite"]

TODAY = date(2026, 11, 5)
"""The day every question is asked on, and which the data of the public sets is relative to."""
_SURVEY_SECONDS = 30.0
Rows = Mapping[str, Sequence[tuple[Any, ...]]]
"""The rows of each table, in the order in which keys allow them to be put in."""


class Database(Protocol):
    """Something to ask, and to run a gold on."""

    @property
    def schema(self) -> Schema: ...

    def check(self, sql: str) -> None:
        """Raise for what the engine would not run at all."""
        ...

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the SQL gives. Raises the driver's error."""
        ...

    def gold(self, sql: str) -> list[tuple[Any, ...]]:
        """What the SQL of a gold gives, which may be written for another engine."""
        ...


class _Duck:
    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self._connection = connection
        self.schema = duckdb_describe.schema(connection, Path(name), _SURVEY_SECONDS)
        self.check = duckdb_guard.check

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()

    gold = rows


class _Lite:
    def __init__(self, connection: Any, name: str, gold: Database | None) -> None:
        self._connection = connection
        self.gold = gold.rows if gold else self.rows
        self.schema = sqlite_describe.schema(connection, Path(name), _SURVEY_SECONDS)
        self.check = sqlite_guard.check

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()


class _Postgres:
    def __init__(
        self, connection: psycopg.Connection[tuple[Any, ...]], name: str, gold: Database | None
    ) -> None:
        self._connection = connection
        self.gold = gold.rows if gold else self.rows
        server = Server(connection)
        server.ask(b"BEGIN READ ONLY")
        self.schema = postgres_describe.schema(server, name, _SURVEY_SECONDS)
        server.ask(b"ROLLBACK")

    def check(self, sql: str) -> None:
        postgres_guard.checked(sql, {})

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.encode()).fetchall()


@contextmanager
def on_duckdb(
    connection: duckdb.DuckDBPyConnection, name: str, views: Iterable[str] = ()
) -> Generator[Database]:
    """A filled connection; the golds may use `views`, which are not on the card."""
    with connection:
        made = _Duck(connection, name)
        for view in views:
            connection.execute(view)
        yield made


@contextmanager
def on_sqlite(
    name: str,
    statements: Iterable[str],
    rows: Rows | None = None,
    gold: Database | None = None,
) -> Generator[Database]:
    """A database made by `statements` and `rows` by table, in memory."""
    connection: Any = apsw.Connection(":memory:")
    try:
        for each in statements:
            connection.execute(each)
        for table, values in (rows or {}).items():
            plain = [tuple(map(_as_in_sqlite, row)) for row in values]
            connection.executemany(_insert(table, len(plain[0]), "?"), plain)
        yield _Lite(connection, name, gold)
    finally:
        connection.close()


@contextmanager
def on_postgres(
    cluster: Cluster,
    name: str,
    statements: Iterable[str],
    rows: Rows | None = None,
    gold: Database | None = None,
) -> Generator[Database]:
    """A new database of that name on the cluster, made by `statements` and `rows` by table."""
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    with psycopg.connect(cluster.dsn(name), autocommit=True) as connection:
        for each in statements:
            connection.execute(each.encode())
        with connection.cursor() as cursor:
            for table, values in (rows or {}).items():
                cursor.executemany(_insert(table, len(values[0]), "%s").encode(), values)
        connection.execute("ANALYZE")
        yield _Postgres(connection, name, gold)


def _insert(table: str, width: int, mark: str) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join([mark] * width)})"


def _as_in_sqlite(value: Any) -> Any:
    """As programs put dates and money into SQLite."""
    match value:
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case _:
            return value
