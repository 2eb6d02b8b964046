"""Asking a translator every question of a set, and scoring what it says."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Corrects, Sql, Translator, Turn
from awhile.ask.translators.models.providers import chosen
from awhile.ask.translators.models.together import Together
from awhile.ask.translators.models.translator import ModelTranslator
from benchmarks.questions.databases import TODAY
from benchmarks.questions.scoring import score

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from awhile.ask.translators.contract import Translation
    from benchmarks.questions.asked import Question
    from benchmarks.questions.databases import Database
    from benchmarks.questions.scoring import Score, Scored
    from benchmarks.questions.sets import Asked

__all__ = [
    "BUILT_IN",
    "Made",
    "Outcome",
    "answer",
    "counts",
    "evaluate",
    "kinds",
    "quantile",
    "translators",
]

BUILT_IN = "built-in"
Made = Callable[[], AbstractAsyncContextManager[Translator]]
"""Makes a translator, for as long as it is used."""


def translators(
    model: str | None = None, url: str | None = None, sees: Sequence[str] = ()
) -> dict[str, Made]:
    """Those to measure, by their names in the table: with a model also it, and both together.

    Args:
        model: as the setting of that name has it.
        url: as the setting `model_url`.
        sees: as the setting `model_sees`.

    Raises:
        SettingsError: the model cannot be used.
    """
    made: dict[str, Made] = {BUILT_IN: _built_in}
    if model is not None:
        name = chosen(model, url=url).name
        if sees:
            name += f" that sees {','.join(sees)}"
        made[name] = partial(_model, model, url, sees)
        made[f"{BUILT_IN}, then {name}"] = partial(_together, model, url, sees)
    return made


@asynccontextmanager
async def _built_in() -> AsyncGenerator[Translator]:
    yield BuiltInTranslator()


def _model(name: str, url: str | None, sees: Sequence[str]) -> ModelTranslator:
    return ModelTranslator(chosen(name, url=url), may_show=sees)


@asynccontextmanager
async def _together(name: str, url: str | None, sees: Sequence[str]) -> AsyncGenerator[Translator]:
    async with _model(name, url, sees) as model:
        yield Together(BuiltInTranslator(), model, "abstains")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question asked: what was said, how it scored, and how long the translating took."""

    question: Question
    found: Translation
    scored: Scored
    milliseconds: float


async def answer(
    question: Question, translator: Translator, database: Database
) -> tuple[Translation, float]:
    """What a translator says to a question after those before it, and in how many milliseconds."""
    turns: list[Turn] = []
    for earlier in question.after:
        said = await translator.translate(earlier, database.schema, TODAY, turns)
        if isinstance(said, Sql):
            turns.append(Turn(earlier, said.sql))
    begun = time.perf_counter()
    found = await translator.translate(question.ask, database.schema, TODAY, turns)
    if isinstance(found, Sql) and isinstance(translator, Corrects):
        found = await _corrected(found, question, turns, translator, database)
    return found, (time.perf_counter() - begun) * 1000


async def _corrected(
    found: Sql,
    question: Question,
    turns: Sequence[Turn],
    translator: Corrects,
    database: Database,
) -> Translation:
    """What a model wrote and the database does not take is written again once, as in the app."""
    if found.confidence != "unverified":
        return found
    try:
        database.check(found.sql)
        database.rows(found.sql)
    except Exception as error:  # noqa: BLE001 - whatever the driver says of it
        first = next(iter(str(error).splitlines()), type(error).__name__)
        again = await translator.correct(
            question.ask, database.schema, TODAY, turns, written=found, error=first
        )
        return again if isinstance(again, Sql) else found
    return found


async def evaluate(asked: Asked, database: Database, translator: Translator) -> list[Outcome]:
    """Every question of the set, once."""
    # What is derived from a schema is not part of a question's time.
    await translator.translate("how many", database.schema, TODAY)
    outcomes: list[Outcome] = []
    for question in asked.questions:
        found, took = await answer(question, translator, database)
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
