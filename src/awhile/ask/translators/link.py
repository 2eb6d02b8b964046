"""Linking: every stretch of a question to a grammar word, a schema name, a value or a time.

Source: ours. The longest match wins. Names are matched by their stems, so plural and singular
are one; values only as the card's samples spell them, upper and lower case alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.lexicon import LONGEST
from awhile.ask.translators.marks import (
    ColumnNoun,
    Compare,
    Mark,
    Number,
    TableNoun,
    TimeRange,
    Unknown,
    ValueNoun,
    Verb,
    Word,
)
from awhile.ask.translators.periods import find_period
from awhile.ask.translators.words import stem, tokenise

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
_CURRENCIES = ("euro", "euros", "dollar", "dollars", "eur", "usd")


def link(tokens: Sequence[Token], lexicon: Lexicon, today: date) -> tuple[Mark, ...]:
    """The marks of a question, in order, covering every token."""
    marks: list[Mark] = []
    at = 0
    while at < len(tokens):
        end, what = _longest(tokens, at, lexicon, today, marks[-1].what if marks else None)
        text = " ".join(token.text for token in tokens[at:end])
        marks.append(Mark(at, end, text, what))
        at = end
    return tuple(marks)


def _longest(
    tokens: Sequence[Token], at: int, lexicon: Lexicon, today: date, before: Recognised | None
) -> tuple[int, Recognised]:
    found = list(_candidates(tokens, at, lexicon, today, before))
    if not found:
        return at + 1, _shortened(tokens[at], lexicon)
    # `max` keeps the first of equals, so the order of `_candidates` decides ties.
    return max(found, key=lambda each: each[0])


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
    tokens: Sequence[Token], at: int, lexicon: Lexicon, today: date, before: Recognised | None
) -> Iterator[tuple[int, Recognised]]:
    token = tokens[at]
    if token.quoted:
        exact = tuple(each.stem for each in tokenise(token.text))
        if exact in lexicon.values:
            yield at + 1, ValueNoun(tuple(lexicon.values[exact]))
        return
    compare = _compare(tokens, at)
    priced = token.norm == "priced" or (
        isinstance(before, ColumnNoun) and not lexicon.is_date(before.senses[0])
    )
    if compare and priced:
        yield compare
        return
    period = find_period(tokens, at, today)
    if period:
        yield at + period[0], TimeRange(period[1])
    if compare:
        yield compare
    for end in range(min(len(tokens), at + LONGEST), at, -1):
        if any(each.quoted for each in tokens[at:end]):
            continue
        norms = tuple(each.norm for each in tokens[at:end])
        stems = tuple(each.stem for each in tokens[at:end])
        known = ENGLISH.grammar.get(norms)
        if known is None and norms[0] == "the":
            known = ENGLISH.grammar.get(norms[1:])
        yield from _schema_words(known, norms, stems, end, lexicon)
        if known is not None:
            yield end, known
        if stems in lexicon.values:
            yield end, ValueNoun(tuple(lexicon.values[stems]))
        if len(norms) == 1 and norms[0] in lexicon.events and known is None:
            yield end, Verb("event", lexicon.events[norms[0]])
        if norms in lexicon.dates and stems not in lexicon.tables:
            yield end, ColumnNoun(tuple(lexicon.dates[norms]))
    if token.number is not None:
        yield at + 1, Number(token.number)


def _schema_words(
    known: Recognised | None,
    norms: tuple[str, ...],
    stems: tuple[str, ...],
    end: int,
    lexicon: Lexicon,
) -> Iterator[tuple[int, Recognised]]:
    if isinstance(known, Word) and known.role != "silent":
        return
    plural = norms[-1] != stems[-1]
    if stems in lexicon.tables and len(lexicon.tables[stems]) == 1:
        yield end, TableNoun(next(iter(lexicon.tables[stems])), plural)
    if stems in lexicon.columns:
        yield end, ColumnNoun(tuple(lexicon.columns[stems]), plural)


def _compare(tokens: Sequence[Token], at: int) -> tuple[int, Compare] | None:
    norms = tuple(token.norm for token in tokens[at : at + 9])
    pools = ((ENGLISH.price_comparisons, True), (ENGLISH.comparisons, False))
    for phrases, about_price in pools:
        for length in range(len(norms), 0, -1):
            operator = phrases.get(norms[:length])
            number = _plain_number(tokens, at + length) if operator else None
            if operator and number:
                return number[0], Compare(operator, number[1].value, None, about_price)
    skip = 1 if norms[:1] == ("priced",) else 0
    if norms[skip : skip + 1] in (("between",), ("from",)):
        low = _plain_number(tokens, at + skip + 1)
        if low and low[0] < len(tokens) and tokens[low[0]].norm in ("and", "to"):
            high = _plain_number(tokens, low[0] + 1)
            if high:
                compare = Compare("between", low[1].value, high[1].value, bool(skip))
                return high[0], compare
    number = _plain_number(tokens, at)
    if number:
        tail = tuple(token.norm for token in tokens[number[0] : number[0] + 2])
        if tail in _ONE_OR_MORE:
            return number[0] + 2, Compare(_ONE_OR_MORE[tail], number[1].value)
    return None


def _plain_number(tokens: Sequence[Token], at: int) -> tuple[int, Number] | None:
    if at >= len(tokens) or tokens[at].number is None:
        return None
    after = at + 1
    if after < len(tokens) and tokens[after].norm in _CURRENCIES:
        after += 1
    if after < len(tokens) and stem(tokens[after].norm) in (
        *ENGLISH.units,
        "hour",
        "minute",
        "percent",
        "%",
    ):
        return None
    number = tokens[at].number
    return (after, Number(number)) if number is not None else None
