"""Putting together: a draft into an intent, or a doubt.

Source: ours. The guard's second half: whatever the draft leaves open is decided only where one
reading is left; else it is asked back (`Undecided`) or given up (`Stuck`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.bounding import bind
from awhile.ask.translators.case import Case
from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Target
from awhile.ask.translators.grouped import groups
from awhile.ask.translators.intent import Among
from awhile.ask.translators.listed import first_or_last, listing, pairs
from awhile.ask.translators.ranking import compare_bare, resolve_rank

if TYPE_CHECKING:
    from datetime import date

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import Intent

__all__ = ["plan"]


def plan(draft: Draft, figures: Figures, today: date) -> Intent:
    """The intent of a draft. Raises `Stuck` or `Undecided`."""
    case = Case(draft, figures, today)
    if draft.together:
        return pairs(case)
    _explain_verbs(case)
    _imply_target(case)
    if draft.part_of and draft.target and not draft.figures:
        _count_target(case)
    if draft.head == "when":
        return first_or_last(case)
    if draft.rank:
        resolve_rank(case, draft.rank)
    elif draft.often:
        raise Stuck("it is not said how often", "often")
    if draft.bare:
        compare_bare(case)
    bind(case)
    rows = draft.rank is not None and draft.rank.column is not None
    sums = (draft.groupings and not rows) or draft.along or draft.versus
    if not draft.figures and not draft.thresholds and sums:
        _count_target(case)
    if draft.figures or draft.thresholds:
        return groups(case)
    return listing(case)


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
    # "Customers who ordered in each month" may have done so in all of them.
    did = draft.verbs or draft.related or draft.happened
    every = bool(did) and any(each.each for each in draft.groupings)
    asked = draft.head in ("list", "which", "who") and not draft.along and not draft.versus
    if every or asked:
        said = target.mark.text
        raise Undecided(
            f"Do you mean how many {said} there are for each group?",
            (Choice(f"number of {said}", case.reworded(said, f"number of {said}")),),
            said,
        )
    case.refuse_sales(target.table, target.mark)
    draft.figures.append(Figure("count", target.mark, "count", table=target.table))
    draft.target = None
