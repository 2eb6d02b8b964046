"""Lists of rows and pairs of things in one basket, as SQLGlot trees.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import ColumnRef
from awhile.ask.translators.names import table_words
from awhile.ask.translators.sources import Sources, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.intent import Listing, Pairs

__all__ = ["Lists"]


class Lists(Sources):
    """Compiles what has no figures but a count of pairs."""

    def listing(self, intent: Listing) -> exp.Select:
        tables, tests = self.where(intent.table, intent.where)
        wanted = [*(each.table for each in intent.columns), *tables]
        if intent.order and isinstance(intent.order.by, ColumnRef):
            wanted.append(intent.order.by.table)
        if any(each not in self.joins.reach(intent.table) for each in wanted):
            raise Stuck("these columns are not of the same rows")
        wanted += [each.table for each in intent.within]
        if any(each not in self.joins.reach(intent.table) for each in wanted):
            raise Stuck("these columns are not of the same rows")
        tree = self.source(intent.table, wanted)
        names = unique([each.column for each in intent.columns])
        for each, name in zip(intent.columns, names, strict=True):
            tree = tree.select(self.alias(self.ref(each), name))
        if intent.of_values:
            tree = tree.having(_never(tests.pop()))
            for each in intent.columns:
                tree = tree.group_by(self.ref(each))
        for test in tests:
            tree = tree.where(test)
        if intent.within:
            return self.first_of_each(intent, tree, names)
        order = intent.order.by if intent.order else None
        descending = intent.order is not None and intent.order.descending
        if intent.distinct:
            tree = tree if intent.of_values else tree.distinct()
            places = list(range(1, len(intent.columns) + 1))
            if isinstance(order, ColumnRef):
                # Engines sort different rows only by what they show of them.
                place = intent.columns.index(order) + 1
                by = exp.Ordered(this=_place(place), desc=descending)
                tree, places = tree.order_by(by), [each for each in places if each != place]
            for each in places:
                tree = tree.order_by(exp.Ordered(this=_place(each), desc=False))
        elif isinstance(order, ColumnRef):
            tree = tree.order_by(
                exp.Ordered(this=self.ref(order), desc=descending, nulls_first=False)
            )
            card = self.schema.table(intent.table)
            for key in card.primary_key if card else ():
                tree = tree.order_by(exp.Ordered(this=self.column(intent.table, key), desc=False))
        return self.limited(tree, intent.skip, intent.limit)

    def first_of_each(self, intent: Listing, tree: exp.Select, names: Sequence[str]) -> exp.Select:
        """The first rows of each group; what tells groups apart need not be shown."""
        assert intent.order is not None
        assert isinstance(intent.order.by, ColumnRef)
        assert intent.limit is not None
        card = self.schema.table(intent.table)
        keys = [ColumnRef(intent.table, key) for key in (card.primary_key if card else ())]
        called = dict(zip(intent.columns, names, strict=True))
        for each in (*intent.within, intent.order.by, *keys):
            if each not in called:
                called[each] = unique([*called.values(), f"by_{each.column}"])[-1]
                tree = tree.select(self.alias(self.ref(each), called[each]))
        by = called[intent.order.by]
        order = [self.ordered_by(by, descending=intent.order.descending)]
        order += [
            exp.Ordered(this=exp.Column(this=self.name(called[each])), desc=False) for each in keys
        ]
        within = [called[each] for each in intent.within]
        return self.placed(tree, names, within, order, intent.skip, intent.limit)

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


def _never(test: exp.Expr) -> exp.Expr:
    """That a test, which is the negation of another, fails for no row of a group."""
    zero, one = exp.Literal.number("0"), exp.Literal.number("1")
    found = exp.Case(ifs=[exp.If(this=test, true=zero)], default=one)
    return exp.EQ(this=exp.Sum(this=found), expression=zero.copy())


def _place(number: int) -> exp.Expr:
    return exp.Literal.number(str(number))
