"""Reading figures: functions with what they are of, and where a figure belongs.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Target
from awhile.ask.translators.intent import ColumnRef
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    GrainNoun,
    MeasureNoun,
    SpanNoun,
    TableNoun,
    Word,
)
from awhile.ask.translators.names import full_name, table_words
from awhile.ask.translators.pending import Pending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.intent import Function
    from awhile.ask.translators.marks import Mark

__all__ = ["Figuring"]

_SUMMING = ("sum", "add", "adding", "summarise", "summarize", "totals")
_OF_NUMBERS = ("sum", "avg", "median", "stddev", "variance")


class Figuring(Pending):
    """A reader's part for figures."""

    def waiting_functions(self) -> list[Function]:
        """The functions that wait, which then wait no more."""
        names: list[Function] = [each.function for _, each in self.functions]
        self.functions.clear()
        return names

    def counting(self, mark: Mark, table: str) -> Figure:
        """A count of rows; "average number of orders" has an outer function."""
        names = self.waiting_functions()
        return self.finish(Figure("count", mark, "count", table=table), names[:-1])

    def valued(self, mark: Mark, table: str) -> Figure:
        """The value of rows of an order-like table."""
        names = self.waiting_functions()
        figure = Figure("value", mark, names.pop() if names else None, table=table)
        return self.finish(figure, names)

    def summed(self, mark: Mark, name: str) -> Figure:
        """Revenue or units; a function other than a sum is taken over those of each unit."""
        names = self.waiting_functions()
        if name == "revenue":
            return self.finish(Figure("revenue", mark), names)
        return self.finish(Figure("units", mark), names[:-1] if names[-1:] == ["count"] else names)

    def finish(self, figure: Figure, functions: Sequence[Function]) -> Figure:
        """Puts the outer function and the share on a figure; a sum of sums is the sum."""
        outer: list[Function] = [name for name in functions if name != "sum"]
        if len(outer) > 1 or any(name.startswith("count") for name in outer):
            raise Stuck("too many functions one upon another", figure.mark.text)
        figure.outer = outer[0] if outer else None
        figure.share = self.share is not None
        self.share = None
        return figure

    def place(self, figure: Figure) -> None:
        """A figure's place: what a ranking ranks by, what a list is sorted by, or an answer."""
        draft, rank = self.draft, self.draft.rank
        if draft.rest and self.joiner and self.joiner.what == Word("and") and not self.by:
            draft.rest.added = True
        figure.linked = bool(self.joiner or self.by or self.sort or self.link == "with")
        if self.sort or (self.by and draft.target and not rank):
            same = self.same_figure(figure) if self.sort else None
            if draft.sort or (draft.groupings and not self.sort):
                raise Stuck("it is not clear what is sorted", figure.mark.text)
            if same:
                draft.sort, self.sort = same, None
                return
            draft.sort = figure
            self.sort = self.by = None
        elif self.by and draft.rest and not rank:
            self.by = None
        elif self.by and (not rank or rank.figure or (draft.groupings and not draft.target)):
            raise Stuck("one groups by names or dates, not by a figure", self.by.text)
        if rank and rank.figure and rank.said_by and self.more_figures:
            raise Stuck("I can only rank by one figure", rank.figure.mark.text, figure.mark.text)
        if rank and not rank.figure and not rank.column:
            rank.said_by = self.by is not None
            self.rank_by(figure, said=rank.said_by)
        self.by = None
        draft.figures.append(figure)

    def same_figure(self, figure: Figure) -> Figure | None:
        """The same figure where it was said before: "… ordered by the number of orders"."""
        return next((each for each in self.draft.figures if each.same_as(figure)), None)

    def rank_by(self, figure: Figure, said: bool) -> None:
        """ "the highest revenue": what is ranked by it, or, of nothing else, just the maximum."""
        draft, rank = self.draft, self.draft.rank
        if rank is None or not (said or rank.word.about in (None, "rank", "size")):
            return
        ranked = draft.target or isinstance(self.ahead(), GrainNoun | ColumnNoun | TableNoun)
        if not rank.word.also_aggregate or ranked:
            rank.figure = figure
            return
        if figure.outer or figure.function:
            raise Stuck("too many functions one upon another", rank.mark.text, figure.mark.text)
        name: Function = "max" if rank.word.descending else "min"
        if figure.kind == "value":
            figure.function = name
        else:
            figure.outer = name
        draft.rank = None

    def by_number(self, mark: Mark, ref: ColumnRef, ranked: str) -> None:
        """ "products by price" sorts by a column of theirs; "by quantity" adds up."""
        draft = self.draft
        if ref.table != ranked:
            if not self.adds_up(ref):
                raise Stuck("it is not said how to add it up", mark.text)
            self.place(Figure("column", mark, "sum", column=ref))
        elif draft.rank:
            draft.rank.column = ref
        else:
            draft.sort = ref
        self.by = None

    def counts_item(self, ref: ColumnRef) -> bool:
        """ "how many Teddy Bears were sold": one thing by its name, counted in units."""
        trade = self.figures.trade
        return (
            trade is not None
            and ref.table == trade.item
            and [each.function for _, each in self.functions] == ["count"]
        )

    def counted(self, mark: Mark, noun: TableNoun) -> None:
        """A table under a function: counted, or, for an order-like table, its value."""
        self.refuse_not()
        said, last = self.functions[-1][0], self.functions[-1][1].function
        order_like = self.figures.order_like(noun.table)
        if last == "sum" and said.text.casefold().split()[0] in _SUMMING:
            if not order_like:
                raise Stuck(f"{noun.table} has no one figure to add up", said.text, mark.text)
            self.note(said, f"adding up the value of {noun.table}")
            self.place(self.summed(mark, "revenue"))
        elif last in ("count", "count_distinct"):
            self.draft.distinct = self.draft.distinct or last == "count_distinct"
            self.place(self.counting(mark, noun.table))
        elif last == "sum" and noun.plural and self.may_be_money(said, noun.table):
            question = self.draft.question
            raise Undecided(
                f"Do you mean the number of {mark.text}, or the revenue?",
                tuple(
                    Choice(each, question.replace(mark.text, "", 1).replace(said.text, each, 1))
                    for each in (f"number of {mark.text}", "revenue")
                ),
                mark.text,
            )
        elif last == "sum" and self.adding(noun.table):
            self.count_or_sum(mark, said, self.adding(noun.table))
        elif last == "sum" or noun.plural:
            self.functions.append((mark, Aggregate("count")))
            self.place(self.counting(mark, noun.table))
        elif order_like:
            self.place(self.valued(mark, noun.table))
        else:
            raise Stuck("it is not said of what", said.text, mark.text)

    def may_be_money(self, said: Mark, table: str) -> bool:
        """ "total sales", "the total of all orders": how many, or how much?"""
        of = said.text.casefold().endswith(" of") and self.figures.order_like(table)
        return of or table_words(table)[-1:] == ("sale",)

    def adding(self, table: str) -> list[ColumnRef]:
        """The figures of a table whose name is that of something one adds up: payments."""
        if ENGLISH.additive.isdisjoint(table_words(table)):
            return []
        columns = self.figures.table(table).columns
        refs = [ColumnRef(table, column.name) for column in columns if not column.hidden]
        return [ref for ref in refs if self.numeric(ref) and self.adds_up(ref)]

    def count_or_sum(self, mark: Mark, said: Mark, of: Sequence[ColumnRef]) -> None:
        """ "total payments": how many there are, or how much they come to? Raises `Undecided`."""
        question = self.draft.question
        ways = [f"number of {mark.text}", *(f"total {full_name(r.table, r.column)}" for r in of)]
        plain = question.replace(said.text, "", 1)
        raise Undecided(
            f"Do you mean the {ways[0]}, or the {' or the '.join(ways[1:])}?",
            tuple(Choice(way, plain.replace(mark.text, way, 1).strip()) for way in ways),
            said.text,
            mark.text,
        )

    def measured(self, mark: Mark, ref: ColumnRef) -> None:
        """A column under a function."""
        said, function = self.functions[-1][0], self.functions[-1][1].function
        if function in ("count", "count_distinct"):
            if self.figures.counts(ref) and function == "count":
                # "total number of citations" of a column that holds such numbers adds them up.
                function = "sum"
            elif self.numeric(ref) and not self.is_key(ref):
                raise Stuck("it is a figure, not something to count", said.text, mark.text)
            else:
                function = "count_distinct"
        elif function in _OF_NUMBERS and not self.numeric(ref):
            raise Stuck("it holds no numbers", said.text, mark.text)
        names = self.waiting_functions()
        if function == "sum" and names[-2:-1] and names[-1] == "count":
            # "average number of citations": of each row that holds one.
            function, names = names[-2], names[:-1]
        figure = Figure("column", mark, function, column=ref)
        self.place(self.finish(figure, names[:-1]))

    def measure(self, mark: Mark, noun: MeasureNoun) -> None:
        """Revenue, units, or a value, which needs something to be of."""
        self.refuse_or()
        draft = self.draft
        if self.negation and noun.name != "value":
            # "products with no sales": no such row may exist.
            trade = self.figures.trade
            if trade is None or self.functions or self.negation.what != Word("without"):
                self.refuse_not()
            elif trade:
                draft.never.append(trade.lines)
                self.negation = None
                self.note(mark, f"rows of {trade.lines}")
                return
        self.refuse_not()
        if noun.name == "value":
            self.value_of(mark)
            return
        functions = [each.function for _, each in self.functions]
        if draft.part_of and [each.kind for each in draft.figures] == [noun.name]:
            return
        if noun.name == "revenue" and functions[-1:] == ["count"]:
            raise Stuck("a number of sales can be orders or units; say which", mark.text)
        if self.joiner and draft.target and draft.target.mark == self.before_joiner():
            draft.joined_target = True
        self.place(self.named(mark, noun) if noun.name == "named" else self.summed(mark, noun.name))

    def named(self, mark: Mark, noun: MeasureNoun) -> Figure:
        """A measure of the semantic file, with another function than its own where one is said."""
        names = self.waiting_functions()
        measure = self.figures.named(noun.measure)
        if names[-1:] == ["count"] or (names and measure.function is None):
            raise Stuck("it is a figure, and not something to take together", mark.text)
        function = names[-1] if names else None
        figure = Figure("named", mark, function, measure.table, measure=measure.name)
        return self.finish(figure, names[:-1])

    def days(self, mark: Mark, noun: SpanNoun) -> None:
        """ "average days between opened and closed"; "the longest" is not said of anything."""
        self.refuse_or()
        self.refuse_not()
        start, end = (ColumnRef(each.table, each.column) for each in (noun.start, noun.end))
        if start.table != end.table or start == end or not (self.dated(start) and self.dated(end)):
            raise Stuck("I only know the days between two dates of one table", mark.text)
        names = self.waiting_functions()
        if not names or names[-1] not in ("avg", "median", "min", "max"):
            raise Stuck("say the average, median, lowest or highest of them", mark.text)
        self.note(mark, f"{start.table}: the days from {start.column} to {end.column}")
        figure = Figure("days", mark, names[-1], start.table, start, until=end)
        self.place(self.finish(figure, names[:-1]))

    def value_of(self, mark: Mark) -> None:
        """ "value of orders", "basket value", "orders by value"."""
        draft, trade = self.draft, self.figures.trade
        following = self.ahead(1) if self.ahead() == Word("preposition") else None
        target = draft.target.table if draft.target else ""
        if isinstance(following, TableNoun) and self.figures.order_like(following.table):
            self.at += 2
            self.place(self.valued(mark, following.table))
        elif trade and mark.text.casefold().startswith(("basket", "cart")):
            self.place(self.valued(mark, trade.header))
        elif trade and target == trade.header:
            figure = self.valued(mark, target)
            figure.function = figure.function or "sum"
            self.place(figure)
        else:
            raise Stuck("it is not said of what", mark.text)

    def compared_figure(self, mark: Mark, compare: Compare) -> bool:
        """ "average order value above 500": a comparison right after a figure is of it."""
        draft, before = self.draft, self.last
        if not draft.figures or compare.about_price or before is None:
            return False
        figure = draft.figures[-1]
        if figure.mark != before or figure.share:
            return False
        if figure.kind == "count" and not self.compares_count(figure):
            return False
        figure.owner = self.owner_of(figure.mark)
        draft.thresholds.append((figure, compare))
        return True

    def compares_count(self, figure: Figure) -> bool:
        """ "number of orders above 1000" is about each order, "with a number of … above 5" not."""
        draft = self.draft
        entity = draft.target and draft.target.table != figure.table
        return bool(entity) and not self.figures.order_like(figure.table)

    def shown_column(self, mark: Mark, ref: ColumnRef, plural: bool) -> None:
        """A column asked for as it is: the first of a list, or one more of it."""
        draft = self.draft
        if draft.target is None:
            draft.target = Target(mark, plural, columns=[ref])
        else:
            if draft.target.table and not draft.target.columns and self.link == "with":
                draft.target.with_columns = True
            draft.target.columns.append(ref)
