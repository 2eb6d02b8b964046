"""The values of a schema, found by the words of a question.

Source: ours. A card may hold hundreds of thousands of values, and a question needs a handful of
them: they are put aside by their first word, and taken apart only when a question has that word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from awhile.ask.translators.marks import ValueSense
from awhile.ask.translators.words import distance_within, stem, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["LONGEST", "Values"]

LONGEST = 7
"""The most words of one name or value."""
_Phrase = tuple[str, ...]
_BEGINNING = re.compile(r"[\W_]*([^\W_]+)(?:[\W_]+([^\W_]))?")
_ODD = re.compile(r"['’&]|\d,\d|\dk\b")
"""What is taken apart in a way of its own: "Joe's", "don't", "A & B", "1,000", "5k"."""
_stem = lru_cache(65_536)(stem)


class Values:
    """Phrases, as stems, with the columns they are values of."""

    def __init__(self) -> None:
        self._aside: dict[tuple[str, str], list[tuple[str, ValueSense | tuple[str, str]]]] = {}
        self._found: dict[tuple[str, str], dict[_Phrase, dict[ValueSense, None]]] = {}
        self._by_length: dict[tuple[str, int], set[str]] | None = None

    def add(self, said: str, sense: ValueSense) -> None:
        """`said` means that value."""
        key = _key(said)
        if key:
            self._aside.setdefault(key, []).append((said, sense))

    def add_all(self, table: str, column: str, values: Iterable[str]) -> None:
        """Each value by its own words."""
        aside, home = self._aside, (table, column)
        for value in values:
            key = _key(value)
            if key:
                aside.setdefault(key, []).append((value, home))

    def get(self, phrase: Sequence[str]) -> tuple[ValueSense, ...]:
        """The columns with a value of exactly these words, given as stems."""
        key = _key_of(phrase)
        if key is None:
            return ()
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._taken_apart(key)
        return tuple(found.get(tuple(phrase), ()))

    def spelled_like(self, word: str, limit: int) -> list[tuple[int, str]]:
        """Values up to `limit` letters away from `word`, which begin with the same letter."""
        if self._by_length is None:
            self._by_length = {}
            for said, _ in (each for bucket in self._aside.values() for each in bucket):
                text = said.casefold()
                self._by_length.setdefault((text[:1], len(text)), set()).add(text)
        near: list[tuple[int, str]] = []
        for length in range(len(word) - limit, len(word) + limit + 1):
            for text in self._by_length.get((word[:1], length), ()):
                found = distance_within(word, text, limit)
                if found:
                    near.append((found, text))
        return near

    def _taken_apart(self, key: tuple[str, str]) -> dict[_Phrase, dict[ValueSense, None]]:
        made: dict[_Phrase, dict[ValueSense, None]] = {}
        for said, home in self._aside.get(key, ()):
            sense = home if isinstance(home, ValueSense) else ValueSense(*home, said)
            phrase = tuple(token.stem for token in tokenise(said))
            if 0 < len(phrase) <= LONGEST and any(word[0].isalpha() for word in phrase):
                made.setdefault(phrase, {})[sense] = None
        return made


def _key(said: str) -> tuple[str, str] | None:
    """The stem of the first word and the first letter of the next; of a number its first digits."""
    found = _BEGINNING.match(said)
    if found is None:
        return None
    if _ODD.search(said):
        return _key_of([token.stem for token in tokenise(said)])
    first, second = found[1], found[2] or ""
    return (first, "") if first[0].isdigit() else (_stem(first.casefold()), second.casefold())


def _key_of(phrase: Sequence[str]) -> tuple[str, str] | None:
    words = [word for word in phrase if word[:1].isalnum()]
    found = _BEGINNING.match(words[0]) if words else None
    if found is None:
        return None
    if found[1][0].isdigit():
        return found[1], ""
    return words[0], words[1][:1] if len(words) > 1 else ""
