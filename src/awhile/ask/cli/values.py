"""``--value name=…``: values for the `:names` of SQL, typed as `run_sql` takes them.

Source: ours. A whole number, a number, a date and a date with a time are taken as such, true and
false, too, and anything else as a text; ``name:TYPE=…`` says which it is, and ``name:=JSON`` gives
a value as `run_sql` has it (``name:=null``), as ``key:=JSON`` does in `awhile call`.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from awhile.ask.engines.errors import QueryRefused
from awhile.ask.engines.parameters import NO_VALUE, TYPES, names_in, typed
from awhile.cli.typed import exact_json
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["missing_in", "named_values", "one_value", "unnamed"]

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[+-]?(0|[1-9][0-9]*)?\.[0-9]+\Z")
"""Neither takes a leading zero: `01234` is a postcode."""
_BOOLEANS = {"true": True, "false": False}
_REFUSED = re.compile(rf"refused because of ':(\w+)': {NO_VALUE}")


def named_values(words: Iterable[str]) -> dict[str, Any]:
    """The values that words such as ``since=2026-01-01`` give, by name.

    Raises:
        SettingsError: a word is none, or its value does not fit its type.
    """
    given: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        name, colon, kind = name.removeprefix(":").partition(":")
        if not equals:
            raise SettingsError(
                f"--value {word!r} has no '='. Write --value name=value, for the :name in the SQL."
            )
        if name in given:
            raise SettingsError(f"--value gives :{name} twice; give it once.")
        given[name] = _read(word, text, kind if colon else None)
        try:
            typed({name: given[name]})
        except QueryRefused as no:
            raise SettingsError(f"--value {word!r}: {no.word} {no.why}.") from None
    return given


def one_value(text: str) -> Any:
    """The value that a text is, without anybody saying of which type."""
    if _INTEGER.match(text):
        return {"type": "integer", "value": text}
    if _DECIMAL.match(text):
        return {"type": "decimal", "value": text}
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    for kind, read in (("date", date.fromisoformat), ("timestamp", datetime.fromisoformat)):
        try:
            # Python reads `20260101` and `2026-W01-1`, too, which are numbers and texts to others.
            if re.match(r"\d{4}-\d\d-\d\d", text) and read(text):
                return {"type": kind, "value": text}
        except ValueError:
            continue
    return text


def unnamed(sql: str, given: Mapping[str, Any]) -> bool:
    """Whether the SQL seems to have a `:name` without a value."""
    return any(name not in given for name in names_in(sql))


def missing_in(message: str) -> str | None:
    """The `:name` that a refusal asks a value for."""
    found = _REFUSED.search(message)
    return found and found[1]


def _read(word: str, text: str, kind: str | None) -> Any:
    if kind is None:
        return one_value(text)
    if kind in TYPES:
        return text if kind == "text" else {"type": kind, "value": text}
    if kind:
        raise SettingsError(
            f"--value {word!r}: {kind!r} is no type; there are {', '.join(TYPES)}, and name:=JSON."
        )
    try:
        return exact_json(text)
    except ValueError as no:
        raise SettingsError(
            f"--value {word!r}: {text!r} is no JSON ({no}). Write name=value for a text."
        ) from None
