"""Questions with known answers: those of development must be right, held-out ones are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from benchmarks.questions.asked import DATA, read
from benchmarks.questions.evaluate import counts, evaluate
from benchmarks.questions.sets import Asked, sets

if TYPE_CHECKING:
    from awhile.ask.translators.contract import Translator

SETS = {each.name: each for each in sets(None)}
DEVELOPMENT = [each for each in SETS.values() if not each.held_out]
OURS = [each for each in SETS.values() if each.held_out and each.group != "public"]
MOST_WRONG = 0.02
LEAST_RIGHT = 0.70


@pytest.mark.parametrize("asked", DEVELOPMENT, ids=lambda each: each.name)
def test_no_development_question_gets_a_wrong_answer(asked: Asked, translator: Translator) -> None:
    with asked.open() as database:
        outcomes = anyio.run(evaluate, asked, database, translator)
    wrong = [each.question.said for each in outcomes if each.scored.score == "wrong"]
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize("asked", OURS, ids=lambda each: each.name)
def test_of_the_held_out_questions_most_are_right_and_hardly_one_is_wrong(
    asked: Asked, translator: Translator
) -> None:
    with asked.open() as database:
        found = counts(anyio.run(evaluate, asked, database, translator))
    assert found["right"] >= LEAST_RIGHT * len(asked.questions)
    assert found["wrong"] <= MOST_WRONG * len(asked.questions)


def test_a_third_of_the_shop_questions_is_held_out() -> None:
    developed, held_out = (
        len(read(DATA / f"shop_{name}.yaml")) for name in ("development", "held_out")
    )
    assert held_out >= (developed + held_out) / 3
    assert developed + held_out >= 150
