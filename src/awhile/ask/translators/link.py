"""Linking: every stretch of a question to a grammar word, a schema name, a value or a time.

Source: ours. The longest match wins. Names are matched by their stems, so plural and singular
are one; values only as the card's samples spell them, upper and lower case alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from awhile.ask.translators.english import (
    COMPARISONS,
    GRAMMAR,
    PRICE_COMPARISONS,
    SYNONYMS,
)
from awhile.ask.translators.figures import column_words, table_words
from awhile.ask.translators.marks import (
    ColumnNoun,
    ColumnSense,
    Compare,
    Mark,
    Number,
    TableNoun,
    TimeRange,
    Unknown,
    ValueNoun,
    ValueSense,
    Verb,
    Word,
)
from awhile.ask.translators.names import hidden_words
from awhile.ask.translators.periods import find_period
from awhile.ask.translators.words import distance_within, stem, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from awhile.ask.schema import Schema, Table
    from awhile.ask.translators.marks import Operator, Recognised
    from awhile.ask.translators.words import Token

__all__ = ["Lexicon", "link"]

_T = TypeVar("_T")

_LONGEST = 7
_TIME_TAILS = ("at", "on", "date", "time", "timestamp", "day")
_ID_TAILS = ("id", "key", "code", "number", "no")
_UNITS_OF_MEASURE = ("cm", "kg", "usd", "eur", "pct", "km", "ms", "sec", "gram", "meter")
_OPTIONAL_FIRST = ("unit", "list", "full")
_ONE_OR_MORE: dict[tuple[str, ...], Operator] = {
    ("or", "more"): ">=",
    ("or", "less"): "<=",
    ("or", "fewer"): "<=",
    ("and", "more"): ">=",
}
_UNIT_STEMS = frozenset({"day", "week", "month", "quarter", "year", "hour", "minute", "percent"})


class Lexicon:
    """The words of one schema. Built once a schema; a question only looks up."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables: dict[tuple[str, ...], dict[str, None]] = {}
        self.columns: dict[tuple[str, ...], dict[ColumnSense, None]] = {}
        self.values: dict[tuple[str, ...], dict[ValueSense, None]] = {}
        self.dates: dict[tuple[str, ...], dict[ColumnSense, None]] = {}
        self.events: dict[str, str] = {}
        weak_tables: dict[tuple[str, ...], dict[str, None]] = {}
        weak_columns: dict[tuple[str, ...], dict[ColumnSense, None]] = {}
        for table in schema.tables:
            words = table_words(table.name)
            _add(self.tables, words, table.name)
            if len(words) > 1:
                _add(weak_tables, words[-1:], table.name)
            for ending in _past_forms("".join(words[-1:])):
                self.events.setdefault(ending, table.name)
            self._add_columns(table, weak_columns)
        for phrase, names in weak_tables.items():
            if phrase not in self.tables and len(names) == 1:
                self.tables[phrase] = names
        for phrase, senses in weak_columns.items():
            if phrase not in self.tables:
                for sense in senses:
                    if not any(s.table == sense.table for s in self.columns.get(phrase, ())):
                        _add(self.columns, phrase, sense)
        self._add_synonyms()

    def _add_columns(
        self, table: Table, weak: dict[tuple[str, ...], dict[ColumnSense, None]]
    ) -> None:
        own = table_words(table.name)
        names = [column_words(column.name) for column in table.columns]
        hidden = hidden_words(table)
        pointing = {name for key in table.foreign_keys for name in key.columns}
        for column, words in zip(table.columns, names, strict=True):
            sense = ColumnSense(table.name, column.name)
            short = words[len(own) :] if words[: len(own)] == own and words != own else words
            is_key = column.name in pointing or column.name in table.primary_key
            if is_key:
                _add(self.columns, words, sense)
                if short != words:
                    _add(weak, short, sense)
                continue
            for phrase in {words, short, own + short}:
                _add(self.columns, phrase, sense)
            if (said := hidden.get(column.name)) and said not in (words, short):
                _add(weak, said, sense)
            if len(short) > 1 and short[0] in _OPTIONAL_FIRST:
                _add(weak, short[1:], sense)
                _add(self.columns, own + short[1:], sense)
            elif len(short) > 1 and short[-1] in _UNITS_OF_MEASURE:
                _add(weak, short[:-1], sense)
            elif len(short) > 1 and short[-1] not in (*_TIME_TAILS, *_ID_TAILS, "name"):
                _add(weak, short[-1:], sense)
            if column.kind in ("date", "timestamp") and short:
                _add(self.dates, short, sense)
                if short[-1] in _TIME_TAILS and len(short) > 1:
                    _add(self.dates, short[:-1], sense)
                    for ending in _past_forms(short[0]):
                        _add(self.dates, (ending,), sense)
            if column.kind == "text":
                for value in column.sample_values:
                    found = tuple(token.stem for token in tokenise(value))
                    if 0 < len(found) <= _LONGEST and any(w[0].isalpha() for w in found):
                        _add(self.values, found, ValueSense(table.name, column.name, value))

    def _add_synonyms(self) -> None:
        for group in SYNONYMS:
            for said in group:
                for known in group - {said}:
                    taken = self.tables.keys() | self.columns.keys()
                    _say_also(self.tables, known, said, taken)
                    _say_also(self.columns, known, said, taken)

    def is_date(self, sense: ColumnSense) -> bool:
        """Whether the column holds dates."""
        return any(sense in senses for senses in self.dates.values())

    def spelled_like(self, word: str) -> list[str]:
        """Names, values and grammar words one or two letters away from `word`, nearest first."""
        limit = 1 if len(word) < 8 else 2
        near: list[tuple[int, str]] = []
        pools = (self.tables, self.columns, self.values, GRAMMAR)
        for text in {" ".join(phrase) for pool in pools for phrase in pool}:
            if len(text) > 3:
                found = distance_within(word, text, limit)
                if found:
                    near.append((found, text))
        near.sort()
        return [text for distance, text in near if distance == near[0][0]][:4]


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
        return at + 1, Unknown()
    # `max` keeps the first of equals, so the order of `_candidates` decides ties.
    return max(found, key=lambda each: each[0])


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
    for end in range(min(len(tokens), at + _LONGEST), at, -1):
        norms = tuple(each.norm for each in tokens[at:end])
        stems = tuple(each.stem for each in tokens[at:end])
        if any(each.quoted for each in tokens[at:end]):
            continue
        yield from _schema_words(norms, stems, end, lexicon)
        if norms in GRAMMAR:
            yield end, GRAMMAR[norms]
        if stems in lexicon.values:
            yield end, ValueNoun(tuple(lexicon.values[stems]))
        if len(norms) == 1 and norms[0] in lexicon.events and norms not in GRAMMAR:
            yield end, Verb("event", lexicon.events[norms[0]])
        if norms in lexicon.dates and stems not in lexicon.tables:
            yield end, ColumnNoun(tuple(lexicon.dates[norms]))
    if token.number is not None:
        yield at + 1, Number(token.number)


def _schema_words(
    norms: tuple[str, ...], stems: tuple[str, ...], end: int, lexicon: Lexicon
) -> Iterator[tuple[int, Recognised]]:
    known = GRAMMAR.get(norms)
    if isinstance(known, Word) and known.role != "silent":
        return
    plural = norms[-1] != stems[-1]
    if stems in lexicon.tables and len(lexicon.tables[stems]) == 1:
        yield end, TableNoun(next(iter(lexicon.tables[stems])), plural)
    if stems in lexicon.columns:
        yield end, ColumnNoun(tuple(lexicon.columns[stems]), plural)


def _compare(tokens: Sequence[Token], at: int) -> tuple[int, Compare] | None:
    norms = tuple(token.norm for token in tokens[at : at + 9])
    for phrases, about_price in ((PRICE_COMPARISONS, True), (COMPARISONS, False)):
        for phrase in sorted(phrases, key=len, reverse=True):
            if norms[: len(phrase)] == phrase:
                number = _plain_number(tokens, at + len(phrase))
                if number:
                    return number[0], Compare(phrases[phrase], number[1].value, None, about_price)
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
    if after < len(tokens) and tokens[after].norm in ("euro", "euros", "dollars", "eur", "usd"):
        after += 1
    if after < len(tokens) and stem(tokens[after].norm) in _UNIT_STEMS | {"%"}:
        return None
    number = tokens[at].number
    return (after, Number(number)) if number is not None else None


def _add(pool: dict[tuple[str, ...], dict[_T, None]], phrase: tuple[str, ...], item: _T) -> None:
    if phrase:
        pool.setdefault(phrase, {})[item] = None


def _say_also(
    pool: dict[tuple[str, ...], dict[_T, None]],
    known: str,
    said: str,
    taken: set[tuple[str, ...]],
) -> None:
    """Every phrase with `known` may be said with `said`, unless that already means something."""
    for phrase in [each for each in pool if known in each]:
        other = tuple(said if word == known else word for word in phrase)
        if other not in taken:
            pool[other] = dict(pool[phrase])


def _past_forms(word: str) -> tuple[str, ...]:
    """The verbs a table's name stands for: bookings -> booked, rentals -> rented."""
    for tail in ("ing", "ment", "al", "ation"):
        if word.endswith(tail) and len(word) > len(tail) + 2:
            root = word[: -len(tail)]
            return (root + "ed", root + "d")
    return (word + "ed", word + "d") if len(word) > 3 else ()
