"""The databases that are asked: the same shop in each, and what means the same in its SQL.

Those that are files; `servers` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import duckdb

__all__ = [
    "LONG", "ORDERS", "SMALL", "WIDE", "Subject", "on_csv", "on_duckdb", "on_parquet", "on_sqlite",
]  # fmt: skip

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


DUCKDB_SHOP = """
SELECT range AS order_id, (range * 7919 % 60013)::INTEGER AS customer_id,
       ['Store', 'Website', 'Phone'][1 + range % 3] AS channel,
       (range % 99991 / 7)::DECIMAL(10, 2) AS amount,
       TIMESTAMP '2025-01-01' + to_seconds(range % 30_000_000) AS ordered_at
FROM range({})
"""
DUCKDB_ENDLESS = {
    "scan": "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3",
    "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount",
    "aggregate": "SELECT hash(range) % 40_000_000, count(DISTINCT hash(range, 1)) "
    "FROM range(4_000_000_000) GROUP BY 1",
    "sort": "SELECT * FROM (SELECT range AS n, hash(range) AS h FROM range(300_000_000)) "
    "ORDER BY h, n DESC",
}


def on_duckdb(folder: Path) -> Subject:
    """A DuckDB file."""
    path = folder / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE orders AS {DUCKDB_SHOP.format(DUCKDB_ORDERS)}")
    opened = duckdb.connect(path, read_only=True)
    return _by_duckdb("duckdb", "DuckDB", path, opened, DUCKDB_ENDLESS)


def on_parquet(folder: Path) -> Subject:
    """A Parquet file, as many rows as in DuckDB's own."""
    return _data_file(folder / "parquet" / "orders.parquet", "Parquet", DUCKDB_ORDERS)


def on_csv(folder: Path) -> Subject:
    """A CSV file, which is read as a whole by each query."""
    return _data_file(folder / "csv" / "orders.csv", "CSV", ORDERS)


def _data_file(path: Path, title: str, orders: int) -> Subject:
    path.parent.mkdir()
    opened = duckdb.connect()
    opened.execute(f"COPY ({DUCKDB_SHOP.format(orders)}) TO '{path}'")
    opened.execute(f"CREATE VIEW orders AS FROM '{path}'")
    # The others read nothing of the file, or not for long.
    scan = "SELECT count(*) FROM orders, range(100_000) WHERE hash(order_id, range) = 3"
    return _by_duckdb(title.lower(), title, path, opened, {**DUCKDB_ENDLESS, "scan": scan})


def _by_duckdb(
    key: str,
    title: str,
    path: Path,
    opened: duckdb.DuckDBPyConnection,
    endless: Mapping[str, str],
) -> Subject:
    return Subject(
        key=key,
        title=title,
        database=str(path),
        bare=lambda sql: opened.sql(sql).to_arrow_table(),
        queries={"small": SMALL, "wide": WIDE, "long": LONG},
        endless=endless,
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
