"""Reading numbers and comparisons: of a column, of how many rows, of a figure.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure
from awhile.ask.translators.intent import ColumnRef, Comparison
from awhile.ask.translators.marks import (
    ColumnNoun,
    Compare,
    Mark,
    MeasureNoun,
    Number,
    Superlative,
    TableNoun,
    TimeRange,
    ValueNoun,
    Verb,
    Word,
)
from awhile.ask.translators.naming import Naming, ref_of

if TYPE_CHECKING:
    from awhile.ask.translators.marks import Recognised

__all__ = ["Comparing"]


class Comparing(Naming):
    """A reader's part for numbers."""

    def number(self, mark: Mark, number: Number) -> None:
        before, following = self.last, self.ahead()
        whole = number.value == int(number.value)
        if isinstance(following, Superlative) and whole:
            return
        ranked = any(isinstance(each.what, Superlative) for each in self.marks[self.at :])
        named = isinstance(following, TableNoun | ColumnNoun) and following.plural
        if whole and ranked and named and self.draft.rank is None and self.link != "with":
            self.rows = mark
            return
        if before and isinstance(before.what, ColumnNoun) and self.numeric(ref_of(before.what)):
            self.keep(mark, Comparison(ref_of(before.what), "=", number.value))
            return
        if isinstance(following, TableNoun) and self.link == "with":
            self.compare(mark, Compare("=", number.value))
            return
        grouped = any(each.mark == before for each in self.draft.groupings)
        if before and isinstance(before.what, TableNoun) and not grouped and whole:
            table = self.figures.table(before.what.table)
            key = ColumnRef(table.name, "".join(table.primary_key[:1]))
            if not before.what.plural and len(table.primary_key) == 1 and self.numeric(key):
                self.keep(mark, Comparison(key, "=", number.value))
                self.note(mark, f"{key.table}.{key.column}")
                return
        if self.draft.rest and whole and self.draft.rest.count is None:
            self.draft.rest.count = int(number.value)
            return
        raise Stuck("I do not know what it counts", mark.text)

    def compare(self, mark: Mark, compare: Compare) -> None:
        draft = self.draft
        self.refuse_not()
        before, following = self.last.what if self.last else None, self.ahead()
        if following == Word("distinct") and isinstance(self.ahead(1), TableNoun | ColumnNoun):
            # "more than 5 different products" are counted once each anyhow
            self.at += 1
            following = self.ahead()
        if compare.often:
            self.compared_often(mark, compare, before)
            return
        if isinstance(following, TableNoun | MeasureNoun) and not compare.about_price:
            self.compared_count(mark, compare, following)
            return
        if isinstance(following, ValueNoun) and self.compared_ahead(mark, compare):
            return
        if (
            isinstance(before, ColumnNoun)
            and self.numeric(ref_of(before))
            and not compare.about_price
            and not (draft.figures and draft.figures[-1].mark == self.last)
        ):
            ref = ref_of(before)
            self.keep(mark, Comparison(ref, compare.operator, compare.low, compare.high))
            return
        if isinstance(following, ColumnNoun) and not self.dated(ref_of(following)):
            self.compared_column(mark, compare, ref_of(following))
            return
        self.refuse_or()
        if self.compared_figure(mark, compare):
            return
        if isinstance(before, Verb):
            more = tuple(
                Choice(each, draft.question.replace(mark.text, f"{mark.text} {each}", 1))
                for each in ("units", "revenue")
            )
            raise Undecided(f"Of what should it be {mark.text}?", more, mark.text)
        if following is not None and not isinstance(
            following, Word | TimeRange | Verb | Superlative
        ):
            raise Stuck("I do not understand what is compared", mark.text)
        if following in (Word("distinct"), Word("all"), Word("new"), Word("share")):
            raise Stuck("I do not understand what is compared", mark.text)
        draft.bare.append((mark, compare))

    def compared_column(self, mark: Mark, compare: Compare, ref: ColumnRef) -> None:
        """ "more than 20 absence days": of the row itself, or of what is added up for it."""
        after = self.marks[self.at]
        owner = self.owner_of(mark)
        self.at += 1
        self.note(after, f"{ref.table}.{ref.column}")
        if not self.numeric(ref):
            # "more than 2 categories"
            self.refuse_or()
            figure = Figure("column", after, "count_distinct", column=ref)
            figure.owner = owner
            self.draft.thresholds.append((figure, compare))
            return
        if owner == ref.table:
            self.keep(mark, Comparison(ref, compare.operator, compare.low, compare.high))
            return
        self.refuse_or()
        if not self.adds_up(ref):
            raise Stuck("it is not said how to add it up", after.text)
        figure = Figure("column", after, "sum", column=ref)
        figure.owner = owner
        self.draft.thresholds.append((figure, compare))

    def compared_often(self, mark: Mark, compare: Compare, before: Recognised | None) -> None:
        """ "ordered more than once": how many of what the verb tells of there are."""
        self.refuse_or()
        trade = self.figures.trade
        if not isinstance(before, Verb) or (before.kind != "event" and trade is None):
            raise Stuck("it is not said what happened so often", mark.text)
        table = before.table or (trade.header if trade else "")
        figure = Figure("count", mark, "count", table=table)
        figure.owner = self.owner_of(mark)
        self.note(mark, f"how many rows of {table} belong to each")
        self.draft.thresholds.append((figure, compare))

    def compared_ahead(self, mark: Mark, compare: Compare) -> bool:
        """ "more than 5 open tickets": how many, with conditions of their own before the noun."""
        place = self.at
        while place < len(self.marks) and isinstance(self.marks[place].what, ValueNoun):
            place += 1
        noun = self.marks[place] if place < len(self.marks) else None
        if noun is None or not isinstance(noun.what, TableNoun):
            return False
        self.refuse_or()
        figure = Figure("count", noun, "count", table=noun.what.table)
        figure.owner = self.owner_of(mark)
        self.note(mark, f"how many rows of {noun.what.table} belong to each")
        self.draft.thresholds.append((figure, compare))
        return True

    def compared_count(self, mark: Mark, compare: Compare, noun: TableNoun | MeasureNoun) -> None:
        """ "more than 5 orders", "at least 100 units"."""
        self.refuse_or()
        after = self.marks[self.at]
        self.at += 1
        if isinstance(noun, TableNoun):
            if self.ahead() == MeasureNoun("value"):
                raise Stuck("I do not understand the comparison", mark.text)
            figure = Figure("count", after, "count", table=noun.table)
            self.note(mark, f"how many rows of {noun.table} belong to each")
        elif noun.name == "value":
            raise Stuck("I do not understand the comparison", mark.text)
        else:
            figure = Figure(noun.name, after)
        figure.owner = self.owner_of(mark)
        self.draft.thresholds.append((figure, compare))
