"""Questions with known answers: those of development must be right, held-out ones are counted."""

from __future__ import annotations

import anyio
import pytest

from awhile.ask.translators.builtin import BuiltInTranslator
from benchmarks.questions.asked import DATA, read
from benchmarks.questions.evaluate import counts, evaluate
from benchmarks.questions.sets import Asked, sets

ON = {"public": "sqlite"}
"""Ours are asked of DuckDB here; `make eval` asks everything of every engine."""
SETS = [each for each in sets(None) if each.engine == ON.get(each.group, "duckdb")]
DEVELOPMENT = [each for each in SETS if not each.held_out]
OURS = [each for each in SETS if each.held_out and each.group != "public"]
MOST_WRONG = 0.02
LEAST_RIGHT = 0.75


@pytest.mark.parametrize("asked", DEVELOPMENT, ids=lambda each: each.name)
def test_every_development_question_is_right_and_none_of_the_public_ones_wrong(
    asked: Asked,
) -> None:
    with asked.open() as database:
        outcomes = anyio.run(evaluate, asked, database, BuiltInTranslator())
    bad = ("wrong",) if asked.group == "public" else ("wrong", "refused", "asked back")
    assert [each.question.said for each in outcomes if each.scored.score in bad] == []


@pytest.mark.parametrize("asked", OURS, ids=lambda each: each.name)
def test_of_the_held_out_questions_most_are_right_and_hardly_one_is_wrong(asked: Asked) -> None:
    with asked.open() as database:
        found = counts(anyio.run(evaluate, asked, database, BuiltInTranslator()))
    assert found["right"] >= LEAST_RIGHT * len(asked.questions)
    assert found["wrong"] <= MOST_WRONG * len(asked.questions)


def test_a_third_of_the_shop_questions_is_held_out() -> None:
    developed, held_out = (
        len(read(DATA / f"shop_{name}.yaml")) for name in ("development", "held_out")
    )
    assert held_out >= (developed + held_out) / 3
    assert developed + held_out >= 150
