"""Which chart shows a result: by what its columns are good for, and by what was asked. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from awhile.ask.results.roles import LOOKED_AT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.results.roles import Looked, Role

__all__ = ["KINDS", "Aggregate", "Choice", "Kind", "Wanted", "choose", "fitting"]

Kind = Literal["line", "bar", "scatter", "number"]
KINDS: tuple[Kind, ...] = ("line", "bar", "scatter", "number")

Aggregate = Literal["sum", "average", "min", "max", "count"]

MOST_SERIES = 8
"""More lines than that cannot be told apart."""

_ASKED_FOR: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("bar", re.compile(r"\b(bar|column) ?(chart|graph|plot)?\b|\bhistogram\b", re.IGNORECASE)),
    ("line", re.compile(r"\bline ?(chart|graph|plot)\b|\btrend\b|\bover time\b", re.IGNORECASE)),
    ("scatter", re.compile(r"\bscatter|\bcorrelat|\b(against|versus|vs)\b", re.IGNORECASE)),
)
_AVERAGED = re.compile(
    r"(^|_)(avg|average|mean|median|rate|ratio|share|percent|percentage|pct|price|temperature"
    r"|score|growth|margin)(_|$)",
    re.IGNORECASE,
)
_EXTREMES = re.compile(r"^(min|max)(_|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One chart: its kind, and the columns it is drawn of, by their place."""

    kind: Kind
    x: int | None = None
    y: int | None = None
    """None: the number of rows."""
    series: int | None = None
    aggregate: Aggregate = "sum"
    """How several rows of one place become one point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person has chosen themselves; None leaves it to `choose`."""

    kind: Kind | None = None
    x: int | None = None
    y: int | None = None
    series: int | None = None
    aggregate: Aggregate | None = None


def choose(
    columns: Sequence[Looked], row_count: int, question: str | None, wanted: Wanted
) -> Choice | None:
    """The chart to draw; None where there is nothing to be drawn."""
    kind = wanted.kind or _kind(columns, row_count, question)
    if kind is None:
        return None
    choice = _completed(kind, columns, row_count)
    if choice is None:
        return None
    return _changed(choice, columns, wanted)


def fitting(columns: Sequence[Looked], row_count: int) -> list[Kind]:
    """The kinds of chart that could be drawn of it."""
    return [kind for kind in KINDS if _completed(kind, columns, row_count) is not None]


def _kind(columns: Sequence[Looked], row_count: int, question: str | None) -> Kind | None:
    possible = fitting(columns, row_count)
    if row_count == 1 and "number" in possible:
        return "number"
    for kind, words in _ASKED_FOR:
        if question and kind in possible and words.search(question):
            return kind
    has = {column.role for column in columns}
    if "line" in possible and "time" in has and "measure" in has:
        return "line"
    if "measure" not in has:
        # Rows without amounts can be counted by what they share.
        shares = any(_shared(column, row_count) for column in _of(columns, "category"))
        return "bar" if "bar" in possible and shares else None
    if "bar" in possible and has & {"category", "order", "time"}:
        return "bar"
    return next((kind for kind in ("scatter", "bar") if kind in possible), None)


def _shared(column: Looked, row_count: int) -> bool:
    """Whether a value of the column stands in two rows at the least, on average."""
    return column.distinct * 2 <= min(row_count, LOOKED_AT)


def _completed(kind: Kind, columns: Sequence[Looked], row_count: int) -> Choice | None:
    measures, times = _of(columns, "measure"), _of(columns, "time")
    places = [*_of(columns, "category"), *_of(columns, "order")]
    if row_count == 0:
        return None
    if kind == "number":
        if row_count != 1 or len(measures) != 1:
            return None
        return Choice(kind="number", y=measures[0].position)
    if kind == "scatter":
        if len(measures) < 2 or row_count < 2:
            return None
        x, y = measures[:2]
        return Choice(kind="scatter", x=x.position, y=y.position, series=_series(columns, x, y))
    y = measures[0] if measures else None
    along = [*times, *_of(columns, "order")] if kind == "line" else [*places, *times]
    if not along and kind == "bar":
        along = _of(columns, "id")
    if y is None:  # rows are counted: first by what they share
        along.sort(key=lambda column: not _shared(column, row_count))
    if not along or (kind == "line" and row_count < 2):
        return None
    x = along[0]
    series = _series(columns, x, y) if kind == "line" else None
    return Choice(
        kind=kind,
        x=x.position,
        y=y.position if y else None,
        series=series,
        aggregate=_aggregate(y),
    )


def _changed(choice: Choice, columns: Sequence[Looked], wanted: Wanted) -> Choice:
    """The choice with what the person wants otherwise; columns that are not there are left out."""
    there = {column.position: column for column in columns}
    if wanted.x in there and choice.kind != "number":
        choice = replace(choice, x=wanted.x)
    if wanted.y in there:
        choice = replace(choice, y=wanted.y, aggregate=_aggregate(there[wanted.y]))
    if wanted.series in there:
        choice = replace(choice, series=wanted.series)
    if choice.series in (choice.x, choice.y):
        choice = replace(choice, series=None)
    if wanted.aggregate == "count":
        return replace(choice, y=None, aggregate="count")
    return choice if wanted.aggregate is None else replace(choice, aggregate=wanted.aggregate)


def _series(columns: Sequence[Looked], x: Looked, y: Looked | None) -> int | None:
    """A column that tells several lines apart: one with few values, which is not drawn already."""
    for column in _of(columns, "category"):
        if column not in (x, y) and 1 < column.distinct <= MOST_SERIES:
            return column.position
    return None


def _aggregate(y: Looked | None) -> Aggregate:
    if y is None:
        return "count"
    extreme = _EXTREMES.match(y.name)
    if extreme:
        return "min" if extreme[1].lower() == "min" else "max"
    return "average" if _AVERAGED.search(y.name) else "sum"


def _of(columns: Sequence[Looked], role: Role) -> list[Looked]:
    return [column for column in columns if column.role == role]
