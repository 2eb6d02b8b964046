"""One question being put together: its draft, the schema's figures, and what both settle.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice, Meaning
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.names import table_words

if TYPE_CHECKING:
    from datetime import date

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures, Trade
    from awhile.ask.translators.intent import EntityDimension
    from awhile.ask.translators.marks import Mark

__all__ = ["Case"]


class Case:
    """A draft with the schema it is about."""

    def __init__(self, draft: Draft, figures: Figures, today: date) -> None:
        self.draft = draft
        self.figures = figures
        self.joins = figures.joins
        self.today = today

    def note(self, mark: Mark, meaning: str) -> None:
        """Tells what words were taken to mean."""
        self.draft.meanings.append(Meaning(mark.text, meaning))

    def subject(self) -> str:
        """The table whose rows are counted or listed. Raises `Stuck`."""
        draft = self.draft
        for figure in draft.figures:
            if figure.kind == "count":
                return figure.table
        if draft.target and draft.target.table:
            return draft.target.table
        if draft.target and draft.target.columns:
            return draft.target.columns[0].table
        for figure in draft.figures:
            if figure.column:
                return figure.column.table
            if figure.kind == "named":
                return figure.table
            found = self.figures.revenue() if figure.kind == "revenue" else self.figures.units()
            if len(found) == 1:
                return found[0].table
        if draft.target and draft.target.grain and self.figures.trade:
            return self.figures.trade.header
        raise Stuck("it does not say what to show")

    def trade(self, *words: str) -> Trade:
        """Who buys what. Raises `Stuck` with `words` where the schema does not say."""
        if self.figures.trade is None:
            raise Stuck("no table here clearly holds purchases or sales", *words)
        return self.figures.trade

    def event_for(self, subject: str, *words: str) -> str:
        """The table of the trade that says a row of `subject` took part in it."""
        trade = self.trade(*words)
        if subject in (trade.lines, trade.header):
            return subject
        return trade.header if subject in self.joins.reach(trade.header) else trade.lines

    def refuse_sales(self, table: str, mark: Mark) -> None:
        """Where sales are a table, "sales by state" may count them or add up what they brought."""
        if table_words(table)[-1:] != ("sale",) or not self.figures.revenue():
            return
        raise Undecided(
            f"Do you mean the number of {mark.text}, or the revenue?",
            (
                Choice(
                    f"number of {mark.text}", self.reworded(mark.text, f"number of {mark.text}")
                ),
                Choice("revenue", self.reworded(mark.text, "revenue")),
            ),
            mark.text,
        )

    def may_lack(self, table: str, other: str) -> bool:
        """Whether a row of `table` may have no `other`, which it looks up."""
        if other not in self.joins.reach(table):
            return False
        for hop in self.joins.path(table, other):
            card = self.figures.table(hop.table)
            found = [card.column(name) for name in hop.key.columns]
            if any(each is None or each.nullable for each in found):
                return True
        return False

    def entity(self, table: str, mark: Mark) -> EntityDimension:
        """One group for each row of the table. Raises `Stuck` where rows have no key."""
        found = self.figures.entity(table)
        if found is None:
            raise Stuck(f"{table} has no key to tell its rows apart", mark.text)
        return found

    def reworded(self, old: str, new: str) -> str:
        """The question with the first `old` replaced; unchanged where it is not found."""
        return self.draft.question.replace(old, new, 1)

    def continued(self, words: str) -> str:
        """The question with words added at its end."""
        return f"{self.draft.question.rstrip(' ?.!')} {words}"
