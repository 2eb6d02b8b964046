"""A connection to a server of MySQL's or MariaDB's: a weak user, read-only transactions."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pymysql

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.sqlalchemy.address import Address
from awhile.ask.engines.sqlalchemy.mysql.driver import Link, Stream, linked
from awhile.ask.engines.sqlalchemy.mysql.reasons import plain, refuse_the_lost, why_not_connected
from awhile.ask.engines.sqlalchemy.mysql.user import check_user
from awhile.ask.engines.sqlalchemy.mysql.values import Result
from awhile.ask.engines.sqlalchemy.statement import Statement
from awhile.ask.engines.workers.serving import Stopped

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["MySQLServer"]

_END_SECONDS = 4.0
_LOOK_SECONDS = 0.02
_SPARE_SECONDS = 2.0
"""How much longer the server goes on by itself than whoever asked waits."""
_LONGEST_GROUP = 2**30
_UNKNOWN_SETTING = 1193

_SETTINGS = {
    # Shown with this offset, whatever the server's zone.
    "time_zone": "'+00:00'",
    "lock_wait_timeout": "10",
    "innodb_lock_wait_timeout": "10",
    # Whatever is longer would be cut without a word.
    "group_concat_max_len": str(_LONGEST_GROUP),
}
_OF_MARIADB = {
    "idle_transaction_timeout": "60",
    # The rows after these would be missing without a word; the time of a query ends it.
    "max_recursive_iterations": str(2**32 - 1),
}
_OF_MYSQL = {"cte_max_recursion_depth": str(2**32 - 1)}
_READ_ALIKE = re.compile(
    r"\b(ANSI|ANSI_QUOTES|DB2|HIGH_NOT_PRECEDENCE|IGNORE_SPACE|MAXDB|MSSQL|MYSQL323|MYSQL40"
    r"|NO_BACKSLASH_ESCAPES|ORACLE|PIPES_AS_CONCAT|POSTGRESQL|REAL_AS_FLOAT)\b,?"
)
"""Modes in which a server reads a text otherwise than the guard does."""

_ME = "SELECT ID, USER, HOST FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
_THERE = (
    "SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = %s AND USER = %s AND HOST = %s"
)
_TABLES = (
    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "
    "AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME"
)


class MySQLServer:
    """See `Database`. After an interrupt, or a result left before its end, it is of no more use."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._link = self._connected()
        self._second: Link | None = None
        self._by_second = threading.Lock()
        """One thread at a time: the one that interrupts, or the one that looks what came of it."""
        self._interrupted = False
        self._catalog: sa.Engine | None = None
        try:
            [(version,)] = self._asked("SELECT VERSION()")
            self._is_mariadb = "mariadb" in str(version).casefold()
            self._prepare()
            check_user(self._grants, address.name, address.database)
            [(number, user, host)] = self._asked(_ME)
        except QueryError as error:
            self._link.drop()
            raise DatabaseNotOpened(
                f"{address.name} could not be asked about its user: {error.message}"
            ) from None
        except DatabaseNotOpened:
            self._link.drop()
            raise
        self._number = int(number)
        self.token: object = (self._number, str(user), str(host))

    @property
    def usable(self) -> bool:
        return bool(self._link.open) and not self._interrupted

    def checked(self, sql: str, parameters: Mapping[str, Scalar]) -> Statement:
        """As it is: the engine has checked it, with the values in it."""
        return Statement(sql)

    @contextmanager
    def reading(self, seconds: float | None) -> Generator[None]:
        self._limit(0 if seconds is None else seconds + _SPARE_SECONDS)
        self._asked("START TRANSACTION READ ONLY")
        try:
            yield
        finally:
            if self._link.open:
                try:
                    self._asked("ROLLBACK")
                except (QueryError, Stopped):
                    self._link.drop()

    def look(self, statement: Statement) -> None:
        self._asked(f"EXPLAIN {statement.sql}")

    @contextmanager
    def rows(self, statement: Statement) -> Generator[Result]:
        stream: Any = self._link.cursor(Stream)
        try:
            with self._errors():
                cells = stream.read(statement.sql)
            yield Result(stream.fields(), self._read(stream, cells))
        finally:
            if stream.unread:
                stream.leave()
                self.stopped()
            elif self._link.open:
                stream.close()

    def catalog(self) -> AbstractContextManager[sa.Connection]:
        if self._catalog is None:
            from sqlalchemy import create_engine
            from sqlalchemy.pool import StaticPool

            self._catalog = create_engine(
                "mysql+pymysql://", creator=lambda: self._link, poolclass=StaticPool
            )
        return self._catalog.connect()

    @contextmanager
    def limited(self, seconds: float) -> Generator[None]:
        self._limit(seconds)
        try:
            yield
        finally:
            self._limit(0)

    def tables(self) -> list[str]:
        """With those that keep their rows' history, which the inspector leaves out."""
        return [str(name) for (name,) in self._asked(_TABLES)]

    def interrupt(self) -> None:
        self._interrupted = True
        with self._by_second, suppress(DatabaseNotOpened, pymysql.Error):
            _ask(self._second_link(), f"KILL QUERY {self._number}")

    def stopped(self) -> bool:
        """Close the connection, and look in the process list until it has left that."""
        self._link.drop()
        with self._by_second, suppress(DatabaseNotOpened, QueryError, pymysql.Error):
            self._end(self._second_link(), self.token)
            return True
        return False

    def end(self, token: object) -> None:
        with self._errors():
            self._end(self._link, token)

    def close(self) -> None:
        for link in (self._link, self._second):
            if link is not None and link.open:
                link.close()

    def _second_link(self) -> Link:
        if self._second is None or not self._second.open:
            self._second = self._connected()
        return self._second

    def _end(self, link: Link, token: object) -> None:
        match token:
            case (int(number), str(user), str(host)):
                where = (number, user, host)
            case _:
                raise QueryError(f"{token!r} is no connection of this server's")
        deadline = time.monotonic() + _END_SECONDS
        while _ask(link, _THERE, where):
            if time.monotonic() > deadline:
                raise QueryError(f"the server's connection {number} does not end")
            with suppress(pymysql.err.OperationalError):  # it has ended meanwhile
                _ask(link, f"KILL CONNECTION {number}")
            time.sleep(_LOOK_SECONDS)

    def _connected(self) -> Link:
        try:
            return linked(self._address.options)
        except TypeError as error:
            raise DatabaseNotOpened(
                f"the URL of {self._address.name} has an option that its driver does not know "
                f"({self._address.hidden(str(error))})"
            ) from None
        except pymysql.Error as error:
            said = self._address.hidden(str(error.args[-1] if error.args else error))
            code = error.args[0] if error.args else None
            raise DatabaseNotOpened(why_not_connected(self._address.name, code, said)) from None

    def _prepare(self) -> None:
        """Settings of the session: what keeps a query apart from everybody else's work."""
        [(modes,)] = self._asked("SELECT @@SESSION.sql_mode")
        kept = _READ_ALIKE.sub("", str(modes)).strip(",")
        settings = {"sql_mode": f"'{kept}'", **_SETTINGS}
        self._asked("SET SESSION " + ", ".join(f"{name} = {to}" for name, to in settings.items()))
        for name, to in (_OF_MARIADB if self._is_mariadb else _OF_MYSQL).items():
            try:
                _ask(self._link, f"SET SESSION {name} = {to}")
            except pymysql.Error as error:
                if error.args[0] != _UNKNOWN_SETTING:  # older servers have not all of them
                    raise plain(error) from None
        self._asked("SET SESSION TRANSACTION READ ONLY")

    def _limit(self, seconds: float) -> None:
        """How long the server lets a statement run; 0 for no limit."""
        if self._is_mariadb:
            self._asked(f"SET SESSION max_statement_time = {seconds:.3f}")
        else:
            self._asked(f"SET SESSION max_execution_time = {int(seconds * 1000)}")

    def _grants(self, roles: str | None) -> Iterable[str]:
        if roles is None:
            return [str(line) for (line,) in self._asked("SHOW GRANTS")]
        # On a connection of its own: what a role may is seen by taking it on.
        link = self._connected()
        with self._errors():
            _ask(link, f"SET ROLE {roles}")
            lines = [str(line) for (line,) in _ask(link, "SHOW GRANTS")]
        link.close()
        return lines

    def _asked(self, sql: str) -> list[tuple[Any, ...]]:
        with self._errors():
            return _ask(self._link, sql)

    def _read(
        self, stream: Stream, cells: Iterable[tuple[bytes | None, ...]]
    ) -> Generator[tuple[Any, ...]]:
        with self._errors():
            yield from cells
            if stream.warned:
                refuse_the_lost(
                    [(int(one[1]), str(one[2])) for one in self._asked("SHOW WARNINGS")]
                )

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except pymysql.Error as error:
            raise plain(error, interrupted=self._interrupted) from None


def _ask(link: Link, sql: str, values: tuple[Any, ...] | None = None) -> list[tuple[Any, ...]]:
    """Every row of a statement of ours. Raises `pymysql.Error`."""
    with link.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
