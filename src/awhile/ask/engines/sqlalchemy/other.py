"""A database of which nothing is known beyond what SQLAlchemy and SQLGlot know; and SQLite, whose
file needs no server that could be asked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError, QueryRefused
from awhile.ask.engines.sqlalchemy.address import Address
from awhile.ask.engines.sqlalchemy.guard import checked
from awhile.ask.engines.sqlalchemy.rules import rules_of
from awhile.ask.engines.sqlalchemy.statement import Statement
from awhile.ask.engines.sqlalchemy.values import Result
from awhile.ask.engines.workers.messages import OutOfReach
from awhile.ask.engines.workers.serving import Stopped

__all__ = ["OtherDatabase", "SQLiteFile", "checked_for_other"]

_AT_ONCE = 1_000
_UNKNOWN = re.compile(
    r"no such (table|column)|invalid (object|column) name|(does not|doesn't) exist|"
    r"(table|column|view|object) .*(not found|cannot be resolved)|unknown (table|column)|"
    r"ORA-00904|ORA-00942",
    re.IGNORECASE,
)
"""How databases say that a table or column is not there."""


def checked_for_other(
    sql: str, parameters: Mapping[str, Scalar], dialect: str, allowed: frozenset[str]
) -> Statement:
    """See `guard.checked`; the driver binds what is marked."""
    prefix = "awhile"
    while prefix in sql:
        prefix += "_"
    names = {name: f"{prefix}{place}_" for place, name in enumerate(parameters)}
    marks = {name: f":{mark}" for name, mark in names.items()}
    found = checked(sql, parameters, rules_of(dialect), allowed, marks)
    return replace(found, bound={names[name]: value for name, value in parameters.items()})


class OtherDatabase:
    """See `Database`. Its queries end with a rollback, and are stopped as far as the driver can."""

    token: object = OutOfReach()

    def __init__(self, address: Address) -> None:
        self._address = address
        self._interrupted = self._left = False
        self._cursor: Any = None
        self._known: frozenset[str] = frozenset()
        try:
            self._engine = sa.create_engine(
                address.url, poolclass=NullPool, hide_parameters=True, pool_reset_on_return=None
            )
            event.listen(self._engine, "before_cursor_execute", self._note)
            self._connection = self._engine.connect()
            self._driver: Any = self._connection.connection.driver_connection
        except Exception as error:  # noqa: BLE001 - drivers raise what they like
            raise DatabaseNotOpened(
                f"{address.name} cannot be reached ({self._said(error)}); is it running, and the "
                "URL right?"
            ) from None

    @property
    def usable(self) -> bool:
        return not (self._interrupted or self._left or self._connection.invalidated)

    def checked(self, sql: str, parameters: Mapping[str, Scalar]) -> Statement:
        found = checked_for_other(sql, parameters, self._address.dialect, self._address.functions)
        if not found.tables <= self._known:
            self._known = self._names()
        unknown = found.tables - self._known
        if unknown:
            raise QueryError(
                f"{min(unknown)!r} is none of the database's tables and views; one of another "
                "schema is named with that schema",
                unknown_name=True,
            )
        return found

    @contextmanager
    def reading(self, seconds: float | None) -> Generator[None]:
        try:
            yield
        finally:
            with suppress(Exception):
                self._connection.rollback()

    def look(self, statement: Statement) -> None:
        """No statement does that everywhere."""

    @contextmanager
    def rows(self, statement: Statement) -> Generator[Result]:
        with self._errors():
            result = self._connection.execute(
                _text(statement), execution_options={"yield_per": _AT_ONCE}
            )
        cursor: Any = result.cursor
        names = [str(each[0]) for each in cursor.description]
        self._left = True
        try:
            yield Result(names, self._read(result))
        finally:
            if not self._left:
                result.close()

    @contextmanager
    def catalog(self) -> Generator[sa.Connection]:
        try:
            yield self._connection
        finally:
            self._connection.rollback()

    def limited(self, seconds: float) -> AbstractContextManager[None] | None:
        return None

    def tables(self) -> list[str] | None:
        return None

    def interrupt(self) -> None:
        self._interrupted = True
        for each in (self._cursor, self._driver):
            cancel: Callable[[], object] | None = getattr(each, "cancel", None)
            if callable(cancel):
                with suppress(Exception):
                    cancel()
                return

    def stopped(self) -> bool:
        return False

    def end(self, token: object) -> None:
        raise QueryError("what runs on this server cannot be ended from another connection")

    def close(self) -> None:
        with suppress(Exception):
            self._connection.close()
        self._engine.dispose()

    def _names(self) -> frozenset[str]:
        with self._errors():
            inspector = sa.inspect(self._connection)
            names = [*inspector.get_table_names(), *inspector.get_view_names()]
            return frozenset(name.casefold() for name in names)

    def _note(self, _connection: object, cursor: object, *_: object) -> None:
        self._cursor = cursor

    def _read(self, result: sa.CursorResult[Any]) -> Iterator[tuple[Any, ...]]:
        with self._errors():
            for row in result:
                yield tuple(row)
        self._left = False

    def _said(self, error: BaseException) -> str:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        said = " ".join(str(cause).split())
        return self._address.hidden(said or type(cause).__name__)

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except (QueryError, QueryRefused, Stopped):
            raise
        except Exception as error:  # noqa: BLE001 - drivers raise what they like
            if self._interrupted:
                raise Stopped from None
            said = self._said(error)
            raise QueryError(said, unknown_name=bool(_UNKNOWN.search(said))) from None


class SQLiteFile(OtherDatabase):
    """A SQLite file through SQLAlchemy: what runs in it runs in this process."""

    token = None

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._driver.text_factory = _readable
        with self._errors():
            self._connection.exec_driver_sql("PRAGMA query_only = ON")
            self._connection.rollback()

    def look(self, statement: Statement) -> None:
        with self._errors():
            self._connection.execute(_text(statement, "EXPLAIN ")).close()

    @contextmanager
    def limited(self, seconds: float) -> Generator[None]:
        timer = threading.Timer(seconds, self._driver.interrupt)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def interrupt(self) -> None:
        self._interrupted = True
        self._driver.interrupt()

    def stopped(self) -> bool:
        return True

    def end(self, token: object) -> None:
        """Nothing of a query is anywhere but in its process."""


def _readable(cell: bytes) -> str:
    return cell.decode(errors="backslashreplace")


def _text(statement: Statement, before: str = "") -> sa.TextClause:
    """The text with its values bound; every other colon is only a colon."""
    marked = statement.sql.replace(":", "\\:")
    for name in statement.bound:
        marked = marked.replace(f"\\:{name}", f":{name}")
    clause = sa.text(before + marked)
    return clause.bindparams(**cast("dict[str, Any]", statement.bound))
