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

__all__ = ["Draft", "Figure", "Grouping", "Rank", "Target"]


@dataclass(slots=True)
class Figure:
    """A measure as said. `outer` is a second function over it ("average number of orders")."""

    kind: Literal["count", "revenue", "units", "value", "column"]
    mark: Mark
    function: Function | None = None
    table: str = ""
    column: ColumnRef | None = None
    outer: Function | None = None
    share: bool = False
    linked: bool = False
    """Whether a word ties it to what was said before it: "and", "by", "with"."""


@dataclass(slots=True)
class Grouping:
    """A group as said; `per` tells "per customer" from "by customer"."""

    mark: Mark
    table: str = ""
    column: ColumnRef | None = None
    grain: GrainNoun | None = None
    per: bool = False


@dataclass(slots=True)
class Target:
    """What rows are asked for: of a table, of a column's values, or units of time."""

    mark: Mark
    plural: bool
    table: str = ""
    columns: list[ColumnRef] = field(default_factory=list["ColumnRef"])
    grain: GrainNoun | None = None


@dataclass(slots=True)
class Rank:
    """A superlative, with its number and what it ranks by when that was said."""

    word: Superlative
    mark: Mark
    count: int | None = None
    figure: Figure | None = None
    column: ColumnRef | None = None


@dataclass(slots=True)
class Draft:
    """Everything read so far."""

    question: str
    head: Role | None = None
    target: Target | None = None
    figures: list[Figure] = field(default_factory=list[Figure])
    groupings: list[Grouping] = field(default_factory=list[Grouping])
    filters: list[Filter] = field(default_factory=list["Filter"])
    anded: set[ColumnRef] = field(default_factory=set["ColumnRef"])
    periods: list[tuple[Mark, TimeRange]] = field(default_factory=list["tuple[Mark, TimeRange]"])
    date: ColumnRef | None = None
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
    together: bool = False
    often: bool = False
    distinct: bool = False
    new: Mark | None = None
    joined_target: bool = False
    places: dict[Filter, int] = field(default_factory=dict["Filter", int])
    meanings: list[Meaning] = field(default_factory=list["Meaning"])

    def uses_date(self) -> bool:
        """Whether a date that was named is used for more than a period."""
        grains = [each.grain for each in self.groupings]
        return bool(
            any(grains)
            or (self.target and self.target.grain)
            or (self.rank and self.rank.word.about == "time")
            or self.head == "when"
        )
