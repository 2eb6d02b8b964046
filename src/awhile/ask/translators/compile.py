"""Compiling: the only place that writes SQL, as a SQLGlot tree built from an intent.

Source: ours. Identifiers come from the schema card, values become literals; no text of a question
is ever parsed as SQL. Figures of different grains are computed apart and put side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.dialects import written
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import (
    ColumnRef,
    Condition,
    EntityDimension,
    Groups,
    Listing,
    Measure,
    Ratio,
    Rows,
    measures_of,
)
from awhile.ask.translators.lists import Lists
from awhile.ask.translators.sources import aggregate, compared
from awhile.ask.translators.summing import Summing, quotient
from awhile.ask.translators.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.schema import Schema
    from awhile.ask.translators.intent import Dimension, Figure, Intent, Threshold
    from awhile.ask.translators.joins import Joins

__all__ = ["compile_intent"]


def compile_intent(intent: Intent, schema: Schema, joins: Joins) -> str:
    """One SELECT in the schema's dialect. Raises `Stuck` where a join would multiply figures."""
    if isinstance(intent, Groups):
        tree = _Figures(schema, joins, intent).groups(intent)
    elif isinstance(intent, Listing):
        tree = Lists(schema, joins).listing(intent)
    else:
        tree = Lists(schema, joins).pairs(intent)
    return written(tree, schema.dialect)


class _Figures(Summing):
    """Compiles figures, for all rows or for each group."""

    def groups(self, intent: Groups) -> exp.Select:
        if intent.include_empty:
            return self.with_empty(intent)
        if intent.over:
            windows = Windows(self.schema, self.joins, intent)
            return windows.along(intent, intent.over, self.plain(windows.inner(intent)))
        if intent.within:
            return self.within(intent)
        tree = self.ordered(self.plain(intent), intent)
        if intent.count_groups:
            counted = exp.Alias(this=exp.Count(this=exp.Star()), alias=self.name("how_many"))
            return exp.Select().select(counted).from_(tree.subquery("found"))
        return tree

    def plain(self, intent: Groups) -> exp.Select:
        """The groups with their figures, unordered."""
        dims = intent.dimensions
        measures = [each for figure in intent.figures for each in measures_of(figure)]
        tested = [each.measure for each in intent.having]
        bases = [self.base(each, dims) for each in (*measures, *tested)]
        if len(set(bases)) == 1 and not any(each.per for each in (*measures, *tested)):
            return self.aggregate(bases[0], intent.figures, intent, intent.having)
        if len(measures) == 1 and not intent.having:
            return self.aggregate(bases[0], intent.figures, intent)
        return self.side_by_side(intent)

    def within(self, intent: Groups) -> exp.Select:
        """The first groups of each of the groups that they are ranked within."""
        names = self.names_of(intent.dimensions)
        labels = [self.label(each) for each in intent.figures if isinstance(each, Measure)]
        by = self.order_name(intent)
        if by is None or len(labels) != len(intent.figures) or intent.limit is None:
            raise Stuck("I do not know what it ranks by")
        outer = self.names_of(intent.dimensions[: len(intent.within)])
        descending = intent.order is not None and intent.order.descending
        first = self.ordered_by(by, descending=descending)
        rest = [self.ordered_by(name) for name in names if name not in outer]
        return self.placed(
            self.plain(intent), [*names, *labels], outer, [first, *rest], intent.skip, intent.limit
        )

    def aggregate(
        self,
        base: str,
        figures: Sequence[Figure],
        intent: Groups,
        having: Sequence[Threshold] = (),
    ) -> exp.Select:
        only = figures[0]
        if len(figures) == 1 and isinstance(only, Measure) and only.per:
            return self.nested(base, only, intent)
        tables, tests = self.where(base, intent.where)
        tables += self.tables_of([*figures, *(each.measure for each in having)], base)
        tree = self.source(base, [*(d.table for d in intent.dimensions), *tables])
        tree = self.dimensions(tree, intent.dimensions)
        for each in figures:
            for name, made in self.figure(each, base):
                tree = tree.select(self.alias(made, name))
        for test in tests:
            tree = tree.where(test)
        for limit in having:
            figure = self.measure(limit.measure, base)
            tree = tree.having(compared(figure, limit.operator, limit.low, limit.high))
        return tree

    def nested(self, base: str, measure: Measure, intent: Groups) -> exp.Select:
        """First for each `per`, then over those."""
        assert measure.per is not None
        dims = intent.dimensions
        if isinstance(measure.per, EntityDimension):
            reach = self.joins.reach(measure.per.table)
            if any(each.table not in reach for each in dims):
                raise Stuck(f"one row of {measure.per.table} belongs to several of these groups")
        tables, tests = self.where(base, intent.where)
        homes = [measure.of.table] if base != measure.of.table else []
        inner = self.source(base, [*homes, measure.per.table, *(d.table for d in dims), *tables])
        inner = self.dimensions(inner, dims)
        if isinstance(measure.per, EntityDimension):
            for key in measure.per.key:
                inner = inner.group_by(self.column(measure.per.table, key))
        else:
            inner = inner.group_by(self.time(measure.per))
        first: exp.Expr
        if not isinstance(measure.of, Rows):
            first = exp.Sum(this=self.value(measure.of))
        elif base == measure.of.table:
            first = exp.Count(this=exp.Star())
        else:
            first = aggregate("count_distinct", self.only_key(measure.of.table))
        inner = inner.select(self.alias(first, "amount"))
        for test in tests:
            inner = inner.where(test)
        outer = exp.Select().from_(inner.subquery("each_one"))
        for name in self.names_of(dims):
            outer = outer.select(exp.Column(this=self.name(name)))
            outer = outer.group_by(exp.Column(this=self.name(name)))
        amount: exp.Expr = exp.Column(this=self.name("amount"))
        if measure.only:
            raise Stuck("I cannot tell which of them this is about")
        return outer.select(self.alias(aggregate(measure.function, amount), self.label(measure)))

    def side_by_side(self, intent: Groups) -> exp.Select:
        """Figures of different grains, each on its own, matched on the groups."""
        dims = intent.dimensions
        ratio = next((each for each in intent.figures if isinstance(each, Ratio)), None)
        plain = [each for each in intent.figures if isinstance(each, Measure)]
        if len(plain) != len(intent.figures) and not (ratio and len(intent.figures) == 1):
            raise Stuck("these figures are of different rows and cannot be put together yet")
        measures = list(measures_of(ratio)) if ratio else plain
        tested = [each.measure for each in intent.having if each.measure not in measures]
        parts = [f"part_{place}" for place, _ in enumerate([*measures, *tested], 1)]
        bases = [self.base(each, dims) for each in (*measures, *tested)]
        for each in intent.where.filters:
            if any(each.ref.table not in self.joins.reach(base) for base in bases):
                raise Stuck("I cannot tell whether its condition is about all of these figures")
        tree = self.matched(self.names_of(dims), parts)
        cells = [
            exp.Column(this=self.name(self.label(measure)), table=self.name(part))
            for part, measure in zip(parts, [*measures, *tested], strict=True)
        ]
        if ratio:
            tree = tree.select(self.alias(quotient(cells[0], cells[1]), self.ratio_label(ratio)))
        else:
            for cell, measure in zip(cells, measures, strict=False):
                tree = tree.select(self.alias(cell, self.label(measure)))
        every = [*measures, *tested]
        for limit in intent.having:
            cell = cells[every.index(limit.measure)].copy()
            tree = tree.where(compared(cell, limit.operator, limit.low, limit.high))
        for part, measure, base in zip(parts, every, bases, strict=True):
            tree = tree.with_(part, as_=self.aggregate(base, [measure], intent))
        return tree

    def matched(self, names: Sequence[str], parts: Sequence[str]) -> exp.Select:
        """The groups of several parts, each group once."""
        tree = exp.Select().from_(self.table(parts[0]))
        for name in names:
            first = _first_known(self.name(name), [self.name(part) for part in parts])
            tree = tree.select(self.alias(first, name))
        for place, part in enumerate(parts[1:], 1):
            on = [
                exp.NullSafeEQ(
                    this=_first_known(self.name(name), [self.name(p) for p in parts[:place]]),
                    expression=exp.Column(this=self.name(name), table=self.name(part)),
                )
                for name in names
            ]
            if on:
                tree = tree.join(self.table(part), on=exp.and_(*on, copy=False), join_type="full")
            else:
                tree = tree.join(self.table(part), join_type="cross")
        return tree

    def with_empty(self, intent: Groups) -> exp.Select:
        """Every row of the entity, with 0 where it has nothing to add up."""
        entity, measure = intent.dimensions[0], intent.figures[0]
        assert isinstance(entity, EntityDimension)
        assert isinstance(measure, Measure)
        base = self.base(measure, intent.dimensions)
        reach = self.joins.reach(entity.table)
        own = [each for each in intent.where.filters if each.ref.table in reach]
        inner_where = Condition(tuple(each for each in intent.where.filters if each not in own))
        tables, tests = self.where(base, inner_where)
        inner = self.source(base, [entity.table, measure.of.table, *tables])
        for key in entity.key:
            column = self.column(entity.table, key)
            inner = inner.select(column).group_by(column.copy())
        inner = inner.select(self.alias(self.measure(measure, base), "amount"))
        for test in tests:
            inner = inner.where(test)
        on = exp.and_(
            *(
                exp.EQ(this=self.column(entity.table, key), expression=self.column("found", key))
                for key in entity.key
            ),
            copy=False,
        )
        tree = self.source(entity.table, [each.ref.table for each in own])
        tree = tree.join(inner.subquery("found"), on=on, join_type="left")
        for name in self.shown(entity):
            tree = tree.select(self.column(entity.table, name))
        amount = exp.Coalesce(
            this=self.column("found", "amount"), expressions=[exp.Literal.number("0")]
        )
        tree = tree.select(self.alias(amount, self.label(measure)))
        for each in own:
            tree = tree.where(self.test(each))
        for limit in intent.having:
            tree = tree.where(compared(amount.copy(), limit.operator, limit.low, limit.high))
        tree = self.ordered(tree, intent)
        if intent.count_groups:
            counted = exp.Alias(this=exp.Count(this=exp.Star()), alias=self.name("how_many"))
            return exp.Select().select(counted).from_(tree.subquery("kept"))
        return tree

    def ordered(self, tree: exp.Select, intent: Groups) -> exp.Select:
        if intent.count_groups:
            return tree
        names = self.names_of(intent.dimensions)
        first = self.order_name(intent)
        if intent.order and first:
            tree = tree.order_by(self.ordered_by(first, descending=intent.order.descending))
        places = list(range(1, len(names) + 1))
        if intent.order and isinstance(intent.order.by, ColumnRef):
            place = self.place_of(intent.order.by, intent.dimensions)
            descending = intent.order.descending
            tree = tree.order_by(exp.Ordered(this=exp.Literal.number(str(place)), desc=descending))
            places.remove(place)
        for place in places:
            # By place: a name would be ambiguous between the column and its source.
            tree = tree.order_by(exp.Ordered(this=exp.Literal.number(str(place)), desc=False))
        return self.limited(tree, intent.skip, intent.limit)

    def order_name(self, intent: Groups) -> str | None:
        """The name of the figure's column that sorts, if one does."""
        if intent.order is None or isinstance(intent.order.by, ColumnRef):
            return None
        by = intent.order.by
        if isinstance(by, Measure):
            return self.label(by)
        base = self.base(measures_of(by)[0], intent.dimensions)
        return self.figure(by, base)[0][0] if not isinstance(by, Ratio) else self.ratio_label(by)

    def place_of(self, ref: ColumnRef, dims: Sequence[Dimension]) -> int:
        place = 1
        for each in dims:
            if each == ref:
                return place
            place += len(self.shown(each)) if isinstance(each, EntityDimension) else 1
        raise Stuck("the answer can only be sorted by what it shows")


def _first_known(name: exp.Identifier, parts: Sequence[exp.Identifier]) -> exp.Expr:
    cells = [exp.Column(this=name.copy(), table=part) for part in parts]
    return cells[0] if len(cells) == 1 else exp.Coalesce(this=cells[0], expressions=cells[1:])
