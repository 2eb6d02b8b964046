"""The form of a question: its fields, and a typed line as the value of one. Pure.

Forms of MCP (2025-11-25 and 2026-07-28, ``client/elicitation``): flat objects of texts, numbers,
yes or no, and choices. What is refused here the server would refuse, too.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FieldKind = Literal["text", "number", "integer", "yes_no", "choice", "choices"]

Value = str | int | float | bool | list[Any]


class Misfit(ValueError):
    """A line that is no value of its field; the message says what is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form."""

    name: str
    title: str
    help: str | None = None
    kind: FieldKind
    required: bool
    default: Any = None
    options: tuple[tuple[Any, str], ...] = ()
    """What may be chosen, each with its label."""
    format: str | None = None
    least: float | None = None
    most: float | None = None
    """Bounds: of a number, of a text's length, or of how many are chosen."""


def fields_of(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields of a form; what has no form that MCP knows is a text."""
    required = _list(schema.get("required"))
    return tuple(
        _field(str(name), _object(one), required=name in required)
        for name, one in _object(schema.get("properties")).items()
    )


def read(field: Field, said: str) -> Value:
    """A typed line, not empty, as the field's value.

    Raises:
        Misfit: it is none.
    """
    match field.kind:
        case "yes_no" | "choice":
            return _chosen(field, said)
        case "choices":
            chosen = [_chosen(field, part) for part in re.split(r"[,\s]+", said) if part]
            _within(len(chosen), field, "{} of them")
            return chosen
        case "integer" | "number":
            return _number(field, said)
        case "text":
            _within(len(said), field, "{} characters long")
            _formed(field, said)
            return said


def in_words(field: Field, value: Any) -> str:
    """A value as the form calls it."""
    labels = {repr(one): label for one, label in field.options}
    if field.kind == "choices":
        return ", ".join(labels.get(repr(one), str(one)) for one in _list(value))
    return labels.get(repr(value), str(value))


def _field(name: str, one: Mapping[str, Any], *, required: bool) -> Field:
    options = _options(one)
    kind = _kind(one, options)
    least, most = {
        "text": ("minLength", "maxLength"),
        "choices": ("minItems", "maxItems"),
    }.get(kind, ("minimum", "maximum"))
    title, help_text = one.get("title"), one.get("description")
    return Field(
        name=name,
        title=title if isinstance(title, str) and title else name,
        help=help_text if isinstance(help_text, str) and help_text else None,
        kind=kind,
        required=required,
        default=one.get("default"),
        options=options,
        format=one.get("format"),
        least=_bound(one.get(least)),
        most=_bound(one.get(most)),
    )


def _kind(one: Mapping[str, Any], options: Sequence[Any]) -> FieldKind:
    match one.get("type"):
        case "array":
            return "choices"
        case "boolean":
            return "yes_no"
        case _ if options:
            return "choice"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case _:
            return "text"


def _options(one: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    if one.get("type") == "boolean":
        return ((True, "yes"), (False, "no"))
    of = _object(one.get("items")) if one.get("type") == "array" else one
    titled = [_object(each) for each in [*_list(of.get("oneOf")), *_list(of.get("anyOf"))]]
    if titled:
        return tuple((each.get("const"), str(each.get("title") or each["const"])) for each in titled
                     if "const" in each)  # fmt: skip
    values, names = _list(of.get("enum")), _list(of.get("enumNames"))
    return tuple(
        (value, str(names[at]) if at < len(names) else str(value))
        for at, value in enumerate(values)
    )


def _chosen(field: Field, said: str) -> Any:
    """By its number, else by its label, or the beginning of one alone."""
    if said.isascii() and said.isdecimal():
        if 1 <= int(said) <= len(field.options):
            return field.options[int(said) - 1][0]
        raise Misfit(f"a number from 1 to {len(field.options)}")
    begun = [one for one in field.options if one[1].casefold().startswith(said.casefold())]
    exact = [one for one in begun if one[1].casefold() == said.casefold()]
    if len(exact or begun) != 1:
        raise Misfit(f"a number from 1 to {len(field.options)}")
    return (exact or begun)[0][0]


def _number(field: Field, said: str) -> int | float:
    what = "a whole number" if field.kind == "integer" else "a number"
    try:
        value = int(said) if field.kind == "integer" else _int_or_float(said)
    except ValueError:
        raise Misfit(what) from None
    if not math.isfinite(value):
        raise Misfit(what)
    if field.least is not None and value < field.least:
        raise Misfit(f"{what} of {field.least:,g} or more")
    if field.most is not None and value > field.most:
        raise Misfit(f"{what} of {field.most:,g} or less")
    return value


def _int_or_float(said: str) -> int | float:
    try:
        return int(said)
    except ValueError:
        return float(said)


def _within(count: int, field: Field, words: str) -> None:
    if field.least is not None and count < field.least:
        raise Misfit(words.format(f"at least {field.least:g}"))
    if field.most is not None and count > field.most:
        raise Misfit(words.format(f"at most {field.most:g}"))


def _formed(field: Field, said: str) -> None:
    match field.format:
        case "email" if not re.fullmatch(r"\S+@\S+", said):
            raise Misfit("an e-mail address")
        case "uri" if not urlsplit(said).scheme:
            raise Misfit("a whole address, such as https://example.com")
        case "date" if not _is(date.fromisoformat, said):
            raise Misfit("a date, such as 2026-11-30")
        case "date-time" if not _is(datetime.fromisoformat, said):
            raise Misfit("a date and time, such as 2026-11-30T12:00:00Z")
        case _:
            pass


def _is(read_as: Any, said: str) -> bool:
    try:
        read_as(said)
    except ValueError:
        return False
    return True


def _bound(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _object(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


__all__ = ["Field", "Misfit", "fields_of", "in_words", "read"]
