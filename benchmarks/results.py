"""What was measured: samples by row and column, their medians, and whether targets were met."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

BARE = "bare"
"""The column of the bare route."""

Column = str
Samples = Mapping[str, float]
"""One sample of one measure: a figure for each of its rows."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a row shall come to.

    Attributes:
        words: as the table says it.
        against: the column it is compared with; None: the figure itself is bounded.
        least: the ratio (or figure) may not be less.
        most: nor may it be more.
    """

    words: str
    against: Column | None = None
    least: float | None = None
    most: float | None = None

    def met(self, value: float) -> bool:
        """Whether a ratio or figure is as it shall be."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    name: str
    words: str
    unit: Literal["/s", "ms", "s", "KiB", "µs", "%", "points", "times"]
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class Figure:
    """The median of a row's samples in one column, and how far they spread."""

    median: float
    least: float
    most: float
    samples: int


@dataclass(frozen=True)
class Verdict:
    """What became of one target in one column of ours."""

    target: Target
    column: Column
    value: float
    met: bool


@dataclass
class Results:
    """All samples of one run. Those of one round belong together, and are compared."""

    rows: list[Row] = field(default_factory=list[Row])
    said: dict[tuple[str, Column], str] = field(default_factory=dict[tuple[str, Column], str])
    """What stands in the table where there is no figure, by row and column."""
    _samples: dict[tuple[str, Column], list[float]] = field(
        default_factory=lambda: defaultdict[tuple[str, Column], list[float]](list)
    )

    def add(self, column: Column, sample: Samples) -> None:
        """Take a sample in."""
        for row, value in sample.items():
            self._samples[row, column].append(value)

    def figure(self, row: Row, column: Column) -> Figure | None:
        """The row's figure in a column, if it was measured there."""
        values = self._samples.get((row.name, column))
        if not values:
            return None
        return Figure(statistics.median(values), min(values), max(values), len(values))

    def ratio(self, row: Row, column: Column, other: Column) -> float | None:
        """How many times the other column's figure: the median over the rounds both were in."""
        ours, theirs = (self._samples.get((row.name, one), []) for one in (column, other))
        ratios = [one / two for one, two in zip(ours, theirs, strict=False) if two]
        return statistics.median(ratios) if ratios else None

    def verdicts(self, row: Row, columns: list[Column]) -> list[Verdict]:
        """Each target of the row, in each of the columns given that was measured."""
        found: list[Verdict] = []
        for target in row.targets:
            for column in columns:
                figure = self.figure(row, column)
                if figure is None:
                    continue
                value = figure.median
                if target.against is not None:
                    ratio = self.ratio(row, column, target.against)
                    if ratio is None:
                        continue
                    value = ratio
                found.append(Verdict(target, column, value, target.met(value)))
        return found


Say = Callable[[str], None]
"""Tells whoever waits what is being measured."""
