"""Figures along time in SQL: running totals, moving averages, and growth from one time to another.

Source: ours. The groups are made first, then looked at along time. Growth joins each group with
the one a unit earlier, so that a month without rows is missing and not passed over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.intent import During, EntityDimension, Measure, TimeDimension
from awhile.ask.translators.periods import Period, shifted
from awhile.ask.translators.summing import Summing, growth

if TYPE_CHECKING:
    from awhile.ask.translators.intent import Filter, Groups, Over

__all__ = ["Windows"]

_STEPS = {
    "day": (1, "DAY"),
    "week": (7, "DAY"),
    "month": (1, "MONTH"),
    "quarter": (3, "MONTH"),
    "year": (12, "MONTH"),
}
_GROUPS, _NOW, _BEFORE = "each_group", "now", "before"


class Windows(Summing):
    """Compiles what is made of groups along time."""

    def inner(self, intent: Groups) -> Groups:
        """The groups that are needed: for growth, also those before the ones asked for."""
        over, time = intent.over, self.time_of(intent)
        if over is None or over.kind != "growth":
            return intent
        filters: list[Filter] = []
        for each in intent.where.filters:
            if isinstance(each, During) and each.ref == time.ref:
                each = replace(each, periods=tuple(self.earlier(p, over) for p in each.periods))
            filters.append(each)
        return replace(intent, where=replace(intent.where, filters=tuple(filters)))

    def along(self, intent: Groups, over: Over, groups: exp.Select) -> exp.Select:
        """The figures of each group, and what is made of them."""
        growing = over.kind == "growth"
        tree = self.growing(intent, over) if growing else self.windowed(intent, over)
        for place, _ in enumerate(self.names_of(intent.dimensions), 1):
            tree = tree.order_by(exp.Ordered(this=exp.Literal.number(str(place)), desc=False))
        return tree.with_(_GROUPS, as_=groups)

    def windowed(self, intent: Groups, over: Over) -> exp.Select:
        time, others = self.names(intent)
        tree = exp.Select().from_(self.table(_GROUPS))
        for name in self.names_of(intent.dimensions):
            tree = tree.select(self.cell(None, name))
        for each in intent.figures:
            assert isinstance(each, Measure)
            label = self.label(each)
            kind = exp.Sum if over.kind == "running" else exp.Avg
            ahead = {"start": "UNBOUNDED"} if over.kind == "running" else {}
            if over.kind == "moving":
                ahead = {"start": exp.Literal.number(str(over.size - 1))}
            window = exp.Window(
                this=kind(this=self.cell(None, label)),
                partition_by=[self.cell(None, name) for name in others],
                order=exp.Order(expressions=[exp.Ordered(this=self.cell(None, time), desc=False)]),
                spec=exp.WindowSpec(
                    kind="ROWS", start_side="PRECEDING", end="CURRENT ROW", **ahead
                ),
            )
            made = f"running_{label}" if over.kind == "running" else f"moving_avg_{label}"
            tree = tree.select(self.cell(None, label)).select(self.alias(window, made))
        return tree

    def growing(self, intent: Groups, over: Over) -> exp.Select:
        time, others = self.names(intent)
        dimension = self.time_of(intent)
        on = [
            exp.EQ(
                this=self.cell(_BEFORE, time),
                expression=self.shift_back(self.cell(_NOW, time), over, dimension),
            )
        ]
        on += [
            exp.NullSafeEQ(this=self.cell(_BEFORE, name), expression=self.cell(_NOW, name))
            for name in others
        ]
        tree = exp.Select().from_(self.table(_GROUPS, _NOW))
        tree = tree.join(
            self.table(_GROUPS, _BEFORE), on=exp.and_(*on, copy=False), join_type="left"
        )
        for name in self.names_of(intent.dimensions):
            tree = tree.select(self.alias(self.cell(_NOW, name), name))
        several = len(intent.figures) > 1
        for each in intent.figures:
            assert isinstance(each, Measure)
            label = self.label(each)
            now, before = self.cell(_NOW, label), self.cell(_BEFORE, label)
            tail = f"_of_{label}" if several else ""
            change = exp.Sub(this=now.copy(), expression=before.copy())
            tree = tree.select(
                self.alias(now.copy(), label),
                self.alias(before.copy(), f"{label}_before"),
                self.alias(change, f"change{tail}"),
                self.alias(growth(now, before), f"growth{tail}"),
            )
        for each in intent.where.filters:
            if isinstance(each, During) and each.ref == dimension.ref:
                shown = self.during(self.cell(_NOW, time), self.whole(each, dimension))
                tree = tree.where(shown)
        return tree

    def shift_back(self, time: exp.Expr, over: Over, dimension: TimeDimension) -> exp.Expr:
        """The time one unit earlier."""
        if self.holds_years(dimension.ref):
            return exp.Sub(this=time, expression=exp.Literal.number("1"))
        # Not all dialects know a week or a quarter here.
        count, unit = _STEPS[over.unit or "month"]
        return exp.DateAdd(
            this=time, expression=exp.Literal.number(str(-count)), unit=exp.var(unit)
        )

    def earlier(self, period: Period, over: Over) -> Period:
        if period.start is None or over.unit is None:
            return period
        return Period(shifted(period.start, -1, over.unit), period.end, period.said)

    def whole(self, each: During, dimension: TimeDimension) -> During:
        """The period from the beginning of its first group: groups are told by their first day."""
        if dimension.unit in ("weekday", "hour"):
            return each
        unit = dimension.unit
        periods = tuple(
            Period(shifted(p.start, 0, unit, floor=True) if p.start else None, p.end, p.said)
            for p in each.periods
        )
        return replace(each, periods=periods)

    def names(self, intent: Groups) -> tuple[str, list[str]]:
        """The name of the column of time, and those of all other groups."""
        names = self.names_of(intent.dimensions)
        place = 0
        for each in intent.dimensions:
            if isinstance(each, TimeDimension):
                break
            place += len(self.shown(each)) if isinstance(each, EntityDimension) else 1
        return names[place], [*names[:place], *names[place + 1 :]]

    def time_of(self, intent: Groups) -> TimeDimension:
        return next(each for each in intent.dimensions if isinstance(each, TimeDimension))

    def cell(self, home: str | None, name: str) -> exp.Column:
        table = self.name(home) if home else None
        return exp.Column(this=self.name(name), table=table)
