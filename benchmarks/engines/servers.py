"""The databases on servers that are asked, each through a weak role of its own."""

from __future__ import annotations

import secrets

import psycopg
import pymysql

from awhile.ask.engines.sqlalchemy.mysql.user import fit_user
from benchmarks.engines.subjects import LONG, ORDERS, SMALL, WIDE, Subject
from checks.mariadb import Server
from checks.postgres import Cluster

__all__ = ["on_mariadb", "on_postgres"]

_THIRD = f"WHERE a.order_id < {ORDERS // 3} GROUP"


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


def on_mariadb(server: Server) -> Subject:
    """A database on a MariaDB server."""
    owner = pymysql.connect(unix_socket=server.socket, user="root", autocommit=True)
    word = secrets.token_hex(8)
    with owner, owner.cursor() as cursor:
        for statement in (
            "CREATE DATABASE shop",
            f"CREATE USER reader@'%' IDENTIFIED BY '{word}'",
            fit_user("shop").splitlines()[1].replace("awhile_reader", "reader"),
            f"""
            CREATE TABLE shop.orders (
              order_id BIGINT PRIMARY KEY, customer_id INT, channel VARCHAR(10),
              amount DECIMAL(10, 2), ordered_at DATETIME) AS
            SELECT seq AS order_id, seq * 7919 % 60013 AS customer_id,
                   ELT(1 + seq % 3, 'Store', 'Website', 'Phone') AS channel,
                   seq % 99991 / 7 AS amount,
                   TIMESTAMPADD(SECOND, seq, '2025-01-01') AS ordered_at
            FROM mysql.seq_0_to_{ORDERS - 1}
            """,
            "ANALYZE TABLE shop.orders",
        ):
            cursor.execute(statement)
    opened = pymysql.connect(
        host="127.0.0.1", port=server.port, user="reader", password=word, database="shop"
    )

    def bare(sql: str) -> object:
        with opened.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    return Subject(
        key="mariadb",
        title="MariaDB",
        database=f"mariadb://reader:{word}@127.0.0.1:{server.port}/shop",
        bare=bare,
        # All of the rows take so long that nothing else would be measured.
        queries={"small": SMALL, "wide": WIDE, "long": LONG.replace("GROUP", _THIRD)},
        endless={
            "scan": "SELECT count(*) FROM orders a, orders b WHERE a.order_id * b.order_id = -1",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount",
            "aggregate": "SELECT a.order_id % 1009, count(DISTINCT b.order_id) "
            "FROM orders a, orders b GROUP BY 1",
            "sort": "SELECT a.order_id FROM orders a, orders b ORDER BY a.amount * b.amount, 1",
        },
        steady=LONG,
    )
