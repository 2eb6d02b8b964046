"""Compiling: the only place that writes SQL, as a SQLGlot tree built from an intent.

Source: ours. Identifiers come from the schema card, values become literals; no text of a question
is ever parsed as SQL. Figures are computed at the grain of their own table, so that a join never
counts a row twice; figures of different grains are computed apart and put side by side.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.figures import table_words
from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Comparison,
    During,
    EntityDimension,
    Groups,
    Listing,
    Missing,
    Product,
    Rows,
    TimeDimension,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awhile.ask.schema import Schema
    from awhile.ask.translators.intent import (
        Condition,
        Dimension,
        Expression,
        Filter,
        Function,
        Intent,
        Measure,
        Pairs,
        Threshold,
    )
    from awhile.ask.translators.joins import Joins
    from awhile.ask.translators.marks import Operator

__all__ = ["compile_intent"]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_COMPARE: dict[Operator, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
}


def compile_intent(intent: Intent, schema: Schema, joins: Joins) -> str:
    """One SELECT in the schema's dialect. Raises `Stuck` where a join would multiply figures."""
    compiler = _Compiler(schema, joins)
    if isinstance(intent, Groups):
        tree = compiler.groups(intent)
    elif isinstance(intent, Listing):
        tree = compiler.listing(intent)
    else:
        tree = compiler.pairs(intent)
    return tree.sql(dialect=schema.dialect, pretty=True)


class _Compiler:
    def __init__(self, schema: Schema, joins: Joins) -> None:
        self.schema = schema
        self.joins = joins
        keywords = Dialect.get_or_raise(schema.dialect).tokenizer_class.KEYWORDS
        self.reserved = {word for word in keywords if word.isalpha()}

    # Names ------------------------------------------------------------------------------------

    def name(self, text: str) -> exp.Identifier:
        plain = bool(_PLAIN.match(text)) and text.upper() not in self.reserved
        return exp.to_identifier(text, quoted=not plain)

    def table(self, name: str, alias: str | None = None) -> exp.Table:
        home, _, own = name.rpartition(".")
        table = exp.Table(this=self.name(own), db=self.name(home) if home else None)
        if alias:
            table.set("alias", exp.TableAlias(this=self.name(alias)))
        return table

    def column(self, table: str, column: str) -> exp.Column:
        return exp.Column(this=self.name(column), table=self.name(table.rpartition(".")[2]))

    def ref(self, ref: ColumnRef) -> exp.Column:
        return self.column(ref.table, ref.column)

    # Rows -------------------------------------------------------------------------------------

    def source(self, base: str, tables: Iterable[str]) -> exp.Select:
        """SELECT FROM the base table joined with everything it must look up."""
        tree = exp.Select().from_(self.table(base))
        joined = {base}
        for wanted in tables:
            for hop in self.joins.path(base, wanted):
                if hop.key.table in joined:
                    continue
                joined.add(hop.key.table)
                on = exp.and_(
                    *(
                        exp.EQ(
                            this=self.column(hop.table, own),
                            expression=self.column(hop.key.table, other),
                        )
                        for own, other in zip(
                            hop.key.columns, hop.key.referenced_columns, strict=True
                        )
                    ),
                    copy=False,
                )
                kind = (
                    "inner"
                    if self.always_found(hop.table, hop.key.columns, hop.key.declared)
                    else "left"
                )
                tree = tree.join(self.table(hop.key.table), on=on, join_type=kind)
        return tree

    def always_found(self, table: str, columns: Sequence[str], declared: bool) -> bool:
        card = self.schema.table(table)
        assert card is not None
        found = [card.column(name) for name in columns]
        return declared and not any(each is None or each.nullable for each in found)

    def where(self, base: str, condition: Condition) -> tuple[list[str], list[exp.Expression]]:
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
        tables = list(dict.fromkeys([*related, *(each.ref.table for each in far)]))
        finest = self.joins.base([base, *tables])
        if finest is None:
            names = " and ".join([base, *tables])
            raise Stuck(f"{names} are not linked by keys in a way that I can follow")
        path = self.joins.path(finest, base)
        last = path[-1]
        tree = self.source(finest, [*(hop.table for hop in path), *tables]).select("1")
        for own, other in zip(last.key.columns, last.key.referenced_columns, strict=True):
            tree = tree.where(
                exp.EQ(this=self.column(last.table, own), expression=self.column(base, other))
            )
        for each in far:
            tree = tree.where(self.test(each))
        return exp.Exists(this=tree)

    def test(self, each: Filter) -> exp.Expression:
        column = self.ref(each.ref)
        match each:
            case Among():
                values = [exp.Literal.string(value) for value in each.values]
                if len(values) == 1:
                    kind = exp.NEQ if each.negated else exp.EQ
                    return kind(this=column, expression=values[0])
                among = exp.In(this=column, expressions=values)
                return exp.Not(this=among) if each.negated else among
            case Comparison():
                return _compared(
                    column,
                    each.operator,
                    f"{each.low:f}",
                    f"{each.high:f}" if each.high is not None else None,
                )
            case During():
                tests: list[exp.Expression] = []
                for bound, kind in ((each.period.start, exp.GTE), (each.period.end, exp.LT)):
                    if bound:
                        day = exp.Cast(
                            this=exp.Literal.string(bound.isoformat()),
                            to=exp.DataType.build("date"),
                        )
                        tests.append(kind(this=column.copy(), expression=day))
                return exp.and_(*tests, copy=False)
            case Missing():
                return exp.Is(this=column, expression=exp.Null())

    # Figures ----------------------------------------------------------------------------------

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

    def value(self, of: Expression) -> exp.Expression:
        if isinstance(of, Product):
            return exp.Mul(this=self.ref(of.quantity), expression=self.ref(of.price))
        assert isinstance(of, ColumnRef)
        return self.ref(of)

    def figure(self, measure: Measure, base: str) -> exp.Expression:
        if isinstance(measure.of, Rows):
            if base == measure.of.table:
                made: exp.Expression = exp.Count(this=exp.Star())
            else:
                card = self.schema.table(measure.of.table)
                assert card is not None
                if len(card.primary_key) != 1:
                    raise Stuck(f"rows of {card.name} have no key of one column to count by")
                key = self.column(card.name, card.primary_key[0])
                made = exp.Count(this=exp.Distinct(expressions=[key]))
        else:
            made = _function(measure.function, self.value(measure.of))
        if measure.share:
            whole = exp.Window(this=exp.Sum(this=made.copy()))
            return exp.Div(
                this=exp.Mul(this=made, expression=exp.Literal.number("1.0")), expression=whole
            )
        return made

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
        tree = self.source(base, [*(d.table for d in intent.dimensions), *tables])
        tree = self.dimensions(tree, intent.dimensions)
        for each in measures:
            tree = tree.select(self.alias(self.figure(each, base), self.label(each)))
        for test in tests:
            tree = tree.where(test)
        for limit in having:
            figure = self.figure(limit.measure, base)
            tree = tree.having(
                _compared(
                    figure,
                    limit.operator,
                    f"{limit.low:f}",
                    f"{limit.high:f}" if limit.high is not None else None,
                )
            )
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
            outer = outer.select(self.name(name).copy() and exp.Column(this=self.name(name)))
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
        inner_where = type(intent.where)(
            tuple(each for each in intent.where.filters if each not in own)
        )
        tables, tests = self.where(base, inner_where)
        inner = self.source(base, [entity.table, *tables])
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
            tree = tree.where(
                _compared(
                    amount.copy(),
                    limit.operator,
                    f"{limit.low:f}",
                    f"{limit.high:f}" if limit.high is not None else None,
                )
            )
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

    def names_of(self, dims: Sequence[Dimension]) -> list[str]:
        names: list[str] = []
        for each in dims:
            if isinstance(each, EntityDimension):
                for column in self.shown(each):
                    own = "_".join(table_words(each.table))
                    names.append(
                        column
                        if column in each.key
                        else f"{own}_{column}"
                        if column in ("name", "title", "label")
                        else column
                    )
            elif isinstance(each, TimeDimension):
                names.append(each.unit)
            else:
                names.append(each.column)
        return _unique(names)

    def time(self, each: TimeDimension) -> exp.Expression:
        column = self.ref(each.ref)
        if each.unit in ("weekday", "hour"):
            part = "ISODOW" if each.unit == "weekday" else "HOUR"
            return exp.Extract(this=exp.var(part), expression=column)
        trunc = exp.TimestampTrunc(this=column, unit=exp.var(each.unit.upper()))
        return exp.Cast(this=trunc, to=exp.DataType.build("date"))

    def alias(self, made: exp.Expression, name: str) -> exp.Expression:
        if isinstance(made, exp.Column) and made.name == name:
            return made
        return exp.Alias(this=made, alias=self.name(name))

    def label(self, measure: Measure) -> str:
        words = {"count_distinct": "count", "sum": "total"}.get(measure.function, measure.function)
        if isinstance(measure.of, Rows):
            one = "_".join(table_words(measure.of.table))
            name = f"{one}_count" if not measure.per else f"{words}_{one}_count"
        elif isinstance(measure.of, Product):
            name = (
                "revenue"
                if measure.function == "sum" and not measure.per
                else (
                    f"{words}_"
                    + (
                        "_".join(table_words(measure.per.table)) + "_value"
                        if isinstance(measure.per, EntityDimension)
                        else "revenue"
                    )
                )
            )
        else:
            name = f"{words}_{measure.of.column}"
        return f"share_of_{name}" if measure.share else name

    # Lists and pairs --------------------------------------------------------------------------

    def listing(self, intent: Listing) -> exp.Select:
        tables, tests = self.where(intent.table, intent.where)
        wanted = [*(each.table for each in intent.columns), *tables]
        if intent.order and isinstance(intent.order.by, ColumnRef):
            wanted.append(intent.order.by.table)
        if any(each not in self.joins.reach(intent.table) for each in wanted):
            raise Stuck("these columns are not of the same rows")
        tree = self.source(intent.table, wanted)
        names = _unique([each.column for each in intent.columns])
        for each, name in zip(intent.columns, names, strict=True):
            tree = tree.select(self.alias(self.ref(each), name))
        for test in tests:
            tree = tree.where(test)
        if intent.distinct:
            tree = tree.distinct()
            for place, _ in enumerate(intent.columns, 1):
                tree = tree.order_by(exp.Ordered(this=exp.Literal.number(str(place)), desc=False))
        if intent.order and isinstance(intent.order.by, ColumnRef):
            tree = tree.order_by(
                exp.Ordered(
                    this=self.ref(intent.order.by), desc=intent.order.descending, nulls_first=False
                )
            )
            card = self.schema.table(intent.table)
            for key in card.primary_key if card else ():
                tree = tree.order_by(exp.Ordered(this=self.column(intent.table, key), desc=False))
        return tree.limit(intent.limit) if intent.limit else tree

    def pairs(self, intent: Pairs) -> exp.Select:
        """Each item once for each basket first, so that two lines of one item are no pair."""
        tables, tests = self.where(intent.lines, intent.where)
        baskets = self.source(intent.lines, tables).distinct()
        for column in (*intent.basket_columns, intent.item_column):
            baskets = baskets.select(self.column(intent.lines, column))
        for test in tests:
            baskets = baskets.where(test)
        same = [
            exp.EQ(this=self.column("one", c), expression=self.column("other", c))
            for c in intent.basket_columns
        ]
        order = exp.LT(
            this=self.column("one", intent.item_column),
            expression=self.column("other", intent.item_column),
        )
        counted = (
            exp.Select()
            .from_(self.table("baskets", "one"))
            .join(self.table("baskets", "other"), on=exp.and_(*same, order, copy=False))
        )
        for side in ("one", "other"):
            column = self.column(side, intent.item_column)
            counted = counted.select(self.alias(column, f"{side}_item")).group_by(column.copy())
        how_often = "times_together"
        counted = counted.select(self.alias(exp.Count(this=exp.Star()), how_often))
        tree = exp.Select().from_(self.table("pairs"))
        shown = self.shown(intent.item)
        for side in ("one", "other"):
            own = "_".join(table_words(intent.item.table))
            home = f"{side}_{own}"
            on = exp.EQ(
                this=self.column(home, intent.item.key[0]),
                expression=self.column("pairs", f"{side}_item"),
            )
            tree = tree.join(self.table(intent.item.table, home), on=on)
            for name in shown:
                tree = tree.select(
                    self.alias(
                        self.column(home, name),
                        f"{home}_{name}" if name not in intent.item.key else f"{side}_{name}",
                    )
                )
        tree = tree.select(self.column("pairs", how_often))
        tree = tree.order_by(
            exp.Ordered(
                this=self.column("pairs", how_often), desc=intent.descending, nulls_first=False
            )
        )
        for side in ("one", "other"):
            tree = tree.order_by(exp.Ordered(this=self.column("pairs", f"{side}_item"), desc=False))
        tree = tree.with_("baskets", as_=baskets).with_("pairs", as_=counted)
        return tree.limit(intent.limit) if intent.limit else tree


def _function(function: Function, value: exp.Expression) -> exp.Expression:
    if function == "count":
        return exp.Count(this=value)
    if function == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[value]))
    kinds: dict[str, type[exp.Expression]] = {
        "sum": exp.Sum,
        "avg": exp.Avg,
        "median": exp.Median,
        "min": exp.Min,
        "max": exp.Max,
    }
    return kinds[function](this=value)


def _compared(
    left: exp.Expression, operator: Operator, low: str, high: str | None
) -> exp.Expression:
    if operator == "between":
        return exp.Between(
            this=left, low=exp.Literal.number(low), high=exp.Literal.number(high or low)
        )
    return _COMPARE[operator](this=left, expression=exp.Literal.number(low))


def _first_known(name: exp.Identifier, parts: Sequence[exp.Identifier]) -> exp.Expression:
    cells = [exp.Column(this=name.copy(), table=part) for part in parts]
    return cells[0] if len(cells) == 1 else exp.Coalesce(this=cells[0], expressions=cells[1:])


def _unique(names: Sequence[str]) -> list[str]:
    """The names, the second of two equal ones numbered: a result may not hold a name twice."""
    seen: dict[str, int] = {}
    made: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made
