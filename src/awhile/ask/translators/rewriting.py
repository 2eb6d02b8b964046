"""Putting marks straight before they are read: what is said short is said in full.

Source: ours. Each rule looks at a few marks in a row, whatever they are about, and leaves every
word of the question in some mark.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    GrainNoun,
    Mark,
    MeasureNoun,
    Number,
    SpanNoun,
    Superlative,
    TableNoun,
    ValueNoun,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.marks import Recognised

__all__ = ["straightened"]

_AND, _COMMA, _OF = Word("and"), Word("comma"), Word("preposition")


def straightened(marks: Sequence[Mark]) -> tuple[list[Mark], set[int]]:
    """The marks that mean something, put straight, and where a form of "to be" stood before one."""
    heard: list[Mark] = []
    claimed: set[int] = set()
    for mark in marks:
        if mark.what == Word("be"):
            claimed.add(len(heard))
        elif mark.what != Word("silent"):
            heard.append(mark)
    starts = {heard[place].start for place in claimed if place < len(heard)}
    return _with_functions_spread(_spanned(_joined(heard))), starts


def _joined(marks: Sequence[Mark]) -> list[Mark]:
    """ "Business segment", "high priority": a column named after its value says nothing more.
    "A price of 14": the number is compared with the column."""
    made: list[Mark] = []
    for mark in marks:
        before = made[-1] if made else None
        as_column = before is not None and before.what == _OF and before.text.casefold() == "as"
        if as_column and len(made) > 1 and isinstance(mark.what, ColumnNoun):
            # "email as channel"
            before = made[-2] if isinstance(made[-2].what, ValueNoun) else before
        if before and isinstance(mark.what, ColumnNoun) and isinstance(before.what, ValueNoun):
            shared = tuple(
                value
                for value in before.what.senses
                if any(
                    (value.table, value.column) == (sense.table, sense.column)
                    for sense in mark.what.senses
                )
            )
            if shared:
                del made[made.index(before) :]
                made.append(_merged(before, mark, ValueNoun(shared)))
                continue
        of = before and before.what == _OF and before.text.casefold() == "of"
        column = len(made) > 1 and isinstance(made[-2].what, ColumnNoun)
        if of and column and isinstance(mark.what, Compare | Number):
            made.pop()
            if isinstance(mark.what, Number):
                mark = replace(mark, what=Compare("=", mark.what.value))
        made.append(mark)
    return made


def _spanned(marks: Sequence[Mark]) -> list[Mark]:
    """ "Number of days between order date and ship date": one figure."""
    made: list[Mark] = []
    at = 0
    while at < len(marks):
        found = _span(marks, at)
        if found is None:
            made.append(marks[at])
            at += 1
            continue
        if made and made[-1].what == Aggregate("count"):
            made.pop()
        last = marks[at + 4]
        text = " ".join(mark.text for mark in marks[at : at + 5])
        made.append(Mark(marks[at].start, last.end, text, found))
        at += 5
    return made


def _span(marks: Sequence[Mark], at: int) -> SpanNoun | None:
    if at + 4 >= len(marks):
        return None
    unit, of, start, to, end = (mark.what for mark in marks[at : at + 5])
    lead = of == Word("between") or marks[at + 1].text.casefold() == "from"
    days = unit == GrainNoun("day") or ENGLISH.units.get(marks[at].text.casefold()) == "day"
    if not days or not lead or to not in (_AND, _OF):
        return None
    if not (isinstance(start, ColumnNoun) and isinstance(end, ColumnNoun)):
        return None
    return SpanNoun(start.senses[0], end.senses[0])


def _merged(first: Mark, last: Mark, what: Recognised) -> Mark:
    return Mark(first.start, last.end, f"{first.text} {last.text}", what)


def _with_functions_spread(marks: Sequence[Mark]) -> list[Mark]:
    """ "Lowest and highest price": the lowest price and the highest price."""
    made: list[Mark] = []
    at = 0
    while at < len(marks):
        chain = _functions(marks, at)
        noun = _noun_phrase(marks, at + 2 * len(chain) - 1) if len(chain) > 1 else []
        if not noun:
            made.append(marks[at])
            at += 1
            continue
        for place, function in enumerate(chain):
            if place:
                made.append(Mark(function.start, function.start, "and", _AND))
            made += [function, *noun]
        at += 2 * len(chain) - 1 + len(noun)
    return made


def _functions(marks: Sequence[Mark], at: int) -> list[Mark]:
    """Functions joined by "and" or commas, beginning at a mark."""
    chain: list[Mark] = []
    while at < len(marks):
        function = _function(marks[at])
        if function is None:
            break
        chain.append(function)
        if at + 1 >= len(marks) or marks[at + 1].what not in (_AND, _COMMA):
            break
        at += 2
    return chain


def _function(mark: Mark) -> Mark | None:
    what = mark.what
    if isinstance(what, Aggregate):
        return mark
    if isinstance(what, Superlative) and what.also_aggregate:
        return replace(mark, what=Aggregate("max" if what.descending else "min"))
    return None


def _noun_phrase(marks: Sequence[Mark], at: int) -> list[Mark]:
    """What functions are of: a column, a measure, or a table with its value."""
    if at >= len(marks):
        return []
    first, second = marks[at], marks[at + 1] if at + 1 < len(marks) else None
    if isinstance(first.what, ColumnNoun | MeasureNoun):
        return [first]
    if isinstance(first.what, TableNoun):
        if second and isinstance(second.what, MeasureNoun | ColumnNoun):
            return [first, second]
        return [first]
    return []
