"""The words of one schema: every phrase that names a table, a column, a date or a value.

Source: ours. Names are matched by their stems, so plural and singular are one. A phrase is strong
when it is all of a name, weak when it is a part that only this name has; a weak one never takes a
phrase that means something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import ColumnSense, ValueSense
from awhile.ask.translators.names import (
    column_words,
    date_words,
    hidden_words,
    past_forms,
    table_words,
)
from awhile.ask.translators.values import Values
from awhile.ask.translators.words import distance_within, stem, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awhile.ask.schema import NamedMeasure, Schema, Table, TableColumn

__all__ = ["Lexicon"]

_T = TypeVar("_T")
_Phrase = tuple[str, ...]

_TIME_TAILS = ("at", "on", "date", "time", "timestamp", "day")
_TIME_NOUNS = ("date", "day", "time")
_ID_TAILS = ("id", "key", "code", "number", "no")
_ID_PHRASES = tuple((tail,) for tail in _ID_TAILS)
_UNITS_OF_MEASURE = ("cm", "kg", "usd", "eur", "pct", "km", "ms", "sec", "gram", "meter")
_OPTIONAL_FIRST = ("unit", "list", "full", "total")
_FLAG_FIRST = ("is", "has", "was", "have")
_SHORTEST_SKELETON = 3
_SHORTEST_RATED = 5
_HOW_MANY = ("number", "count")


class Lexicon:
    """Built once a schema; a question only looks up."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.tables: dict[_Phrase, dict[str, None]] = {}
        self.columns: dict[_Phrase, dict[ColumnSense, None]] = {}
        self.values = Values()
        self.dates: dict[_Phrase, dict[ColumnSense, None]] = {}
        self.date_verbs: dict[_Phrase, dict[ColumnSense, None]] = {}
        self.events: dict[str, str] = {}
        self.measures: dict[_Phrase, NamedMeasure] = {}
        self.table_parts: dict[_Phrase, dict[str, None]] = {}
        """Words that begin or end the names of tables, to ask which one is meant."""
        self._weak_tables: dict[_Phrase, dict[str, None]] = {}
        self._weak_columns: dict[_Phrase, dict[ColumnSense, None]] = {}
        for table in schema.tables:
            if not table.hidden:
                self._add_table(table)
        for measure in schema.measures:
            for said in (measure.name, *measure.said):
                self.measures[_phrase(said)] = measure
        self._take_weak()
        self._add_synonyms()

    def is_date(self, sense: ColumnSense) -> bool:
        """Whether the column holds dates."""
        return any(sense in senses for senses in self.dates.values())

    def is_text(self, sense: ColumnSense) -> bool:
        """Whether the column holds texts."""
        table = self.schema.table(sense.table)
        column = table.column(sense.column) if table else None
        return column is not None and column.kind == "text"

    def shortened(self, word: str) -> tuple[tuple[str, ...], tuple[ColumnSense, ...]]:
        """The tables and columns whose name, or its last part, may be a short form of `word`:
        its letters in order, the first and the last alike (`tkt`: ticket)."""
        tables = [name for (name,) in self._single(self.tables) if _shortens(name, word)]
        found = {table for name in tables for table in self.tables[name,]}
        columns = [name for (name,) in self._single(self.columns) if _shortens(name, word)]
        senses = {sense for name in columns for sense in self.columns[name,]}
        return tuple(sorted(found)), tuple(sorted(senses, key=lambda s: (s.table, s.column)))

    def spelled_like(self, word: str) -> list[str]:
        """Names, values and grammar words one or two letters away from `word`, nearest first."""
        limit = 1 if len(word) < 8 else 2
        near = self.values.spelled_like(word, limit)
        pools = (self.tables, self.columns, ENGLISH.grammar)
        for text in {" ".join(phrase) for pool in pools for phrase in pool}:
            if len(text) > 3:
                found = distance_within(word, text, limit)
                if found:
                    near.append((found, text))
        near = sorted(set(near))
        return [text for distance, text in near if distance == near[0][0]][:4]

    @staticmethod
    def _single(pool: Iterable[_Phrase]) -> list[tuple[str]]:
        return [(phrase[0],) for phrase in pool if len(phrase) == 1]

    # Tables -----------------------------------------------------------------------------------

    def _add_table(self, table: Table) -> None:
        words = table_words(table.name)
        for said in table.said:
            _add(self.tables, _phrase(said), table.name)
        _add(self.tables, words, table.name)
        _add(self._weak_tables, (stem(table.name.casefold()),), table.name)
        if len(words) > 1:
            _add(self._weak_tables, words[-1:], table.name)
            _add(self.table_parts, words[:1], table.name)
            _add(self.table_parts, words[-1:], table.name)
        for ending in past_forms(words[-1:]):
            self.events.setdefault(ending, table.name)
        self._add_columns(table)

    def _take_weak(self) -> None:
        for phrase, names in self._weak_tables.items():
            if phrase not in self.tables and len(names) == 1:
                self.tables[phrase] = names
        for phrase, senses in self._weak_columns.items():
            if phrase in self.tables:
                continue
            # All of it names more than a part; two parts of one table are asked about.
            whole = {sense.table for sense in self.columns.get(phrase, ())}
            for sense in senses:
                if sense.table not in whole:
                    _add(self.columns, phrase, sense)

    def _add_synonyms(self) -> None:
        """Every phrase may be said with a synonym, unless that already means something."""
        others: dict[str, list[str]] = {}
        for group in ENGLISH.synonyms:
            for word in group:
                others.setdefault(word, []).extend(sorted(group - {word}))
        taken = self.tables.keys() | self.columns.keys()
        _say_also(self.tables, others, taken)
        _say_also(self.columns, others, taken)

    # Columns ----------------------------------------------------------------------------------

    def _add_columns(self, table: Table) -> None:
        hidden = hidden_words(table)
        own = table_words(table.name)
        pointing = {name for key in table.foreign_keys for name in key.columns}
        dated: list[ColumnSense] = []
        for column in table.columns:
            if column.hidden:
                continue
            words = column_words(column.name, table.name)
            short = words[len(own) :] if words[: len(own)] == own and words != own else words
            identifies = table.primary_key == (column.name,)
            sense = ColumnSense(table.name, column.name, identifies)
            for name in column.said:
                _add(self.columns, _phrase(name), sense)
                _add(self.columns, own + _phrase(name), sense)
                if column.kind in ("date", "timestamp"):
                    _add(self.dates, _phrase(name), sense)
            said = hidden.get(column.name, ())
            is_key = column.name in pointing or column.name in table.primary_key
            # A key that says something ("city_name") is a column like any other.
            if is_key and (column.kind != "text" or words[-1:] in _ID_PHRASES):
                _add(self.columns, words, sense)
                if short != words:
                    _add(self._weak_columns, short, sense)
                elif words == ("id",):
                    _add(self.columns, own + words, sense)
                continue
            for phrase in {words, short, own + short}:
                _add(self.columns, phrase, sense)
            _add(self._weak_columns, (stem(column.name.casefold()),), sense)
            if said not in (words, short):
                _add(self._weak_columns, said, sense)
            for each in dict.fromkeys((short, said)):
                if each:
                    self._add_parts(sense, own, each)
            if column.kind in ("date", "timestamp"):
                self._add_dates(sense, short, said)
                dated.append(sense)
            self._add_flag(column, sense, short)
            self._add_values(column, sense)
        if len(dated) == 1:
            _add(self._weak_columns, ("date",), dated[0])

    def _add_parts(self, sense: ColumnSense, own: _Phrase, short: _Phrase) -> None:
        """The part of a name that may stand for it: what follows "unit", what precedes "kg"."""
        if short[-1].endswith("ing") and len(short[-1]) > _SHORTEST_RATED:
            # "the highest rated": of a rating.
            _add(self._weak_columns, (*short[:-1], f"{short[-1][:-3]}ed"), sense)
        if len(short) < 2:
            return
        if set(short[:1] + short[-1:]) & set(_HOW_MANY):
            # "citations" of `citation_num`, where no table holds them.
            rest = short[1:] if short[0] in _HOW_MANY else short[:-1]
            _add(self._weak_columns, rest, sense)
        if short[0] in _OPTIONAL_FIRST:
            _add(self._weak_columns, short[1:], sense)
            _add(self.columns, own + short[1:], sense)
        elif short[-1] in _UNITS_OF_MEASURE:
            _add(self._weak_columns, short[:-1], sense)
            _add(self.columns, own + short[:-1], sense)
        elif short[-1] not in (*_TIME_TAILS, *_ID_TAILS, "name"):
            _add(self._weak_columns, short[-1:], sense)
        elif short[-1] == "name":
            _add(self._weak_columns, short[:-1], sense)

    def _add_dates(self, sense: ColumnSense, words: _Phrase, said: _Phrase) -> None:
        """The date by its name, and as the verb that it is the date of."""
        for phrase in (words, said):
            if phrase:
                _add(self.dates, phrase, sense)
        event = date_words(sense.column, sense.table)
        if event[:2] == ("date", "of"):
            event = event[2:]
        own = table_words(sense.table)
        if event[: len(own)] == own and len(event) > len(own):
            event = event[len(own) :]
        if not event or event in (("date",), ("time",)):
            return
        _add(self.dates, event, sense)
        for noun in _TIME_NOUNS:
            _add(self.dates, (*event, noun), sense)
        for past in past_forms(event):
            _add(self.date_verbs, tuple(past.split()), sense)

    def _add_flag(self, column: TableColumn, sense: ColumnSense, words: _Phrase) -> None:
        """`is_open`, `has_lab`: what the rest of the name says is so, or not."""
        said = words[1:] if words[:1] and words[0] in _FLAG_FIRST else words
        if column.kind == "boolean" or (column.kind == "integer" and said != words):
            value = ValueSense(sense.table, sense.column, "true", is_flag=True)
            self.values.add(" ".join(said), value)
            if words[:1] == ("has",):
                self.values.add(" ".join(("have", *said)), value)
                self.values.add(" ".join(words), value)

    def _add_values(self, column: TableColumn, sense: ColumnSense) -> None:
        for said, value in column.value_words:
            self.values.add(said, ValueSense(sense.table, sense.column, value))
        if column.kind == "text":
            self.values.add_all(sense.table, sense.column, column.sample_values)


def _phrase(said: str) -> _Phrase:
    return tuple(token.stem for token in tokenise(said))


def _add(pool: dict[_Phrase, dict[_T, None]], phrase: _Phrase, item: _T) -> None:
    if phrase:
        pool.setdefault(phrase, {})[item] = None


def _say_also(
    pool: dict[_Phrase, dict[_T, None]], others: dict[str, list[str]], taken: set[_Phrase]
) -> None:
    for phrase in list(pool):
        for place, word in enumerate(phrase):
            for said in others.get(word, ()):
                other = (*phrase[:place], said, *phrase[place + 1 :])
                if other not in taken:
                    pool.setdefault(other, {}).update(pool[phrase])


def _shortens(name: str, word: str) -> bool:
    if not _SHORTEST_SKELETON <= len(name) < len(word) or name[0] != word[0]:
        return False
    if name[-1] not in (word[-1], stem(word)[-1]):
        return False
    letters = iter(word)
    return all(letter in letters for letter in name) and not set(name[1:]) & set("aeiou")
