"""Exactly one statement that only reads.

SQLite itself says what a text would do, while it compiles it and before anything runs: it asks an
authorizer about every table, column and function it has resolved. So the guard is that authorizer,
an allow list, in the worker (`Guard`); a second parser would read some texts differently. What can
be told without the database (`check`) is told before that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import isinf

import apsw
import apsw.ext

from awhile.ask.engines.errors import QueryError, QueryRefused
from awhile.ask.engines.listed import listed
from awhile.ask.engines.parameters import Scalar, bound
from awhile.ask.engines.place import place_of
from awhile.ask.engines.sqlite.asking import compiled
from awhile.ask.engines.words import first_word

__all__ = ["Guard", "check", "plain"]

_LONGEST = 200_000
_LARGEST_INTEGER = 2**63
_ONE_SELECT = "exactly one SELECT (or WITH ... SELECT) is run here: the database is only read"
_BEGINNINGS = frozenset(("SELECT", "WITH", "VALUES"))
_NOT_ALLOWED = "it is not on the list of functions that only compute"

_ACTIONS = frozenset((apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_RECURSIVE))
_FUNCTIONS = listed("awhile.ask.engines.sqlite", "functions.txt")
_UNKNOWN = re.compile(r"no such (?:table|column): (.*)", re.DOTALL)
_MODULES = ("pragma_", "dbstat", "sqlite_dbpage", "sqlite_stmt", "bytecode", "tables_used",
            "carray", "fts3tokenize", "fsdir", "completion")  # fmt: skip
"""Tables of SQLite's own that nobody has created: they show the program, or reach beyond."""


def check(sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
    """Raise `QueryRefused` for what cannot be a SELECT; the rest is told by `Guard`."""
    bound(sql, parameters or {}, lambda name: f":{name}")
    for name, value in (parameters or {}).items():
        if isinstance(value, int) and not -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
            raise QueryRefused(f":{name}", "SQLite's whole numbers have 64 bits; give it as a text")
        if isinstance(value, Decimal) and value.is_finite() and isinf(float(value)):
            raise QueryRefused(f":{name}", "it is beyond SQLite's numbers; give it as a text")
    if len(sql) > _LONGEST:
        raise QueryRefused(sql[:20], f"it is longer than {_LONGEST} characters; shorten it")
    if "\0" in sql:
        raise QueryRefused("\\0", "a NUL character ends the text for the engine; remove it")
    word = first_word(sql)
    if not word:
        raise QueryRefused("", f"there is no statement in it; {_ONE_SELECT}")
    if word not in _BEGINNINGS:
        raise QueryRefused(word, _ONE_SELECT)


class Guard:
    """Compiles statements on a connection that answers to this authorizer alone."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tables: frozenset[str] = frozenset()
        self._denied: list[tuple[str, str]] = []

    def arm(self, tables: frozenset[str]) -> None:
        """Allow nothing but reading from now on; `tables` are those of the schema, casefolded."""
        self._tables = tables
        self._denied.clear()
        self._connection.authorizer = self._authorize

    def disarm(self) -> None:
        """Let pass what this program itself asks, such as pragmas."""
        self._connection.authorizer = None

    def compiled(self, sql: str) -> apsw.ext.QueryDetails:
        """What the text is, in SQLite's own words, if it is one SELECT of permitted things.

        Raises `QueryRefused`, `QueryError`.
        """
        try:
            details = compiled(self._connection, sql)
        except apsw.Error as error:
            raise self.refusal() or plain(error, sql) from None
        if details.query_remaining is not None:
            rest = first_word(details.query_remaining)
            if rest:
                raise QueryRefused(rest, f"a second statement; {_ONE_SELECT}")
        if not details.is_readonly or details.is_explain or not details.has_vdbe:
            raise QueryRefused(first_word(sql), _ONE_SELECT)
        return details

    def refusal(self) -> QueryRefused | None:
        """What was denied since the guard was armed, also to an index while it was being read."""
        return QueryRefused(*self._denied[0]) if self._denied else None

    def _authorize(
        self, action: int, one: str | None, two: str | None, _base: str | None, _by: str | None
    ) -> int:
        if action == apsw.SQLITE_FUNCTION:
            name = (two or "").casefold()
            if name in _FUNCTIONS:
                return apsw.SQLITE_OK
            return self._deny(name, _NOT_ALLOWED)
        if action == apsw.SQLITE_PRAGMA and one == "data_version" and two is None:
            return apsw.SQLITE_OK  # how a full-text index notices that others write
        if action not in _ACTIONS:
            word = str(apsw.mapping_authorizer_function.get(action, action))
            return self._deny(word.removeprefix("SQLITE_").replace("_", " "), _ONE_SELECT)
        table = (one or "").casefold()
        if action == apsw.SQLITE_READ and table.startswith(_MODULES) and table not in self._tables:
            return self._deny(table, "it shows the program or the machine, not the database's data")
        return apsw.SQLITE_OK

    def _deny(self, word: str, why: str) -> int:
        self._denied.append((word, why))
        return apsw.SQLITE_DENY


def plain(error: apsw.Error, sql: str = "") -> QueryError:
    """SQLite's own words and the place they speak of."""
    offset = getattr(error, "error_offset", -1)
    unknown = _UNKNOWN.match(str(error))
    if unknown is not None and offset < 0 and sql.count(unknown[1]) == 1:
        # SQLite gives no place for a table that is not there.
        offset = len(sql.partition(unknown[1])[0].encode())
    line, column = place_of(sql, offset) if sql and offset >= 0 else (None, None)
    return QueryError(str(error) or type(error).__name__, line, column, unknown is not None)
