"""The points of a chart: read from a stored result, summed up by DuckDB, few enough to be seen.

Whatever is left out on the way (rows without a value, small bars, points of a cloud) is told in
`Chart.notes`. Values keep all their digits; whoever draws them may not need them all.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import duckdb
import pyarrow as pa

from awhile.ask.charts.choose import Choice, Kind, Wanted, choose, fitting
from awhile.ask.charts.words import label_of, text_of_chart, title_of
from awhile.ask.results.roles import Looked, look
from awhile.ask.results.rows import rows_of
from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, scratch, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Axis", "Chart", "NothingToDraw", "Point", "draw"]

MOST_BARS = 30
MOST_POINTS = 2_000
_GRAINS = ("second", "minute", "hour", "day", "month", "year")
_MEMORY = "512MB"

Point = tuple[str | None, str, str | None]
"""Where (a time as ISO 8601, a number or a text; null for SQL's NULL), the value, the series."""


class NothingToDraw(Exception):
    """There is no chart of this result; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is along an axis."""

    label: str
    column: int | None
    type: Literal["time", "category", "number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart, ready to be drawn: its points in order, what they mean, and the same in words."""

    choice: Choice
    title: str
    x: Axis | None
    y: Axis
    series: str | None
    several: bool
    """Whether several rows became one point, by the choice's aggregate."""
    points: tuple[Point, ...]
    notes: tuple[str, ...]
    text: str
    kinds: tuple[Kind, ...]
    """The kinds of chart that could be drawn instead."""
    columns: tuple[Looked, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """One chart in the making."""

    stored: Stored
    columns: Sequence[Looked]
    choice: Choice
    connection: duckdb.DuckDBPyConnection

    def axis(self, position: int) -> str:
        """SQL of a place along the x axis."""
        role = self.columns[position].role
        if role == "time":
            return f"TRY_CAST({self._completed(position)} AS TIMESTAMP)"
        return text_of(column_name(position), self.stored.kinds[position])

    def value(self, position: int) -> str:
        """SQL of an amount."""
        name, kind = column_name(position), self.stored.kinds[position]
        if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            return name
        return f"if(isfinite(TRY_CAST({name} AS DOUBLE)), TRY_CAST({name} AS DOUBLE), NULL)"

    def _completed(self, position: int) -> str:
        """A text such as 2026-11 is the first day of that month."""
        name = column_name(position)
        if not pa.types.is_string(self.stored.kinds[position]):
            return name
        return f"if(length({name}) = 7, {name} || '-01', {name})"

    def rows(self) -> str:
        """Makes the rows of the result readable once more; what to select from."""
        choice = self.choice
        used = {one for one in (choice.x, choice.y, choice.series) if one is not None}
        rows = rows_of(self.stored, used)
        self.connection.from_arrow(rows).create_view("drawn", replace=True)
        return "drawn"


def draw(source: Source, *, question: str | None = None, wanted: Wanted | None = None) -> Chart:
    """The chart of a stored result, or of a view of it. Blocking: call it in a thread.

    Args:
        source: where the result is.
        question: what was asked; it may name a kind of chart.
        wanted: what the person has chosen themselves.

    Raises:
        NothingToDraw: there is nothing to be drawn.
        FileNotFoundError: there is no such result.
    """
    with Stored.open(source) as stored:
        columns = look(stored)
        choice = choose(columns, stored.row_count, question, wanted or Wanted())
        if choice is None:
            raise NothingToDraw(_why_not(stored))
        with scratch(memory_limit=_MEMORY) as connection:
            drawing = _Drawing(stored, columns, choice, connection)
            found = _DRAWN[choice.kind](drawing)
    if not found.points:
        raise NothingToDraw("No row has a value to be drawn.")
    if stored.truncated:
        found.notes.append(f"Of the first {stored.row_count:,} rows of more.")
    several = found.several or choice.y is None
    title = title_of(choice, columns, several=several)
    return Chart(
        choice=choice,
        title=title,
        x=None if choice.x is None else _axis(columns[choice.x], choice),
        y=Axis(label=label_of(choice, columns, several=several), column=choice.y, type="number"),
        series=None if choice.series is None else columns[choice.series].name,
        several=several,
        points=tuple(found.points),
        notes=tuple(found.notes),
        text=text_of_chart(choice, title, found.points),
        kinds=tuple(fitting(columns, stored.row_count)),
        columns=tuple(columns),
    )


def _why_not(stored: Stored) -> str:
    if stored.row_count == 0:
        return "There are no rows to be drawn."
    return (
        "There is no chart of this: no column has amounts, and none has values that several rows "
        "share, so that they could be counted."
    )


def _axis(column: Looked, choice: Choice) -> Axis:
    if column.role == "time" and choice.kind != "bar":
        return Axis(label=column.name, column=column.position, type="time")
    if choice.kind == "scatter" or (choice.kind == "line" and column.role == "order"):
        return Axis(label=column.name, column=column.position, type="number")
    return Axis(label=column.name, column=column.position, type="category")


@dataclass(slots=True)
class _Found:
    """Points with what has to be said of them."""

    points: list[Point]
    total: int
    """How many there would be in all."""
    several: bool = False
    """Whether some point is of several rows."""
    notes: list[str] = field(default_factory=list[str])


def _line(drawing: _Drawing) -> _Found:
    choice, columns = drawing.choice, drawing.columns
    assert choice.x is not None  # a line is along something
    at = drawing.axis(choice.x)
    if columns[choice.x].role != "time":
        return _thinned(_grouped(drawing, f"TRY_CAST({at} AS DOUBLE)", "x", keep=_EVERY))
    whole_days = columns[choice.x].whole_days
    for grain in (None, *_GRAINS):
        place = at if grain is None else f"date_trunc('{grain}', {at})"
        days = whole_days or grain in ("day", "month", "year")
        shown = f"strftime(x, '{'%Y-%m-%d' if days else '%Y-%m-%dT%H:%M:%S.%g'}')"
        found = _grouped(drawing, place, shown, keep=f"n <= {MOST_POINTS}")
        if found.total <= MOST_POINTS:
            if grain is not None:
                found.notes.append(f"Summed up by {grain}: there are too many points to be seen.")
            return found
    return _thinned(_grouped(drawing, at, "strftime(x, '%Y-%m-%d')", keep=_EVERY))


def _bar(drawing: _Drawing) -> _Found:
    choice, columns = drawing.choice, drawing.columns
    assert choice.x is not None  # bars are along something
    role = columns[choice.x].role
    place, shown = drawing.axis(choice.x), "x"
    if role == "time":
        days = columns[choice.x].whole_days
        shown = f"strftime(x, '{'%Y-%m-%d' if days else '%Y-%m-%d %H:%M:%S'}')"
    elif role == "order":
        place = f"TRY_CAST({place} AS HUGEINT)"
    in_order = role in ("time", "order")
    found = _grouped(drawing, place, shown, ordered=in_order, keep=f"n <= {MOST_BARS}")
    if found.total > MOST_BARS:
        found = _grouped(drawing, place, shown, ordered=in_order, keep=f"size <= {MOST_BARS}")
        if not in_order:
            found.points.sort(key=lambda one: -abs(float(one[1])))
        found.notes.append(f"The {MOST_BARS} largest of {found.total:,} are shown.")
    return found


def _scatter(drawing: _Drawing) -> _Found:
    choice = drawing.choice
    assert choice.x is not None  # a cloud has two measures
    assert choice.y is not None
    x, y = drawing.value(choice.x), drawing.value(choice.y)
    series = "NULL" if choice.series is None else drawing.axis(choice.series)
    row_count = drawing.stored.row_count
    every = max(1, -(-row_count // MOST_POINTS))
    rows = drawing.connection.execute(
        f"SELECT {x}::VARCHAR, {y}::VARCHAR, {series} FROM "  # noqa: S608 - of positions
        f"(SELECT *, row_number() OVER () AS place FROM {drawing.rows()}) "
        f"WHERE place % {every} = 0"
    ).fetchall()
    points: list[Point] = [
        (str(at), str(value), told) for at, value, told in rows if at is not None and value
    ]
    found = _Found(points, total=row_count)
    if every > 1:
        found.notes.append(f"Every {every:,}th of {row_count:,} rows is shown.")
    if len(rows) > len(points):
        found.notes.append(_left_out(len(rows) - len(points)))
    return found


def _number(drawing: _Drawing) -> _Found:
    assert drawing.choice.y is not None  # a number is of a measure
    text = text_of(column_name(drawing.choice.y), drawing.stored.kinds[drawing.choice.y])
    rows = drawing.connection.execute(f"SELECT {text} FROM {drawing.rows()}").fetchall()  # noqa: S608
    return _Found([(None, str(value), None) for (value,) in rows if value is not None], total=1)


_DRAWN = {"line": _line, "bar": _bar, "scatter": _scatter, "number": _number}

_AGGREGATES = {"sum": "sum", "average": "avg", "min": "min", "max": "max"}
_EVERY = f"(n - 1) % CAST(ceil(total / {MOST_POINTS}) AS BIGINT) = 0"


def _grouped(
    drawing: _Drawing, place: str, shown: str, *, keep: str, ordered: bool = True
) -> _Found:
    """One point for each place and series, of those that ``keep`` says (of ``n``, the number of a
    point, its ``size`` counted from the largest, and their ``total``).

    Unordered ones come by size, or as the rows did where each is one row.
    """
    choice = drawing.choice
    value = "1" if choice.y is None else drawing.value(choice.y)
    summed = "count(*)" if choice.y is None else f"{_AGGREGATES.get(choice.aggregate, 'sum')}(v)"
    series = "NULL" if choice.series is None else drawing.axis(choice.series)
    order = "x" if ordered else "(CASE WHEN most > 1 THEN -y ELSE first END)"
    with _told():
        rows = drawing.connection.execute(
            f"""
            WITH rows AS MATERIALIZED (
                SELECT {place} AS x, {value} AS v, {series} AS s, row_number() OVER () AS place
                FROM {drawing.rows()}
            ), points AS (
                SELECT x, s, {summed} AS y, min(place) AS first, count(*) AS many
                FROM rows WHERE x IS NOT NULL AND v IS NOT NULL GROUP BY x, s
            ), counted AS (
                SELECT *, max(many) OVER () AS most, count(*) OVER () AS total,
                    row_number() OVER (ORDER BY abs(y) DESC) AS size
                FROM points
            ), numbered AS (SELECT *, row_number() OVER (ORDER BY {order}, s) AS n FROM counted)
            SELECT {shown}, y::VARCHAR, s, most, total,
                (SELECT count(*) FROM rows WHERE x IS NULL OR v IS NULL)
            FROM numbered WHERE {keep} ORDER BY n
            """  # noqa: S608 - of positions
        ).fetchall()
    if not rows:
        return _Found([], total=0)
    _, _, _, most, total, left_out = rows[0]
    points: list[Point] = [
        (None if at is None else str(at), str(y), told) for at, y, told, *_ in rows
    ]
    found = _Found(points, total=int(total), several=most > 1)
    if left_out:
        found.notes.append(_left_out(int(left_out)))
    return found


@contextmanager
def _told() -> Generator[None]:
    try:
        yield
    except duckdb.Error as broken:
        raise NothingToDraw(f"It cannot be drawn: {broken}") from broken


def _left_out(count: int) -> str:
    return (
        "1 row without a value is left out."
        if count == 1
        else f"{count:,} rows without a value are left out."
    )


def _thinned(found: _Found) -> _Found:
    if len(found.points) < found.total:
        every = -(-found.total // MOST_POINTS)
        found.notes.append(f"Every {every:,}th of {found.total:,} points is shown.")
    return found
