"""The words of a language, read from its data file: grammar, comparisons, calendar, names.

Source: ours. Only `languages/*.toml` knows words; what they mean together is the reader's.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from awhile.ask.translators.marks import (
    Aggregate,
    GrainNoun,
    MeasureNoun,
    Step,
    Superlative,
    Verb,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from awhile.ask.translators.marks import Operator, Part, Recognised
    from awhile.ask.translators.periods import Unit

__all__ = ["ENGLISH", "Language", "Phrase", "load"]

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One data file. Phrases are tuples of lower-case words."""

    grammar: Mapping[Phrase, Recognised]
    """What phrases are, whatever the schema."""
    comparisons: Mapping[Phrase, Operator]
    """Phrases that, followed by a number, compare."""
    price_comparisons: Mapping[Phrase, Operator]
    """The same, about a price."""
    patterns: Mapping[Phrase, Part]
    """Phrases after a column's name that the letters follow which its texts have."""
    synonyms: tuple[frozenset[str], ...]
    """Stems that may stand for one another when the schema has one and not the other."""
    abbreviations: Mapping[str, str]
    """What identifiers shorten, and for what."""
    name_words: frozenset[str]
    """The words identifiers are usually made of, to take apart names written as one word."""
    pasts: Mapping[str, tuple[str, ...]]
    """Past forms of words in the names of dates, where no rule makes them: `sent` of `send`."""
    people: frozenset[str]
    """Stems of tables whose rows are somebody who buys."""
    additive: frozenset[str]
    """Words in the names of columns whose values may be added up."""
    not_additive: frozenset[str]
    """Words in the names of columns whose sum says nothing: a rate, a score, a year."""
    identifying: frozenset[str]
    """Words before "number" that make it the name of one thing, and no count of things."""
    numbers: Mapping[str, int]
    """Numbers as words."""
    ordinals: Mapping[str, int]
    """Which of a ranking: "second"."""
    times: Mapping[str, int]
    """How often something happened, in one word: "once"."""
    beyond: Mapping[str, frozenset[str]]
    """Words for what no row can tell, by its kind: `change`, `reason`, `future`."""
    months: Mapping[str, int]
    """Names of months, and how they are shortened."""
    unsure_months: frozenset[str]
    """Those that are a month only where the words around say so: "may" is also a verb."""
    units: Mapping[str, Unit]
    """Units of time."""
    calendar: Mapping[str, frozenset[str]]
    """Words of time expressions by their part: `last`, `this`, `of the data`, …"""


def load(name: str) -> Language:
    """The language of `languages/<name>.toml`."""
    text = files("awhile.ask.translators").joinpath("languages", f"{name}.toml").read_text("utf-8")
    data = tomllib.loads(text)
    names, calendar = data["names"], data["calendar"]
    return Language(
        grammar=dict(_grammar(data)),
        comparisons=_by_phrase(data["comparisons"]),
        price_comparisons=_by_phrase(data["price_comparisons"]),
        patterns={
            phrase: where for where, said in data["patterns"].items() for phrase in _phrases(said)
        },
        synonyms=tuple(frozenset(group.split()) for group in names["synonyms"]),
        abbreviations=names["abbreviations"],
        name_words=frozenset(names["words"].split()),
        pasts={word: tuple(said.split(" | ")) for word, said in names["pasts"].items()},
        people=frozenset(names["people"].split()),
        additive=frozenset(names["additive"].split()),
        not_additive=frozenset(names["not_additive"].split()),
        identifying=frozenset(names["identifying"].split()),
        numbers=calendar["numbers"],
        ordinals=data["ordinals"],
        times=data["times"],
        beyond={kind: frozenset(said.split()) for kind, said in data["beyond"].items()},
        months={
            name: number
            for number, said in enumerate(calendar["months"], 1)
            for name in said.split()
        },
        unsure_months=frozenset(calendar["unsure_months"].split()),
        units={name: unit for unit, said in calendar["units"].items() for name in said.split()},
        calendar={
            part: frozenset(" ".join(phrase) for phrase in _phrases(said))
            for part, said in calendar["words"].items()
        },
    )


def _grammar(data: Mapping[str, Any]) -> Iterator[tuple[Phrase, Recognised]]:
    meanings: list[tuple[Recognised, str]] = [
        *((Word(role), said) for role, said in data["words"].items()),
        *((Aggregate(name), said) for name, said in data["functions"].items()),
        *((GrainNoun(unit), said) for unit, said in data["grains"].items()),
        *((GrainNoun(unit, True), said) for unit, said in data["grain_adjectives"].items()),
        *((MeasureNoun(name), said) for name, said in data["measures"].items()),
        *((Verb(kind), said) for kind, said in data["verbs"].items()),
        *((Step(unit), said) for unit, said in data["steps"].items()),
    ]
    for each in data["superlatives"]:
        fields = {key: value for key, value in each.items() if key != "say"}
        meanings.append((Superlative(**fields), each["say"]))
    for meaning, said in meanings:
        for phrase in _phrases(said):
            yield phrase, meaning


def _by_phrase(table: Mapping[Operator, str]) -> dict[Phrase, Operator]:
    return {phrase: operator for operator, said in table.items() for phrase in _phrases(said)}


def _phrases(said: str) -> list[Phrase]:
    return [tuple(phrase.split()) for phrase in said.split("|")]


ENGLISH = load("english")
