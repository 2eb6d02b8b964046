"""The shop of the translators' contract, with the same rows in each engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import apsw
import duckdb
import psycopg
import pytest

from checks.mariadb import Server
from checks.postgres import Cluster
from tests.contract.engines import mariadb
from tests.contract.engines.server import new_database
from tests.contract.engines.workbooks import write_workbook
from tests.contract.translators.shop import DDL, shop

__all__ = ["SHOPS"]

TABLES = ("customers", "products", "orders", "order_lines")
KEYS = {"customers": "customer_id", "products": "product_id", "orders": "order_id"}


def _rows() -> dict[str, list[tuple[Any, ...]]]:
    with shop() as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
            for name in TABLES
        }


def _insert(table: str, width: int, mark: str) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join([mark] * width)})"


def _duckdb(folder: Path, _: pytest.FixtureRequest) -> str:
    path = folder / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(DDL)
        for table, rows in _rows().items():
            connection.executemany(_insert(table, len(rows[0]), "?"), rows)
    return str(path)


def _files(folder: Path, _: pytest.FixtureRequest) -> str:
    """Each table in another kind of file."""
    path = folder / "shop"
    path.mkdir()
    with shop() as connection:
        connection.execute(f"COPY customers TO '{path}/customers.csv' (DELIMITER ';')")
        connection.execute(f"COPY orders TO '{path}/orders.ndjson'")
        connection.execute(f"COPY order_lines TO '{path}/order_lines.parquet'")
        write_workbook(path / "products.xlsx", products=connection.sql("FROM products"))
    return str(path)


def _sqlite(folder: Path, _: pytest.FixtureRequest) -> str:
    path = folder / "shop.sqlite"
    connection: Any = apsw.Connection(str(path))
    with connection:
        connection.execute(DDL)
        for table, rows in _rows().items():
            plain = [tuple(map(_plain, row)) for row in rows]
            connection.executemany(_insert(table, len(rows[0]), "?"), plain)
    connection.close()
    return str(path)


def _plain(value: Any) -> Any:
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


def _postgres(_: Path, request: pytest.FixtureRequest) -> str:
    cluster: Cluster = request.getfixturevalue("postgres_cluster")
    urls = new_database(cluster)
    with psycopg.connect(urls.owner, autocommit=True) as connection:
        connection.execute(DDL.encode())
        with connection.transaction(), connection.cursor() as cursor:
            for table, rows in _rows().items():
                cursor.executemany(_insert(table, len(rows[0]), "%s").encode(), rows)
        connection.execute("ANALYZE")
    return urls.reader


def _mariadb(_: Path, request: pytest.FixtureRequest) -> str:
    server: Server = request.getfixturevalue("mariadb_server")
    urls = mariadb.new_database(server)
    # Its references to other tables have to name the column.
    ddl = re.sub(r"references (\w+)", lambda to: f"references {to[1]}({KEYS[to[1]]})", DDL)
    ddl = ddl.replace("varchar", "varchar(99)").replace("timestamp", "datetime")
    with mariadb.asking(urls.owner) as cursor:
        for statement in ddl.split(";"):
            if statement.strip():
                cursor.execute(statement)
        cursor.execute("BEGIN")
        for table, rows in _rows().items():
            cursor.executemany(_insert(table, len(rows[0]), "%s"), rows)
        cursor.execute("COMMIT")
        cursor.execute(f"ANALYZE TABLE {', '.join(TABLES)}")
    return urls.reader


SHOPS: dict[str, Callable[[Path, pytest.FixtureRequest], str]] = {
    "duckdb": _duckdb,
    "files": _files,
    "sqlite": _sqlite,
    "postgres": _postgres,
    "mariadb": _mariadb,
    "sqlalchemy": _sqlite,
}
"""Makes the shop, by the engine's name in the contract suite; gives its path or URL."""
