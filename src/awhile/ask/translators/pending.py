"""What a reader has pending between two nouns, and the figures it makes from functions.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice, Meaning
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Draft, Figure
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    GrainNoun,
    MeasureNoun,
    TableNoun,
    Word,
)
from awhile.ask.translators.names import table_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import ColumnRef, Filter, Function
    from awhile.ask.translators.marks import Mark, Recognised, Role

__all__ = ["Pending"]

_SUMMING = ("sum", "add", "adding", "summarise", "summarize", "totals")


class Pending:
    """The words that wait for the noun they rule: `by`, a function, a negation, a sorting."""

    def __init__(self, question: str, marks: Sequence[Mark], figures: Figures) -> None:
        self.draft = Draft(question)
        self.marks = marks
        self.figures = figures
        self.at: int = 0
        self.by: Mark | None = None
        self.per = False
        self.functions: list[tuple[Mark, Aggregate]] = []
        self.negation: Mark | None = None
        self.link: Role | None = None
        self.joiner: Mark | None = None
        self.sort: Mark | None = None
        self.share: Mark | None = None
        self.last: Mark | None = None
        self.rows: Mark | None = None
        self.more_groups = False
        self.more_figures = False

    def check_nothing_waits(self) -> None:
        """Raises `Stuck` for a word whose noun never came."""
        for waiting in (self.by, self.negation, self.sort, self.share, self.rows):
            if waiting:
                raise Stuck("nothing follows it that it could apply to", waiting.text)
        if self.functions:
            raise Stuck("it is not said of what", self.functions[0][0].text)

    def ahead(self, steps: int = 0) -> Recognised | None:
        """What the next mark was recognised as, or the one `steps` after it."""
        place = self.at + steps
        return self.marks[place].what if place < len(self.marks) else None

    def note(self, mark: Mark, meaning: str) -> None:
        self.draft.meanings.append(Meaning(mark.text, meaning))

    def keep(self, mark: Mark, condition: Filter) -> None:
        """One more condition, and where it was said."""
        self.draft.filters.append(condition)
        self.draft.places[condition] = mark.start

    def refuse_or(self) -> None:
        if self.joiner and self.joiner.what == Word("or"):
            raise Stuck("I only understand it between values of one column", self.joiner.text)

    def refuse_not(self) -> None:
        if self.negation:
            raise Stuck("I do not understand what it excludes", self.negation.text)

    def numeric(self, ref: ColumnRef) -> bool:
        return self.figures.column(ref).kind in ("integer", "number")

    def is_key(self, ref: ColumnRef) -> bool:
        table = self.figures.table(ref.table)
        return ref.column in table.primary_key or any(
            ref.column in key.columns for key in table.foreign_keys
        )

    def is_people(self, table: str) -> bool:
        return any(word in ENGLISH.people for word in table_words(table))

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
        figure.linked = bool(self.joiner or self.by or self.sort or self.link == "with")
        if self.sort or (self.by and draft.target and not rank):
            if draft.sort or draft.groupings:
                raise Stuck("it is not clear what is sorted", figure.mark.text)
            draft.sort = figure
            self.sort = self.by = None
        elif self.by and (not rank or rank.figure or draft.groupings):
            raise Stuck("one groups by names or dates, not by a figure", self.by.text)
        if rank and not rank.figure and not rank.column:
            self.rank_by(figure, said=self.by is not None)
        self.by = None
        draft.figures.append(figure)

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

    def refuse_by_whom(self, mark: Mark, noun: TableNoun) -> None:
        """ "orders by customers in Munich" may be a list or a count for each customer."""
        target = self.draft.target
        if target is None or self.by is None or self.draft.figures or self.draft.rank:
            return
        people = noun.plural and self.is_people(noun.table) and isinstance(self.ahead(), Word)
        if not people or self.by.text.casefold() != "by":
            return
        said, old = target.mark.text, f"{self.by.text} {mark.text}"
        question = self.draft.question
        counted = question.replace(said, f"number of {said}", 1)
        raise Undecided(
            f"Do you mean {said} from these {mark.text}, or a number for each of them?",
            (
                Choice(f"{said} from them", question.replace(old, f"from {mark.text}", 1)),
                Choice("a number for each", counted.replace(old, f"for each {mark.text}", 1)),
            ),
            old,
        )

    def refuse_bare(self, mark: Mark) -> None:
        """A table's name right after another name, with no word between, has no part to play."""
        nouns = (ColumnNoun, GrainNoun, MeasureNoun, TableNoun)
        if self.last and self.last.end == mark.start and isinstance(self.last.what, nouns):
            raise Stuck("I do not understand the two together", self.last.text, mark.text)

    def is_modifier(self, mark: Mark, noun: TableNoun) -> bool:
        """ "customer orders": the first name only says more of the second. Raises `Stuck`."""
        following = self.marks[self.at] if self.at < len(self.marks) else None
        if following is None or following.start != mark.end:
            return False
        if not isinstance(following.what, TableNoun) or following.what.table == noun.table:
            return False
        if noun.plural or noun.table not in self.figures.joins.reach(following.what.table):
            raise Stuck("I do not understand the two together", mark.text, following.text)
        return True

    def adds_up(self, ref: ColumnRef) -> bool:
        return ref in self.figures.units() or ref in self.figures.revenue()

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
        elif last == "sum" and noun.plural and table_words(noun.table)[-1:] == ("sale",):
            question = self.draft.question
            raise Undecided(
                f"Do you mean the number of {mark.text}, or the revenue?",
                tuple(
                    Choice(each, question.replace(mark.text, "", 1).replace(said.text, each, 1))
                    for each in (f"number of {mark.text}", "revenue")
                ),
                mark.text,
            )
        elif last == "sum" or noun.plural:
            self.functions.append((mark, Aggregate("count")))
            self.place(self.counting(mark, noun.table))
        elif order_like:
            self.place(self.valued(mark, noun.table))
        else:
            raise Stuck("it is not said of what", said.text, mark.text)

    def measured(self, mark: Mark, ref: ColumnRef) -> None:
        said, function = self.functions[-1][0], self.functions[-1][1].function
        if function in ("count", "count_distinct"):
            if self.numeric(ref) and not self.is_key(ref):
                raise Stuck("it is a figure, not something to count", said.text, mark.text)
            function = "count_distinct"
        elif function in ("sum", "avg", "median") and not self.numeric(ref):
            raise Stuck("it holds no numbers", said.text, mark.text)
        names = self.waiting_functions()
        figure = Figure("column", mark, function, column=ref)
        self.place(self.finish(figure, names[:-1]))
