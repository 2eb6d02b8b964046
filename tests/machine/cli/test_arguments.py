"""``key=value`` words as the arguments of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from awhile.cli.arguments import Arguments
from awhile.errors import SettingsError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "year": {"type": "integer", "minimum": 1900},
        "rate": {"type": "number"},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "days": {"type": "array", "items": {"type": "integer"}},
        "where": {"$ref": "#/$defs/Place"},
        "kind": {"enum": ["up", "down", 3]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "many": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "any": {},
    },
    "required": ["name"],
    "$defs": {
        "Place": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }
    },
}


def read(*words: str, whole: dict[str, Any] | None = None) -> dict[str, Any]:
    found = Arguments("report", SCHEMA).read(["name=x", *words], whole)
    assert found.pop("name") == "x"
    return found


@pytest.mark.parametrize(
    ("words", "read_as"),
    [
        (["year=2026"], {"year": 2026}),
        (["rate=0.1"], {"rate": 0.1}),
        (["rate=9007199254740993"], {"rate": 9007199254740993}),
        (["sure=yes"], {"sure": True}),
        (["tags=a"], {"tags": ["a"]}),
        (["tags=a", "tags=b,c"], {"tags": ["a", "b,c"]}),
        (['tags=["a", "b"]'], {"tags": ["a", "b"]}),
        (["days=1", "days=2"], {"days": [1, 2]}),
        (['where={"city": "Bonn"}'], {"where": {"city": "Bonn"}}),
        (["kind=up"], {"kind": "up"}),
        (["kind=3"], {"kind": 3}),
        (["note=null"], {"note": None}),
        (['note:="null"'], {"note": "null"}),
        (["note=a=b"], {"note": "a=b"}),
        (["many=a"], {"many": "a"}),
        (["many=a", "many=b"], {"many": ["a", "b"]}),
        (["any=[1, 2]"], {"any": [1, 2]}),
        (["any=NaN"], {"any": "NaN"}),
    ],
)
def test_a_value_is_read_as_what_the_schema_allows_there(
    words: list[str], read_as: dict[str, Any]
) -> None:
    """Ours."""
    assert read(*words) == read_as


def test_a_text_is_never_taken_for_anything_else() -> None:
    """Ours: not even where it looks like a number, or like JSON."""
    for text in ("2026", "true", "null", "[1]", ""):
        assert Arguments("report", SCHEMA).read([f"name={text}"]) == {"name": text}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["year=soon"], "'year' is given 'soon', and takes a whole number"),
        (["year=1"], "'year' is given '1', and takes a whole number"),
        (["year=1999", "year=2000"], "'year' is given 2 times"),
        (["sure=maybe"], "takes true or false"),
        (["kind=left"], "takes up or down or 3"),
        (["days=1", "days=x"], "takes a list, as JSON"),
        (["yaer=2026"], "has no argument 'yaer'. Did you mean 'year'?"),
        (["where={}"], "'where' is given '{}', and takes an object, as JSON"),
        (["where:={}"], "'where' does not fit: 'city' is a required property"),
        (["note:=x"], "What 'note' is given as JSON is none"),
        (["rate:=NaN"], "What 'rate' is given as JSON is none (NaN is no JSON)"),
        (["year"], "'year' is no argument: it has no '='"),
        (["=x"], "'=x' is no argument"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_wanted(words: list[str], said: str) -> None:
    """Ours: before anything is sent."""
    with pytest.raises(SettingsError) as refused:
        read(*words)
    assert said in str(refused.value)


def test_what_is_missing_is_named_with_its_type() -> None:
    """Ours; given as a whole, it is not missing."""
    with pytest.raises(SettingsError, match=r"'report' needs name \(text\)\. Give key=value\."):
        Arguments("report", SCHEMA).read(["year=2026"])
    assert Arguments("report", SCHEMA).read([], {"name": "y", "year": 2000})["year"] == 2000


def test_what_is_missing_and_not_described_is_named() -> None:
    """Ours: it was a KeyError."""
    with pytest.raises(SettingsError, match=r"'report' needs year \(any value\)\."):
        Arguments("report", {"type": "object", "required": ["year"]}).read([])


def test_the_usage_of_a_tool_is_what_one_types() -> None:
    """Ours: what has to be given comes first."""
    usage = Arguments("report", SCHEMA).usage()
    assert usage.startswith("report name=TEXT [year=INTEGER] [rate=NUMBER] [sure=true|false]")
    assert "[kind=up|down|3]" in usage
    assert Arguments("now", {"type": "object"}).usage() == "now"


ODD: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
    {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "["}}},
    {"type": 7, "properties": {"a": {"type": ["string", 7]}}},
    {"properties": {"a": 7}},
    {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}] * 1000}}},
    {"properties": {"a": {"anyOf": 7}}},
    {"properties": {"a": {"allOf": {"type": "string"}}}},
    {"properties": {"a": {"enum": 7}}},
    {"properties": {"a": {}}, "required": 7},
]


@pytest.mark.parametrize("schema", ODD)
def test_a_schema_that_cannot_be_read_is_left_to_the_server(schema: dict[str, Any]) -> None:
    """Ours: nothing is fetched, and nothing goes round for ever."""
    text = "a" * 40 + "!"
    odd = Arguments("odd", schema)
    assert odd.read([f"a={text}"]) == {"a": text}
    assert odd.usage().startswith("odd ")


def test_names_of_a_hostile_tool_do_not_drive_the_terminal() -> None:
    """Ours."""
    hostile = Arguments("\x1b[31m", {"properties": {"\u202ea": {"enum": ["\x07"]}}, "required": []})
    for said in (hostile.usage(), hostile.signature()):
        assert said.isprintable()
