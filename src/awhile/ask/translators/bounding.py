"""Whose figure a comparison is about: "customers with more than 5 orders", counted by country.

Source: ours. What each row of the answer is, is compared as a group; of everything else, only the
rows that compare are taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.conditions import times
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Said
from awhile.ask.translators.intent import Condition, Rows, Totals
from awhile.ask.translators.measuring import measure

if TYPE_CHECKING:
    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Figure
    from awhile.ask.translators.marks import Compare

__all__ = ["bind"]


def bind(case: Case) -> None:
    """Makes conditions of the comparisons that are not of the groups. Raises `Doubt`."""
    draft = case.draft
    for said, compare in list(draft.thresholds):
        if _is_of_groups(case, said):
            continue
        totals = _totals(case, said, compare)
        draft.thresholds = [each for each in draft.thresholds if each[0] is not said]
        if draft.rank and draft.rank.figure is said:
            raise Stuck("I do not understand what is compared", said.mark.text)
        draft.figures = [each for each in draft.figures if each is not said]
        draft.related = [each for each in draft.related if each != said.owner]
        shared = any(each.share for each in draft.figures)
        if shared:
            # "percentage of customers who ordered more than once": of all of them.
            draft.related = [each for each in draft.related if each not in draft.events]
            draft.events.clear()
        draft.said.append(Said(totals, said.mark, "claim" if shared else "phrase", True))


def _is_of_groups(case: Case, said: Figure) -> bool:
    draft, owner = case.draft, said.owner
    others = [each for each in draft.figures if each is not said]
    counted = [each for each in others if each.kind == "count"]
    if not owner:
        many = [each for each in counted if each.table not in case.joins.reach(said.table)]
        if draft.groupings and said.table and len(many) < len(counted):
            # "customers by country with more than 5 orders": the customers, or the countries?
            raise Stuck("it is not clear whose figure is compared", said.mark.text)
        return True
    if draft.target:
        return draft.target.table == owner and not draft.target.columns
    if any(each.table == owner for each in draft.groupings):
        return True
    if [each.table for each in others] == [owner] == [each.table for each in counted]:
        only = counted[0]
        return not (draft.groupings or only.share or only.outer or draft.rank or draft.sort)
    return not others


def _totals(case: Case, said: Figure, compare: Compare) -> Totals:
    draft, owner = case.draft, said.owner
    of = measure(case, said, [])
    base = of.of.table
    if owner not in case.joins.reach(base) and isinstance(of.of, Rows):
        # "employees with more than 2 projects": of what links the two
        base = case.joins.base([base, owner]) or base
    if of.per or of.only or owner == base or owner not in case.joins.reach(base):
        raise Stuck("I do not understand what is compared", said.mark.text)
    near = case.joins.reach(owner)
    if any(
        each.ref.table in case.joins.reach(base)
        for each in draft.filters
        if each.ref.table not in near
    ):
        raise Stuck("I cannot tell what its condition is about", said.mark.text)
    if draft.never or draft.happened:
        raise Stuck("I cannot tell what its condition is about", said.mark.text)
    if draft.periods:
        counted = [each.table for each in draft.figures if each is not said]
        during = times(case, compare=False).filters
        far = all(each.ref.table in case.joins.reach(base) for each in during)
        if counted != [owner] or not far or any(each.ref.table in near for each in during):
            raise Stuck("I cannot tell what its time is about", said.mark.text)
        of = replace(of, only=Condition(during))
        draft.periods.clear()
    return Totals(case.entity(owner, said.mark), of, compare.operator, compare.low, compare.high)
