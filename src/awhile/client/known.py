"""What is known of one task, and what can be shown of it: the closed set of states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.tasks import Progress, Step, StoppedHow
    from awhile.wire.snapshot import Snapshot


class State(StrEnum):
    """Everything a task can be to the person waiting for it; a closed set (source: ours)."""

    SENDING = "sending"
    """The call is under way; the server has not said yet what it makes of it."""
    WORKING = "working"
    NEEDS_INPUT = "needs_input"
    CANCEL_REQUESTED = "cancel_requested"
    """A stop was asked for; the work may still be running."""
    NOT_STOPPED_YET = "not_stopped_yet"
    """A stop was asked for and, for longer than it should take, nothing says it worked."""
    FINISHED = "finished"
    FINISHED_ANYWAY = "finished_anyway"
    """It finished although a stop was asked for."""
    FAILED = "failed"
    FAILED_AFTER_CANCEL = "failed_after_cancel"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    """The server no longer keeps it, and how it ended is not known here."""
    UNREACHABLE = "unreachable"
    """The server does not say how the work stands, which may itself be running on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Everything this side knows of one task. Instants are Unix milliseconds, on this clock."""

    tool: str | None = None
    task: Snapshot | None = None
    """The last thing the server said; None before the first answer."""
    started_at_ms: int | None = None
    """When this side sent the call; None where somebody else did."""
    changed_at_ms: int | None = None
    """When this side last saw something change."""
    cancel_asked_at_ms: int | None = None
    """When this side asked for a stop and the request was taken."""
    unreachable_since_ms: int | None = None
    """The first of the polls in a row that got no answer; None while the server says how the task
    stands."""
    unreachable_why: str | None = None
    answers_with_errors: bool = False
    """Whether those polls were answered, but by an error that says nothing of the task."""
    gone: bool = False
    """The server says it keeps no such task."""
    call_closed: bool = False
    """This side closed the call, and there is no task behind it to ask what came of that."""
    call_lost: str | None = None
    """Why the call broke off, where there is no task behind it to come back to."""
    questions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the server asks of this side directly, beside the questions it lists in the task."""
    progress: Progress | None = None
    steps: tuple[Step, ...] = ()
    """What this side has heard of the work, for servers whose tasks do not carry it."""
    cancel_proves_nothing: bool = False
    """Whether "cancelled" may be no more than this era's obligatory answer to a cancel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """One task at one moment, ready to be shown."""

    state: State
    words: str
    """One line for a person."""
    detail: str | None = None
    """A second line where there is more to say: the error's text, how it is known to be stopped."""
    message: str | None = None
    """What the work says about itself while it runs; None beside an ending."""
    percent: float | None = None
    """0 to 100; only where the server gave an honest total."""
    done: float | None = None
    total: float | None = None
    steps: tuple[Step, ...] = ()
    """The recent messages, oldest first."""
    inputs: Mapping[str, Any]
    """The questions waiting for an answer, by key."""
    elapsed_seconds: float = 0.0
    """Since the call; of an ended task, how long it took."""
    last_news_seconds: float | None = None
    """Since something last changed; None once it has ended."""
    ended: bool = False
    """Nothing more will come."""
    how_stopped: StoppedHow | None = None
    """How it is known that the work stopped; only where the server says so."""
    stopped_after_seconds: float | None = None
    """From the request to stop to its proof, by the server's clock; only where it says so."""
    attempt: int | None = None
    """Which attempt this is, from 1: above that, a worker was lost with it before. 0 while it waits
    to begin; None where the server does not say."""
    unobserved_seconds: float | None = None
    """How long the work goes on while nobody looks; None: as long as it takes, or not said."""

    def differs(self, other: Now | None) -> bool:
        """Whether anything but the clocks is different."""
        return other is None or _without_clocks(self) != _without_clocks(other)


def cancel_asked_at_ms(known: Known) -> int | None:
    """When a stop was first known to be asked for, by this side or (says the server) another."""
    theirs = known.task.cancel_asked_at_ms if known.task else None
    return theirs if known.cancel_asked_at_ms is None else known.cancel_asked_at_ms


def _without_clocks(now: Now) -> Now:
    return replace(now, elapsed_seconds=0.0, last_news_seconds=None)


__all__ = ["Known", "Now", "State", "cancel_asked_at_ms"]
