"""Questions that were answered before: the same words get the SQL that a person put down for them.

Source: ours. "The same" is meant narrowly: apart from words that carry no meaning, from plural and
singular and from punctuation, every word has to be there, in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Meaning, Sql
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import Word
from awhile.ask.translators.words import tokenise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awhile.ask.schema import Example

__all__ = ["Said", "answered_before", "depends_on_the_day", "said"]

Said = tuple[str, ...]
"""The words of a question that tell it from others."""
_EMPTY = ("silent", "be", "list", "what", "stop", "comma")


def said(question: str) -> Said:
    """The words of a question that carry meaning, as stems."""
    kept: list[str] = []
    for token in tokenise(question):
        known = ENGLISH.grammar.get((token.norm,))
        if not isinstance(known, Word) or known.role not in _EMPTY:
            kept.append(token.stem)
    return tuple(kept)


def depends_on_the_day(question: str) -> bool:
    """Whether the words mean other dates on another day, so that SQL with dates in it does not."""
    return any(token.norm in ENGLISH.calendar["relative"] for token in tokenise(question))


def answered_before(question: str, examples: Iterable[Example]) -> Sql | None:
    """The SQL of the example with the same words, if there is one."""
    asked = said(question)
    if not asked:
        return None
    found = next((each for each in examples if said(each.question) == asked), None)
    if found is None:
        return None
    return Sql(
        found.sql,
        f"As in the example {found.question!r}: its SQL is run as it was put down.",
        (Meaning(question.strip(), f"the same as in the example {found.question!r}"),),
        "accepted",
    )
