"""Asking the person in the middle of a run: one short question at a time.

The one way for all that a run has to know from a person: which reading was meant, whether an
expensive query is to run, and what to run in its place. How a question reaches them is for others
(`Person`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from awhile.errors import LocalError

__all__ = ["NobodyToAsk", "NotAnswered", "Person", "ToChange", "ToChoose"]


class NobodyToAsk(LocalError):
    """Whoever started this run cannot be asked: the question has to be its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToChoose:
    """One of these. ``about`` tells questions of one run apart; no two ``labels`` are equal."""

    about: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToChange:
    """Another text in place of this one: ``what`` it is, as it stands now."""

    about: str
    text: str
    what: Literal["question", "SQL"]
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnswered:
    """The person said no, or closed the question without an answer (``dismissed``)."""

    dismissed: bool = False

    @property
    def words(self) -> str:
        """Why nothing was run, to follow "Not run: "."""
        return "the question was closed without an answer" if self.dismissed else "you declined"


class Person(Protocol):
    """Whoever wants to know. Each waits for the answer, however long that takes.

    A run that is started again is given the answers it has had. Both raise `NobodyToAsk`.
    """

    async def choose(self, asked: ToChoose) -> str | NotAnswered:
        """The label they chose."""
        ...

    async def change(self, asked: ToChange) -> str | NotAnswered:
        """The text as they want it."""
        ...
