"""Databases on a MariaDB server for the engine's tests, and what is looked up there."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pymysql

from awhile.ask.engines.sqlalchemy.mysql.user import fit_user
from checks.mariadb import Server

__all__ = ["Urls", "asked", "asking", "held", "new_database", "of_server", "running"]


@dataclass(frozen=True)
class Urls:
    """One new database, by who connects."""

    owner: str
    reader: str
    """A user that can read every table, made by the very SQL that a refusal prints."""
    user: str


def new_database(server: Server) -> Urls:
    """A new, empty database, and a weak user that will be able to read all of it."""
    name = f"shop_{secrets.token_hex(4)}"
    user, word = f"reader_{name}", secrets.token_hex(8)
    asked(
        server.url(),
        f"CREATE DATABASE {name}",
        f"CREATE USER {user}@'%' IDENTIFIED BY '{word}'",
        fit_user(name).splitlines()[1].replace("awhile_reader", user),
    )
    urls = Urls(server.url(name), f"mariadb://{user}:{word}@127.0.0.1:{server.port}/{name}", user)
    _owners[urls.reader] = urls.owner
    return urls


_owners: dict[str, str] = {}
"""Of each database, by the URL of its reader."""


@contextmanager
def held(url: str) -> Generator[None]:
    """`customers` is locked by its owner, so that whoever reads it waits."""
    with asking(_owners[url]) as cursor:
        cursor.execute("LOCK TABLES customers WRITE")
        yield


@contextmanager
def asking(url: str) -> Generator[Any]:
    """A cursor of a new connection."""
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port or 0,
        user=parts.username,
        password=parts.password or "",
        database=parts.path.removeprefix("/"),
        autocommit=True,
    )
    with connection, connection.cursor() as cursor:
        yield cursor


def asked(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements; the rows of the last."""
    rows: list[tuple[Any, ...]] = []
    with asking(url) as cursor:
        for statement in statements:
            cursor.execute(statement)
            rows = list(cursor.fetchall())
    return rows


def of_server(url: str) -> object:
    """Everything a query could have left behind: rows, relations, settings, users and locks."""
    with asking(url) as cursor:

        def rows(sql: str) -> list[tuple[Any, ...]]:
            cursor.execute(sql)
            return list(cursor.fetchall())

        return (
            rows("CHECKSUM TABLE orders, customers"),
            rows("SHOW FULL TABLES"),
            rows("SELECT * FROM information_schema.ROUTINES"),
            rows(
                "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES "
                "WHERE VARIABLE_NAME NOT LIKE 'GTID%' ORDER BY 1"
            ),
            rows("SHOW GRANTS"),
        )


def running(url: str) -> list[str]:
    """The queries of this URL's user that the server is running, by the server's own list.

    Without what ended them: a ``KILL`` may stand there a moment longer than its answer takes.
    """
    found = asked(
        url,
        "SELECT INFO FROM information_schema.PROCESSLIST "
        "WHERE ID <> CONNECTION_ID() AND INFO IS NOT NULL AND INFO NOT LIKE 'KILL QUERY %' "
        "AND USER = SUBSTRING_INDEX(USER(), '@', 1)",
    )
    return [str(query) for (query,) in found]
