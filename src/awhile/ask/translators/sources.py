"""Rows in SQL: names, joins along keys, and conditions, as SQLGlot trees.

Source: ours. Identifiers come from the schema card, values become literals; no text of a question
is ever parsed as SQL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.identifiers import identifier, named_table
from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Comparison,
    During,
    Either,
    Flag,
    Formula,
    Matching,
    Missing,
    Product,
    Rows,
    Span,
    Totals,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from decimal import Decimal

    from awhile.ask.schema import Schema
    from awhile.ask.translators.intent import (
        Condition,
        EntityDimension,
        Expression,
        Filter,
        Function,
    )
    from awhile.ask.translators.joins import Hop, Joins
    from awhile.ask.translators.marks import Operator, Part

__all__ = ["Sources", "aggregate", "compared", "unique"]

_WILD = "%_!\\"
"""Letters that mean something in a pattern of SQL, or do in some engine."""
_COMPARE: dict[Operator, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
}


class Sources:
    """Where rows come from, for one schema."""

    def __init__(self, schema: Schema, joins: Joins) -> None:
        self.schema = schema
        self.joins = joins
        self.distinct: dict[str, tuple[str, ...]] = {}
        """Tables that only link others, of which each pair of keys is to be taken once."""

    # Names ------------------------------------------------------------------------------------

    def name(self, text: str) -> exp.Identifier:
        return identifier(text, self.schema.dialect)

    def table(self, name: str, alias: str | None = None) -> exp.Table:
        return named_table(name, self.schema.dialect, alias)

    def column(self, table: str, column: str) -> exp.Column:
        return exp.Column(this=self.name(column), table=self.name(table.rpartition(".")[2]))

    def ref(self, ref: ColumnRef) -> exp.Column:
        return self.column(ref.table, ref.column)

    def alias(self, made: exp.Expr, name: str) -> exp.Expr:
        if isinstance(made, exp.Column) and made.name == name:
            return made
        return exp.Alias(this=made, alias=self.name(name))

    def shown(self, entity: EntityDimension) -> tuple[str, ...]:
        """A name that may be shared needs the key beside it."""
        card = self.schema.table(entity.table)
        assert card is not None
        if len(entity.labels) == 1:
            column = card.column(entity.labels[0])
            if (
                column
                and column.distinct_count is not None
                and (column.distinct_count == card.row_count)
            ):
                return entity.labels
        return (*entity.key, *(each for each in entity.labels if each not in entity.key))

    # Rows -------------------------------------------------------------------------------------

    def source(self, base: str, tables: Iterable[str]) -> exp.Select:
        """SELECT FROM the base table joined with everything it must look up."""
        tree = exp.Select().from_(self.first(base))
        joined = {base}
        for wanted in tables:
            if wanted not in self.joins.reach(base):
                raise Stuck(
                    f"{base} and {wanted} are not linked by keys in a way that I can follow"
                )
            for hop in self.joins.path(base, wanted):
                if hop.key.table in joined:
                    continue
                joined.add(hop.key.table)
                kind = (
                    "inner"
                    if self.always_found(hop.table, hop.key.columns, hop.key.declared)
                    else "left"
                )
                tree = tree.join(self.table(hop.key.table), on=self.linked(hop), join_type=kind)
        return tree

    def first(self, base: str) -> exp.Expr:
        """The table to begin from, or its different pairs of keys under its name."""
        keys = self.distinct.get(base)
        if keys is None:
            return self.table(base)
        pairs = exp.Select().from_(self.table(base)).distinct()
        for key in keys:
            pairs = pairs.select(self.column(base, key))
        return pairs.subquery(self.name(base.rpartition(".")[2]))

    def always_found(self, table: str, columns: Sequence[str], declared: bool) -> bool:
        card = self.schema.table(table)
        assert card is not None
        found = [card.column(name) for name in columns]
        return declared and not any(each is None or each.nullable for each in found)

    def limited(self, tree: exp.Select, skip: int, limit: int | None) -> exp.Select:
        if limit is None:
            return tree
        return tree.limit(limit).offset(skip) if skip else tree.limit(limit)

    def ordered_by(self, name: str, *, descending: bool = False) -> exp.Ordered:
        """By a column of that name, what is not known last."""
        column = exp.Column(this=self.name(name))
        return exp.Ordered(this=column, desc=descending, nulls_first=False)

    def placed(
        self,
        rows: exp.Select,
        names: Sequence[str],
        within: Sequence[str],
        order: Sequence[exp.Expr],
        skip: int,
        limit: int,
    ) -> exp.Select:
        """The first `limit` of `rows` but for `skip`, in each group of equal `within`; all by their
        names.
        """
        place = unique([*names, "place"])[-1]
        window = exp.Window(
            this=exp.RowNumber(),
            partition_by=[exp.Column(this=self.name(each)) for each in within],
            order=exp.Order(expressions=list(order)),
        )
        shown = dict.fromkeys([*within, *names])
        inner = exp.Select().from_(self.table("each_row"))
        for each in shown:
            inner = inner.select(exp.Column(this=self.name(each)))
        inner = inner.select(exp.Alias(this=window, alias=self.name(place)))
        tree = exp.Select().from_(self.table("placed"))
        for each in names:
            tree = tree.select(exp.Column(this=self.name(each)))
        at = exp.Column(this=self.name(place))
        tree = tree.where(exp.LTE(this=at, expression=exp.Literal.number(str(skip + limit))))
        if skip:
            tree = tree.where(exp.GT(this=at.copy(), expression=exp.Literal.number(str(skip))))
        for each in within:
            tree = tree.order_by(exp.Ordered(this=exp.Column(this=self.name(each)), desc=False))
        tree = tree.order_by(exp.Ordered(this=at.copy(), desc=False))
        return tree.with_("each_row", as_=rows).with_("placed", as_=inner)

    def where(self, base: str, condition: Condition) -> tuple[list[str], list[exp.Expr]]:
        """The tables to join and the conditions on rows of `base`."""
        reach = self.joins.reach(base)
        direct = [each for each in condition.filters if each.ref.table in reach]
        far = [each for each in condition.filters if each.ref.table not in reach]
        related = [table for table in condition.related if table not in reach]
        tests = [self.test(each) for each in direct]
        if condition.never and not related:
            raise Stuck("what is ruled out always exists, so the answer would be empty")
        if far or related:
            exists = self.exists(base, far, related)
            tests.append(exp.Not(this=exists) if condition.never else exists)
        return [each.ref.table for each in direct], tests

    def exists(self, base: str, far: Sequence[Filter], related: Sequence[str]) -> exp.Exists:
        """Some row of other tables that belongs to this row of `base` satisfies all of `far`."""
        tables = list(dict.fromkeys([*related, *(each.ref.table for each in far)]))
        finest = self.joins.base([base, *tables])
        if finest is not None:
            path = self.joins.path(finest, base)
            tree = self.source(finest, [*(hop.table for hop in path), *tables])
            last = path[-1]
        else:
            tree, last = self.chain(base, tables)
        tree = tree.select("1")
        for own, other in zip(last.key.columns, last.key.referenced_columns, strict=True):
            tree = tree.where(
                exp.EQ(this=self.column(last.table, own), expression=self.column(base, other))
            )
        for each in far:
            tree = tree.where(self.test(each))
        return exp.Exists(this=tree)

    def chain(self, base: str, tables: Sequence[str]) -> tuple[exp.Select, Hop]:
        """Tables linked one after the other, in the order they were said: authors, who wrote
        publications, which are in a domain. The hop is from the first of them back to `base`.
        """
        tree: exp.Select | None = None
        first: Hop | None = None
        at, joined = base, {base}
        for wanted in tables:
            between = self.joins.base([at, wanted])
            if between is None or wanted in joined:
                names = " and ".join([base, *tables])
                raise Stuck(f"{names} are not linked by keys in a way that I can follow")
            up, down = self.joins.path(between, at), self.joins.path(between, wanted)
            back = next(iter(up), None)
            if back is None or any(hop.key.table in joined for hop in down) or len(up) > 1:
                names = " and ".join([base, *tables])
                raise Stuck(f"{names} are not linked by keys in a way that I can follow")
            if tree is None:
                tree, first = exp.Select().from_(self.table(between)), back
            else:
                tree = tree.join(self.table(between), on=self.linked(back), join_type="inner")
            joined.add(between)
            for hop in down:
                tree = tree.join(self.table(hop.key.table), on=self.linked(hop), join_type="inner")
                joined.add(hop.key.table)
            at = wanted
        assert tree is not None
        assert first is not None
        return tree, first

    def linked(self, hop: Hop) -> exp.Expr:
        """That two rows belong together by a key."""
        pairs = zip(hop.key.columns, hop.key.referenced_columns, strict=True)
        return exp.and_(
            *(
                exp.EQ(
                    this=self.column(hop.table, own),
                    expression=self.column(hop.key.table, other),
                )
                for own, other in pairs
            ),
            copy=False,
        )

    def test(self, each: Filter) -> exp.Expr:
        column = self.ref(each.ref)
        match each:
            case Among():
                values = [exp.Literal.string(value) for value in each.values]
                if len(values) == 1:
                    kind = exp.NEQ if each.negated else exp.EQ
                    return kind(this=column, expression=values[0])
                among = exp.In(this=column, expressions=values)
                return exp.Not(this=among) if each.negated else among
            case Flag():
                return self.flag(column, each)
            case Comparison():
                return compared(column, each.operator, each.low, each.high)
            case During():
                return self.during(column, each)
            case Matching():
                return self.matching(column, each)
            case Missing():
                missing = exp.Is(this=column, expression=exp.Null())
                return exp.Not(this=missing) if each.negated else missing
            case Either():
                return exp.Paren(this=exp.or_(*map(self.test, each.of), copy=False))
            case Totals():
                return self.compared_total(column, each)

    def matching(self, column: exp.Expr, each: Matching) -> exp.Expr:
        """Letters as they are: none of them is a wildcard."""
        if self.schema.dialect == "sqlite" and not each.text.isascii():
            # SQLite knows upper and lower case of ASCII only.
            either = "".join(map(_either_case, each.text))
            test: exp.Expr = exp.Glob(this=column, expression=_placed(either, each.where, "*"))
        else:
            lower = each.text.lower()
            plain = "".join(f"!{letter}" if letter in _WILD else letter for letter in lower)
            test = exp.Like(this=exp.Lower(this=column), expression=_placed(plain, each.where, "%"))
            if plain != lower:
                test = exp.Escape(this=test, expression=exp.Literal.string("!"))
        return exp.Not(this=test) if each.negated else test

    def compared_total(self, key: exp.Expr, each: Totals) -> exp.Expr:
        """Who has nothing to add up is below every number, and at most every number."""
        opposite: dict[Operator, Operator] = {"<": ">=", "<=": ">"}
        other = opposite.get(each.operator)
        if other:
            above = self.totals(replace(each, operator=other))
            return exp.Not(this=exp.In(this=key, query=above.subquery()))
        return exp.In(this=key, query=self.totals(each).subquery())

    def totals(self, each: Totals) -> exp.Select:
        """The keys of an entity's rows whose measure compares."""
        home = each.measure.of.table
        base = home if each.entity.table in self.joins.reach(home) else self.linking(each)
        tables, tests = self.where(base, each.measure.only) if each.measure.only else ([], [])
        tree = self.source(base, [each.entity.table, home, *tables])
        for test in tests:
            tree = tree.where(test)
        for key in each.entity.key:
            column = self.column(each.entity.table, key)
            tree = tree.select(column).group_by(column.copy())
        if base == home:
            figure = aggregate(each.measure.function, self.value(each.measure.of))
        else:
            figure = aggregate("count_distinct", self.only_key(home))
        return tree.having(compared(figure, each.operator, each.low, each.high))

    def linking(self, each: Totals) -> str:
        """The table that links an entity with the rows that are counted for it."""
        home, entity = each.measure.of.table, each.entity.table
        base = self.joins.base([home, entity]) if isinstance(each.measure.of, Rows) else None
        if base is None:
            raise Stuck(f"one row of {home} belongs to several rows of {entity}")
        return base

    def only_key(self, table: str) -> exp.Column:
        card = self.schema.table(table)
        assert card is not None
        if len(card.primary_key) != 1:
            raise Stuck(f"rows of {card.name} have no key of one column to count by")
        return self.column(card.name, card.primary_key[0])

    def value(self, of: Expression) -> exp.Expr:
        """One row's part of a figure."""
        if isinstance(of, Product):
            return exp.Mul(this=self.ref(of.quantity), expression=self.ref(of.price))
        if isinstance(of, ColumnRef):
            return self.ref(of)
        if isinstance(of, Span):
            days = [
                exp.Cast(this=self.ref(each), to=exp.DataType.build("date"))
                for each in (of.end, of.start)
            ]
            return exp.DateDiff(this=days[0], expression=days[1], unit=exp.var("DAY"))
        if isinstance(of, Formula):
            return self.formula(of)
        return exp.Star()

    def formula(self, of: Formula) -> exp.Expr:
        """The SQL of the semantic file, its columns named with their table."""
        tree = sqlglot.parse_one(of.sql, read=self.schema.dialect)

        def homed(node: exp.Expr) -> exp.Expr:
            card = self.schema.table(of.table)
            found = card.column(node.name) if card and isinstance(node, exp.Column) else None
            return self.column(of.table, found.name) if found else node

        return exp.Paren(this=tree.transform(homed))

    def flag(self, column: exp.Expr, each: Flag) -> exp.Expr:
        """Truth is a number where the column holds numbers."""
        card = self.schema.table(each.ref.table)
        found = card.column(each.ref.column) if card else None
        if found and found.kind == "boolean":
            return exp.Not(this=column) if each.negated else column
        number = exp.Literal.number("0" if each.negated else "1")
        return exp.EQ(this=column, expression=number)

    def during(self, column: exp.Expr, each: During) -> exp.Expr:
        """In one of the periods; a column that holds years is compared with years."""
        card = self.schema.table(each.ref.table)
        found = card.column(each.ref.column) if card else None
        years = found is not None and found.kind == "integer"
        ranges: list[exp.Expr] = []
        for period in each.periods:
            tests: list[exp.Expr] = []
            for bound, kind in ((period.start, exp.GTE), (period.end, exp.LT)):
                if bound:
                    day = exp.Literal.number(bound.year) if years else _date(bound)
                    tests.append(kind(this=column.copy(), expression=day))
            ranges.append(exp.and_(*tests, copy=False))
        if len(ranges) == 1:
            return ranges[0]
        return exp.Paren(this=exp.or_(*ranges, copy=False))


def aggregate(function: Function, value: exp.Expr) -> exp.Expr:
    """A function over the values of many rows."""
    if function == "itself":
        return value
    if function == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[value]))
    kinds: dict[str, type[exp.Expr]] = {
        "count": exp.Count,
        "sum": exp.Sum,
        "avg": exp.Avg,
        "median": exp.Median,
        "min": exp.Min,
        "max": exp.Max,
        "stddev": exp.StddevSamp,
        "variance": exp.Variance,
    }
    return kinds[function](this=value)


def compared(left: exp.Expr, operator: Operator, low: Decimal, high: Decimal | None) -> exp.Expr:
    """`left` against one number or two."""
    if operator == "between":
        top = low if high is None else high
        return exp.Between(this=left, low=_number(low), high=_number(top))
    return _COMPARE[operator](this=left, expression=_number(low))


def _either_case(letter: str) -> str:
    """A letter as SQLite's GLOB takes it in upper and lower case, and as itself alone."""
    cases = sorted({letter, letter.upper(), letter.lower()})
    several = "".join(each for each in cases if len(each) == 1)
    return f"[{several}]" if len(several) > 1 or letter in "*?[" else letter


def _placed(letters: str, where: Part, anything: str) -> exp.Expr:
    """The pattern of a text with these letters there."""
    before = anything if where != "start" else ""
    after = anything if where != "end" else ""
    return exp.Literal.string(f"{before}{letters}{after}")


def _date(day: date) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(day.isoformat()), to=exp.DataType.build("date"))


def _number(value: Decimal) -> exp.Expr:
    return exp.Literal.number(f"{value:f}")


def unique(names: Sequence[str]) -> list[str]:
    """The names, the second of two equal ones numbered: a result may not hold a name twice."""
    seen: dict[str, int] = {}
    made: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made
