"""What passes on MySQL and MariaDB, and how a value is written there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import QueryRefused
from awhile.ask.engines.listed import listed
from awhile.ask.engines.parameters import digits_of
from awhile.ask.engines.sqlalchemy.guard import Rules, checked
from awhile.ask.engines.sqlalchemy.lexing import Lexis
from awhile.ask.engines.sqlalchemy.rules import SYNTAX
from awhile.ask.engines.sqlalchemy.statement import Statement

__all__ = ["checked_for_mysql"]

_MOST_DIGITS, _MOST_BEHIND_THE_POINT = 65, 30
_TOO_LONG = (
    f"the decimals here have {_MOST_DIGITS} digits, {_MOST_BEHIND_THE_POINT} of them behind the "
    "point; give it as a number or a text"
)
"""The server would take the nearest number that it has, and say nothing."""

_HERE = "awhile.ask.engines.sqlalchemy.mysql"
_SKIPPED = re.compile(
    r"""\s+ | \#[^\n]* | --(?=\s|\Z)[^\n]* | /\*(?!M?!|\+)(?:(?!/\*).)*?\*/""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
"""`--` begins a comment only before a blank, and `/*!` and `/*M!` begin none at all."""
_QUOTED = re.compile(
    r"""(?:_\w+\s* | [nNxXbB])? (?:'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*") \Z
      | `(?:[^`]|``)*` \Z""",
    re.DOTALL | re.VERBOSE,
)
_CATALOG = frozenset(
    (
        *("character_sets", "check_constraints", "collations", "column_statistics", "columns"),
        *("key_column_usage", "keywords", "partitions", "referential_constraints", "schemata"),
        *("statistics", "table_constraints", "tables", "views"),
    )
)

"""Tables of information_schema that tell of the data alone."""

_RULES = Rules(
    Lexis("mysql", _SKIPPED, _QUOTED),
    listed(_HERE, "functions.txt"),
    SYNTAX | listed(_HERE, "syntax.txt"),
    {
        "information_schema": _CATALOG,
        **{name: frozenset[str]() for name in ("mysql", "performance_schema", "sys")},
    },
)


def checked_for_mysql(
    sql: str, parameters: Mapping[str, Scalar], allowed: frozenset[str]
) -> Statement:
    """See `guard.checked`."""
    return checked(sql, parameters, _RULES, allowed, _literals(parameters))


def _literals(parameters: Mapping[str, Scalar]) -> dict[str, str]:
    """How each value is written into a text: its drivers in Python bind none on the server.

    A text becomes hexadecimal digits, so that nothing in it can end it, whatever the settings.
    Raises `QueryRefused` for a number that these databases have not.
    """
    return {name: _literal(name, value) for name, value in parameters.items()}


def _literal(name: str, value: Scalar) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f"_utf8mb4 x'{value.encode(errors='surrogatepass').hex()}'"
        case int():
            if abs(value) >= 10**_MOST_DIGITS:
                raise QueryRefused(f":{name}", _TOO_LONG)
            return f"({value})" if value < 0 else str(value)
        case float():
            if value - value != 0:
                raise QueryRefused(f":{name}", f"{value!r} is no number here")
            # Without an exponent it would be a decimal.
            return f"({value!r})" if "e" in repr(value) else f"({value!r}e0)"
        case Decimal():
            if not value.is_finite():
                raise QueryRefused(f":{name}", f"{value} is no number here")
            whole, fraction = digits_of(value)
            if whole + fraction > _MOST_DIGITS or fraction > _MOST_BEHIND_THE_POINT:
                raise QueryRefused(f":{name}", _TOO_LONG)
            return f"({value:f})"
        case datetime():
            here = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return f"TIMESTAMP'{here.isoformat(sep=' ')}'"
        case date():
            return f"DATE'{value.isoformat()}'"
