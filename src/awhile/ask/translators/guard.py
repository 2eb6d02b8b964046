"""Checks on a question put together: what its words allow, but no one clearly asked for.

Source: ours. Each refuses a reading that would run and be wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import EntityDimension, Rows, TimeDimension
from awhile.ask.translators.names import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Draft, Figure, Rank
    from awhile.ask.translators.intent import Condition, Dimension, Measure, Threshold

__all__ = ["check_linked", "check_never", "check_whole", "check_within"]


def check_linked(draft: Draft, answers: list[Figure], by_figure: dict[int, Measure]) -> None:
    """Figures side by side without a word that ties them are not one question."""
    if draft.ratio:
        return
    ranked = draft.rank.figure if draft.rank else None
    compared = [figure for figure, _ in draft.thresholds]
    loose = [
        each
        for each in answers
        if not (each.linked or each is ranked or each is draft.sort or each in compared)
    ]
    told = {by_figure[id(each)] for each in loose}
    spare = 1 if draft.target is None or draft.head in ("which", "what", "who", "list") else 0
    if len(told) > spare:
        raise Stuck("I do not see how it belongs to the rest", loose[-1].mark.text)


def check_whole(case: Case) -> None:
    """The value of an order "of Toys" may be that of the whole order or of its toys."""
    draft = case.draft
    valued = [each for each in draft.figures if each.kind == "value"]
    valued += [figure for figure, _ in draft.thresholds if figure.kind == "value"]
    for figure in valued:
        near = case.joins.reach(figure.table)
        for each in draft.filters:
            if each.ref.table not in near:
                raise Stuck(
                    f"a whole {one_of(figure.table)}, or only the part where "
                    f"{each.ref.column} fits?",
                    figure.mark.text,
                )


def check_within(
    case: Case,
    rank: Rank,
    within: Sequence[Dimension],
    ranked: Sequence[Dimension],
    by_figure: dict[int, Measure],
) -> None:
    """ "Top 3 countries by revenue per customer" ranks no countries within each customer."""
    by = by_figure.get(id(rank.figure))
    if by and not rank.word.descending and by.function in ("sum", "count"):
        # What has none at all would be the least, and is in no group.
        raise Stuck("I cannot tell what has the least within each group", rank.mark.text)
    for each in within:
        of_one = isinstance(each, EntityDimension) and any(
            other.table in case.joins.reach(each.table) for other in ranked
        )
        if of_one or each in ranked:
            raise Stuck("I do not understand what is ranked within what", rank.mark.text)
    if any(isinstance(each, TimeDimension) for each in ranked) and len(within) > 1:
        raise Stuck("I do not understand what is ranked within what", rank.mark.text)
    for grouping in case.draft.groupings:
        after = rank.said_by and rank.figure and rank.figure.mark.end <= grouping.mark.start
        if after and grouping.per and not grouping.each and grouping.table:
            # "by revenue per customer": of each customer, or divided by their number?
            raise Stuck("I do not understand what is ranked within what", grouping.mark.text)


def check_never(where: Condition, measures: Sequence[Measure], having: Sequence[Threshold]) -> None:
    if not where.never:
        return
    for each in (*measures, *(threshold.measure for threshold in having)):
        if not isinstance(each.of, Rows) or each.per or each.of.table == where.related[0]:
            raise Stuck("nothing that never happened can be added up")
