"""What differs between engines, as data: how each is made, and SQL that means the same in each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio.to_thread
import apsw
import duckdb
import psycopg
import pytest

from awhile.ask.engines.contract import Engine
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.engines.files.engine import FilesEngine
from awhile.ask.engines.postgres.engine import PostgresEngine
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.ask.engines.sqlite.engine import SQLiteEngine
from checks.mariadb import Server
from checks.postgres import Cluster
from tests.contract.engines import mariadb, server
from tests.contract.engines.workbooks import write_workbook


@dataclass(frozen=True)
class Listing:
    """What a server is asked over another connection; `marker` is pytest's, for its tests."""

    marker: str
    state: Callable[[str], object]
    """Equal as long as the database of a URL is unchanged."""
    running: Callable[[str], list[str]]
    """The queries of a URL's user that it is running."""


@dataclass(frozen=True)
class EngineCase:
    """One engine on a database of its own, with the same rows in every one."""

    name: str
    make: Callable[..., Engine]
    """Of a path or URL, with the options of its class."""
    database: Callable[[Path, pytest.FixtureRequest], str]
    """Makes one; the path or URL."""
    numbers: str
    """One column `n`: 300,000 whole numbers from 0."""
    endless: dict[str, str]
    """Queries that take minutes, by the kind of work the engine is in."""
    half_way: str
    """A query that fails after many rows."""
    steady: str
    """A query that takes a second or so."""
    session: str
    """A query about what a query before it could have left in the session."""
    amount_type: str = "DECIMAL(10,2)"
    """What the type of `orders.amount` is called."""
    comment: str | None = "One row for each order"
    """What the card says of `orders`; None where the database keeps no comments."""
    view_rows: int | None = None
    """What the card says of the rows of `big_orders`: those of a view are not counted."""
    speaks: str = ""
    """The engine whose SQL it takes, where that is not its own name."""
    held: Callable[[str], AbstractContextManager[object]] = nullcontext
    """Holds the database of a path or URL, so that `slow_to_begin` waits."""
    slow_to_begin: str = "SELECT count(*) FROM customers"
    """A query that takes seconds before it runs, while the database is held or by itself."""
    has_median: bool = True
    """Whether its build of the database is new enough for what the translator writes there."""
    server: Listing | None = None
    """What its server says of itself; None where a query runs in a process of this machine's."""

    @property
    def dialect(self) -> str:
        """The name under which its SQL is kept."""
        return self.speaks or self.name

    @property
    def processes(self) -> bool:
        """Whether a query runs in a process of this machine's, and not on a server."""
        return self.server is None

    async def fingerprint(self, database: str) -> object:
        """Equal as long as the database, and what the next query finds there, are unchanged."""
        if self.server is None:
            return _contents(Path(database))
        return await anyio.to_thread.run_sync(self.server.state, database)


def _contents(database: Path) -> dict[str, bytes]:
    paths = database.rglob("*") if database.is_dir() else database.parent.iterdir()
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


ENDLESS_NUMBERS = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {})"


def _doubled(times: int) -> str:
    """A query of two of a query of two of ..., which takes time to read rather than to run."""
    each = (
        f"t{n} AS NOT MATERIALIZED (SELECT a.x FROM t{n - 1} a, t{n - 1} b)"
        for n in range(1, times)
    )
    return f"WITH t0 AS (SELECT 1 AS x), {', '.join(each)} SELECT count(*) FROM t{times - 1}"


def _duckdb(path: str, **options: Any) -> Engine:
    return DuckDBEngine(Path(path), **options)


def _sqlite(path: str, **options: Any) -> Engine:
    return SQLiteEngine(Path(path), **options)


def _sqlalchemy(path: str, **options: Any) -> Engine:
    return SQLAlchemyEngine(f"sqlite:///{path}", **options)


def _duckdb_database(folder: Path, _: pytest.FixtureRequest) -> str:
    path = folder / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            """
            CREATE TABLE customers (customer_id INTEGER, name VARCHAR, joined_on DATE);
            INSERT INTO customers
              SELECT range, 'Customer ' || range, DATE '2024-01-01' + range::INTEGER
              FROM range(600);
            CREATE TABLE orders (
              order_id BIGINT, customer_id INTEGER, channel VARCHAR, amount DECIMAL(10, 2),
              ordered_at TIMESTAMP);
            INSERT INTO orders
              SELECT range, range % 600,
                     if(range = 399_999, 'Fax', ['Store', 'Website', 'Phone'][1 + range % 3]),
                     range / 7, TIMESTAMP '2025-01-01' + to_minutes(range)
              FROM range(400_000);
            CREATE VIEW big_orders AS FROM orders WHERE amount > 1000;
            COMMENT ON TABLE orders IS 'One row for each order';
            """
        )
    return str(path)


def _files_database(folder: Path, request: pytest.FixtureRequest) -> str:
    """The same in a folder: a workbook, a Parquet file and a CSV file."""
    path = folder / "shop"
    path.mkdir()
    with duckdb.connect(_duckdb_database(folder, request)) as connection:
        connection.execute(f"COPY orders TO '{path}/orders.parquet'")
        connection.execute(f"COPY (FROM big_orders LIMIT 100) TO '{path}/big_orders.csv'")
        write_workbook(path / "customers.xlsx", customers=connection.sql("FROM customers"))
    return str(path)


def files_engine(folder: str, **options: Any) -> FilesEngine:
    """The engine of the files in a folder, in the order in which cases list tables."""
    names = ("customers", "products", "orders", "order_lines", "big_orders")
    paths = [path for name in names for path in Path(folder).glob(f"{name}.*")]
    return FilesEngine(paths, name=Path(folder).stem, **options)


def _sqlite_database(folder: Path, _: pytest.FixtureRequest) -> str:
    path = folder / "shop.sqlite"
    connection: Any = apsw.Connection(str(path))
    connection.execute(
        f"""
        BEGIN;
        CREATE TABLE customers (customer_id INTEGER, name VARCHAR, joined_on DATE);
        INSERT INTO customers
          {ENDLESS_NUMBERS.format(599)}
          SELECT n, 'Customer ' || n, date('2024-01-01', '+' || n || ' days') FROM r;
        CREATE TABLE orders (
          order_id BIGINT, customer_id INTEGER, channel VARCHAR, amount DECIMAL(10,2),
          ordered_at TIMESTAMP);
        INSERT INTO orders
          {ENDLESS_NUMBERS.format(399_999)}
          SELECT n, n % 600,
                 CASE WHEN n = 399999 THEN 'Fax' WHEN n % 3 = 0 THEN 'Store'
                      WHEN n % 3 = 1 THEN 'Website' ELSE 'Phone' END,
                 round(n / 7.0, 2), datetime('2025-01-01', '+' || n || ' minutes')
          FROM r;
        CREATE VIEW big_orders AS SELECT * FROM orders WHERE amount > 1000;
        COMMIT;
        """
    )
    connection.close()
    return str(path)


def _held_file(path: str) -> AbstractContextManager[object]:
    """Somebody writes to it."""
    connection: Any = apsw.Connection(path)
    connection.execute("BEGIN EXCLUSIVE")
    return closing(connection)


def _postgres_database(_: Path, request: pytest.FixtureRequest) -> str:
    cluster: Cluster = request.getfixturevalue("postgres_cluster")
    url = server.new_database(cluster)
    with psycopg.connect(url.owner, autocommit=True) as connection:
        connection.execute(
            """
            CREATE TABLE customers (customer_id integer, name text, joined_on date);
            INSERT INTO customers
              SELECT n, 'Customer ' || n, date '2024-01-01' + n FROM generate_series(0, 599) AS n;
            CREATE TABLE orders (
              order_id bigint, customer_id integer, channel text, amount numeric(10, 2),
              ordered_at timestamp);
            INSERT INTO orders
              SELECT n, n % 600,
                     CASE WHEN n = 399999 THEN 'Fax'
                          ELSE (ARRAY['Store', 'Website', 'Phone'])[1 + n % 3] END,
                     n / 7.0, timestamp '2025-01-01' + n * interval '1 minute'
              FROM generate_series(0, 399999) AS n;
            CREATE VIEW big_orders AS SELECT * FROM orders WHERE amount > 1000;
            COMMENT ON TABLE orders IS 'One row for each order';
            """
        )
    return url.reader


def _mariadb_database(_: Path, request: pytest.FixtureRequest) -> str:
    maria: Server = request.getfixturevalue("mariadb_server")
    urls = mariadb.new_database(maria)
    mariadb.asked(
        urls.owner,
        "CREATE TABLE customers (customer_id int, name varchar(99), joined_on date)",
        "INSERT INTO customers SELECT seq, concat('Customer ', seq), "
        "date '2024-01-01' + INTERVAL seq DAY FROM seq_0_to_599",
        "CREATE TABLE orders (order_id bigint, customer_id int, channel varchar(99), "
        "amount decimal(10, 2), ordered_at datetime) ENGINE=Aria COMMENT 'One row for each order'",
        "INSERT INTO orders SELECT seq, seq % 600, if(seq = 399999, 'Fax', "
        "elt(1 + seq % 3, 'Store', 'Website', 'Phone')), seq / 7, "
        "timestamp '2025-01-01 00:00:00' + INTERVAL seq MINUTE FROM seq_0_to_399999",
        "CREATE VIEW big_orders AS SELECT * FROM orders WHERE amount > 1000",
    )
    return urls.reader


_ENDLESS_SQLITE = {
    "scan": f"{ENDLESS_NUMBERS.format(10**12)} SELECT count(*) FROM r WHERE n % 7 = 9",
    "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount "
    "JOIN orders c ON abs(a.order_id - b.order_id) = c.order_id",
    "sort": f"{ENDLESS_NUMBERS.format(10**9)} SELECT * FROM r ORDER BY n % 1009, n DESC",
    "aggregate": f"{ENDLESS_NUMBERS.format(10**9)} "
    "SELECT n % 40000000, count(DISTINCT n % 1000003) FROM r GROUP BY 1",
}

_DUCKDB = EngineCase(
    name="duckdb",
    make=_duckdb,
    database=_duckdb_database,
    numbers="SELECT range AS n FROM range(300_000)",
    endless={
        "scan": "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3",
        "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount "
        "JOIN orders c ON hash(a.order_id, b.order_id) = c.order_id",
        "sort": "SELECT * FROM (SELECT range AS n, hash(range) AS h FROM range(400_000_000)) "
        "ORDER BY h, n DESC",
        "aggregate": "SELECT hash(range) % 40_000_000, count(DISTINCT hash(range, 1)) "
        "FROM range(4_000_000_000) GROUP BY 1",
    },
    half_way="SELECT CAST(CASE WHEN order_id < 300000 THEN '1' ELSE 'x' END AS INT) FROM orders",
    session="SELECT current_database(), current_schema(), getvariable('x'), "
    "(SELECT count(*) FROM duckdb_tables() WHERE temporary), "
    "(SELECT count(*) FROM duckdb_views() WHERE temporary), "
    "(SELECT count(*) FROM duckdb_functions() WHERE NOT internal), "
    "(SELECT list(schema_name ORDER BY 1) FROM duckdb_schemas())",
    steady="SELECT count(*) FROM range(1_000_000) a JOIN orders b "
    "ON a.range % 999 = order_id % 999",
    slow_to_begin=_doubled(15),
)

CASES = [
    _DUCKDB,
    replace(
        _DUCKDB,
        name="files",
        speaks="duckdb",
        make=files_engine,
        database=_files_database,
        comment="the file 'orders.parquet'",
        view_rows=100,
    ),
    EngineCase(
        name="sqlite",
        make=_sqlite,
        database=_sqlite_database,
        numbers=f"{ENDLESS_NUMBERS.format(299_999)} SELECT n FROM r",
        endless=_ENDLESS_SQLITE,
        half_way="SELECT CASE WHEN order_id < 300000 THEN 1 ELSE abs(-9223372036854775807 - 1) END "
        "FROM orders",
        session="SELECT (SELECT group_concat(sql) FROM temp.sqlite_schema), "
        "(SELECT group_concat(sql) FROM main.sqlite_schema), 'a' LIKE 'A'",
        steady=f"{ENDLESS_NUMBERS.format(3_000_000)} SELECT count(*) FROM r",
        comment=None,
        held=_held_file,
    ),
    EngineCase(
        name="postgres",
        make=PostgresEngine,
        database=_postgres_database,
        numbers="SELECT n FROM generate_series(0::bigint, 299999) AS n",
        endless={
            "scan": "SELECT count(*) FROM generate_series(1, 2000000000) AS n WHERE n % 7 = 9",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount "
            "JOIN orders c ON abs(a.order_id - b.order_id) = c.order_id",
            "sort": "SELECT a.order_id FROM orders a, orders b ORDER BY a.amount * b.amount, 1",
            "aggregate": "SELECT a.order_id % 1009, count(DISTINCT b.order_id) "
            "FROM orders a, orders b GROUP BY 1",
        },
        half_way="SELECT CASE WHEN order_id < 300000 THEN 1 ELSE 1 / (order_id - 300000) END "
        "FROM orders",
        session="SELECT current_user, session_user, current_schemas(true)::text, "
        "(SELECT count(*) FROM pg_class WHERE relpersistence = 't'), to_char(1e6, '9G999G999'), "
        "timestamptz '2025-01-01 00:00:00+00' + interval '1 month'",
        steady="SELECT count(*) FROM generate_series(1, 3000000)",
        amount_type="NUMERIC(10,2)",
        server=Listing("postgres", server.of_server, server.running),
        held=server.held,
    ),
    EngineCase(
        name="mariadb",
        make=SQLAlchemyEngine,
        database=_mariadb_database,
        numbers="SELECT order_id AS n FROM orders WHERE order_id < 300000",
        endless={
            "scan": "SELECT count(*) FROM orders a, orders b WHERE a.order_id * b.order_id = -1",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount "
            "JOIN orders c ON abs(a.order_id - b.order_id) = c.order_id",
            "sort": "SELECT a.order_id FROM orders a, orders b ORDER BY a.amount * b.amount, 1",
            "aggregate": "SELECT a.order_id % 1009, count(DISTINCT b.order_id) "
            "FROM orders a, orders b GROUP BY 1",
        },
        half_way="SELECT 9223372036854475807 + order_id FROM orders",
        session="SELECT database(), 'a' || 'b', (SELECT count(*) FROM information_schema.tables)",
        steady="SELECT count(*) FROM orders a, customers b "
        "WHERE b.customer_id < 20 AND order_id % 999 = b.customer_id % 9",
        server=Listing("mariadb", mariadb.of_server, mariadb.running),
        held=mariadb.held,
    ),
    EngineCase(
        name="sqlalchemy",
        make=_sqlalchemy,
        database=_sqlite_database,
        numbers=f"{ENDLESS_NUMBERS.format(299_999)} SELECT n FROM r",
        endless=_ENDLESS_SQLITE,
        half_way="SELECT CASE WHEN order_id < 300000 THEN 1 ELSE abs(-9223372036854775807 - 1) END "
        "FROM orders",
        session="SELECT group_concat(sql) FROM main.sqlite_schema",
        steady=f"{ENDLESS_NUMBERS.format(3_000_000)} SELECT count(*) FROM r",
        comment=None,
        slow_to_begin=_doubled(14),
        # Python's own SQLite may be older than 3.51.
        has_median=sqlite3.sqlite_version_info >= (3, 51),
    ),
]
