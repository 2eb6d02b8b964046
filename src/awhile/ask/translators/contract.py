"""The seam every translator fills: a question and a schema card in, a `Translation` out.

Source: ours. A translator reads no data, touches no network unless it says so, and never runs
the SQL it writes. What it cannot ground it asks about or refuses; it never guesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from awhile.ask.schema import Example, Schema

__all__ = [
    "Choice",
    "Confidence",
    "Corrects",
    "Identified",
    "Learns",
    "Meaning",
    "ModelUse",
    "QuestionBack",
    "Refusal",
    "Sql",
    "Translation",
    "Translator",
    "Turn",
]

Confidence = Literal["grounded", "accepted", "unverified"]
"""`grounded`: every word of the question was explained by the schema or the language's grammar.
`accepted`: a person put down or accepted this SQL for the same words.
`unverified`: a model wrote it, or a repair touched it; it can run and be wrong."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What asking a model took. `price_usd` is None where its prices are not known."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    seconds: float
    price_usd: float | None = None

    def and_then(self, more: ModelUse) -> ModelUse:
        """Both together."""
        one, other = self.price_usd, more.price_usd
        return ModelUse(
            model=more.model,
            requests=self.requests + more.requests,
            input_tokens=self.input_tokens + more.input_tokens,
            output_tokens=self.output_tokens + more.output_tokens,
            seconds=self.seconds + more.seconds,
            price_usd=None if one is None or other is None else one + other,
        )


@dataclass(frozen=True, slots=True)
class Meaning:
    """What some words of the question were taken to mean; both are text to show to a person."""

    words: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Sql:
    """One SELECT in the dialect of the schema card, and what it computes in plain words.

    `reading` is a sentence or a few, complete enough to find a misunderstanding without reading
    `sql`; it states dates as dates. `meanings` follow the order of the question. `repairs` say what
    was changed in a model's text, and `use` what it took to have one write it.
    """

    sql: str
    reading: str
    meanings: tuple[Meaning, ...]
    confidence: Confidence = "grounded"
    repairs: tuple[str, ...] = ()
    use: ModelUse | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to go on: `label` to show, `question` to translate in place of the first one."""

    label: str
    question: str


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """The question can be read in more than one way: `text` asks which one is meant.

    Every choice's question translates to `Sql` with the same translator, schema and day, where that
    grounds what it writes.
    """

    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The question was not understood well enough to answer.

    `understood` and `not_understood` quote the question; `tables` and `measures` are what can be
    asked about; `text` says all of it in a few sentences. `beyond` where it asks for what no row
    can tell: a change, a reason, what is still to come.
    """

    understood: tuple[str, ...]
    not_understood: tuple[str, ...]
    tables: tuple[str, ...]
    measures: tuple[str, ...]
    text: str
    beyond: bool = False


Translation = Sql | QuestionBack | Refusal


@dataclass(frozen=True, slots=True)
class Turn:
    """One answered question of the conversation: the question as it was asked, and the SQL that
    answered it, which a person may have changed since (`edited`).
    """

    question: str
    sql: str
    edited: bool = False


class Translator(Protocol):
    """Turns a question in plain language into SQL."""

    async def translate(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn] = ()
    ) -> Translation:
        """What the question means on this schema, with `today` for words such as "last month".

        `conversation` is what was answered before it, oldest first: "only 2025" changes the last
        question. A translator that works from questions alone does not go on from an edited turn.

        Never raises for any text, nor for a model that fails. Cancelling it ends what it began.

        An `Sql` holds exactly one SELECT, and one that is not `unverified` is over tables of the
        card.
        """
        ...


@runtime_checkable
class Corrects(Protocol):
    """A translator that can write again what the database did not take."""

    async def correct(
        self,
        question: str,
        schema: Schema,
        today: date,
        conversation: Sequence[Turn] = (),
        *,
        written: Sql,
        error: str,
    ) -> Translation:
        """The question once more, `written` having been refused with `error`."""
        ...


@runtime_checkable
class Learns(Protocol):
    """A translator that goes by examples of whoever asks, as well as by those of the card."""

    def learning(self, examples: Callable[[], Sequence[Example]]) -> Self:
        """The same translator with these examples, which may block and are read when needed."""
        ...


@runtime_checkable
class Identified(Protocol):
    """A translator that says who it is: kept with every run, so that its answer can be explained
    when both are long gone."""

    @property
    def name(self) -> str:
        """What wrote the SQL, in few words: `built-in`, or a model's provider and name."""
        ...

    @property
    def version(self) -> str:
        """Which version of it; two that may answer differently are told apart by it."""
        ...
