"""What follows a question: "and by country?", "only 2025", "as a monthly chart".

Source: ours. What was read of the question before it is changed in the one thing that is said;
where it is not clear which thing that is, nothing is guessed.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Draft, Figure, Target
from awhile.ask.translators.intent import Among
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Number,
    Superlative,
    TableNoun,
    TimeRange,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.draft import Grouping, Rank
    from awhile.ask.translators.marks import Mark, Recognised
    from awhile.ask.translators.words import Token

__all__ = ["goes_on", "joined", "may_stand_alone", "refers_back", "sentences", "shown"]

_MARKED = ("and", "only", "follow")
"""Roles of words that only a question begins with that goes on from another one."""
_TIED = ("by", "each", "not", "without", "with", "sort", "ascending", "descending")
"""Roles that need something before them, unless the question says itself what to show."""
_OPEN = ("preposition", "share", "chart", "versus")
"""Roles that may as well begin a question of its own: "in 2025, how many …"."""


def goes_on(marks: Sequence[Mark]) -> bool:
    """Whether the words begin as a question does that goes on from another one."""
    first = _first(marks)
    if isinstance(first, Word):
        return first.role in (*_MARKED, *_TIED, *_OPEN)
    told = [mark.what for mark in marks if mark.what not in (Word("silent"), Word("be"))]
    return isinstance(first, TimeRange) or (isinstance(first, Superlative) and len(told) <= 2)


def refers_back(tokens: Sequence[Token], marks: Sequence[Mark]) -> bool:
    """Whether a pronoun stands before everything it could be about: "show their names"."""
    nouns = (mark.start for mark in marks if not isinstance(mark.what, Word | Aggregate | Number))
    first = next(nouns, len(tokens))
    return any(token.norm in ENGLISH.calendar["pronouns"] for token in tokens[:first])


def may_stand_alone(marks: Sequence[Mark], said: Draft) -> bool:
    """Whether words that may go on from a question may also be a whole one."""
    first = _first(marks)
    whole = bool(said.head and (said.target or said.figures))
    if isinstance(first, Word) and first.role in _MARKED:
        return False
    if isinstance(first, Word) and first.role in (*_TIED, "preposition"):
        return whole or bool(said.figures and first.role == "preposition")
    return bool(said.target or said.figures)


def _first(marks: Sequence[Mark]) -> Recognised | None:
    told = (mark.what for mark in marks if mark.what not in (Word("silent"), Word("be")))
    return next(told, None)


def sentences(marks: Sequence[Mark]) -> list[list[Mark]]:
    """The marks of each sentence, at least one; "…, showing their names" is one of its own."""
    found: list[list[Mark]] = [[]]
    for mark in marks:
        named = any(isinstance(each.what, TableNoun | ColumnNoun) for each in found[-1])
        if mark.what == Word("stop"):
            found.append([])
        elif mark.what == Word("list") and named:
            if found[-1][-1].what in (Word("comma"), Word("and")):
                found[-1].pop()
            found.append([mark])
        else:
            found[-1].append(mark)
    return [each for each in found if each] or [[]]


def shown(before: Draft, said: Draft) -> Draft:
    """A further sentence of one question: what to show ("Return the name and …"), how to sort, or
    a change to what was said. Raises `Stuck`.
    """
    sort = said.sort
    if isinstance(sort, Figure):
        descending, said.sort, said.descending = said.descending, None, None
        said.figures = [each for each in said.figures if each is not sort]
        if _says(said):
            raise Stuck("I do not understand what is sorted", sort.mark.text)
        made = deepcopy(before)
        made.sort = _also(made, sort)
        made.descending = descending
        made.meanings += said.meanings
        return made
    if said.head != "list":
        return joined(before, said)
    made = deepcopy(before)
    said.groupings = [each for each in said.groupings if not _is_target(each, made.target)]
    plain = Draft(said.question, "list", said.target, said.figures, meanings=said.meanings)
    plain.rest, plain.distinct, plain.joined_target = said.rest, said.distinct, said.joined_target
    if plain != said:
        raise Stuck("I only understand a list of what to show")
    for each in said.figures:
        _also(made, each)
    if said.target and said.target.columns:
        _columns(made, said.target)
    elif said.target:
        raise Stuck("I do not see what it adds", said.target.mark.text)
    made.distinct = made.distinct or said.distinct
    made.meanings += said.meanings
    return made


def _is_target(grouping: Grouping, target: Target | None) -> bool:
    """Whether a group is what each row is of anyhow: "… for each state"."""
    if target is None or grouping.grain:
        return False
    if grouping.column:
        return grouping.column in target.columns
    return grouping.table == target.table


def _also(made: Draft, figure: Figure) -> Figure:
    """The figure where it was said before, else one more."""
    for each in made.figures:
        if each.same_as(figure):
            return each
    figure.linked = True
    made.figures.append(figure)
    return figure


def _columns(made: Draft, target: Target) -> None:
    if made.figures or made.thresholds or made.groupings:
        made.shown += target.columns
    elif made.target and (made.target.table or made.target.columns):
        own = made.target.columns if not made.target.table else []
        made.target.columns = list(dict.fromkeys((*own, *target.columns)))
    else:
        raise Stuck("I do not see what it adds", target.mark.text)


def joined(before: Draft, said: Draft) -> Draft:
    """The question before, changed as was said. Raises `Stuck`."""
    made = deepcopy(before)
    made.question = said.question
    rest = said.rest
    if rest is None or not _says(said):
        raise Stuck("it does not say what to change")
    if rest.instead and (said.groupings or rest.functions or said.figures):
        made.groupings = [] if said.groupings else made.groupings
    _figures(made, said)
    _target(made, said)
    for grouping in said.groupings:
        _group(made, grouping)
    _times(made, said)
    shares = rest.share or any(each.share for each in said.figures)
    if shares and said.said:
        # "and the share of cancelled ones?": of what was asked about before.
        made.said = [replace(each, how="phrase", after=False) for each in made.said]
        said.said = [replace(each, how="claim") for each in said.said]
    for each in said.said:
        same = isinstance(each.filter, Among) and not each.filter.negated
        made.said = [
            old
            for old in made.said
            if not (same and isinstance(old.filter, Among) and old.filter.ref == each.filter.ref)
        ]
        made.said.append(each)
    _rank(made, said, rest.count)
    made.sort = said.sort or made.sort
    if said.descending is not None:
        made.descending = said.descending
    made.along, made.versus = said.along or made.along, said.versus or made.versus
    for name in ("thresholds", "bare", "verbs", "related", "never", "meanings"):
        getattr(made, name).extend(getattr(said, name))
    made.never_verb = said.never_verb or made.never_verb
    made.anded |= said.anded
    if said.ratio or said.part_of or said.together or said.often or said.both:
        raise Stuck("I can only understand this in a whole question")
    return made


def _says(said: Draft) -> bool:
    """Whether the words name anything to change."""
    rest = said.rest
    left = rest and (rest.functions or rest.share or rest.count or rest.as_chart)
    parts = (said.figures, said.groupings, said.said, said.periods, said.thresholds, said.bare)
    others = (said.verbs, said.never, said.related, said.happened)
    whole = (said.target, said.rank, said.sort, said.along, said.never_verb, said.new)
    return bool(left) or any(parts) or any(others) or any(whole) or said.descending is not None


def _figures(made: Draft, said: Draft) -> None:
    rest = said.rest
    if said.figures:
        if made.thresholds or made.ratio or made.part_of:
            raise Stuck("I do not see which figure it replaces", said.figures[0].mark.text)
        if rest and rest.added and made.rank and made.rank.figure:
            # "top 5 products by revenue", "and the average price": in the same order
            for each in said.figures:
                _also(made, each)
            return
        made.figures = list(said.figures)
        for each in made.figures:
            each.linked = True
        if made.target and not made.rank and not made.target.columns:
            made.target = None
        return
    if rest is None or not (rest.functions or rest.share):
        return
    listed = made.target and made.target.columns and not made.target.with_columns
    if not made.figures and made.target and made.target.table and not listed:
        target, made.target = made.target, None
        made.figures = [Figure("count", target.mark, "count", table=target.table)]
    if len(made.figures) != 1:
        raise Stuck("I do not see which figure it is about")
    only = made.figures[0]
    if rest.share:
        only.share = True
    for function in rest.functions:
        if only.kind == "count" and function == "count":
            continue
        if only.kind not in ("column", "value") or function.startswith("count"):
            raise Stuck("I do not see what it is taken of")
        only.function = function


def _target(made: Draft, said: Draft) -> None:
    target = said.target
    if target is None:
        return
    tables = {each.table for each in made.figures if each.table}
    tables |= {made.target.table} if made.target else set()
    if target.columns and made.target and made.target.columns and not made.figures:
        made.target.columns += target.columns
        return
    if target.columns and not target.table and _becomes_list(made, target):
        return
    # "without cancelled orders": the rows the condition is about.
    if target.table and (target.table in tables or (said.said and not target.columns)):
        return
    counted = [each for each in made.figures if each.kind == "count"]
    if target.table and not target.columns and counted == made.figures and len(counted) == 1:
        counted[0].table, counted[0].mark = target.table, target.mark
        return
    raise Stuck("I do not see what it replaces", target.mark.text)


def _becomes_list(made: Draft, target: Target) -> bool:
    """ "Show their names": of the rows that were listed or counted before."""
    only = made.figures[0] if len(made.figures) == 1 else None
    if made.groupings or made.thresholds or made.rank or made.along:
        return False
    if only is None and made.target and made.target.table and not made.target.columns:
        made.target.columns, made.target.with_columns = list(target.columns), True
        return True
    if only is None or only.kind != "count" or only.outer or only.share or made.target:
        return False
    made.figures = []
    made.head = "list"
    made.target = Target(only.mark, True, only.table, list(target.columns), with_columns=True)
    return True


def _group(made: Draft, grouping: Grouping) -> None:
    made.groupings = [
        each
        for each in made.groupings
        if not (each.grain and grouping.grain)
        and (each.column, each.table, each.grain)
        != (grouping.column, grouping.table, grouping.grain)
    ]
    made.groupings.append(grouping)


def _times(made: Draft, said: Draft) -> None:
    if said.periods:
        told = {when.ref for when in said.periods}
        compared = said.versus and len(said.periods) == 1 and len(made.periods) == 1
        if not compared:
            made.periods = [when for when in made.periods if when.ref and when.ref not in told]
        made.periods += said.periods
    if said.date:
        made.date, made.date_noun = said.date, said.date_noun
        made.happened += said.happened
    made.new = said.new or made.new


def _rank(made: Draft, said: Draft, count: int | None) -> None:
    rank: Rank | None = said.rank
    if rank:
        if rank.figure is None and len(made.figures) == 1:
            rank.figure = made.figures[0]
        made.rank = rank
    elif made.rank and said.figures and not (said.rest and said.rest.added):
        made.rank.figure = made.figures[0]
    if count is not None:
        if made.rank is None:
            raise Stuck("I do not know what it counts", str(count))
        made.rank.count = count
