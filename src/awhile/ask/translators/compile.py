"""Compiling: the only place that writes SQL, as a SQLGlot tree built from an intent.

Source: ours. Identifiers come from the schema card, values become literals; no text of a question
is ever parsed as SQL. Figures are computed at the grain of their own table, so that a join never
counts a row twice; figures of different grains are computed apart and put side by side.
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
    Product,
    Rows,
    TimeDimension,
)
from awhile.ask.translators.lists import Lists
from awhile.ask.translators.names import table_words
from awhile.ask.translators.sources import Sources, compared, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.schema import Schema
    from awhile.ask.translators.intent import (
        Dimension,
        Expression,
        Function,
        Intent,
        Measure,
        Threshold,
    )
    from awhile.ask.translators.joins import Joins

__all__ = ["compile_intent"]


def compile_intent(intent: Intent, schema: Schema, joins: Joins) -> str:
    """One SELECT in the schema's dialect. Raises `Stuck` where a join would multiply figures."""
    if isinstance(intent, Groups):
        tree = _Figures(schema, joins).groups(intent)
    elif isinstance(intent, Listing):
        tree = Lists(schema, joins).listing(intent)
    else:
        tree = Lists(schema, joins).pairs(intent)
    return written(tree, schema.dialect)


class _Figures(Sources):
    """Compiles figures, for all rows or for each group."""

    def groups(self, intent: Groups) -> exp.Select:
        if intent.include_empty:
            return self.with_empty(intent)
        measures = list(intent.measures)
        extra = [each.measure for each in intent.having if each.measure not in measures]
        bases = [self.base(each, intent.dimensions) for each in (*measures, *extra)]
        simple = len(set(bases)) == 1 and not any(m.per for m in (*measures, *extra))
        if simple:
            tree = self.aggregate(bases[0], measures, intent, intent.having)
        else:
            if extra or (intent.having and len(measures) > 1):
                raise Stuck("these figures are of different rows and cannot be compared yet")
            tree = self.side_by_side(intent, measures, bases)
        tree = self.ordered(tree, intent)
        if intent.count_groups:
            counted = exp.Alias(this=exp.Count(this=exp.Star()), alias=self.name("how_many"))
            return exp.Select().select(counted).from_(tree.subquery("found"))
        return tree

    def base(self, measure: Measure, dims: Sequence[Dimension]) -> str:
        """The table whose rows are aggregated for a measure, so that none is counted twice."""
        home = measure.of.table
        tables = [each.table for each in dims]
        if measure.per:
            tables.append(measure.per.table)
        if measure.part:
            tables.append(measure.part.ref.table)
        if all(table in self.joins.reach(home) for table in tables):
            return home
        counting = isinstance(measure.of, Rows) or measure.function in (
            "count_distinct",
            "min",
            "max",
        )
        if measure.per or not counting:
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

    def value(self, of: Expression) -> exp.Expr:
        if isinstance(of, Product):
            return exp.Mul(this=self.ref(of.quantity), expression=self.ref(of.price))
        assert isinstance(of, ColumnRef)
        return self.ref(of)

    def figure(self, measure: Measure, base: str) -> exp.Expr:
        if isinstance(measure.of, Rows):
            if base == measure.of.table:
                made: exp.Expr = exp.Count(this=exp.Star())
            else:
                card = self.schema.table(measure.of.table)
                assert card is not None
                if len(card.primary_key) != 1:
                    raise Stuck(f"rows of {card.name} have no key of one column to count by")
                key = self.column(card.name, card.primary_key[0])
                made = exp.Count(this=exp.Distinct(expressions=[key]))
        else:
            made = _function(measure.function, self.value(measure.of))
        if not measure.share:
            return made
        if measure.part:
            whole: exp.Expr = made
            made = self.figure_of_part(measure, base, self.test(measure.part))
        else:
            whole = exp.Window(this=exp.Sum(this=made.copy()))
        # The 1.0 keeps engines whose division of integers is whole from answering 0.
        made = exp.Mul(this=made, expression=exp.Literal.number("1.0"))
        return exp.Div(this=made, expression=whole)

    def figure_of_part(self, measure: Measure, base: str, test: exp.Expr) -> exp.Expr:
        """The same figure over those rows that satisfy `test`."""
        if measure.function not in ("sum", "count") or base != measure.of.table:
            raise Stuck("I only know shares of sums and counts")
        amount = exp.Literal.number("1") if isinstance(measure.of, Rows) else self.value(measure.of)
        case = exp.Case(ifs=[exp.If(this=test, true=amount)], default=exp.Literal.number("0"))
        return exp.Sum(this=case)

    def aggregate(
        self,
        base: str,
        measures: Sequence[Measure],
        intent: Groups,
        having: Sequence[Threshold] = (),
    ) -> exp.Select:
        if len(measures) == 1 and measures[0].per:
            return self.nested(base, measures[0], intent)
        tables, tests = self.where(base, intent.where)
        figures = [*measures, *(each.measure for each in having)]
        tables += [each.of.table for each in figures]
        tables += [each.part.ref.table for each in figures if each.part]
        tree = self.source(base, [*(d.table for d in intent.dimensions), *tables])
        tree = self.dimensions(tree, intent.dimensions)
        for each in measures:
            tree = tree.select(self.alias(self.figure(each, base), self.label(each)))
        for test in tests:
            tree = tree.where(test)
        for limit in having:
            figure = self.figure(limit.measure, base)
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
        inner = self.source(base, [measure.per.table, *(d.table for d in dims), *tables])
        inner = self.dimensions(inner, dims)
        if isinstance(measure.per, EntityDimension):
            for key in measure.per.key:
                inner = inner.group_by(self.column(measure.per.table, key))
        else:
            inner = inner.group_by(self.time(measure.per))
        first = (
            exp.Count(this=exp.Star())
            if isinstance(measure.of, Rows)
            else exp.Sum(this=self.value(measure.of))
        )
        inner = inner.select(self.alias(first, "amount"))
        for test in tests:
            inner = inner.where(test)
        outer = exp.Select().from_(inner.subquery("each_one"))
        for name in self.names_of(dims):
            outer = outer.select(exp.Column(this=self.name(name)))
            outer = outer.group_by(exp.Column(this=self.name(name)))
        figure = _function(measure.function, exp.Column(this=self.name("amount")))
        return outer.select(self.alias(figure, self.label(measure)))

    def side_by_side(
        self, intent: Groups, measures: Sequence[Measure], bases: Sequence[str]
    ) -> exp.Select:
        """Figures of different grains, each on its own, matched on the groups."""
        if len(measures) == 1:
            tree = self.aggregate(bases[0], measures, intent)
            if intent.having:
                raise Stuck("I cannot compare a figure of figures with a number yet")
            return tree
        for each in intent.where.filters:
            if any(each.ref.table not in self.joins.reach(base) for base in bases):
                raise Stuck("I cannot tell whether its condition is about all of these figures")
        names = self.names_of(intent.dimensions)
        parts = [f"part_{place}" for place in range(1, len(measures) + 1)]
        tree = exp.Select().from_(self.table(parts[0]))
        for name in names:
            cells = [exp.Column(this=self.name(name), table=self.name(part)) for part in parts]
            tree = tree.select(self.alias(exp.Coalesce(this=cells[0], expressions=cells[1:]), name))
        for part, measure in zip(parts, measures, strict=True):
            label = self.label(measure)
            tree = tree.select(
                self.alias(exp.Column(this=self.name(label), table=self.name(part)), label)
            )
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
        for part, measure, base in zip(parts, measures, bases, strict=True):
            tree = tree.with_(part, as_=self.aggregate(base, [measure], intent))
        return tree

    def with_empty(self, intent: Groups) -> exp.Select:
        """Every row of the entity, with 0 where it has nothing to add up."""
        entity, measure = intent.dimensions[0], intent.measures[0]
        assert isinstance(entity, EntityDimension)
        base = self.base(measure, intent.dimensions)
        reach = self.joins.reach(entity.table)
        own = [each for each in intent.where.filters if each.ref.table in reach]
        inner_where = Condition(tuple(each for each in intent.where.filters if each not in own))
        tables, tests = self.where(base, inner_where)
        inner = self.source(base, [entity.table, measure.of.table, *tables])
        for key in entity.key:
            column = self.column(entity.table, key)
            inner = inner.select(column).group_by(column.copy())
        inner = inner.select(self.alias(self.figure(measure, base), "amount"))
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
        if intent.order and not isinstance(intent.order.by, ColumnRef):
            label = self.label(intent.order.by)
            tree = tree.order_by(
                exp.Ordered(
                    this=exp.Column(this=self.name(label)),
                    desc=intent.order.descending,
                    nulls_first=False,
                )
            )
        for place, _ in enumerate(names, 1):
            # By place: a name would be ambiguous between the column and its source.
            tree = tree.order_by(exp.Ordered(this=exp.Literal.number(str(place)), desc=False))
        return tree.limit(intent.limit) if intent.limit else tree

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
        if each.unit in ("weekday", "hour"):
            part = "ISODOW" if each.unit == "weekday" else "HOUR"
            return exp.Extract(this=exp.var(part), expression=column)
        trunc = exp.TimestampTrunc(this=column, unit=exp.var(each.unit.upper()))
        return exp.Cast(this=trunc, to=exp.DataType.build("date"))

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
        else:
            name = f"{words}_{measure.of.column}"
        return f"share_of_{name}" if measure.share else name


def _function(function: Function, value: exp.Expr) -> exp.Expr:
    if function == "count":
        return exp.Count(this=value)
    if function == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[value]))
    kinds: dict[str, type[exp.Expr]] = {
        "sum": exp.Sum,
        "avg": exp.Avg,
        "median": exp.Median,
        "min": exp.Min,
        "max": exp.Max,
    }
    return kinds[function](this=value)


def _first_known(name: exp.Identifier, parts: Sequence[exp.Identifier]) -> exp.Expr:
    cells = [exp.Column(this=name.copy(), table=part) for part in parts]
    return cells[0] if len(cells) == 1 else exp.Coalesce(this=cells[0], expressions=cells[1:])
