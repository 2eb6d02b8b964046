"""Figures in SQL: aggregates over the rows of one table, with the names of their columns.

Source: ours. Figures are computed at the grain of their own table, so that a join never counts a
row twice.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import (
    Change,
    ColumnRef,
    During,
    EntityDimension,
    Formula,
    Measure,
    Product,
    Ratio,
    Rows,
    Share,
    Span,
    TimeDimension,
    measures_of,
)
from awhile.ask.translators.names import table_words
from awhile.ask.translators.sources import Sources, aggregate, unique
from awhile.ask.translators.words import split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.schema import Schema
    from awhile.ask.translators.intent import Condition, Dimension, Figure, Groups
    from awhile.ask.translators.joins import Joins

__all__ = ["Summing", "growth", "quotient"]

_WITHOUT_SPREAD = ("sqlite",)
"""Dialects without a standard deviation."""


class Summing(Sources):
    """Compiles figures and groups."""

    def __init__(self, schema: Schema, joins: Joins, groups: Groups) -> None:
        super().__init__(schema, joins)
        self._named = {each.casefold() for each in self.names_of(groups.dimensions)}
        """What the columns of the groups are called."""

    def base(self, measure: Measure, dims: Sequence[Dimension]) -> str:
        """The table whose rows are aggregated for a measure, so that none is counted twice."""
        home = measure.of.table
        tables = [each.table for each in dims]
        if measure.per:
            tables.append(measure.per.table)
        if all(table in self.joins.reach(home) for table in tables):
            return home
        counting = isinstance(measure.of, Rows) or measure.function in (
            "count_distinct",
            "min",
            "max",
        )
        bridge = None if measure.per or counting else self.bridge(home, dims)
        if bridge:
            return bridge
        if not counting or (measure.per and not isinstance(measure.of, Rows)):
            names = " and ".join(
                dict.fromkeys(t for t in tables if t not in self.joins.reach(home))
            )
            raise Stuck(
                f"one row of {home} belongs to several rows of {names}, "
                f"so adding up would count it more than once"
            )
        found = self.joins.base([home, *tables])
        if found is None:
            names = " and ".join([home, *tables])
            raise Stuck(f"{names} are not linked by keys in a way that I can follow")
        return found

    def bridge(self, home: str, dims: Sequence[Dimension]) -> str | None:
        """The table that links rows of `home` with the one entity they are grouped by, when each
        may belong to several: then each counts once for every one it belongs to."""
        far = [each for each in dims if each.table not in self.joins.reach(home)]
        if len(far) != 1 or not isinstance(far[0], EntityDimension):
            return None
        between = self.joins.base([home, far[0].table])
        if between is None:
            return None
        paths = [self.joins.path(between, end) for end in (home, far[0].table)]
        if any(len(path) != 1 for path in paths):
            return None
        keys = tuple(column for path in paths for hop in path for column in hop.key.columns)
        self.distinct[between] = tuple(dict.fromkeys(keys))
        return between

    # Figures ----------------------------------------------------------------------------------

    def figure(self, figure: Figure, base: str) -> list[tuple[str, exp.Expr]]:
        """The columns of a figure, with their names."""
        match figure:
            case Measure():
                return [(self.label(figure), self.measure(figure, base))]
            case Share():
                made = self.measure(figure.of, base)
                whole = exp.Window(this=exp.Sum(this=made.copy()))
                return [(f"share_of_{self.label(figure.of)}", quotient(made, whole))]
            case Ratio():
                top, bottom = (self.measure(each, base) for each in measures_of(figure))
                return [(self.ratio_label(figure), quotient(top, bottom))]
            case Change():
                return self.change(figure, base)

    def change(self, figure: Change, base: str) -> list[tuple[str, exp.Expr]]:
        """Both periods, then the difference and the growth."""
        plain = self.label(replace(figure.now, only=None))
        now, before = (self.measure(each, base) for each in measures_of(figure))
        return [
            (f"{plain}_{_slug(figure.now)}", now),
            (f"{plain}_{_slug(figure.before)}", before),
            ("change", exp.Sub(this=now.copy(), expression=before.copy())),
            ("growth", growth(now, before)),
        ]

    def measure(self, measure: Measure, base: str) -> exp.Expr:
        """One aggregate over the rows of the base table."""
        if measure.function in ("stddev", "variance") and self.schema.dialect in _WITHOUT_SPREAD:
            raise Stuck("this database has no standard deviation")
        value: exp.Expr | None
        if not isinstance(measure.of, Rows):
            value = self.value(measure.of)
            function = measure.function
        elif base == measure.of.table:
            value, function = None, measure.function
        else:
            value, function = self.only_key(measure.of.table), "count_distinct"
        if function == "itself" and measure.only:
            raise Stuck("it cannot be taken apart")
        tests = self.where(base, measure.only)[1] if measure.only else []
        if not tests:
            return aggregate(function, value or exp.Star())
        test = exp.and_(*tests, copy=False)
        if function == "sum":
            # Of no row at all, the part of a sum is 0.
            zero = exp.Literal.number("0")
            return exp.Sum(this=exp.Case(ifs=[exp.If(this=test, true=value)], default=zero))
        one = value or exp.Literal.number("1")
        return aggregate(function, exp.Case(ifs=[exp.If(this=test, true=one)]))

    def tables_of(self, figures: Sequence[Figure], base: str) -> list[str]:
        """The tables a figure needs joined."""
        found: list[str] = []
        for measure in (each for figure in figures for each in measures_of(figure)):
            found.append(measure.of.table)
            if measure.only:
                found += self.where(base, measure.only)[0]
        return found

    # Groups -----------------------------------------------------------------------------------

    def dimensions(self, tree: exp.Select, dims: Sequence[Dimension]) -> exp.Select:
        names = iter(self.names_of(dims))
        for each in dims:
            match each:
                case EntityDimension():
                    for column in self.shown(each):
                        made = self.column(each.table, column)
                        tree = tree.select(self.alias(made, next(names)))
                    for column in dict.fromkeys((*each.key, *self.shown(each))):
                        tree = tree.group_by(self.column(each.table, column))
                case TimeDimension():
                    tree = tree.select(self.alias(self.time(each), next(names)))
                    tree = tree.group_by(self.time(each))
                case ColumnRef():
                    tree = tree.select(self.alias(self.ref(each), next(names)))
                    tree = tree.group_by(self.ref(each))
        return tree

    def names_of(self, dims: Sequence[Dimension]) -> list[str]:
        names: list[str] = []
        for each in dims:
            if isinstance(each, EntityDimension):
                for column in self.shown(each):
                    plain = column in each.key or column not in ("name", "title", "label")
                    own = "_".join(table_words(each.table))
                    names.append(column if plain else f"{own}_{column}")
            elif isinstance(each, TimeDimension):
                names.append(each.unit)
            else:
                names.append(each.column)
        return unique(names)

    def time(self, each: TimeDimension) -> exp.Expr:
        column = self.ref(each.ref)
        if self.holds_years(each.ref):
            return column
        if each.unit in ("weekday", "hour"):
            part = "ISODOW" if each.unit == "weekday" else "HOUR"
            return exp.Extract(this=exp.var(part), expression=column)
        trunc = exp.TimestampTrunc(this=column, unit=exp.var(each.unit.upper()))
        return exp.Cast(this=trunc, to=exp.DataType.build("date"))

    def holds_years(self, ref: ColumnRef) -> bool:
        card = self.schema.table(ref.table)
        found = card.column(ref.column) if card else None
        return found is not None and found.kind == "integer"

    # Names of columns -------------------------------------------------------------------------

    def label(self, measure: Measure) -> str:
        """The name of a figure's column in the answer."""
        words = {"count_distinct": "count", "sum": "total"}.get(measure.function, measure.function)
        if isinstance(measure.of, Rows):
            one = "_".join(table_words(measure.of.table))
            name = f"{one}_count" if not measure.per else f"{words}_{one}_count"
        elif isinstance(measure.of, Product) and isinstance(measure.per, EntityDimension):
            name = f"{words}_{'_'.join(table_words(measure.per.table))}_value"
        elif isinstance(measure.of, Product):
            name = f"{words}_revenue" if measure.per else "revenue"
        elif isinstance(measure.of, Formula):
            plain = measure.function in ("sum", "itself") and not measure.per
            own = re.sub(r"\W+", "_", measure.of.name)
            name = own if plain else f"{words}_{own}"
        elif isinstance(measure.of, Span):
            name = f"{words}_days"
        elif self.says_total(measure.of.column) and words == "total":
            name = measure.of.column
        else:
            name = f"{words}_{measure.of.column}"
        return name

    def says_total(self, column: str) -> bool:
        """Whether a sum of it may have its name; not beside the column itself."""
        return split_name(column)[:1] == ("total",) and column.casefold() not in self._named

    def ratio_label(self, ratio: Ratio) -> str:
        plain = [self.label(replace(each, only=None)) for each in measures_of(ratio)]
        return f"share_of_{plain[0]}" if ratio.part else f"{plain[0]}_to_{plain[1]}"


def quotient(top: exp.Expr, bottom: exp.Expr) -> exp.Expr:
    """One divided by the other, or nothing where that is 0."""
    # The 1.0 keeps engines whose division of integers is whole from answering 0.
    exact = exp.Mul(this=exp.Paren(this=top.copy()), expression=exp.Literal.number("1.0"))
    safe = exp.Nullif(this=bottom.copy(), expression=exp.Literal.number("0"))
    return exp.Div(this=exact, expression=safe)


def growth(now: exp.Expr, before: exp.Expr) -> exp.Expr:
    """By which part of what was before it grew: 0.1 is ten percent more."""
    change = exp.Sub(this=now.copy(), expression=before.copy())
    return quotient(change, before)


def _slug(measure: Measure) -> str:
    """What to call a figure of one period: `2026`, `2026_10`, or its dates."""
    only: Condition | None = measure.only
    during = only.filters[0] if only else None
    assert isinstance(during, During)
    period = during.periods[0]
    if period.start and period.unit == "year":
        return str(period.start.year)
    if period.start and period.unit == "month":
        return f"{period.start:%Y_%m}"
    if period.start and period.unit == "quarter":
        return f"{period.start.year}_q{(period.start.month + 2) // 3}"
    return re.sub(r"\W+", "_", period.dates)
