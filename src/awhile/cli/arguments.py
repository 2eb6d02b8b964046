"""``key=value`` words as the arguments of a tool, typed by its input schema. Pure.

A value is read as what the schema allows there; ``key:=JSON`` gives any value as JSON, as HTTPie
does. What does not fit is refused here, with what is wanted: before anything is sent.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from referencing import Registry

from awhile.cli.typed import exact_json
from awhile.errors import SettingsError
from awhile.visible import visible

Schema = Mapping[str, Any]

MOST_SHOWN = 60
MOST_OF_A_FAULT = 300
"""Letters of a value that a message repeats, and of a checker's own words."""

NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list, as JSON",
    "object": "an object, as JSON",
}

_ORDER = ("null", "boolean", "integer", "number", "array", "object", "string")
"""In which a word is tried as each type: what is anything else is a text."""

_YES_OR_NO = {"true": True, "yes": True, "false": False, "no": False}


class Arguments:
    """The arguments of one tool.

    Args:
        tool: its name.
        schema: its input schema.
    """

    def __init__(self, tool: str, schema: Schema) -> None:
        self._tool = tool
        self._schema = schema
        self._properties = _members(schema.get("properties"))
        self._required = [str(one) for one in _several(schema.get("required"))]

    def read(self, words: Sequence[str], whole: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments that words give, over those given as a whole.

        Raises:
            SettingsError: a word or the arguments do not fit; it says which, and what is wanted.
        """
        given: dict[str, Any] = dict(whole or {})
        texts: dict[str, list[str]] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not key.removesuffix(":"):
                raise SettingsError(
                    f"{word!r} is no argument: it has no '='. Write key=value, or key:=JSON for a "
                    f"value as JSON. {self.signature()}"
                )
            if key.endswith(":") and key not in self._properties:
                given[self._known(key[:-1])] = self._json(key[:-1], value)
            else:
                texts.setdefault(self._known(key), []).append(value)
        for key, values in texts.items():
            given[key] = self._value(key, values)
        self._check(given)
        return given

    def signature(self) -> str:
        """What the tool takes, in a line."""
        if not self._properties:
            return f"{visible(self._tool)!r} takes no arguments."
        told = [self._told(key) for key in sorted(self._properties, key=self._optional)]
        return f"{visible(self._tool)!r} takes {', '.join(told)}."

    def usage(self) -> str:
        """The tool and its arguments as they are typed; what may be left out is in brackets."""
        parts = [visible(self._tool)]
        for key in sorted(self._properties, key=self._optional):
            typed = f"{visible(key)}={self._placeholder(key)}"
            parts.append(f"[{typed}]" if self._optional(key) else typed)
        return " ".join(parts)

    def _optional(self, key: str) -> bool:
        return key not in self._required

    def _told(self, key: str) -> str:
        left_out = ", may be left out" if self._optional(key) else ""
        return f"{visible(key)} ({self._wanted(key)}{left_out})"

    def _wanted(self, key: str) -> str:
        alternatives = self._alternatives(self._properties.get(key))
        told = dict.fromkeys(words for one in alternatives for words in _wanted(one))
        return " or ".join(told) or "any value"

    def _placeholder(self, key: str) -> str:
        alternatives = self._alternatives(self._properties[key])
        for one in alternatives:
            if choices := _choices(one):
                return "|".join(visible(_text(choice)) for choice in choices)
        kinds = [kind for one in alternatives for kind in _types(one) if kind != "null"]
        return {"string": "TEXT", "integer": "INTEGER", "number": "NUMBER",
                "boolean": "true|false"}.get(kinds[0] if kinds else "", "JSON")  # fmt: skip

    def _known(self, key: str) -> str:
        """The key, if the tool has it, or takes any."""
        if key in self._properties or not self._properties:
            return key
        if self._schema.get("additionalProperties") not in (None, False):
            return key
        near = difflib.get_close_matches(key, self._properties, n=3)
        meant = f" Did you mean {' or '.join(map(repr, map(visible, near)))}?" if near else ""
        raise SettingsError(f"{self._tool!r} has no argument {key!r}.{meant} {self.signature()}")

    def _json(self, key: str, value: str) -> Any:
        try:
            return exact_json(value)
        except ValueError as error:
            raise SettingsError(
                f"What {key!r} is given as JSON is none ({error}): {_short(value)!r}. Correct "
                f"it; a text needs its own quotes there, or write {key}=TEXT."
            ) from None

    def _value(self, key: str, values: Sequence[str]) -> Any:
        """What one key is given, once or several times."""
        if key not in self._properties:
            return _any(values[0]) if len(values) == 1 else [_any(one) for one in values]
        alternatives = self._alternatives(self._properties[key])
        lists = [one for one in alternatives if "array" in _types(one)]
        if len(values) == 1:
            value = self._read(values[0], alternatives)
        elif lists:
            value = self._list(values, lists[0])
        else:
            raise SettingsError(
                f"{key!r} is given {len(values)} times, and takes {self._wanted(key)}. Give it "
                "once."
            )
        if value is _NOTHING:
            shown = ", ".join(repr(_short(one)) for one in values)
            raise SettingsError(
                f"{key!r} is given {shown}, and takes {self._wanted(key)}. Correct it."
            )
        return value

    def _read(self, text: str, alternatives: Sequence[Schema]) -> Any:
        if not alternatives:
            return _any(text)
        texts = any("string" in _types(one) for one in alternatives)
        for kind in _ORDER:
            for one in alternatives:
                if kind not in _types(one):
                    continue
                value = _as(kind, text)
                if value is _NOTHING and kind == "array" and not texts:
                    value = self._list([text], one)
                if value is not _NOTHING and self._fits(value, one):
                    return value
        for one in alternatives:
            for choice in _choices(one):
                if _text(choice) == text:
                    return choice
        return _NOTHING

    def _list(self, values: Sequence[str], schema: Schema) -> Any:
        """A list of its items, each given by itself."""
        items = self._alternatives(schema.get("items") or {})
        read = [self._read(one, items) for one in values]
        return _NOTHING if any(one is _NOTHING for one in read) else read

    def _alternatives(self, schema: Any, followed: set[str] | None = None) -> list[Schema]:
        """The plain schemas of which a value has to fit one; none where anything goes.

        ``followed``: the references followed so far. None is followed again: it may be a circle, or
        lead to as many schemas as there are ways to it.
        """
        one = _members(schema)
        followed = set() if followed is None else followed
        if isinstance(reference := one.get("$ref"), str):
            if reference in followed:
                return []
            followed.add(reference)
            return self._alternatives(self._referred(reference), followed)
        for word in ("anyOf", "oneOf"):
            if several := _several(one.get(word)):
                found = [self._alternatives(each, followed) for each in several]
                return [] if not all(found) else [plain for each in found for plain in each]
        if whole := _several(one.get("allOf")):
            return self._alternatives(whole[0], followed)
        return [one] if _types(one) or _choices(one) else []

    def _referred(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return {}
        here: Any = self._schema
        for part in reference[2:].split("/"):
            here = _members(here).get(part.replace("~1", "/").replace("~0", "~"))
        return here

    def _fits(self, value: Any, schema: Schema) -> bool:
        return next(self._faults(value, schema), None) is None

    def _check(self, given: Mapping[str, Any]) -> None:
        """Refuse arguments that the tool's schema does."""
        missing = [self._told(key) for key in self._required if key not in given]
        if missing:
            raise SettingsError(f"{self._tool!r} needs {', '.join(missing)}. Give key=value.")
        fault = next(self._faults(dict(given), self._schema), None)
        if fault is not None:
            where = ".".join(map(str, fault.absolute_path))
            raise SettingsError(
                f"{where or self._tool!r} does not fit: {_short(fault.message, MOST_OF_A_FAULT)}. "
                f"{self.signature()}"
            )

    def _faults(self, value: Any, schema: Schema) -> Any:
        whole = {**schema, "$defs": self._schema.get("$defs", {})}
        # With a registry of its own, so that no reference is fetched from anywhere.
        registry: Any = cast("Any", Registry)()
        try:
            faults: list[ValidationError] = sorted(
                _CHECKER(whole, registry=registry).iter_errors(value), key=_depth
            )
        except Exception:  # noqa: BLE001 - a schema may be anything, and the server checks, too
            return iter(())
        return iter(faults)


def _not_checked(*_: object) -> tuple[()]:
    return ()


_CHECKER: Any = cast("Any", validators).extend(
    Draft202012Validator,
    dict.fromkeys(("pattern", "patternProperties", "additionalProperties"), _not_checked),
)
"""Runs no regular expression: a server could send one that never ends."""

_NOTHING: Any = object()


def _as(kind: str, text: str) -> Any:
    """A word as one JSON type; `_NOTHING` where it is none."""
    match kind:
        case "null":
            return None if text == "null" else _NOTHING
        case "boolean":
            return _YES_OR_NO.get(text.lower(), _NOTHING)
        case "string":
            return text
        case _:
            value = _any(text)
            wanted: dict[str, Any] = {
                "integer": int,
                "number": (int, float),
                "array": list,
                "object": dict,
            }
            fits = isinstance(value, wanted[kind]) and not isinstance(value, bool)
            return value if fits else _NOTHING


def _any(text: str) -> Any:
    """As JSON, if it is any; else as text."""
    try:
        return exact_json(text)
    except ValueError:
        return text


def _types(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return (kind,)
    return tuple(map(str, _several(kind)))


def _choices(schema: Schema) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    return _several(schema.get("enum"))


def _wanted(schema: Schema) -> list[str]:
    if choices := _choices(schema):
        return [visible(_text(one)) for one in choices]
    return [NAMES.get(kind, kind) for kind in _types(schema)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _members(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def _several(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _depth(fault: ValidationError) -> int:
    return len(fault.absolute_path)


def _short(text: str, most: int = MOST_SHOWN) -> str:
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[:most]}…"


__all__ = ["Arguments"]
