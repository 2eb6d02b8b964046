"""What a superlative ranks by, and what a bare comparison compares.

Source: ours. "Top 5 products" alone is asked back: revenue, units and orders rank differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.dating import date_of
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Said
from awhile.ask.translators.intent import Comparison, Totals
from awhile.ask.translators.measuring import measure

if TYPE_CHECKING:
    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Rank
    from awhile.ask.translators.intent import ColumnRef
    from awhile.ask.translators.marks import Compare, Mark

__all__ = ["compare_bare", "resolve_rank"]


def resolve_rank(case: Case, rank: Rank) -> None:
    """Finds what the rank is by, unless the question said it. Raises `Doubt`."""
    draft, about, target = case.draft, rank.word.about, case.draft.target
    if rank.figure or rank.column:
        return
    if about in ("time", "price"):
        if target is None or not target.table:
            raise Stuck("it is not said of what", rank.mark.text)
        if about == "time":
            rank.column = date_of(case, target.table, rank.mark)
        else:
            rank.column = _price(case, target.table, rank.mark)
    elif about == "units" and _is_item(case):
        _by(case, rank, Figure("units", rank.mark))
    elif about == "events" or (draft.often and draft.verbs):
        header = case.trade(rank.mark.text).header
        _by(case, rank, Figure("count", rank.mark, "count", table=header))
    elif about == "rows":
        if target is None or target.grain:
            raise Stuck("I do not know what is counted", rank.mark.text)
        table = target.columns[0].table if target.columns else _only_event(case, target.table, rank)
        _by(case, rank, Figure("count", rank.mark, "count", table=table))
    elif (
        len(draft.figures) == 1
        and about in (None, "rank", "size")
        and (target or rank.count or rank.mark.start < draft.figures[0].mark.start)
    ):
        rank.figure = draft.figures[0]
    elif (
        about == "size"
        and case.figures.trade
        and target
        and (target.table == case.figures.trade.header)
    ):
        _by(case, rank, Figure("value", rank.mark, "sum", table=target.table))
    else:
        raise Undecided("By what should they be ranked?", _rankings(case), rank.mark.text)


def _only_event(case: Case, table: str, rank: Rank) -> str:
    """The one table whose rows each are of a row of `table`: treatments, of a diagnosis."""
    found = [
        each.name
        for each in case.figures.schema.tables
        if any(key.table == table for key in case.joins.keys(each.name))
    ]
    if len(found) != 1:
        raise Stuck("I do not know what is counted", rank.mark.text)
    return found[0]


def _is_item(case: Case) -> bool:
    """Whether the ranked are things sold, or a property of them: those sell in units."""
    target, trade = case.draft.target, case.figures.trade
    if target is None or trade is None or trade.item is None:
        return False
    table = target.columns[0].table if target.columns else target.table
    return table in case.joins.reach(trade.item)


def _by(case: Case, rank: Rank, figure: Figure) -> None:
    rank.figure = figure
    case.draft.figures.append(figure)


def _rankings(case: Case) -> tuple[Choice, ...]:
    trade = case.figures.trade
    if trade is None:
        return ()
    by = ("revenue", "units sold", f"number of {trade.header.replace('_', ' ')}")
    return tuple(Choice(f"by {each}", case.continued(f"by {each}")) for each in by)


def _price(case: Case, table: str, mark: Mark) -> ColumnRef:
    prices = case.figures.prices(table)
    if len(prices) != 1:
        raise Stuck(f"{table} has no one price", mark.text)
    return prices[0]


def compare_bare(case: Case) -> None:
    """ "products over 100": the one figure the rows have, or the value of an order."""
    draft = case.draft
    for mark, compare in draft.bare:
        if draft.target and (draft.target.columns or not draft.target.table):
            raise Stuck("it is not said which figure it compares", mark.text)
        table = case.subject()
        only = case.figures.only_number(table)
        if compare.about_price:
            _compared(case, _price(case, table, mark), compare, mark)
        elif only is not None:
            _compared(case, only, compare, mark)
        elif case.figures.trade and table == case.figures.trade.header:
            _value_compared(case, table, compare, mark)
        else:
            raise Stuck(f"it is not said which figure of {table} it compares", mark.text)


def _value_compared(case: Case, table: str, compare: Compare, mark: Mark) -> None:
    """ "orders over 500" are shown with their value; of counted ones it is only a condition."""
    figure = Figure("value", mark, "sum", table=table)
    case.note(mark, f"the value of one row of {table}")
    if not case.draft.figures:
        case.draft.thresholds.append((figure, compare))
        return
    of = measure(case, figure, [])
    entity = case.entity(table, mark)
    totals = Totals(entity, of, compare.operator, compare.low, compare.high)
    case.draft.said.append(Said(totals, mark))


def _compared(case: Case, ref: ColumnRef, compare: Compare, mark: Mark) -> None:
    comparison = Comparison(ref, compare.operator, compare.low, compare.high)
    case.draft.said.append(Said(comparison, mark))
    case.note(mark, f"{ref.table}.{ref.column}")
