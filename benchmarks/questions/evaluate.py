"""Asking a translator every question of a set, and scoring what it says."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Sql, Turn
from benchmarks.questions.databases import TODAY
from benchmarks.questions.scoring import score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from awhile.ask.schema import Schema
    from awhile.ask.translators.contract import Translation, Translator
    from benchmarks.questions.asked import Question
    from benchmarks.questions.databases import Database
    from benchmarks.questions.scoring import Score, Scored
    from benchmarks.questions.sets import Asked

__all__ = ["TRANSLATORS", "Outcome", "answer", "counts", "evaluate", "kinds", "quantile"]

TRANSLATORS: Mapping[str, Callable[[], Translator]] = {"built-in": BuiltInTranslator}
"""Every translator that can be measured here, by its name in the table."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question asked: what was said, how it scored, and how long the translating took."""

    question: Question
    found: Translation
    scored: Scored
    milliseconds: float


async def answer(
    question: Question, translator: Translator, schema: Schema
) -> tuple[Translation, float]:
    """What a translator says to a question after those before it, and in how many milliseconds."""
    turns: list[Turn] = []
    for earlier in question.after:
        said = await translator.translate(earlier, schema, TODAY, turns)
        if isinstance(said, Sql):
            turns.append(Turn(earlier, said.sql))
    begun = time.perf_counter()
    found = await translator.translate(question.ask, schema, TODAY, turns)
    return found, (time.perf_counter() - begun) * 1000


async def evaluate(asked: Asked, database: Database, translator: Translator) -> list[Outcome]:
    """Every question of the set, once."""
    # What is derived from a schema is not part of a question's time.
    await translator.translate("how many", database.schema, TODAY)
    outcomes: list[Outcome] = []
    for question in asked.questions:
        found, took = await answer(question, translator, database.schema)
        outcomes.append(Outcome(question, found, score(question, found, database), took))
    return outcomes


def counts(outcomes: Sequence[Outcome]) -> Counter[Score]:
    """How many of each score."""
    return Counter(each.scored.score for each in outcomes)


def kinds(outcomes: Sequence[Outcome]) -> Counter[str]:
    """The wrong ones by kind."""
    wrong = (each.scored.kind for each in outcomes if each.scored.score == "wrong")
    return Counter(kind.partition(":")[0] for kind in wrong)


def quantile(outcomes: Sequence[Outcome], part: float) -> float:
    """The milliseconds that `part` of the questions took at most."""
    times = sorted(each.milliseconds for each in outcomes)
    return times[min(len(times) - 1, int(part * len(times)))] if times else 0.0
