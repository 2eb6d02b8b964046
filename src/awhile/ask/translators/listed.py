"""Putting together what has no figures: lists of rows, the first or last, things bought together.

Source: ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.conditions import condition, times
from awhile.ask.translators.dating import date_of
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Rank
from awhile.ask.translators.intent import (
    ColumnRef,
    EntityDimension,
    Groups,
    Listing,
    Measure,
    Order,
    Pairs,
    TimeDimension,
)
from awhile.ask.translators.marks import Superlative
from awhile.ask.translators.measuring import dimension
from awhile.ask.translators.names import is_label

if TYPE_CHECKING:
    from awhile.ask.translators.case import Case
    from awhile.ask.translators.intent import Condition, Intent

__all__ = ["DEFAULT_ROWS", "first_or_last", "listing", "pairs", "skipped"]

DEFAULT_ROWS = 10
"""How many a "top" without a number shows."""


def listing(case: Case) -> Intent:
    """Rows of the target, or the different values of its columns. Raises `Doubt`."""
    draft, target = case.draft, case.draft.target
    if target is None or target.grain:
        raise Stuck("it does not say what to show")
    if draft.often or draft.head in ("how many", "how much"):
        raise Stuck("it is not said what is counted")
    if draft.ratio:
        raise Stuck("it is not said what is divided by what", draft.ratio.text)
    table = target.table or next(each.table for each in target.columns)
    card = case.figures.table(table)
    columns = tuple(dict.fromkeys(target.columns)) or tuple(
        ColumnRef(table, column.name) for column in card.columns if not column.hidden
    )
    if target.with_columns and not draft.distinct:
        columns = _with_label(case, table, columns)
    homes = [each.table for each in columns]
    if any(each not in case.joins.reach(table) for each in homes):
        finest = case.joins.base(homes)
        if target.table or finest is None or finest not in homes:
            raise Stuck("these columns are not of the same rows")
        table = finest
        card = case.figures.table(table)
    names_rows = len(columns) > 1 and any(
        each.table == table
        and (each.column in card.primary_key or is_label(card, case.figures.column(each)))
        for each in columns
    )
    distinct = bool(target.columns) and (draft.distinct or not (names_rows or target.with_columns))
    where = _where(case, table)
    of_values = distinct and where.never and not target.table
    if of_values and all(is_label(card, case.figures.column(each)) for each in columns):
        of_values = False
    if of_values and draft.related:
        raise Stuck("I cannot tell what is ruled out", *(mark.text for mark, _ in draft.verbs))
    order: Order | None = None
    limit: int | None = None
    if draft.rank:
        if draft.rank.column is None or distinct:
            raise Stuck("I do not know what it ranks by", draft.rank.mark.text)
        if draft.rank.column not in columns:
            columns = (*columns, draft.rank.column)
        order = Order(draft.rank.column, draft.rank.word.descending)
        several = target.plural and draft.rank.word.place == 1
        limit = draft.rank.count or (DEFAULT_ROWS if several else 1)
    elif isinstance(draft.sort, ColumnRef):
        if distinct and draft.sort not in columns:
            raise Stuck("different values can only be sorted by what is shown")
        order = Order(draft.sort, draft.descending is True)
    elif draft.descending is not None:
        if not target.columns:
            raise Stuck("it is not said what is sorted by")
        order = Order(next(iter(columns)), draft.descending)
    columns, within = _within(case, table, columns)
    if within and (distinct or limit is None):
        raise Stuck("I do not know what it ranks by", draft.groupings[0].mark.text)
    skip = skipped(draft.rank)
    return Listing(table, columns, distinct, of_values, where, order, limit, skip, within)


def _with_label(case: Case, table: str, columns: tuple[ColumnRef, ...]) -> tuple[ColumnRef, ...]:
    """The columns after those that name a row, unless they do so themselves."""
    card = case.figures.table(table)
    if any(
        each.table == table
        and (each.column in card.primary_key or is_label(card, case.figures.column(each)))
        for each in columns
    ):
        return columns
    labels = case.figures.entity(table)
    names = (labels.labels or labels.key) if labels else card.primary_key
    return tuple(dict.fromkeys((*(ColumnRef(table, name) for name in names), *columns)))


def skipped(rank: Rank | None) -> int:
    """How many are left out before "the second highest". Raises `Stuck`."""
    if rank is None:
        return 0
    if rank.word.place > 1 and rank.count is not None:
        raise Stuck("I do not understand which of them", rank.mark.text)
    return rank.word.place - 1


def _within(
    case: Case, table: str, columns: tuple[ColumnRef, ...]
) -> tuple[tuple[ColumnRef, ...], tuple[ColumnRef, ...]]:
    """The columns with those of the groups before them, and what tells the groups apart."""
    shown: list[ColumnRef] = []
    within: list[ColumnRef] = []
    for grouping in case.draft.groupings:
        found = dimension(case, grouping)
        near = case.joins.reach(table)
        if isinstance(found, TimeDimension) or found.table not in near:
            raise Stuck("I do not understand what is ranked within what", grouping.mark.text)
        if isinstance(found, ColumnRef):
            within.append(found)
            shown.append(found)
        elif found.table == table:
            raise Stuck("I do not understand what is ranked within what", grouping.mark.text)
        else:
            within += [ColumnRef(found.table, key) for key in found.key]
            shown += [ColumnRef(found.table, name) for name in found.labels or found.key]
    return tuple(dict.fromkeys((*shown, *columns))), tuple(within)


def first_or_last(case: Case) -> Intent:
    """ "When was the last order": the day, not the order. Raises `Doubt`."""
    draft, rank = case.draft, case.draft.rank
    told = rank is not None and rank.word.about == "time" and draft.target is not None
    if (
        not told
        or rank is None
        or draft.target is None
        or not draft.target.table
        or draft.figures
        or draft.thresholds
        or draft.bare
    ):
        raise Stuck("I can only tell when the first or last of something was", "when")
    if skipped(rank):
        raise Stuck("I can only tell when the first or last of something was", rank.mark.text)
    ref = date_of(case, draft.target.table, rank.mark)
    latest = Measure("max" if rank.word.descending else "min", ref)
    draft.date = ref
    dims = tuple(dimension(case, each) for each in draft.groupings)
    if any(not isinstance(each, EntityDimension) for each in dims):
        raise Stuck("I can only tell this for each row of a table", "when")
    return Groups((latest,), dims, _where(case, draft.target.table))


def pairs(case: Case) -> Intent:
    """Which two things are often in one purchase. Raises `Doubt`."""
    draft = case.draft
    trade = case.trade("together")
    if trade.item is None or trade.header == trade.lines:
        raise Stuck("no table here holds what was bought in one purchase", "together")
    if draft.figures or draft.groupings or draft.thresholds or draft.bare or draft.never:
        raise Stuck("I only count pairs of things bought together", "together")
    target = draft.target
    if target is None or target.table != trade.item or target.columns or draft.never_verb:
        raise Stuck(f"I only count pairs of {trade.item}", "together")
    if any(each.ref.table in case.joins.reach(trade.item) for each in draft.filters):
        raise Stuck(f"I only count pairs among all {trade.item}", "together")
    key = next(each for each in case.joins.keys(trade.lines) if each.table == trade.item)
    basket = next(each for each in case.joins.keys(trade.lines) if each.table == trade.header)
    item = case.entity(trade.item, target.mark)
    if len(key.columns) != 1 or len(item.key) != 1:
        raise Stuck(f"{trade.item} has a key of several columns", "together")
    rank = draft.rank or Rank(Superlative(True), target.mark)
    if skipped(rank):
        raise Stuck("I only rank pairs by how often they are bought", rank.mark.text)
    if rank.word.about not in (None, "rank", "rows", "units"):
        raise Stuck("I only rank pairs by how often they are bought", rank.mark.text)
    draft.related.append(trade.header)
    where = _where(case, trade.lines)
    return Pairs(
        trade.lines,
        item,
        key.columns[0],
        basket.columns,
        trade.header,
        replace(where, related=()),
        rank.word.descending,
        rank.count or DEFAULT_ROWS,
    )


def _where(case: Case, subject: str) -> Condition:
    draft = case.draft
    if draft.along or draft.versus or draft.part_of:
        mark = draft.along.mark if draft.along else draft.versus or draft.part_of
        raise Stuck("it is not said of which figure", *([mark.text] if mark else []))
    if any(each.side for each in draft.said):
        raise Stuck("I do not understand this ratio")
    return condition(case, subject, draft.filters, times(case, compare=False).filters)
