"""The seam every translator fills: a question and a schema card in, a `Translation` out.

Source: ours. A translator reads no data, touches no network unless it says so, and never runs
the SQL it writes. What it cannot ground it asks about or refuses; it never guesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from datetime import date

    from awhile.ask.schema import Schema

__all__ = [
    "Choice",
    "Confidence",
    "Meaning",
    "QuestionBack",
    "Refusal",
    "Sql",
    "Translation",
    "Translator",
]

Confidence = Literal["grounded"]
"""`grounded`: every word of the question was explained by the schema or the language's grammar."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What some words of the question were taken to mean; both are text to show to a person."""

    words: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Sql:
    """One SELECT in the dialect of the schema card, and what it computes in plain words.

    `reading` is a sentence or a few, complete enough to find a misunderstanding without reading
    `sql`; it states dates as dates. `meanings` follow the order of the question.
    """

    sql: str
    reading: str
    meanings: tuple[Meaning, ...]
    confidence: Confidence = "grounded"


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to go on: `label` to show, `question` to translate in place of the first one."""

    label: str
    question: str


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """The question can be read in more than one way: `text` asks which one is meant.

    Every choice's question translates to `Sql` with the same translator, schema and day.
    """

    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The question was not understood well enough to answer.

    `understood` and `not_understood` quote the question; `tables` and `measures` are what can be
    asked about; `text` says all of it in a few sentences.
    """

    understood: tuple[str, ...]
    not_understood: tuple[str, ...]
    tables: tuple[str, ...]
    measures: tuple[str, ...]
    text: str


Translation = Sql | QuestionBack | Refusal


class Translator(Protocol):
    """Turns a question in plain language into SQL."""

    def translate(self, question: str, schema: Schema, today: date) -> Translation:
        """What the question means on this schema, with `today` for words such as "last month".

        Never raises for any text. An `Sql` holds exactly one SELECT over tables of the card.
        """
        ...
