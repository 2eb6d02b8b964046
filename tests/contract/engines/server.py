"""Databases on a PostgreSQL server for the engine's tests, and what is looked up there."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import psycopg

from checks.postgres import Cluster


@dataclass(frozen=True)
class Urls:
    """One new database, by who connects."""

    owner: str
    reader: str
    """A role that can read every table, made by the very SQL that a refusal prints."""
    role: str


_owners: dict[str, str] = {}
"""Of each database, by the URL of its reader."""


def new_database(cluster: Cluster) -> Urls:
    """A new, empty database, and a weak role that will be able to read all of it."""
    name = f"shop_{secrets.token_hex(4)}"
    role, word = f"reader_{name}", secrets.token_hex(8)
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{word}'".encode())
    owner = cluster.dsn(name)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {role}".encode()
        )
    reader = f"postgresql://{role}:{word}@127.0.0.1:{cluster.port}/{name}"
    _owners[reader] = owner
    return Urls(owner, reader, role)


@contextmanager
def held(url: str) -> Generator[None]:
    """`customers` is locked by its owner, so that whoever reads it waits."""
    with psycopg.connect(_owners[url]) as connection:
        connection.execute("LOCK TABLE customers IN ACCESS EXCLUSIVE MODE")
        yield


def of_server(url: str) -> object:
    """Everything a query could have left behind: rows, relations, settings, locks, notifications,
    transactions, and files beside the data."""
    with psycopg.connect(url, autocommit=True) as connection:

        def rows(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql.encode()).fetchall()

        return (
            rows("SELECT md5(string_agg(o::text, ',' ORDER BY order_id)) FROM orders o"),
            rows("SELECT relname, relkind FROM pg_class WHERE relnamespace = 2200::oid ORDER BY 1"),
            rows(
                "SELECT name, setting FROM pg_settings WHERE name <> 'application_name' ORDER BY 1"
            ),
            rows("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
            rows("SELECT count(*) FROM pg_largeobject_metadata"),
            rows("SELECT count(*) FROM pg_prepared_xacts"),
            rows("SELECT rolname FROM pg_roles ORDER BY 1"),
        )


def running(url: str) -> list[str]:
    """The queries of this URL's role that the server is running, by the server's own list."""
    role = urlsplit(url).username or ""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE usename = %s AND state <> 'idle' "
            "AND pid <> pg_backend_pid()",
            (role,),
        )
        return [str(query) for (query,) in found]
