"""A chart in words: its title, and what it shows to whoever does not see it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.charts.choose import Choice
    from awhile.ask.results.roles import Looked

__all__ = ["label_of", "text_of_chart", "title_of"]

_AGGREGATED = {"sum": "sum of", "average": "average", "min": "least", "max": "greatest"}
_KIND = {"line": "Line", "bar": "Bars", "scatter": "Points", "number": "A number"}


def label_of(choice: Choice, columns: Sequence[Looked], *, several: bool) -> str:
    """What the values are; ``several`` rows may be in one of them."""
    if choice.y is None:
        return "number of rows"
    name = columns[choice.y].name
    return f"{_AGGREGATED[choice.aggregate]} {name}" if several else name


def title_of(choice: Choice, columns: Sequence[Looked], *, several: bool) -> str:
    """What the chart is of."""
    label = label_of(choice, columns, several=several)
    if choice.x is None:
        return label
    against = "against" if choice.kind == "scatter" else "by"
    of = "" if choice.series is None else f" and {columns[choice.series].name}"
    return f"{label} {against} {columns[choice.x].name}{of}"


def text_of_chart(
    choice: Choice, title: str, points: Sequence[tuple[str | None, str, str | None]]
) -> str:
    """The chart as a sentence or two."""
    if choice.kind == "number":
        return f"{title}: {points[0][1]}"
    lead = f"{_KIND[choice.kind]}: {title}. {_counted(len(points))}"
    if choice.kind == "line":
        lead += f", from {points[0][0]} to {points[-1][0]}"
    lowest = min(points, key=lambda one: float(one[1]))
    highest = max(points, key=lambda one: float(one[1]))
    if len(points) == 1:
        return f"{lead}: {points[0][1]} at {_place(points[0])}."
    return (
        f"{lead}. Lowest {lowest[1]} at {_place(lowest)}, highest {highest[1]} at "
        f"{_place(highest)}."
    )


def _counted(count: int) -> str:
    return "1 point" if count == 1 else f"{count:,} points"


def _place(point: tuple[str | None, str, str | None]) -> str:
    at = "null" if point[0] is None else point[0]
    return at if point[2] is None else f"{at} ({point[2]})"
