"""Conditions as said into what rows must satisfy, and times into days of a date.

Source: ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.dating import event_date, not_another
from awhile.ask.translators.doubts import Doubt, Stuck, Undecided
from awhile.ask.translators.figures import day_of
from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Condition,
    During,
    Either,
    Flag,
    Matching,
    Measure,
    Missing,
    Rows,
    Totals,
)
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.periods import Period, a_year_before, earlier, period_of, period_of_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import When
    from awhile.ask.translators.intent import Filter

__all__ = ["Times", "condition", "times"]

_LONG_AGO_DAYS = 31
"""Data that ended longer ago is no longer kept up to date; a quiet week is."""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a question by the date they are of, in the order said. `each` tells that
    several were joined by "and", so that each of them is asked for."""

    filters: tuple[During, ...] = ()
    compared: tuple[During, ...] = ()
    each: bool = field(default=False)


def times(case: Case, compare: bool) -> Times:
    """The times of the question; two of one date are compared where the question compares.

    Raises `Doubt`.
    """
    found: dict[ColumnRef, list[tuple[When, Period]]] = {}
    for when in case.draft.periods:
        ref = when.ref or event_date(case, when.mark)
        if when.ref is None:
            not_another(case, when.mark, ref)
        period = _period(case, when, ref)
        found.setdefault(ref, []).append((when, period))
        case.note(when.mark, f"{ref.table}.{ref.column}: {period.said}, {period.dates}")
    filters: list[During] = []
    compared: tuple[During, ...] = ()
    each = False
    for ref, said in found.items():
        periods = _shared_year(case, said)
        if len(periods) == 1:
            filters.append(During(ref, (periods[0],)))
        elif compare and len(periods) == 2 and not compared:
            compared = tuple(During(ref, (period,)) for period in periods)
            filters.append(During(ref, tuple(periods)))
        elif all(when.joined for when, _ in said[1:]):
            units = {period.unit for period in periods}
            if len(units) > 1:
                # "in Q1 of 2025 and 2026"
                raise Stuck("two times in one question", *(when.mark.text for when, _ in said))
            each = len(units) == 1 and None not in units
            filters.append(During(ref, tuple(periods)))
        else:
            raise Stuck("two times in one question", *(when.mark.text for when, _ in said))
    return Times(tuple(filters), compared, each)


def _shared_year(case: Case, said: Sequence[tuple[When, Period]]) -> list[Period]:
    """ "Q1 and Q2 2025": the year said last is of both."""
    last = said[-1][0].time.words
    periods: list[Period] = []
    for when, period in said:
        beside = a_year_before(periods[0]) if periods else None
        same = "same" in when.time.words and period.unit == said[0][1].unit
        if beside and same and len(said) == 2:
            # "last month compared to the same month last year": a year before that one.
            periods.append(beside)
            continue
        periods.append(earlier(when.time.words, last, case.today) or period)
    return periods


def _period(case: Case, when: When, ref: ColumnRef) -> Period:
    column = case.figures.column(ref)
    if case.figures.is_year(ref):
        if when.time.of_data or not _whole_years(when.time.period):
            raise Stuck(f"{ref.table}.{ref.column} only holds years", when.mark.text)
        return when.time.period
    last = day_of(column.maximum)
    if when.time.of_data:
        if last is None:
            raise Stuck(f"I do not know the last {ref.column} there is", when.mark.text)
        found = period_of_data(when.time.words, last)
        if found is None:
            raise Stuck("I do not understand the time meant", when.mark.text)
        return Period(found.start, found.end, f"{found.said}, which ends on {last}")
    period = when.time.period
    relative = not ENGLISH.calendar["relative"].isdisjoint(when.time.words)
    if case.figures.schema.from_last_day and relative and last:
        found = period_of(when.time.words, last)
        said = f"{found.said}, relative to the last day of the data, {last}" if found else ""
        return Period(found.start, found.end, said) if found else period
    ended = case.figures.last_day
    old = ended is not None and period.start is not None and period.start > ended
    long_ago = ended is not None and (case.today - ended).days > _LONG_AGO_DAYS
    if old and long_ago and last and relative:
        raise _after_the_data(case, when, period, last)
    return period


def _whole_years(period: Period) -> bool:
    bounds = [bound for bound in (period.start, period.end) if bound]
    return all((bound.month, bound.day) == (1, 1) for bound in bounds)


def _after_the_data(case: Case, when: When, period: Period, last: date) -> Undecided:
    """ "Last month" where the data ended two years ago: of today, or of the data?"""
    said = when.mark.text
    dates = f"since {period.start}"
    if period.end:
        dates = f"between {period.start} and {period.end.fromordinal(period.end.toordinal() - 1)}"
    return Undecided(
        f"The data ends on {last}, before {said!r}. Do you mean the days before today, "
        "or the last ones of the data?",
        (
            Choice(f"{said}, of the data", case.reworded(said, f"{said} of the data")),
            Choice(f"{dates}, which has no rows", case.reworded(said, dates)),
        ),
        said,
    )


def condition(
    case: Case, subject: str | None, filters: Sequence[Filter], dated: Sequence[During]
) -> Condition:
    """What rows must satisfy: `filters`, the times, what happened, what is related or never was.

    Raises `Doubt`.
    """
    draft = case.draft
    every: list[Filter] = [*filters, *dated]
    either = any(isinstance(each, Either) for each in filters)
    if either and (len(every) > 1 or draft.happened or draft.never or draft.thresholds):
        raise Stuck("I cannot tell which of the conditions belong together", "or")
    for mark, ref in draft.happened:
        if case.figures.column(ref).nullable and not _used(ref, dated):
            every.append(Missing(ref, negated=True))
            case.note(mark, f"{ref.table}.{ref.column} is known")
    loose = draft.new or draft.date_noun
    if loose and not any(when.ref is None for when in draft.periods) and not draft.uses_date():
        raise Stuck("it is not said when", loose.text)
    related = tuple(dict.fromkeys(each for each in draft.related if each != subject))
    told = {each.ref.table for each in every}
    for each in related:
        if subject and each not in told and case.may_lack(subject, each):
            every.append(_points_at(case, subject, each))
    if draft.never:
        if len(set(draft.never)) > 1:
            raise Stuck("it rules out two different things at once")
        near = case.joins.reach(draft.never[0])
        if any(each not in near for each in related):
            raise Stuck("it asks for related rows and rules them out at once")
        return Condition(tuple(every), (draft.never[0],), never=True)
    if draft.both:
        every, related = _each_value(case, subject, every, related)
    for each in every:
        far = subject is not None and each.ref.table not in case.joins.reach(subject)
        if far and each.ref in draft.anded:
            raise _one_or_each(case, each)
        if far and isinstance(each, Among | Flag | Matching) and each.negated:
            raise Stuck("I cannot tell whether some or all of them must differ", each.ref.column)
    return Condition(tuple(every), related)


def _each_value(
    case: Case, subject: str | None, every: list[Filter], related: tuple[str, ...]
) -> tuple[list[Filter], tuple[str, ...]]:
    """ "Bought both Toys and Books": of each value there has to be a row. Raises `Stuck`."""
    mark = case.draft.both
    near = case.joins.reach(subject) if subject else {}
    far = [each for each in every if each.ref.table not in near]
    several = [
        each
        for each in far
        if isinstance(each, Among) and each.ref in case.draft.anded and not each.negated
    ]
    others = tuple(each for each in far if each not in several)
    words = [mark.text] if mark else []
    if subject is None or len(several) != 1:
        raise Stuck("I do not understand what both have in common", *words)
    only = several[0]
    tables = [subject, only.ref.table, *(each.ref.table for each in others), *related]
    base = case.joins.base(tables)
    if base is None:
        raise Stuck("I do not understand what both have in common", *words)
    found: list[Filter] = [each for each in every if each.ref.table in near]
    for value in only.values:
        one = Condition((Among(only.ref, (value,)), *others))
        count = Measure("count", Rows(base), only=one)
        found.append(Totals(case.entity(subject, case.draft.said[0].mark), count, ">", Decimal(0)))
    return found, tuple(each for each in related if each in near)


def _one_or_each(case: Case, filter_: Filter) -> Doubt:
    """ "Bought Toys and Books": both of them, or one of them?"""
    values = filter_.values if isinstance(filter_, Among) else ()
    question = case.draft.question
    said = re.search(r"\W+and\W+".join(map(re.escape, values)), question, re.IGNORECASE)
    if said is None or len(values) != 2:
        return Stuck("I cannot tell whether one row or several must have these values")
    first, second = re.split(r"\W+and\W+", said[0], maxsplit=1, flags=re.IGNORECASE)
    ways = (f"both {first} and {second}", f"{first} or {second}")
    return Undecided(
        f"Do you mean {ways[0]}, or {ways[1]}?",
        tuple(Choice(way, question.replace(said[0], way, 1)) for way in ways),
        said[0],
    )


def _points_at(case: Case, subject: str, other: str) -> Filter:
    """ "publications in journals", where a publication need not be in one. Raises `Stuck`."""
    columns = [each for hop in case.joins.path(subject, other) for each in hop.key.columns]
    if len(columns) != 1:
        raise Stuck(f"it is not said which {other}")
    return Missing(ColumnRef(subject, columns[0]), negated=True)


def _used(ref: ColumnRef, dated: Sequence[During]) -> bool:
    return any(each.ref == ref for each in dated)
