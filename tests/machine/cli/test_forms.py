"""A typed line as the value of a field of a form."""

from __future__ import annotations

from typing import Any

import pytest

from awhile.cli.forms import Field, Misfit, fields_of, in_words, read


def field(**schema: Any) -> Field:
    [found] = fields_of({"properties": {"one": schema}, "required": ["one"]})
    return found


COLOURS: dict[str, Any] = {
    "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
}
SEVERAL: dict[str, Any] = {
    "type": "array",
    "items": {"anyOf": COLOURS["oneOf"]},
    "minItems": 1,
    "maxItems": 2,
}


@pytest.mark.parametrize(
    ("schema", "said", "value"),
    [
        ({"type": "string"}, "3", "3"),
        ({"type": "integer"}, "9007199254740993", 9007199254740993),
        ({"type": "number"}, "0.5", 0.5),
        ({"type": "number"}, "3", 3),
        ({"type": "boolean"}, "1", True),
        ({"type": "boolean"}, "No", False),
        ({"type": "boolean"}, "y", True),
        ({"type": "string", **COLOURS}, "2", "g"),
        ({"type": "string", **COLOURS}, "red", "r"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["One"]}, "One", "a"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["One"]}, "2", "b"),
        (SEVERAL, "1, 2", ["r", "g"]),
        (SEVERAL, "green", ["g"]),
        ({"type": "string", "format": "date"}, "2026-11-30", "2026-11-30"),
        ({"type": "string", "format": "date-time"}, "2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z"),
        ({"type": "string", "format": "uri"}, "https://a/b", "https://a/b"),
        ({"type": "string", "format": "email"}, "me@a", "me@a"),
    ],
)
def test_a_line_is_read_as_the_field_has_it(
    schema: dict[str, Any], said: str, value: object
) -> None:
    """Ours."""
    assert read(field(**schema), said) == value


@pytest.mark.parametrize(
    ("schema", "said", "wanted"),
    [
        ({"type": "integer"}, "1.5", "a whole number"),
        ({"type": "number"}, "nan", "a number"),
        ({"type": "integer", "minimum": 3}, "2", "a whole number of 3 or more"),
        ({"type": "number", "maximum": 1}, "1.01", "a number of 1 or less"),
        ({"type": "string", "minLength": 2}, "a", "at least 2 characters long"),
        ({"type": "string", "maxLength": 2}, "abc", "at most 2 characters long"),
        ({"type": "boolean"}, "3", "a number from 1 to 2"),
        ({"type": "boolean"}, "maybe", "a number from 1 to 2"),
        (SEVERAL, "1 2 1", "at most 2 of them"),
        ({"type": "string", "format": "date"}, "tomorrow", "a date, such as 2026-11-30"),
        ({"type": "string", "format": "date-time"}, "now", "a date and time, such as"),
        ({"type": "string", "format": "uri"}, "here", "a whole address"),
        ({"type": "string", "format": "email"}, "me", "an e-mail address"),
    ],
)
def test_a_line_that_does_not_fit_is_not_taken(
    schema: dict[str, Any], said: str, wanted: str
) -> None:
    """Ours: as the server would refuse it, and before."""
    with pytest.raises(Misfit, match=wanted):
        read(field(**schema), said)


def test_what_is_there_already_is_called_as_the_form_calls_it() -> None:
    """Ours."""
    assert in_words(field(type="boolean"), True) == "yes"
    assert in_words(field(type="string", **COLOURS), "g") == "Green"
    assert in_words(field(**SEVERAL), ["r", "g"]) == "Red, Green"
    assert in_words(field(type="integer"), 3) == "3"


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": 7}, {"properties": {"a": 7}}, {"properties": {"a": {"oneOf": [7]}}}],
)
def test_a_form_that_is_none_is_no_error(schema: dict[str, Any]) -> None:
    """Ours: a server may send anything."""
    assert [one.kind for one in fields_of(schema)] in ([], ["text"])
