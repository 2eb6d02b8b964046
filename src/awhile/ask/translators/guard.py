"""Checks on a question put together: what its words allow, but no one clearly asked for.

Source: ours. Each refuses a reading that would run and be wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import Rows
from awhile.ask.translators.names import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Draft, Figure
    from awhile.ask.translators.intent import Condition, Measure, Threshold

__all__ = ["check_linked", "check_never", "check_whole"]


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


def check_never(where: Condition, measures: Sequence[Measure], having: Sequence[Threshold]) -> None:
    if not where.never:
        return
    for each in (*measures, *(threshold.measure for threshold in having)):
        if not isinstance(each.of, Rows) or each.per or each.of.table == where.related[0]:
            raise Stuck("nothing that never happened can be added up")
