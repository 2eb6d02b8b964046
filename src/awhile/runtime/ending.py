"""How a body can end, as the runtime sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from awhile.errors import AwhileError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.tasks import StoppedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The body returned; ``result`` is a JSON object. ``is_error``: the tool itself said no.

    ``inline_only``: an answer to the call itself, which no task can end with.
    """

    result: Mapping[str, Any]
    is_error: bool = False
    message: str = "Finished."
    inline_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The body ended in a protocol error; ``error`` is the JSON-RPC error object."""

    error: Mapping[str, Any]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Halted:
    """The body ended because it was told to stop; ``how`` says how that is known."""

    how: StoppedHow


Ending = Returned | Raised | Halted


class StopAsked(AwhileError):
    """Raised inside a body that was told to stop, by `Run.check`. Let it pass."""


class NoAnswer(AwhileError):
    """The body asked its caller something, and the time for an answer has passed."""


class CannotAsk(AwhileError):
    """The body wanted to ask its caller something, but this caller cannot be asked."""


class CannotNote(AwhileError):
    """`Run.once` was given a key, or came to an outcome, that cannot be noted."""


def internal_error(message: str, *, reason: str | None = None) -> Raised:
    """A failure of ours rather than of the tool: JSON-RPC -32603, with a reason for programs."""
    error: dict[str, Any] = {"code": -32603, "message": message}
    if reason:
        error["data"] = {"reason": reason}
    return Raised(error=error, message=message)


__all__ = [
    "CannotAsk",
    "CannotNote",
    "Ending",
    "Halted",
    "NoAnswer",
    "Raised",
    "Returned",
    "StopAsked",
    "internal_error",
]
