"""The shop questions: each development one must be right, the held-out ones are only counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.contract.translators.scoring import Question, questions, score
from tests.contract.translators.shop import TODAY

if TYPE_CHECKING:
    import duckdb

    from awhile.ask.schema import Schema
    from awhile.ask.translators.contract import Translator

DEVELOPMENT = [each for each in questions() if not each.held_out]
HELD_OUT = [each for each in questions() if each.held_out]


@pytest.mark.parametrize("asked", DEVELOPMENT, ids=lambda each: each.question)
def test_a_shop_question_gets_the_right_rows_or_an_honest_no(
    asked: Question,
    translator: Translator,
    schema: Schema,
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    found = translator.translate(asked.question, schema, TODAY)
    assert score(asked, found, warehouse) == "right", found


def test_of_the_held_out_questions_most_are_right_and_hardly_one_is_wrong(
    translator: Translator,
    schema: Schema,
    warehouse: duckdb.DuckDBPyConnection,
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = Counter(
        score(each, translator.translate(each.question, schema, TODAY), warehouse)
        for each in HELD_OUT
    )
    with capsys.disabled():
        print(f"\nheld-out shop questions, of {len(HELD_OUT)}: {dict(counts)}")  # noqa: T201
    assert counts["right"] >= 0.75 * len(HELD_OUT)
    assert counts["wrong"] <= 0.02 * len(HELD_OUT)


def test_a_third_of_the_questions_is_held_out() -> None:
    assert len(HELD_OUT) >= len(questions()) / 3
    assert len(questions()) >= 120
