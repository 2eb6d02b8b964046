"""Which numbers of a text file a DOUBLE would not give back: asked in SQL, of the texts."""

from __future__ import annotations

from awhile.ask.engines.quoting import identifier

__all__ = ["all_whole", "would_lose_digits"]

_FRACTION_DIGITS = 17
"""So many digits of a decimal fraction are what programs write of a DOUBLE: it is read as the same
again."""
_WHOLE_DIGITS = 15
"""Every whole number of so many digits is a DOUBLE; of those with more, some are not."""
_LONGEST_WHOLE = 38
"""Digits of a HUGEINT."""


def would_lose_digits(column: str) -> str:
    """An aggregate over a column of texts that are numbers: whether any of them would."""
    name = identifier(column)
    limit = f"if({_whole(name)}, {_WHOLE_DIGITS}, {_FRACTION_DIGITS})"
    return f"coalesce(bool_or({_digits(name)} > {limit}), false)"


def all_whole(column: str) -> str:
    """An aggregate: whether all of them are whole numbers that a HUGEINT holds."""
    name = identifier(column)
    return f"coalesce(bool_and({_whole(name)} AND {_digits(name)} <= {_LONGEST_WHOLE}), false)"


def _whole(name: str) -> str:
    return f"regexp_full_match({name}, '[-+]?[0-9]+')"


def _digits(name: str) -> str:
    return f"length(ltrim(regexp_replace({name}, '[eE].*|[^0-9]', '', 'g'), '0'))"
