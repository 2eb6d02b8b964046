"""Asking the person in the middle of a run: one short question, with its choices.

The one way for all that a run has to know from a person: which reading was meant, and whether an
expensive query is to run. How the question reaches them is for others (`Choose`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from awhile.errors import LocalError

__all__ = ["Choose", "Chosen", "Editable", "NobodyToAsk", "NotChosen", "ToChoose"]


class NobodyToAsk(LocalError):
    """Whoever started this run cannot be asked: the question has to be its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editable:
    """A text that may be changed along with the choice: `what` it is, as it stands now."""

    what: Literal["question", "SQL"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToChoose:
    """What to ask. ``about`` tells questions of one run apart; no two ``labels`` are equal."""

    about: str
    text: str
    labels: tuple[str, ...]
    editable: Editable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The label that was chosen; ``changed`` is the text, where it was changed."""

    label: str
    changed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotChosen:
    """The person said no, or closed the question without an answer (``dismissed``)."""

    dismissed: bool = False

    @property
    def words(self) -> str:
        """Why nothing was run, to follow "Not run: "."""
        return "the question was closed without an answer" if self.dismissed else "you declined"


Choose = Callable[[ToChoose], Awaitable[Chosen | NotChosen]]
"""Puts the question to the person and waits for the answer, however long that takes.

Raises `NobodyToAsk`. A run that is started again is given the answer it has had.
"""
