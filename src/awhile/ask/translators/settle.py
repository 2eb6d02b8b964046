"""Settling: a name or value that several tables have is given to the one the question is about.

Source: ours. Decided by the tables the question names itself, then by nearness along foreign
keys; a tie is asked back, never broken by chance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Undecided
from awhile.ask.translators.marks import (
    ColumnNoun,
    ColumnSense,
    Mark,
    TableNoun,
    ValueNoun,
    ValueSense,
    Word,
)
from awhile.ask.translators.names import full_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.joins import Joins
    from awhile.ask.translators.words import Token

__all__ = ["reworded", "settle"]

_S = TypeVar("_S", ColumnSense, ValueSense)
_FAR = 99
_BETWEEN = ("be", "is", "silent", "or", "and", "comma", "not", "each")


def settle(
    question: str,
    tokens: Sequence[Token],
    marks: Sequence[Mark],
    joins: Joins,
    before: Sequence[str] = (),
) -> tuple[Mark, ...]:
    """The marks with one sense for each name and value; `before` are the tables of the question
    that it goes on from. Raises `Undecided`.
    """
    named = [(mark.start, mark.what.table) for mark in marks if isinstance(mark.what, TableNoun)]
    if not named:
        named = [(0, table) for table in before]
    sure = [
        (mark.start, mark.what.senses[0].table)
        for mark in marks
        if isinstance(mark.what, ColumnNoun | ValueNoun)
        and len({sense.table for sense in mark.what.senses}) == 1
    ]
    settled: list[Mark] = []
    for at, mark in enumerate(marks):
        what = mark.what
        if isinstance(what, ColumnNoun) and len(what.senses) > 1:
            following = next((each.what for each in marks[at + 1 :] if _tells(each)), None)
            senses = what.senses
            if isinstance(following, ValueNoun):
                shared = [s for s in senses if any(_same(s, v) for v in following.senses)]
                senses = tuple(shared) or senses
            keys = tuple(sense for sense in senses if sense.identifies)
            if len(keys) == 1:
                # "customer id" is that of the customer, and the order's only points there.
                senses = keys
            chosen = _choose(senses, mark, named, sure, joins)
            if chosen is None:
                raise Undecided(
                    f"There is more than one {mark.text!r}. Which one do you mean?",
                    _column_choices(question, tokens, mark, senses),
                    mark.text,
                )
            what = replace(what, senses=(chosen,))
            sure = [*sure, (mark.start, chosen.table)]
        elif isinstance(what, ValueNoun) and len(what.senses) > 1:
            values = what.senses
            noun = next((each.what for each in reversed(settled) if _tells(each)), None)
            if isinstance(noun, ColumnNoun | ValueNoun):
                # "the ship country is Germany or France"
                shared = [v for v in values if _same(noun.senses[0], v)]
                values = tuple(shared) or values
            value = _choose(values, mark, named, sure, joins)
            if value is None:
                raise Undecided(
                    f"{mark.text!r} is a value of more than one column. Which one do you mean?",
                    _value_choices(question, tokens, mark, values),
                    mark.text,
                )
            what = ValueNoun((value,))
        settled.append(Mark(mark.start, mark.end, mark.text, what))
    return tuple(settled)


def _tells(mark: Mark) -> bool:
    """Whether a mark is more than what may stand between a column and its value: "is", "or"."""
    return not isinstance(mark.what, Word) or mark.what.role not in _BETWEEN


def reworded(question: str, tokens: Sequence[Token], mark: Mark, words: str) -> str:
    """The question with the words of `mark` replaced."""
    start, end = tokens[mark.start].start, tokens[mark.end - 1].end
    return question[:start] + words + question[end:]


def _column_choices(
    question: str, tokens: Sequence[Token], mark: Mark, senses: Sequence[ColumnSense]
) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            full_name(sense.table, sense.column),
            reworded(question, tokens, mark, full_name(sense.table, sense.column)),
        )
        for sense in senses
    )


def _value_choices(
    question: str, tokens: Sequence[Token], mark: Mark, senses: Sequence[ValueSense]
) -> tuple[Choice, ...]:
    names = [full_name(each.table, each.column) for each in senses]
    return tuple(
        Choice(f"{name} {each.value}", reworded(question, tokens, mark, f"{name} {mark.text}"))
        for name, each in zip(names, senses, strict=True)
    )


def _same(column: ColumnSense | ValueSense, value: ValueSense) -> bool:
    return (column.table, column.column) == (value.table, value.column)


def _choose(
    senses: Sequence[_S],
    mark: Mark,
    named: Sequence[tuple[int, str]],
    sure: Sequence[tuple[int, str]],
    joins: Joins,
) -> _S | None:
    if len(senses) == 1:
        return senses[0]
    for anchors in (named, sure):
        if not anchors:
            continue
        # Nearest along keys first; among equally near ones the table said closest before wins.
        ranked = sorted(
            (min(_rank(sense.table, at, table, mark, joins) for at, table in anchors), place)
            for place, sense in enumerate(senses)
        )
        best, other = ranked[0][0], ranked[1][0]
        if best[0] <= 1 and (best[0] < other[0] or (best[0] == 0 and best != other)):
            return senses[ranked[0][1]]
    return None


def _rank(candidate: str, at: int, anchor: str, mark: Mark, joins: Joins) -> tuple[int, int]:
    gap = mark.start - at if at < mark.start else _FAR + at - mark.start
    return (joins.near(anchor).get(candidate, _FAR), gap)
