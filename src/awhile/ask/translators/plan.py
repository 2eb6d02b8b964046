"""Putting together: a draft into an intent, or a doubt.

Source: ours. The guard's second half: whatever the draft leaves open is decided only where one
reading is left; else it is asked back (`Undecided`) or given up (`Stuck`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.case import Case
from awhile.ask.translators.contract import Choice
from awhile.ask.translators.dating import date_of, event_date
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Rank, Target
from awhile.ask.translators.guard import check_linked, check_never, check_whole
from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Condition,
    During,
    EntityDimension,
    Groups,
    Listing,
    Measure,
    Order,
    Pairs,
    Threshold,
    TimeDimension,
)
from awhile.ask.translators.marks import Superlative
from awhile.ask.translators.measuring import dimension, measure
from awhile.ask.translators.names import is_label
from awhile.ask.translators.ranking import compare_bare, resolve_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import Dimension, Filter, Intent

__all__ = ["plan"]

_DEFAULT_ROWS = 10


def plan(draft: Draft, figures: Figures) -> Intent:
    """The intent of a draft. Raises `Stuck` or `Undecided`."""
    case = Case(draft, figures)
    if draft.together:
        return _pairs(case)
    _explain_verbs(case)
    _imply_target(case)
    if draft.head == "when":
        return _when(case)
    if draft.rank:
        resolve_rank(case, draft.rank)
    elif draft.often:
        raise Stuck("it is not said how often", "often")
    if draft.bare:
        compare_bare(case)
    if not draft.figures and not draft.thresholds and draft.groupings:
        _count_target(case)
    if draft.figures or draft.thresholds:
        return _groups(case)
    return _listing(case)


# What the question is about -------------------------------------------------------------------


def _explain_verbs(case: Case) -> None:
    """What was bought, sold or booked becomes a related table, or explains a figure."""
    draft = case.draft
    if draft.head == "what thing":
        _object_of_verb(case)
    for mark, verb in draft.verbs:
        if verb.kind == "event":
            draft.related.append(verb.table)
            draft.events.append(verb.table)
            continue
        trade = case.trade(mark.text)
        if draft.head == "how much" and not draft.figures and verb.kind == "sell":
            draft.figures.append(Figure("revenue", mark))
            continue
        if draft.head == "who" and not draft.target and not draft.figures and trade.buyer:
            draft.target = Target(mark, True, table=trade.buyer)
        for figure in draft.figures:
            if figure.kind == "count" and figure.table == trade.item and not draft.distinct:
                said = figure.mark.text
                raise Undecided(
                    f"Do you mean how many different {said}, or how many units?",
                    (
                        Choice(f"different {said}", case.reworded(said, f"different {said}")),
                        Choice("units", case.reworded(said, "units")),
                    ),
                    said,
                )
        event = case.event_for(case.subject(), mark.text)
        draft.related.append(event)
        draft.events.append(event)
    item = case.figures.trade.item if case.figures.trade else None
    sells = draft.rank if draft.rank and draft.rank.word.about == "units" else None
    if sells and item and draft.head == "what" and not (draft.target or draft.figures):
        draft.target = Target(sells.mark, True, table=item)
    if draft.never_verb:
        verb = draft.never_verb
        event = verb.table or case.event_for(case.subject())
        draft.never.append(event)
    if draft.head == "who" and not draft.target and draft.rank and draft.figures:
        trade = case.trade()
        if trade.buyer:
            draft.target = Target(draft.rank.mark, False, table=trade.buyer)


def _object_of_verb(case: Case) -> None:
    """ "What did customers in Italy buy": the things, not the customers."""
    draft = case.draft
    trade = case.trade()
    verbs = [verb for _, verb in draft.verbs if verb.kind != "event"]
    ranking = [draft.rank.figure] if draft.rank and draft.rank.figure else []
    if not verbs or draft.figures != ranking or trade.item is None:
        raise Stuck("it does not say what to show")
    if draft.target and draft.target.table != trade.item:
        if draft.target.table != trade.buyer or draft.target.columns:
            raise Stuck("it does not say what to show", draft.target.mark.text)
        draft.related.append(draft.target.table)
    draft.target = Target(draft.verbs[0][0], True, table=trade.item)


def _imply_target(case: Case) -> None:
    """ "Books cheaper than 20": a value stands for the rows that have it."""
    draft = case.draft
    if draft.target or draft.figures:
        return
    among = [each for each in draft.filters if isinstance(each, Among)]
    marks = [mark for mark, compare in draft.bare if compare.about_price]
    if draft.rank and draft.rank.word.about == "price":
        marks.append(draft.rank.mark)
    if among and marks and case.figures.prices(among[0].ref.table):
        draft.target = Target(marks[0], True, table=among[0].ref.table)


def _count_target(case: Case) -> None:
    """ "orders by country": how many rows of the target there are in each group."""
    draft, target = case.draft, case.draft.target
    if target is None or not target.table or target.columns:
        name = target.mark.text if target else "it"
        raise Stuck(f"it is not said what to compute of {name} for each group")
    if draft.head == "list":
        said = target.mark.text
        raise Undecided(
            f"Do you mean how many {said} there are for each group?",
            (Choice(f"number of {said}", case.reworded(said, f"number of {said}")),),
            said,
        )
    case.refuse_sales(target.table, target.mark)
    draft.figures.append(Figure("count", target.mark, "count", table=target.table))
    draft.target = None


# Figures --------------------------------------------------------------------------------------


def _groups(case: Case) -> Intent:
    draft = case.draft
    groupings = list(draft.groupings)
    counted = [each for each in draft.figures if each.kind == "count"]
    count_groups = False
    target_dims: tuple[Dimension, ...] = ()
    answers = list(draft.figures)
    if draft.target and _joined_figure(case):
        table = draft.target.table
        answers.insert(0, Figure("count", draft.target.mark, "count", table=table))
        draft.figures = answers
        draft.target = None
    elif draft.target and _context_only(draft):
        draft.related.append(draft.target.table)
        draft.target = None
    elif draft.target:
        target_dims = _target_dimensions(case, draft.target)
    elif draft.thresholds and counted and not groupings:
        target_dims = (case.entity(counted[0].table, counted[0].mark),)
        compared = [figure for figure, _ in draft.thresholds]
        answers = [each for each in answers if each not in compared]
        if answers != [counted[0]] or counted[0].outer or draft.rank or draft.sort:
            raise Stuck("it asks for more than how many there are")
        count_groups, answers = True, []
    part = _part(case, bool(groupings or target_dims))
    by_figure = {id(each): measure(case, each, groupings, part) for each in answers}
    measures = list(by_figure.values())
    check_linked(draft, answers, by_figure)
    check_whole(case)
    dims = tuple(dimension(case, each) for each in groupings)
    if target_dims and dims and (draft.rank or draft.sort):
        at_fault = [draft.rank.mark.text] if draft.rank else []
        raise Stuck("I cannot rank within groups yet", *at_fault)
    if target_dims and dims:
        raise Stuck("it is not clear what each row of the answer should be")
    dims = tuple(dict.fromkeys(target_dims or dims))
    having = tuple(
        Threshold(
            by_figure.get(id(figure)) or measure(case, figure, []),
            compare.operator,
            compare.low,
            compare.high,
        )
        for figure, compare in draft.thresholds
    )
    if having and not dims:
        raise Stuck("it compares a figure, but it is not said of what")
    if not measures:
        measures = [each.measure for each in having]
    homes = {each.of.table for each in measures}
    where = _condition(case, homes.pop() if len(homes) == 1 else None, part)
    check_never(where, measures, having)
    order, limit = _order(case, measures, by_figure, dims)
    return Groups(
        tuple(dict.fromkeys(measures)),
        dims,
        where,
        having,
        order,
        limit,
        _keeps_empty(case, dims, having, order, measures),
        count_groups,
    )


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


def _part(case: Case, grouped: bool) -> Filter | None:
    """What a share without groups is the share of: the one value said after the figure."""
    draft = case.draft
    sharing = [each for each in draft.figures if each.share]
    if not sharing:
        return None
    if draft.rank or draft.thresholds or draft.never or draft.sort:
        raise Stuck("I do not understand this share", sharing[0].mark.text)
    if grouped:
        return None
    after = [
        each
        for each in draft.filters
        if isinstance(each, Among) and draft.places[each] > sharing[0].mark.start
    ]
    if len(after) != 1 or len(draft.figures) != 1:
        raise Stuck("I do not understand what it is a share of", sharing[0].mark.text)
    return after[0]


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
    measures: Sequence[Measure],
    by_figure: dict[int, Measure],
    dims: Sequence[Dimension],
) -> tuple[Order | None, int | None]:
    draft, rank = case.draft, case.draft.rank
    if rank and len(dims) > 1:
        raise Stuck("I cannot rank within groups yet", rank.mark.text)
    if rank and (not dims or not rank.figure):
        raise Stuck("it is not said what is ranked", rank.mark.text)
    if not dims:
        return None, None
    if rank and rank.figure:
        if draft.target is None and rank.count is None and rank.word.about != "rank":
            raise Stuck("it is not said what is ranked", rank.mark.text)
        plural = draft.target.plural if draft.target else True
        limit = rank.count or (_DEFAULT_ROWS if plural else 1)
        return Order(by_figure[id(rank.figure)], rank.word.descending), limit
    if isinstance(draft.sort, Figure):
        return Order(by_figure[id(draft.sort)], draft.descending is not False), None
    if draft.sort:
        raise Stuck("the answer can only be sorted by its figures")
    if any(isinstance(each, TimeDimension) for each in dims):
        return None, None
    return Order(measures[0], draft.descending is not False), None


# Conditions -----------------------------------------------------------------------------------


def _condition(case: Case, subject: str | None, part: Filter | None = None) -> Condition:
    draft = case.draft
    filters: list[Filter] = [each for each in draft.filters if each != part]
    if len(draft.periods) > 1:
        raise Stuck("two times in one question", *(mark.text for mark, _ in draft.periods))
    for mark, time in draft.periods:
        ref = event_date(case, mark)
        filters.append(During(ref, time.period))
        case.note(mark, f"{ref.table}.{ref.column}: {time.period.said}, {time.period.dates}")
    if (draft.date or draft.new) and not draft.periods and not draft.uses_date():
        words = draft.new.text if draft.new else draft.date.column if draft.date else ""
        raise Stuck("it is not said when", words)
    related = tuple(dict.fromkeys(each for each in draft.related if each != subject))
    told = {each.ref.table for each in filters}
    for each in related:
        if subject and each not in told and case.may_lack(subject, each):
            raise Stuck(f"it is not said which {each}")
    if draft.never:
        if len(set(draft.never)) > 1:
            raise Stuck("it rules out two different things at once")
        near = case.joins.reach(draft.never[0])
        if any(each not in near for each in related):
            raise Stuck("it asks for related rows and rules them out at once")
        return Condition(tuple(filters), (draft.never[0],), never=True)
    for each in draft.filters:
        far = subject is not None and each.ref.table not in case.joins.reach(subject)
        if far and each.ref in draft.anded:
            raise Stuck("I cannot tell whether one row or several must have these values")
        if far and isinstance(each, Among) and each.negated:
            raise Stuck("I cannot tell whether some or all of them must differ", *each.values)
    return Condition(tuple(filters), related)


# Lists ----------------------------------------------------------------------------------------


def _listing(case: Case) -> Intent:
    draft, target = case.draft, case.draft.target
    if target is None or target.grain:
        raise Stuck("it does not say what to show")
    if draft.often or draft.head in ("how many", "how much"):
        raise Stuck("it is not said what is counted")
    table = target.table or target.columns[0].table
    card = case.figures.table(table)
    columns = tuple(dict.fromkeys(target.columns)) or tuple(
        ColumnRef(table, column.name) for column in card.columns
    )
    if any(each.table not in case.joins.reach(table) for each in columns):
        raise Stuck("these columns are not of the same rows")
    names_rows = len(columns) > 1 and any(
        each.table == table
        and (each.column in card.primary_key or is_label(card, case.figures.column(each)))
        for each in columns
    )
    distinct = bool(target.columns) and (draft.distinct or not names_rows)
    where = _condition(case, table)
    order: Order | None = None
    limit: int | None = None
    if draft.rank:
        if draft.rank.column is None or distinct:
            raise Stuck("I do not know what it ranks by", draft.rank.mark.text)
        if draft.rank.column not in columns:
            columns = (*columns, draft.rank.column)
        order = Order(draft.rank.column, draft.rank.word.descending)
        limit = draft.rank.count or (_DEFAULT_ROWS if target.plural else 1)
    elif isinstance(draft.sort, ColumnRef):
        order = Order(draft.sort, draft.descending is True)
    elif draft.descending is not None:
        raise Stuck("it is not said what is sorted by")
    return Listing(table, columns, distinct, where, order, limit)


def _when(case: Case) -> Intent:
    draft, rank = case.draft, case.draft.rank
    told = rank is not None and rank.word.about == "time" and draft.target is not None
    if (
        not told
        or rank is None
        or draft.target is None
        or not draft.target.table
        or draft.figures
        or draft.groupings
        or draft.thresholds
        or draft.bare
    ):
        raise Stuck("I can only tell when the first or last of something was", "when")
    ref = date_of(case, draft.target.table, rank.mark)
    latest = Measure("max" if rank.word.descending else "min", ref)
    draft.date = ref
    return Groups((latest,), (), _condition(case, draft.target.table))


def _pairs(case: Case) -> Intent:
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
    if rank.word.about not in (None, "rank", "rows", "units"):
        raise Stuck("I only rank pairs by how often they are bought", rank.mark.text)
    draft.related.append(trade.header)
    where = _condition(case, trade.lines)
    return Pairs(
        trade.lines,
        item,
        key.columns[0],
        basket.columns,
        trade.header,
        replace(where, related=()),
        rank.word.descending,
        rank.count or _DEFAULT_ROWS,
    )
