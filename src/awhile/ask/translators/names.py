"""Column names that hide their words: a prefix all columns share, words run together.

Source: ours. `sbcustcountry` in a table whose columns all begin with `sb` reads as "customer
country". A name is only taken apart when all of it is made of known words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.english import ABBREVIATIONS, NAME_WORDS
from awhile.ask.translators.words import split_name, stem

if TYPE_CHECKING:
    from awhile.ask.schema import Table

__all__ = ["hidden_words"]

_SHORTEST_PREFIX, _FEWEST_COLUMNS = 2, 3


def hidden_words(table: Table) -> dict[str, tuple[str, ...]]:
    """The stems in each column's name that plain splitting does not show; most have none."""
    names = [column.name.casefold() for column in table.columns]
    prefix = _shared_prefix(names) if len(names) >= _FEWEST_COLUMNS else ""
    found: dict[str, tuple[str, ...]] = {}
    for column in table.columns:
        words: list[str] = []
        rest = column.name if not prefix else column.name[len(prefix) :].lstrip("_")
        for piece in split_name(rest):
            words.extend(_taken_apart(piece))
        opened = tuple(stem(w) for word in words for w in ABBREVIATIONS.get(word, word).split())
        if opened:
            found[column.name] = opened
    return found


def _shared_prefix(names: list[str]) -> str:
    """What all names begin with, when every one of them has a word left after it."""
    first, last = min(names), max(names)
    size = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    prefix = first[:size].rstrip("_")
    if len(prefix) < _SHORTEST_PREFIX:
        return ""
    whole = any("_" in name[: size + 1] for name in names)
    known = all(len(_taken_apart(name[len(prefix) :].lstrip("_"))) > 0 for name in names)
    return prefix if whole or known else ""


def _taken_apart(piece: str) -> list[str]:
    """The fewest known words that make up all of `piece`; the piece itself when there are none."""
    best: list[list[str] | None] = [None] * (len(piece) + 1)
    best[0] = []
    for end in range(1, len(piece) + 1):
        for start in range(end):
            head, word = best[start], piece[start:end]
            if head is not None and (word in ABBREVIATIONS or word in NAME_WORDS):
                longer = best[end]
                if longer is None or len(head) + 1 < len(longer):
                    best[end] = [*head, word]
    return best[-1] or ([piece] if piece else [])
