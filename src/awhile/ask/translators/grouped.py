"""Putting together figures: for all rows or for each group, as they are or along time.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.along import along, compared
from awhile.ask.translators.conditions import condition, times
from awhile.ask.translators.dating import event_date
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Figure as SaidFigure
from awhile.ask.translators.guard import check_linked, check_never, check_whole, check_within
from awhile.ask.translators.intent import (
    EntityDimension,
    Groups,
    Measure,
    Order,
    Threshold,
    TimeDimension,
)
from awhile.ask.translators.listed import DEFAULT_ROWS, skipped
from awhile.ask.translators.measuring import dimension, measure
from awhile.ask.translators.sharing import divided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Draft, Target
    from awhile.ask.translators.intent import Dimension, Figure, Intent

__all__ = ["groups"]


def groups(case: Case) -> Intent:
    """The figures of the question for its groups. Raises `Doubt`."""
    draft = case.draft
    groupings = list(draft.groupings)
    target_dims, answers, count_groups = _asked(case)
    by_said = {id(each): measure(case, each, groupings) for each in answers}
    check_linked(draft, answers, by_said)
    check_whole(case)
    dims = tuple(dimension(case, each) for each in groupings)
    within = dims if target_dims and draft.rank else ()
    if within and draft.rank:
        check_within(case, draft.rank, within, target_dims, by_said)
        dims = (*within, *target_dims)
    elif target_dims and dims:
        raise Stuck("it is not clear what each row of the answer should be")
    dims = tuple(dict.fromkeys(dims or target_dims))
    having = tuple(
        Threshold(
            by_said.get(id(said)) or measure(case, said, []),
            compare.operator,
            compare.low,
            compare.high,
        )
        for said, compare in draft.thresholds
    )
    if not by_said:
        by_said = {at: each.measure for at, each in enumerate(having)}
    measures = list(by_said.values())
    said_times = times(case, compare=draft.versus is not None or draft.along is not None)
    homes = {each.of.table for each in measures}
    subject = homes.pop() if len(homes) == 1 else None
    figures, filters, dated = divided(case, answers, by_said, dims, subject, said_times.filters)
    where = condition(case, subject, filters, dated)
    check_never(where, measures, having)
    made = tuple(dict.fromkeys(figures))
    if said_times.each and not any(isinstance(each, TimeDimension) for each in dims):
        during = said_times.filters[0]
        unit = during.periods[0].unit
        if unit:
            dims = (TimeDimension(during.ref, unit), *dims)
    made, dims, where = compared(case, made, dims, where, said_times.compared)
    if having and not dims:
        raise Stuck("it compares a figure, but it is not said of what")
    over, dims = along(case, made, dims)
    # A share or ratio made of several has no order of its own, and is never ranked.
    by_said_figure = dict(zip(by_said, figures, strict=False))
    order, limit = _order(case, made, by_said_figure, dims, within)
    dims = _with_shown(case, dims)
    if over and (limit or having or draft.rank):
        raise Stuck("I cannot rank or choose along time yet", *_words(draft))
    return Groups(
        made,
        dims,
        where,
        having,
        None if over else order,
        limit,
        skipped(draft.rank),
        within,
        over,
        _keeps_empty(case, dims, having, order, measures) and not over,
        count_groups,
    )


def _asked(case: Case) -> tuple[tuple[Dimension, ...], list[SaidFigure], bool]:
    """What each row is of by the target, the figures to answer with, and whether the rows
    themselves are only counted."""
    draft, groupings = case.draft, case.draft.groupings
    counted = [each for each in draft.figures if each.kind == "count"]
    answers = list(draft.figures)
    if draft.target and _joined_figure(case):
        table = draft.target.table
        answers.insert(0, SaidFigure("count", draft.target.mark, "count", table=table))
        draft.figures = answers
        draft.target = None
    elif draft.target and _context_only(draft):
        draft.related.append(draft.target.table)
        draft.target = None
    elif draft.target:
        return _target_dimensions(case, draft.target), answers, False
    elif draft.thresholds and counted and not groupings:
        dims = (case.entity(counted[0].table, counted[0].mark),)
        tested = [said for said, _ in draft.thresholds]
        answers = [each for each in answers if each not in tested]
        if answers != [counted[0]] or counted[0].outer or draft.rank or draft.sort:
            raise Stuck("it asks for more than how many there are")
        return dims, [], True
    return (), answers, False


def _joined_figure(case: Case) -> bool:
    """ "orders and revenue by channel": the table is counted beside the figure."""
    draft, target = case.draft, case.draft.target
    return bool(
        target
        and target.table
        and not target.columns
        and draft.groupings
        and draft.joined_target
        and not (draft.rank or draft.sort or draft.thresholds)
    )


def _context_only(draft: Draft) -> bool:
    """A table named beside a figure, neither ranked nor listed: "how much did … spend"."""
    target = draft.target
    if target is None or not target.table or target.columns:
        return False
    if draft.rank or draft.thresholds or draft.sort:
        return False
    return draft.head in ("how much", "how many")


def _target_dimensions(case: Case, target: Target) -> tuple[Dimension, ...]:
    if target.grain:
        return (TimeDimension(event_date(case, target.mark), target.grain.unit),)
    if target.columns:
        return tuple(target.columns)
    return (case.entity(target.table, target.mark),)


def _with_shown(case: Case, dims: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The groups with columns that each of them has just one value of. Raises `Stuck`."""
    entities = [each.table for each in dims if isinstance(each, EntityDimension)]
    told = {
        (each.table, name)
        for each in dims
        if isinstance(each, EntityDimension)
        for name in (*each.key, *each.labels)
    }
    more: list[Dimension] = []
    for ref in dict.fromkeys(case.draft.shown):
        if ref in dims or (ref.table, ref.column) in told:
            continue
        if not any(ref.table in case.joins.reach(table) for table in entities):
            raise Stuck(f"a group may have several values of {ref.column}")
        more.append(ref)
    return (*dims, *more)


def _words(draft: Draft) -> list[str]:
    return [draft.along.mark.text] if draft.along else []


def _keeps_empty(
    case: Case,
    dims: Sequence[Dimension],
    having: Sequence[Threshold],
    order: Order | None,
    measures: Sequence[Measure],
) -> bool:
    """Whether rows with nothing to count belong to the answer: "fewer than 2", "the least"."""
    if len(dims) != 1 or not isinstance(dims[0], EntityDimension) or len(measures) != 1:
        return False
    only = measures[0]
    if only.per or only.function not in ("sum", "count") or only.of.table == dims[0].table:
        return False
    for each in having:
        if each.measure != only:
            return False
        if each.operator in ("<", "<=") or each.low == 0:
            return True
    return (
        bool(case.draft.rank)
        and not case.draft.related
        and order is not None
        and not order.descending
    )


def _order(
    case: Case,
    figures: Sequence[Figure],
    by_said: dict[int, Figure],
    dims: Sequence[Dimension],
    within: Sequence[Dimension],
) -> tuple[Order | None, int | None]:
    draft, rank = case.draft, case.draft.rank
    if rank and len(dims) > 1 and not within:
        raise Stuck("it is not said what is ranked", rank.mark.text)
    if rank and (not dims or not rank.figure):
        raise Stuck("it is not said what is ranked", rank.mark.text)
    if not dims:
        return None, None
    if rank and rank.figure:
        if draft.target is None and rank.count is None and rank.word.about != "rank":
            raise Stuck("it is not said what is ranked", rank.mark.text)
        plural = draft.target.plural if draft.target else True
        limit = rank.count or (DEFAULT_ROWS if plural and rank.word.place == 1 else 1)
        return Order(by_said[id(rank.figure)], rank.word.descending), limit
    if isinstance(draft.sort, SaidFigure):
        return Order(by_said[id(draft.sort)], draft.descending is not False), None
    if draft.sort:
        if draft.sort not in dims:
            raise Stuck("the answer can only be sorted by what it shows")
        return Order(draft.sort, draft.descending is True), None
    if any(isinstance(each, TimeDimension) for each in dims):
        return None, None
    return Order(figures[0], draft.descending is not False), None
