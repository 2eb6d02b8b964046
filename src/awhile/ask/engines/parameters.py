"""Named parameters (`:since`): typed values, bound by the engine and never put into a text.

Source: ours. A value is JSON's own (text, number, true or false, null), or an object that names
the type of a text, for what JSON has no type for: `{"type": "date", "value": "2025-01-01"}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar, cast

from awhile.ask.engines.errors import QueryError, QueryRefused

__all__ = [
    "NO_VALUE",
    "TYPES",
    "Scalar",
    "bound",
    "digits_of",
    "names_in",
    "typed",
    "valued",
    "without_value",
]

_Checked = TypeVar("_Checked")

Scalar = str | int | float | bool | Decimal | date | datetime | None
"""A bound value."""

TYPES: Mapping[str, Callable[[str], Scalar]] = {
    "text": str,
    "integer": int,
    "decimal": Decimal,
    "number": float,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
}
"""The types an object can name, each with how its text is read."""

NO_VALUE = "no value is given for it"
"""How the reason of a refusal begins where a `:name` has none; the refusal's word is that name."""

_MOST_DIGITS = 1_000
"""A longer number counts nothing, and to write it out may take for ever (`1E99999999`)."""
_LARGEST = 10**_MOST_DIGITS

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LEXEMES = re.compile(
    r"""
      (?P<skipped>
          --[^\n]*
        | /\*.*?(?:\*/|\Z)
        | \$(?P<tag>[A-Za-z_][A-Za-z0-9_]*)?\$.*?(?:\$(?P=tag)\$|\Z)
        | (?<![A-Za-z0-9_$])[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)
        | '(?:[^']|'')*(?:'|\Z)
        | "(?:[^"]|"")*(?:"|\Z)
        | ::
        | [A-Za-z0-9_]:(?!:)
      )
      | :(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    """,
    re.VERBOSE | re.DOTALL,
)


def typed(parameters: Mapping[str, Any] | None) -> dict[str, Scalar]:
    """The values of a call by name. Raises `QueryRefused` for what is no name or no value."""
    return {name: _typed(name, value) for name, value in (parameters or {}).items()}


def _typed(name: str, value: Any) -> Scalar:
    if not _NAME.match(name):
        raise QueryRefused(name, "a parameter is named with letters, digits and _, as in :since")
    if value is None or isinstance(value, str | int | float | bool):
        return _sound(name, value)
    if isinstance(value, Mapping):
        told = cast("Mapping[str, Any]", value)
        kind, text = told.get("type"), told.get("value")
        read = TYPES.get(kind) if isinstance(kind, str) else None
        if read is not None and isinstance(text, str) and set(told) == {"type", "value"}:
            try:
                value = read(text)
            except (ValueError, InvalidOperation):
                raise QueryRefused(f":{name}", f"{text!r} is no {kind}") from None
            return _sound(name, value)
    raise QueryRefused(
        f":{name}",
        f"{value!r} is no value: give a text, a number, true, false or null, or "
        f'{{"type": "date", "value": "2025-01-01"}} (types: {", ".join(TYPES)})',
    )


def _sound(name: str, value: Scalar) -> Scalar:
    """The value, unless it is one that no engine has."""
    match value:
        case str() if any("\ud800" <= each <= "\udfff" for each in value):
            why = "half of a character (a lone surrogate) is in it, which is no text; take it out"
        case int() if abs(value) >= _LARGEST:
            why = f"a number of more than {_MOST_DIGITS:,} digits"
        case Decimal() if value.is_snan():
            why = "a NaN that signals is no value; give NaN"
        case Decimal() if sum(digits_of(value)) > _MOST_DIGITS:
            why = f"a number of more than {_MOST_DIGITS:,} digits"
        case _:
            return value
    raise QueryRefused(f":{name}", why)


def digits_of(value: Decimal) -> tuple[int, int]:
    """How many digits it has before the point and behind it, written without an exponent."""
    if not value.is_finite():
        return 0, 0
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # it is a letter where the value is not finite
    return max(len(digits) + exponent, 0), max(-exponent, 0)


def names_in(sql: str) -> tuple[str, ...]:
    """What stands as a `:name` in the text, each once, in its order: none in literals, quoted
    names, comments and casts. In some dialects a few of them are no parameters (`{'a':b}`)."""
    found = (each["name"] for each in _LEXEMES.finditer(sql))
    return tuple(dict.fromkeys(name for name in found if name))


def without_value(names: Iterable[str | None]) -> QueryRefused:
    """The refusal of a text for the parameters in it that have no value; None is one without a
    name."""
    first, *others = names
    if first is None:
        return QueryRefused("?", f"{NO_VALUE}, and nothing to give it by: call it :name")
    also = f", nor for {', '.join(f':{each}' for each in others)}" if any(others) else ""
    return QueryRefused(
        f":{first}", f"{NO_VALUE}{also}; give one by that name, or write the value in the SQL"
    )


def valued(
    sql: str,
    given: Mapping[str, Scalar],
    check: Callable[[Mapping[str, Scalar]], _Checked],
) -> _Checked:
    """What `check` makes of the text with these values.

    An engine takes a `:name` that nothing was written for as a mistake in the SQL. Raises
    `QueryRefused` instead, which names it, if with some value for it the text is none.
    """
    try:
        return check(given)
    except QueryError:
        missing = [name for name in names_in(sql) if name not in given]
        try:
            check({**given, **dict.fromkeys(missing)})
        except QueryError:
            missing = []
        if not missing:
            raise
    raise without_value(missing)


def bound(sql: str, names: Mapping[str, Scalar], mark: Callable[[str], str]) -> str:
    """The text with each `:name` that is a parameter written as the engine's own `mark(name)`.

    Literals, quoted names, comments and casts (`::`) are left alone. Raises `QueryRefused` for a
    parameter that the text does not have: a typing error must not go unnoticed.
    """
    if not names:
        return sql
    used: set[str] = set()

    def written(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None or name not in names:
            return found[0]
        used.add(name)
        return mark(name)

    text = _LEXEMES.sub(written, sql)
    for name in names:
        if name not in used:
            raise QueryRefused(f":{name}", "a value is given for it, and the SQL does not have it")
    return text
