"""Shares and ratios: which of the conditions said are about the part, and which about the whole.

Source: ours. "What share of orders in Germany were cancelled": those in Germany are the whole,
for only "were cancelled" claims something of them. Where nothing tells the two apart, it is not
answered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Said
from awhile.ask.translators.intent import Condition, Measure, Missing, Ratio, Share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Figure as SaidFigure
    from awhile.ask.translators.intent import Dimension, During, Figure, Filter

__all__ = ["divided"]

_ADDED = ("sum", "count", "count_distinct")


def divided(
    case: Case,
    answers: Sequence[SaidFigure],
    by_said: Mapping[int, Measure],
    dims: Sequence[Dimension],
    subject: str | None,
    dated: Sequence[During],
) -> tuple[list[Figure], list[Filter], Sequence[During]]:
    """The figures, shares and ratios made of them, and the conditions and times left for all rows.

    Raises `Stuck`.
    """
    draft = case.draft
    shared = bool(subject) and not draft.ratio and any(each.share for each in answers)
    near = case.joins.reach(subject) if subject else {}
    if shared and (draft.events or any(each.ref.table not in near for each in dated)):
        return _who_did(case, answers, by_said, near, dated)
    said = [when for when in draft.periods if when.ref]
    if shared and not draft.said and len(dated) == len(said) == 1:
        # "Percentage of customers who joined in 2025"
        if dims:
            raise Stuck("of all of each group, or of all of that time?", said[0].mark.text)
        draft.said.append(Said(dated[0], said[0].mark, "claim", True))
        draft.happened.clear()
        dated = ()
    elif shared and not draft.said and len(draft.happened) == 1 and not draft.uses_date():
        # "Percentage of employees who left"
        mark, ref = draft.happened.pop()
        draft.said.append(Said(Missing(ref, negated=True), mark, "claim", True))
    return *_divided(case, answers, by_said, dims), dated


def _who_did(
    case: Case,
    answers: Sequence[SaidFigure],
    by_said: Mapping[int, Measure],
    near: Mapping[str, int],
    dated: Sequence[During],
) -> tuple[list[Figure], list[Filter], Sequence[During]]:
    """ "What percentage of customers ordered Toys in 2025": of all customers, those who did."""
    draft = case.draft
    only, measures = answers[0], list(by_said.values())
    plain = len(answers) == 1 and only.kind == "count" and not measures[0].per
    if not plain or draft.part_of or draft.rank or draft.thresholds or draft.sort or draft.never:
        raise Stuck("I do not understand this share", only.mark.text)
    told = draft.events or [each.ref.table for each in dated if each.ref.table not in near]
    events = [each for each in told if each not in near]
    if len(events) != len(told) or any(ref.table in near for _, ref in draft.happened):
        raise Stuck("I do not understand what it is a share of", only.mark.text)
    far: list[Filter] = [each for each in draft.filters if each.ref.table not in near]
    claimed = any(each.how == "claim" and each.filter not in far for each in draft.said)
    if claimed or any(each.ref in draft.anded for each in far):
        raise Stuck("I do not understand what it is a share of", only.mark.text)
    far += [each for each in dated if each.ref.table not in near]
    did = Condition(tuple(far), tuple(dict.fromkeys(events)))
    draft.related = [each for each in draft.related if each not in events]
    rest = [each for each in draft.filters if each.ref.table in near]
    times = [each for each in dated if each.ref.table in near]
    return [Ratio(replace(measures[0], only=did), measures[0])], rest, times


def _divided(
    case: Case,
    answers: Sequence[SaidFigure],
    by_said: Mapping[int, Measure],
    dims: Sequence[Dimension],
) -> tuple[list[Figure], list[Filter]]:
    draft = case.draft
    if draft.ratio:
        return _ratio(case, answers, by_said)
    measures = list(by_said.values())
    sharing = [each for each in answers if each.share]
    if draft.part_of:
        if len(measures) != 1 or draft.rank or draft.thresholds or sharing:
            raise Stuck("I do not understand this share", draft.part_of.text)
        before = [each for each in draft.said if each.mark.start < draft.part_of.start]
        return _part(case, measures[0], before, draft.part_of.text)
    if not sharing:
        return list(measures), draft.filters
    words = sharing[0].mark.text
    if draft.rank or draft.thresholds or draft.sort:
        raise Stuck("I do not understand this share", words)
    if any(by_said[id(each)].function not in _ADDED or by_said[id(each)].per for each in sharing):
        raise Stuck("I only know shares of sums and counts", words)
    parts = _parts(draft.said, bool(dims))
    if parts or draft.never:
        if len(measures) != 1:
            raise Stuck("I do not understand what it is a share of", words)
        return _part(case, measures[0], parts, words)
    if not dims:
        raise Stuck("I do not understand what it is a share of", words)
    made: list[Figure] = []
    for each in answers:
        found = by_said[id(each)]
        if each.share and found.function == "count_distinct":
            raise Stuck("different things cannot be added up to a whole", words)
        made.append(Share(found) if each.share else found)
    return made, draft.filters


def _parts(said: Sequence[Said], grouped: bool) -> list[Said]:
    """The conditions that tell the part: what is claimed, else, where nothing else can be meant,
    the only condition there is."""
    claims = [each for each in said if each.how == "claim"]
    if claims:
        return claims
    adjectives = [each for each in said if each.how == "adjective" and not each.after]
    if grouped:
        return adjectives
    after = [each for each in said if each.after] or adjectives
    return after if len(after) == 1 else []


def _part(
    case: Case, whole: Measure, parts: Sequence[Said], words: str
) -> tuple[list[Figure], list[Filter]]:
    draft = case.draft
    only: Condition
    if draft.never and not parts:
        only = Condition((), (draft.never[0],), never=True)
        draft.never.clear()
    elif parts and not draft.never:
        only = Condition(tuple(each.filter for each in parts))
    else:
        raise Stuck("I do not understand what it is a share of", words)
    rest = [each.filter for each in draft.said if each not in parts]
    return [Ratio(replace(whole, only=only), whole)], rest


def _ratio(
    case: Case, answers: Sequence[SaidFigure], by_said: Mapping[int, Measure]
) -> tuple[list[Figure], list[Filter]]:
    draft = case.draft
    words = draft.ratio.text if draft.ratio else ""
    if len(answers) != 2 or draft.rank or draft.thresholds or draft.sort or draft.never:
        raise Stuck("I only know the ratio of one figure to another", words)
    tops = [each for each in draft.said if each.side == 1]
    refs = {each.filter.ref for each in tops}
    bottoms = [each for each in draft.said if each.side == 2 and each.filter.ref in refs]
    rest = [each.filter for each in draft.said if each not in tops and each not in bottoms]
    top, bottom = (by_said[id(each)] for each in answers)
    if top == bottom and not tops:
        raise Stuck("both sides of the ratio are the same", words)
    return [Ratio(_only(top, tops), _only(bottom, bottoms), part=False)], rest


def _only(whole: Measure, said: Sequence[Said]) -> Measure:
    if not said:
        return whole
    return replace(whole, only=Condition(tuple(each.filter for each in said)))
