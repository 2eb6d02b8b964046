"""Small translations both eras share: instants and numbers, strict in both directions."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@lru_cache(maxsize=4096)  # each look at a task tells the same ones
def write_instant(at_ms: int) -> str:
    """Unix milliseconds as ISO 8601 in UTC, always with milliseconds and ``Z``."""
    return (_EPOCH + at_ms * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_instant(text: str) -> int:
    """ISO 8601 as Unix milliseconds; without a zone it is taken as UTC.

    Raises:
        ValueError: not an ISO 8601 instant.
    """
    at = datetime.fromisoformat(text)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND


def maybe_instant(value: Any) -> int | None:
    """`read_instant` of a field that may be absent or unreadable; None then."""
    if not isinstance(value, str):
        return None
    try:
        return read_instant(value)
    except ValueError:
        return None


def maybe_number(value: Any) -> float | None:
    """A finite number, or None for anything else (booleans, NaN and infinities included)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # JSON may hold whole numbers beyond any float
        return None


def whole(value: Any) -> int | None:
    """A count or a length in whole milliseconds; None for what is negative or no number."""
    number = maybe_number(value)
    return None if number is None or number < 0 else int(number)


def without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value; for optional members, which are left out rather than null."""
    return {name: value for name, value in fields.items() if value is not None}
