"""Values as PostgreSQL binds them: a text each, and what type that text is of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from awhile.ask.engines.contract import Scalar

__all__ = ["bindings"]

_LARGEST_INTEGER = 2**63
_UNKNOWN, _BOOLEAN, _INTEGER, _DOUBLE, _NUMERIC = 0, 16, 20, 701, 1700
_DATE, _TIMESTAMP, _TIMESTAMP_WITH_ZONE = 1082, 1114, 1184


def bindings(values: Sequence[Scalar]) -> tuple[list[bytes | None], list[int]]:
    """Texts, and the types' object ids; a text's own type is left to where it stands."""
    texts = [None if value is None else _text(value).encode() for value in values]
    return list(texts), [_type(value) for value in values]


def _text(value: Scalar) -> str:
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return repr(value)
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _type(value: Scalar) -> int:
    match value:
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER if -_LARGEST_INTEGER <= value < _LARGEST_INTEGER else _NUMERIC
        case float():
            return _DOUBLE
        case Decimal():
            return _NUMERIC
        case datetime():
            return _TIMESTAMP if value.tzinfo is None else _TIMESTAMP_WITH_ZONE
        case date():
            return _DATE
        case _:
            return _UNKNOWN
