"""The databases that are asked: the same shop in each, and what means the same in its SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import duckdb
import psycopg

from checks.postgres import Cluster

ORDERS = 1_500_000
DUCKDB_ORDERS = 5 * ORDERS
"""It reads that many times more in the time that the others need."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One database, and queries on it."""

    key: str
    title: str
    database: str
    """What `--database` takes."""
    bare: Callable[[str], object]
    """Runs a query by the driver, on a connection that is open, and takes every row."""
    queries: Mapping[str, str]
    """`small`, `long` and `wide`: a look-up, seconds of work, and many rows."""
    endless: Mapping[str, str]
    """Queries that take minutes, by the kind of work they are."""
    steady: str
    """A query that takes some seconds, for its progress."""


SMALL = "SELECT channel, count(*), sum(amount) FROM orders WHERE order_id < 1000 GROUP BY 1"
WIDE = "SELECT * FROM orders WHERE order_id < 300000"
LONG = """
SELECT a.customer_id, count(DISTINCT a.order_id * b.customer_id % 100003)
FROM orders a JOIN orders b ON a.order_id = b.order_id GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10
"""
"""Enough rows of its own that 30 ms are little, and few to show."""
NUMBERS = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {})"


def on_duckdb(folder: Path) -> Subject:
    """A DuckDB file."""
    path = folder / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            f"""
            CREATE TABLE orders AS
            SELECT range AS order_id, (range * 7919 % 60013)::INTEGER AS customer_id,
                   ['Store', 'Website', 'Phone'][1 + range % 3] AS channel,
                   (range % 99991 / 7)::DECIMAL(10, 2) AS amount,
                   TIMESTAMP '2025-01-01' + to_seconds(range % 30_000_000) AS ordered_at
            FROM range({DUCKDB_ORDERS})
            """
        )
    opened = duckdb.connect(path, read_only=True)
    return Subject(
        key="duckdb",
        title="DuckDB",
        database=str(path),
        bare=lambda sql: opened.sql(sql).to_arrow_table(),
        queries={"small": SMALL, "wide": WIDE, "long": LONG},
        endless={
            "scan": "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount",
            "aggregate": "SELECT hash(range) % 40_000_000, count(DISTINCT hash(range, 1)) "
            "FROM range(4_000_000_000) GROUP BY 1",
            "sort": "SELECT * FROM (SELECT range AS n, hash(range) AS h FROM range(300_000_000)) "
            "ORDER BY h, n DESC",
        },
        steady=LONG,
    )


def on_sqlite(folder: Path) -> Subject:
    """A SQLite file."""
    path = folder / "shop.sqlite"
    made: Any = apsw.Connection(str(path))
    made.execute(
        f"""
        BEGIN;
        CREATE TABLE orders (
          order_id INTEGER PRIMARY KEY, customer_id INTEGER, channel TEXT, amount NUMERIC,
          ordered_at TEXT);
        INSERT INTO orders
          {NUMBERS.format(ORDERS - 1)}
          SELECT n, n * 7919 % 60013,
                 CASE n % 3 WHEN 0 THEN 'Store' WHEN 1 THEN 'Website' ELSE 'Phone' END,
                 n % 99991 / 7.0, datetime('2025-01-01', '+' || n || ' seconds')
          FROM r;
        COMMIT;
        """
    )
    made.close()
    opened: Any = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    return Subject(
        key="sqlite",
        title="SQLite",
        database=str(path),
        bare=lambda sql: opened.execute(sql).fetchall(),
        queries={"small": SMALL, "wide": WIDE, "long": LONG},
        endless={
            "scan": f"{NUMBERS.format(10**12)} SELECT count(*) FROM r WHERE n % 7 = 9",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount",
            "aggregate": f"{NUMBERS.format(10**9)} "
            "SELECT n % 40000000, count(DISTINCT n % 1000003) FROM r GROUP BY 1",
            "sort": f"{NUMBERS.format(10**9)} SELECT * FROM r ORDER BY n % 1009, n DESC",
        },
        steady=LONG,
    )


def on_postgres(cluster: Cluster) -> Subject:
    """A database on a PostgreSQL server, asked through a weak role."""
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop")
        connection.execute("CREATE ROLE reader LOGIN PASSWORD 'reads'")
    with psycopg.connect(cluster.dsn("shop"), autocommit=True) as connection:
        connection.execute(
            f"""
            CREATE TABLE orders AS
            SELECT n AS order_id, (n * 7919 % 60013)::integer AS customer_id,
                   (ARRAY['Store', 'Website', 'Phone'])[1 + n % 3] AS channel,
                   (n % 99991 / 7.0)::numeric(10, 2) AS amount,
                   timestamp '2025-01-01' + n * interval '1 second' AS ordered_at
            FROM generate_series(0::bigint, {ORDERS - 1}) AS n
            """.encode()
        )
        connection.execute("ALTER TABLE orders ADD PRIMARY KEY (order_id)")
        connection.execute("GRANT SELECT ON orders TO reader")
        connection.execute("ANALYZE orders")
    url = f"postgresql://reader:reads@127.0.0.1:{cluster.port}/shop"
    opened = psycopg.connect(url, autocommit=True)
    return Subject(
        key="postgres",
        title="PostgreSQL",
        database=url,
        bare=lambda sql: opened.execute(sql.encode()).fetchall(),
        queries={"small": SMALL, "wide": WIDE, "long": LONG},
        endless={
            "scan": "SELECT count(*) FROM generate_series(1, 2000000000) AS n WHERE n % 7 = 9",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount",
            "aggregate": "SELECT a.order_id % 1009, count(DISTINCT b.order_id) "
            "FROM orders a, orders b GROUP BY 1",
            "sort": "SELECT a.order_id FROM orders a, orders b ORDER BY a.amount * b.amount, 1",
        },
        steady="SELECT o.*, md5(o::text) FROM orders o",
    )
