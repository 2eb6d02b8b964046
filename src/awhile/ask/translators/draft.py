"""What the reader has gathered from a question, before it is put together into an intent.

Source: ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from awhile.ask.translators.contract import Meaning
    from awhile.ask.translators.intent import ColumnRef, Filter, Function
    from awhile.ask.translators.marks import (
        Compare,
        GrainNoun,
        Mark,
        Role,
        Superlative,
        TimeRange,
        Verb,
    )
    from awhile.ask.translators.periods import Unit

__all__ = ["Along", "Draft", "Figure", "Grouping", "Rank", "Rest", "Said", "Target", "When"]


@dataclass(slots=True)
class Figure:
    """A measure as said. `outer` is a second function over it ("average number of orders")."""

    kind: Literal["count", "revenue", "units", "value", "column", "named", "days"]
    mark: Mark
    function: Function | None = None
    table: str = ""
    column: ColumnRef | None = None
    measure: str = ""
    until: ColumnRef | None = None
    """Of days from the date `column` on, the date they end at."""
    outer: Function | None = None
    share: bool = False
    owner: str = ""
    """Of a figure that is compared, the table whose rows it is of: "customers with …"."""
    linked: bool = False
    """Whether a word ties it to what was said before it: "and", "by", "with"."""

    def same_as(self, other: Figure) -> bool:
        """Whether both are the same measure, in whichever words."""
        mine = (self.kind, self.function, self.table, self.column, self.measure, self.outer)
        theirs = (other.kind, other.function, other.table, other.column, other.measure, other.outer)
        return mine == theirs and self.until == other.until


@dataclass(slots=True)
class Grouping:
    """A group as said; `per` tells "per customer" from "by customer", `each` "for each"."""

    mark: Mark
    table: str = ""
    column: ColumnRef | None = None
    grain: GrainNoun | None = None
    per: bool = False
    each: bool = False


@dataclass(slots=True)
class Target:
    """What rows are asked for: of a table, of a column's values, or units of time."""

    mark: Mark
    plural: bool
    table: str = ""
    columns: list[ColumnRef] = field(default_factory=list["ColumnRef"])
    with_columns: bool = False
    """Whether the rows are asked for with columns of theirs: "products with their price"."""
    grain: GrainNoun | None = None


@dataclass(slots=True)
class Rank:
    """A superlative, with its number and what it ranks by when that was said."""

    word: Superlative
    mark: Mark
    count: int | None = None
    figure: Figure | None = None
    column: ColumnRef | None = None
    said_by: bool = False
    """Whether "by" said what it ranks by."""


@dataclass(slots=True)
class Said:
    """A condition as said. `how` tells "web orders" (adjective), "orders in Germany" (phrase) and
    "orders that were cancelled" (claim) apart; `after` whether a figure or rows came before it;
    `side` which side of a ratio it was said on, if any.
    """

    filter: Filter
    mark: Mark
    how: Literal["adjective", "phrase", "claim"] = "phrase"
    after: bool = False
    side: int = 0


@dataclass(slots=True)
class When:
    """A time as said, and the date it is of where that was said right before: "joined in 2025"."""

    mark: Mark
    time: TimeRange
    ref: ColumnRef | None = None
    joined: bool = False
    """Whether "and" or "or" ties it to the time before it."""


@dataclass(slots=True)
class Along:
    """What is to be made of a figure along time; `unit` is how far apart what is compared is."""

    kind: Literal["growth", "running", "moving"]
    mark: Mark
    size: int = 0
    unit: Unit | None = None


@dataclass(slots=True)
class Rest:
    """What words that go on from another question leave for it: functions without a noun ("the
    average instead"), a share, a number of rows.
    """

    functions: list[Function] = field(default_factory=list["Function"])
    share: bool = False
    count: int | None = None
    instead: bool = False
    added: bool = False
    """Whether "and" says that a figure is to come beside the others."""
    as_chart: bool = False
    """How it is drawn is not the translator's; that it is asked for is something to go on with."""


@dataclass(slots=True)
class Draft:
    """Everything read so far."""

    question: str
    head: Role | None = None
    target: Target | None = None
    figures: list[Figure] = field(default_factory=list[Figure])
    groupings: list[Grouping] = field(default_factory=list[Grouping])
    shown: list[ColumnRef] = field(default_factory=list["ColumnRef"])
    """Columns to show beside the groups, which the groups must determine."""
    said: list[Said] = field(default_factory=list[Said])
    both: Mark | None = None
    """That of several values each is meant: "who bought both Toys and Books"."""
    anded: set[ColumnRef] = field(default_factory=set["ColumnRef"])
    periods: list[When] = field(default_factory=list[When])
    date: ColumnRef | None = None
    date_noun: Mark | None = None
    """A date named as such, for which no time was said yet."""
    happened: list[tuple[Mark, ColumnRef]] = field(default_factory=list["tuple[Mark, ColumnRef]"])
    """Dates heard as verbs: "closed"; whether that it happened matters depends on the rest."""
    related: list[str] = field(default_factory=list[str])
    events: list[str] = field(default_factory=list[str])
    never: list[str] = field(default_factory=list[str])
    never_verb: Verb | None = None
    verbs: list[tuple[Mark, Verb]] = field(default_factory=list["tuple[Mark, Verb]"])
    thresholds: list[tuple[Figure, Compare]] = field(default_factory=list["tuple[Figure, Compare]"])
    bare: list[tuple[Mark, Compare]] = field(default_factory=list["tuple[Mark, Compare]"])
    rank: Rank | None = None
    descending: bool | None = None
    sort: Figure | ColumnRef | None = None
    along: Along | None = None
    versus: Mark | None = None
    ratio: Mark | None = None
    part_of: Mark | None = None
    together: bool = False
    often: bool = False
    distinct: bool = False
    new: Mark | None = None
    joined_target: bool = False
    meanings: list[Meaning] = field(default_factory=list["Meaning"])
    rest: Rest | None = None
    """Only where the question was read as one that goes on from another."""

    @property
    def filters(self) -> list[Filter]:
        """The conditions, in the order of the question."""
        return [each.filter for each in self.said]

    def uses_date(self) -> bool:
        """Whether a date that was named is used for more than a period."""
        grains = [each.grain for each in self.groupings]
        return bool(
            any(grains)
            or (self.target and self.target.grain)
            or (self.rank and self.rank.word.about == "time")
            or self.head == "when"
        )
