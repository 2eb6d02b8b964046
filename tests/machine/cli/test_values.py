"""``--value``: what is typed, and the value that the SQL gets."""

from __future__ import annotations

from typing import Any

import pytest

from awhile.ask.cli.values import missing_in, named_values, unnamed
from awhile.ask.engines.parameters import typed, without_value
from awhile.errors import SettingsError


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("v=2026-01-01", {"type": "date", "value": "2026-01-01"}),
        ("v=2026-01-01T10:30", {"type": "timestamp", "value": "2026-01-01T10:30"}),
        ("v=2026-01-01 10:30+02:00", {"type": "timestamp", "value": "2026-01-01 10:30+02:00"}),
        ("v=9007199254740993", {"type": "integer", "value": "9007199254740993"}),
        ("v=-0.10", {"type": "decimal", "value": "-0.10"}),
        ("v=true", True),
        ("v=01234", "01234"),
        ("v=2026-02-30", "2026-02-30"),
        ("v=20260101", {"type": "integer", "value": "20260101"}),
        ("v=a=b", "a=b"),
        ("v=", ""),
        (":v=x", "x"),
        ("v:text=42", "42"),
        ("v:number=1e3", {"type": "number", "value": "1e3"}),
        ("v:=null", None),
        ('v:={"type": "date", "value": "2026-01-01"}', {"type": "date", "value": "2026-01-01"}),
    ],
)
def test_a_value_is_typed_by_how_it_looks_or_as_it_is_said_to_be(word: str, value: Any) -> None:
    assert named_values([word]) == {"v": value}
    typed({"v": value})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["since"], "no '='"),
        (["a=1", "a=2"], "twice"),
        (["a:money=1"], "is no type; there are text, integer"),
        (["a:date=soon"], ":a 'soon' is no date"),
        (["a:=soon"], "is no JSON"),
        (["a:=NaN"], "is no JSON"),
        (["a b=1"], "letters, digits"),
    ],
)
def test_what_gives_no_value_is_refused_before_anything_is_sent(words: list[str], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        named_values(words)


def test_a_refusal_tells_which_name_to_ask_for() -> None:
    assert missing_in(f"statement 2 of 2: {without_value(['since', 'to'])}; nothing was run") == (
        "since"
    )
    assert missing_in("refused because of 'DROP': no") is None
    assert unnamed("SELECT :a, :b", {"a": 1})
    assert not unnamed("SELECT ':b', :a", {"a": 1})
