"""Why a question is not answered: found on the way to an intent, told to the person at the end.

Source: ours.

    Doubt
    ├── Stuck      something was not understood, or has no meaning on this schema
    │   └── Beyond  it asks for what no row can tell
    └── Undecided  it can mean several things, and each has a wording of its own
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awhile.ask.translators.contract import Choice

__all__ = ["Beyond", "Doubt", "Stuck", "Undecided"]


class Doubt(Exception):
    """A question that is not turned into SQL."""


class Stuck(Doubt):
    """`words` are the parts of the question at fault (none: all of it), `why` a sentence."""

    def __init__(self, why: str, *words: str) -> None:
        super().__init__(why)
        self.why = why
        self.words = words


class Beyond(Stuck):
    """No SELECT is an answer to it, whoever writes it."""


class Undecided(Doubt):
    """`text` asks; `choices` are wordings to try, of which only those that translate are shown."""

    def __init__(self, text: str, choices: tuple[Choice, ...], *words: str) -> None:
        super().__init__(text)
        self.text = text
        self.choices = choices
        self.words = words
