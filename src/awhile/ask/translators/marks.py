"""What a stretch of a question was recognised as: one closed set of small values.

Source: ours. `language.py` maps grammar words to these, `link.py` maps schema words to them, and
`reader.py` is the only one to turn a row of them into an intent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal

    from awhile.ask.translators.intent import Function
    from awhile.ask.translators.periods import Period, Unit

__all__ = [
    "Aggregate",
    "ColumnNoun",
    "ColumnSense",
    "Compare",
    "GrainNoun",
    "Mark",
    "MeasureNoun",
    "Moving",
    "Number",
    "Operator",
    "Part",
    "Pattern",
    "Recognised",
    "Role",
    "SpanNoun",
    "Step",
    "Superlative",
    "TableNoun",
    "TimeRange",
    "Unknown",
    "ValueNoun",
    "ValueSense",
    "Verb",
    "Word",
]

Role = Literal[
    "list",
    "what",
    "what thing",
    "which",
    "who",
    "when",
    "how many",
    "how much",
    "by",
    "each",
    "with",
    "preposition",
    "and",
    "or",
    "comma",
    "not",
    "without",
    "together",
    "often",
    "sort",
    "ascending",
    "descending",
    "distinct",
    "new",
    "between",
    "both",
    "exist",
    "bring",
    "all",
    "share",
    "part of",
    "ratio",
    "is",
    "be",
    "relation",
    "growth",
    "running",
    "versus",
    "chart",
    "only",
    "follow",
    "naming",
    "stop",
    "silent",
]
"""What a grammar word does; the reader knows each."""
Operator = Literal["=", "<>", ">", ">=", "<", "<=", "between"]


@dataclass(frozen=True, slots=True)
class Word:
    """A grammar word; `silent` ones carry no meaning of their own."""

    role: Role


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Words such as "average" or "number of"."""

    function: Function


@dataclass(frozen=True, slots=True)
class Superlative:
    """ "most", "top", "cheapest". `about` is what the word itself ranks by, if it says so;
    `place` is 2 in "second highest".
    """

    descending: bool
    about: Literal["price", "time", "units", "events", "rows", "rank", "size"] | None = None
    also_aggregate: bool = False
    place: int = 1


@dataclass(frozen=True, slots=True)
class GrainNoun:
    """A unit of time; `adjective` when it groups by itself ("monthly")."""

    unit: Unit | Literal["weekday", "hour"]
    adjective: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How far apart two times are that are compared: "year over year"."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class Moving:
    """A moving average over so many units of time, which are not said when `size` is 0."""

    size: int
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class MeasureNoun:
    """A business figure that need not be a column: revenue, units sold, the value of an order, or
    the `measure` of a semantic file, which is `named`.
    """

    name: Literal["revenue", "units", "value", "named"]
    measure: str = ""


@dataclass(frozen=True, slots=True)
class Verb:
    """Something that happened, as the rows of a table: "bought", "booked", "ordered"."""

    kind: Literal["buy", "sell", "event"]
    table: str = ""


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison with its number or numbers; `often` where it is of how often something was."""

    operator: Operator
    low: Decimal
    high: Decimal | None = None
    about_price: bool = False
    often: bool = False


Part = Literal["start", "end", "anywhere"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Some letters that a text has, and where: "starts with A"."""

    where: Part
    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number nothing around it explains yet."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time expression. One `of the data` is relative to the last day the data has, so that its
    `words` are read once more when the column is known.
    """

    period: Period
    words: tuple[str, ...] = ()
    of_data: bool = False


@dataclass(frozen=True, slots=True)
class TableNoun:
    """The name of a table."""

    table: str
    plural: bool = False


@dataclass(frozen=True, slots=True)
class ColumnSense:
    """One column that some words may name; `identifies` when it is the key of its table."""

    table: str
    column: str
    identifies: bool = False


@dataclass(frozen=True, slots=True)
class ColumnNoun:
    """The name of a column, in every table that has one of that name.

    As a `verb` it is what happened at a date: "hired" of `hire_date`.
    """

    senses: tuple[ColumnSense, ...]
    plural: bool = False
    verb: bool = False


@dataclass(frozen=True, slots=True)
class ValueSense:
    """One value of one column; of a flag (`is_open`), whether what it says is so."""

    table: str
    column: str
    value: str
    is_flag: bool = False


@dataclass(frozen=True, slots=True)
class ValueNoun:
    """A value known from the data, in every column that has it."""

    senses: tuple[ValueSense, ...]


@dataclass(frozen=True, slots=True)
class SpanNoun:
    """The days from one date to another: "days between order date and ship date"."""

    start: ColumnSense
    end: ColumnSense


@dataclass(frozen=True, slots=True)
class Unknown:
    """Words nothing explains."""


Recognised = (
    Word
    | Aggregate
    | Superlative
    | GrainNoun
    | Step
    | Moving
    | MeasureNoun
    | Verb
    | Compare
    | Pattern
    | Number
    | TimeRange
    | TableNoun
    | ColumnNoun
    | ValueNoun
    | SpanNoun
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Tokens `start` to `end` (exclusive) of the question, and what they were recognised as."""

    start: int
    end: int
    text: str
    what: Recognised
