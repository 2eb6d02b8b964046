"""Figures along time: growth, running totals, moving averages, and two periods side by side.

Source: ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.dating import event_date
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Along
from awhile.ask.translators.intent import (
    Among,
    Change,
    Condition,
    During,
    Measure,
    Over,
    TimeDimension,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.case import Case
    from awhile.ask.translators.intent import Dimension, Figure
    from awhile.ask.translators.periods import Unit

__all__ = ["along", "compared"]

_FINER: tuple[Unit, ...] = ("day", "week", "month", "quarter", "year")
_CLOCK = ("weekday", "hour")
_WINDOWS: dict[Unit, tuple[int, ...]] = {
    "day": (7, 30),
    "week": (4, 12),
    "month": (3, 12),
    "quarter": (2, 4),
    "year": (2, 3),
}
"""Lengths of moving averages to choose from."""


def compared(
    case: Case,
    figures: tuple[Figure, ...],
    dims: tuple[Dimension, ...],
    where: Condition,
    periods: Sequence[During],
) -> tuple[tuple[Figure, ...], tuple[Dimension, ...], Condition]:
    """What "compare" and "versus" ask for: two periods, the same months of two years, or values.

    Raises `Stuck`.
    """
    draft = case.draft
    if len(periods) == 2:
        return _two_periods(case, figures, dims, where, periods)
    if draft.versus is None:
        return figures, dims, where
    pairs = [
        each
        for each in where.filters
        if isinstance(each, Among) and len(each.values) > 1 and not each.negated
    ]
    if len(pairs) == 1:
        return figures, tuple(dict.fromkeys((*dims, pairs[0].ref))), where
    if dims and not pairs:
        return figures, dims, where
    raise Stuck("I do not understand what is compared with what", draft.versus.text)


def _two_periods(
    case: Case,
    figures: tuple[Figure, ...],
    dims: tuple[Dimension, ...],
    where: Condition,
    periods: Sequence[During],
) -> tuple[tuple[Figure, ...], tuple[Dimension, ...], Condition]:
    draft = case.draft
    words = [when.mark.text for when in draft.periods]
    before, now = sorted(periods, key=lambda each: str(each.periods[0].start))
    grains = [each for each in dims if isinstance(each, TimeDimension)]
    if grains:
        # "by month this year versus last year": each month beside the same one a year before.
        apart = [each.periods[0].unit for each in (before, now)]
        same = draft.periods[-1].time.words
        if apart != ["year", "year"] and "same" not in same:
            raise Stuck("I do not understand what is compared with what", *words)
        kept = now if apart == ["year", "year"] else periods[0]
        filters = [each for each in where.filters if not _is_both(each, periods)]
        draft.along = Along("growth", draft.periods[0].mark, 0, "year")
        return figures, dims, replace(where, filters=(*filters, kept))
    if draft.rank or draft.thresholds or any(not isinstance(each, Measure) for each in figures):
        raise Stuck("I can only compare plain figures of two times", *words)
    draft.along = None
    made = tuple(
        Change(_during(each, now), _during(each, before))
        for each in figures
        if isinstance(each, Measure)
    )
    return made, dims, where


def _is_both(each: object, periods: Sequence[During]) -> bool:
    return isinstance(each, During) and len(each.periods) == 2 and each.ref == periods[0].ref


def _during(measure: Measure, during: During) -> Measure:
    return replace(measure, only=Condition((during,)))


def along(
    case: Case, figures: tuple[Figure, ...], dims: tuple[Dimension, ...]
) -> tuple[Over | None, tuple[Dimension, ...]]:
    """What is made of the figures along their groups of time. Raises `Doubt`."""
    said = case.draft.along
    if said is None:
        return None, dims
    measures = [each for each in figures if isinstance(each, Measure)]
    if len(measures) != len(figures):
        raise Stuck("I only know this of plain figures", said.mark.text)
    added = all(each.function in ("sum", "count") and not each.per for each in measures)
    if said.kind == "running" and not added:
        raise Stuck("only sums and counts can be added up along time", said.mark.text)
    grains = [each for each in dims if isinstance(each, TimeDimension)]
    if len(grains) > 1 or any(each.unit in _CLOCK for each in grains):
        raise Stuck("I do not understand along which time", said.mark.text)
    if not grains:
        if said.unit is None:
            raise _by_what(case, said)
        grains = [TimeDimension(event_date(case, said.mark), said.unit)]
        dims = (grains[0], *dims)
    unit = grains[0].unit
    assert unit != "weekday"
    assert unit != "hour"
    if case.figures.is_year(grains[0].ref) and said.unit not in (None, "year"):
        raise Stuck(f"{grains[0].ref.column} only holds years", said.mark.text)
    if said.kind == "running":
        return Over("running"), dims
    if said.kind == "moving":
        if said.size < 2:
            raise _how_long(case, said, unit)
        if said.unit not in (None, unit):
            raise Stuck(f"an average over {said.unit}s needs groups by {said.unit}", said.mark.text)
        return Over("moving", said.size), dims
    apart = said.unit or unit
    if _FINER.index(apart) < _FINER.index(unit) or (unit == "week" and apart != "week"):
        raise Stuck(f"groups by {unit} cannot be compared {apart} by {apart}", said.mark.text)
    return Over("growth", unit=apart), dims


def _by_what(case: Case, said: Along) -> Undecided:
    return Undecided(
        f"Along which time do you mean {said.mark.text!r}?",
        tuple(Choice(f"by {each}", case.continued(f"by {each}")) for each in _FINER[2:]),
        said.mark.text,
    )


def _how_long(case: Case, said: Along, unit: Unit) -> Undecided:
    words = said.mark.text
    return Undecided(
        f"Over how long is the {words!r} meant?",
        tuple(
            Choice(f"over {size} {unit}s", case.reworded(words, f"{size} {unit} {words}"))
            for size in _WINDOWS[unit]
        ),
        words,
    )
