"""Linking: every stretch of a question to a grammar word, a schema name, a value or a time.

Source: ours. The longest match wins. Names are matched by their stems, so plural and singular
are one; values only as the card's samples spell them, upper and lower case alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    ColumnNoun,
    ColumnSense,
    Compare,
    GrainNoun,
    Mark,
    MeasureNoun,
    Moving,
    Number,
    Pattern,
    Superlative,
    TableNoun,
    TimeRange,
    Unknown,
    ValueNoun,
    Verb,
    Word,
)
from awhile.ask.translators.names import column_words
from awhile.ask.translators.periods import Period, find_period, period_beside, period_of_data
from awhile.ask.translators.values import LONGEST
from awhile.ask.translators.words import split_name, stem, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from awhile.ask.translators.lexicon import Lexicon
    from awhile.ask.translators.marks import Operator, Recognised
    from awhile.ask.translators.words import Token

__all__ = ["link"]

_ONE_OR_MORE: dict[tuple[str, ...], Operator] = {
    ("or", "more"): ">=",
    ("or", "less"): "<=",
    ("or", "fewer"): "<=",
    ("and", "more"): ">=",
}
_YIELDING = ("silent", "bring", "relation", "naming", "chart")
"""Grammar words that are a name where the schema has one: a car's make."""
_GOES_ON = re.compile(r"[^\s\w]\w")
"""What follows letters that are more than one word: "X-Large"."""
_CURRENCIES = ("euro", "euros", "dollar", "dollars", "eur", "usd")


def link(
    question: str,
    tokens: Sequence[Token],
    lexicon: Lexicon,
    today: date,
    last: Period | None = None,
) -> tuple[Mark, ...]:
    """The marks of a question, in order, covering every token.

    `last` is the time of the question before, for "the year before".
    """
    marks: list[Mark] = []
    norms = {token.norm for token in tokens}
    comparing = bool(norms & ENGLISH.calendar["comparing"])
    if tokens and tokens[0].norm in ENGLISH.calendar["asking"]:
        comparing = comparing or "change" in norms
    at = 0
    while at < len(tokens):
        before = _noun_before(marks)
        span_open = any(mark.what == Word("between") for mark in marks[-3:]) or any(
            mark.what == GrainNoun("day") and after.text.casefold() == "from"
            for mark, after in pairwise(marks[-4:])
        )
        times = _Times(today, not comparing, last)
        end, what = _longest(tokens, at, lexicon, times, before, span_open)
        text = question[tokens[at].start : tokens[end - 1].end].strip("\"'“”")
        if isinstance(what, Pattern) and _GOES_ON.match(question, tokens[end - 1].end):
            what = Unknown()
        marks.append(Mark(at, end, text, what))
        at = end
    return tuple(marks)


def _noun_before(marks: Sequence[Mark]) -> Recognised | None:
    """What stands before, a preposition after a column's name apart: "height in"."""
    if not marks:
        return None
    last = next((each.what for each in reversed(marks) if each.what != Word("silent")), None)
    if last == Word("not") and len(marks) > 1 and isinstance(marks[-2].what, ColumnNoun):
        return marks[-2].what
    if last == Word("preposition") and len(marks) > 1 and isinstance(marks[-2].what, ColumnNoun):
        return marks[-2].what
    return last


@dataclass(frozen=True, slots=True)
class _Times:
    """How times are read: relative to which day, and whether "from … to …" is one of them."""

    today: date
    ranges: bool
    last: Period | None

    def at(self, tokens: Sequence[Token], at: int) -> tuple[int, TimeRange] | None:
        """The longest time expression at a token, where it ends, and whether it is of the data."""
        found = find_period(tokens, at, self.today, self.ranges)
        words = tuple(token.norm for token in tokens[at : at + 14])
        for length in range(min(8, len(words)), 0, -1):
            tail = words[length : length + 3], words[length : length + 2]
            ends = [each for each in tail if " ".join(each) in ENGLISH.calendar["of data"]]
            if ends and period_of_data(words[:length], self.today):
                said = TimeRange(Period(None, None, "of the data"), words[:length], True)
                return at + length + len(ends[0]), said
        beside = period_beside(words, self.last) if self.last else None
        if beside and (found is None or beside[0] >= found[0]):
            return at + beside[0], TimeRange(beside[1], words[: beside[0]])
        if found is None:
            return None
        return at + found[0], TimeRange(found[1], words[: found[0]])


def _longest(
    tokens: Sequence[Token],
    at: int,
    lexicon: Lexicon,
    times: _Times,
    before: Recognised | None,
    span_open: bool,
) -> tuple[int, Recognised]:
    found = list(_candidates(tokens, at, lexicon, times, before, span_open))
    if not found:
        return at + 1, _part_of(tokens[at], before) or _shortened(tokens[at], lexicon)
    # `max` keeps the first of equals, so the order of `_candidates` decides ties.
    return max(found, key=lambda each: each[0])


def _part_of(token: Token, before: Recognised | None) -> Recognised | None:
    """ "Italian food", "height in cm": a word that is part of the name of the column before it."""
    if isinstance(before, ValueNoun):
        own = [s for s in before.senses if token.stem in column_words(s.column, s.table)]
        if own:
            return ColumnNoun(tuple(ColumnSense(each.table, each.column) for each in own))
    if isinstance(before, ColumnNoun) and all(
        token.stem in column_words(each.column, each.table) or token.norm in split_name(each.column)
        for each in before.senses
    ):
        return Word("silent")
    return None


def _shortened(token: Token, lexicon: Lexicon) -> Recognised:
    """A word nobody knows may be what one name of the schema shortens: `tkt`, `prty`."""
    if token.quoted or token.number is not None:
        return Unknown()
    tables, columns = lexicon.shortened(token.stem)
    plural = token.norm != token.stem
    if len(tables) == 1:
        return TableNoun(tables[0], plural)
    if columns and not tables:
        return ColumnNoun(columns, plural)
    return Unknown()


def _candidates(
    tokens: Sequence[Token],
    at: int,
    lexicon: Lexicon,
    times: _Times,
    before: Recognised | None,
    span_open: bool,
) -> Iterator[tuple[int, Recognised]]:
    token = tokens[at]
    if token.quoted:
        exact = tuple(each.stem for each in tokenise(token.text))
        senses = lexicon.values.get(exact) if exact else ()
        if _in_column(tokens, at + 1, lexicon):
            yield at + 1, Pattern("anywhere", token.text)
        elif senses:
            yield at + 1, ValueNoun(senses)
        return
    pattern = _pattern(tokens, at, lexicon, before)
    if pattern:
        yield pattern
        return
    if span_open:
        yield from _dates(tokens, at, lexicon)
    compare = _compare(tokens, at, lexicon)
    priced = token.norm == "priced" or (
        isinstance(before, ColumnNoun) and not lexicon.is_date(before.senses[0])
    )
    if compare and priced:
        yield compare
        return
    period = times.at(tokens, at)
    if period:
        yield period
    ordinal = _ordinal(tokens, at)
    if ordinal:
        yield ordinal
    moving = _moving(tokens, at)
    if moving:
        yield moving
    if compare:
        yield compare
    for end in range(min(len(tokens), at + LONGEST), at, -1):
        if any(each.quoted for each in tokens[at:end]):
            continue
        norms = tuple(each.norm for each in tokens[at:end])
        stems = tuple(each.stem for each in tokens[at:end])
        known = ENGLISH.grammar.get(norms)
        if known == Word("sort") and before == Word("by"):
            # "revenue per order by country"
            known = None
        named = stems[1:] in lexicon.columns or stems[1:] in lexicon.tables
        if known is None and norms[0] == "the" and not named:
            known = ENGLISH.grammar.get(norms[1:])
        if norms in lexicon.date_verbs and (times.at(tokens, end) or _by_time(tokens, end)):
            yield end, ColumnNoun(tuple(lexicon.date_verbs[norms]), verb=True)
        if stems in lexicon.measures:
            yield end, MeasureNoun("named", lexicon.measures[stems].name)
        values = lexicon.values.get(stems)
        if values and all(each.is_flag for each in values):
            rows = end < len(tokens) and (tokens[end].stem,) in lexicon.tables
            if rows or before in (Word("be"), Word("not")):
                # "are placebo", "placebo treatments": that it is so, and not the column
                yield end, ValueNoun(values)
        if end - at < 2 or not _compare(tokens, end - 1, lexicon):
            # "ordered at least 3 times" is not about `ordered_at`.
            yield from _schema_words(known, norms, stems, end, lexicon)
        if known is not None:
            yield end, known
        if values:
            yield end, ValueNoun(values)
        turned = (*stems[2:], stems[0]) if stems[1:2] == ("of",) and stems[2:] else ()
        if turned in lexicon.columns and stems[2:] not in lexicon.tables:
            # "type of food" of `food_type`
            yield end, ColumnNoun(tuple(lexicon.columns[turned]))
        if len(norms) == 1 and norms[0] in lexicon.events and known is None:
            yield end, Verb("event", lexicon.events[norms[0]])
        if norms in lexicon.date_verbs and stems not in lexicon.tables:
            yield end, ColumnNoun(tuple(lexicon.date_verbs[norms]), verb=True)
        at_least = end - at > 1 and _compare(tokens, end - 1, lexicon)
        if norms in lexicon.dates and stems not in lexicon.tables and not at_least:
            yield end, ColumnNoun(tuple(lexicon.dates[norms]))
    if token.number is not None:
        yield at + 1, Number(token.number)


def _by_time(tokens: Sequence[Token], at: int) -> bool:
    """Whether "by month", "per week" stands there: "tickets closed by month"."""
    norms = [token.norm for token in tokens[at : at + 4]]
    return any(
        ENGLISH.grammar.get(tuple(norms[:place])) == Word("by")
        and isinstance(ENGLISH.grammar.get(tuple(norms[place : place + 1])), GrainNoun)
        for place in (1, 2)
    )


def _moving(tokens: Sequence[Token], at: int) -> tuple[int, Moving] | None:
    """ "3 month moving average of": its length may also be left open."""
    norms = [token.norm for token in tokens[at : at + 6]]
    size, used = 0, 0
    unit = None
    number = tokens[at].number
    if number is not None and len(norms) > 1 and norms[1] in ENGLISH.units:
        size, unit, used = int(number), ENGLISH.units[norms[1]], 2
    calendar = ENGLISH.calendar
    if not (used + 1 < len(norms) and norms[used] in calendar["moving"]):
        return None
    if norms[used + 1] not in calendar["averages"]:
        return None
    used += 2
    return at + used + (norms[used : used + 1] == ["of"]), Moving(size, unit)


def _schema_words(
    known: Recognised | None,
    norms: tuple[str, ...],
    stems: tuple[str, ...],
    end: int,
    lexicon: Lexicon,
) -> Iterator[tuple[int, Recognised]]:
    if isinstance(known, Word) and known.role not in _YIELDING:
        return
    plural = norms[-1] != stems[-1]
    if stems in lexicon.tables and len(lexicon.tables[stems]) == 1:
        yield end, TableNoun(next(iter(lexicon.tables[stems])), plural)
    if stems in lexicon.columns:
        yield end, ColumnNoun(tuple(lexicon.columns[stems]), plural)


def _compare(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> tuple[int, Compare] | None:
    norms = tuple(token.norm for token in tokens[at : at + 9])
    often = _how_often(tokens, at)
    if often:
        return often
    pools = ((ENGLISH.price_comparisons, True), (ENGLISH.comparisons, False))
    for phrases, about_price in pools:
        for length in range(len(norms), 0, -1):
            operator = phrases.get(norms[:length])
            number = _plain_number(tokens, at + length, lexicon) if operator else None
            if operator and number:
                return number[0], Compare(operator, number[1].value, None, about_price)
    skip = 1 if norms[:1] == ("priced",) else 0
    if norms[skip : skip + 1] in (("between",), ("from",)):
        low = _plain_number(tokens, at + skip + 1, lexicon)
        if low and low[0] < len(tokens) and tokens[low[0]].norm in ("and", "to"):
            high = _plain_number(tokens, low[0] + 1, lexicon)
            if high:
                compare = Compare("between", low[1].value, high[1].value, bool(skip))
                return high[0], compare
    number = _plain_number(tokens, at, lexicon)
    if number:
        tail = tuple(token.norm for token in tokens[number[0] : number[0] + 2])
        if tail in _ONE_OR_MORE:
            return number[0] + 2, Compare(_ONE_OR_MORE[tail], number[1].value)
    return None


def _dates(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> Iterator[tuple[int, Recognised]]:
    """ "Days between opened and closed": of the two, a date is meant, and no value."""
    for end in range(min(len(tokens), at + LONGEST), at, -1):
        norms = tuple(each.norm for each in tokens[at:end])
        for pool in (lexicon.dates, lexicon.date_verbs):
            if norms in pool:
                yield end, ColumnNoun(tuple(pool[norms]))


def _ordinal(tokens: Sequence[Token], at: int) -> tuple[int, Superlative] | None:
    """ "Second highest", "the third most expensive"."""
    start = at + (tokens[at].norm == "the")
    place = ENGLISH.ordinals.get(tokens[start].norm) if start < len(tokens) else None
    if place is None:
        return None
    for end in range(min(len(tokens), start + LONGEST), start + 1, -1):
        known = ENGLISH.grammar.get(tuple(each.norm for each in tokens[start + 1 : end]))
        if isinstance(known, Superlative):
            return end, replace(known, place=place, also_aggregate=False)
    return None


def _pattern(
    tokens: Sequence[Token], at: int, lexicon: Lexicon, before: Recognised | None
) -> tuple[int, Pattern] | None:
    """ "(name) starts with A": letters that are not taken for anything else."""
    if not isinstance(before, ColumnNoun) or not any(map(lexicon.is_text, before.senses)):
        return None
    norms = tuple(token.norm for token in tokens[at : at + 6])
    for length in range(len(norms) - 1, 0, -1):
        where = ENGLISH.patterns.get(norms[:length])
        if where:
            return at + length + 1, Pattern(where, tokens[at + length].text)
    return None


def _in_column(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether "in the name", "in their make name" stands there."""
    rest = list(tokens[at : at + 6])
    if not rest or rest[0].norm != "in":
        return False
    while len(rest) > 1 and ENGLISH.grammar.get((rest[1].norm,)) == Word("silent"):
        del rest[1]
    stems = tuple(each.stem for each in rest[1:])
    for end in range(len(stems), 0, -1):
        if senses := lexicon.columns.get(stems[:end]):
            return any(map(lexicon.is_text, senses))
    return False


def _how_often(tokens: Sequence[Token], at: int) -> tuple[int, Compare] | None:
    """ "More than once", "at least 3 times", "only twice"."""
    norms = tuple(token.norm for token in tokens[at : at + 9])
    for length in range(min(5, len(norms) - 1), 0, -1):
        operator = ENGLISH.comparisons.get(norms[:length])
        if length == 1 and norms[0] in ENGLISH.calendar["exactly"]:
            operator = "="
        word, after = norms[length], norms[length + 1 : length + 2]
        number = ENGLISH.times.get(word)
        if operator and number:
            return at + length + 1, Compare(operator, Decimal(number), often=True)
        value = tokens[at + length].number
        if operator and value is not None and after and after[0] in ENGLISH.calendar["times"]:
            return at + length + 2, Compare(operator, value, often=True)
    return None


def _plain_number(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> tuple[int, Number] | None:
    if at >= len(tokens) or tokens[at].number is None:
        return None
    after = at + 1
    if after < len(tokens) and tokens[after].norm in _CURRENCIES:
        after += 1
    unit = stem(tokens[after].norm) if after < len(tokens) else ""
    if (
        unit in (*ENGLISH.units, "hour", "minute", "percent", "%")
        and (unit,) not in lexicon.columns
    ):
        return None
    number = tokens[at].number
    return (after, Number(number)) if number is not None else None
