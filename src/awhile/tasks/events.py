"""What can happen to a task. Events are past tense; `awhile.tasks.state` says which are legal when.

Events sent by the worker running the body carry the ``generation`` of the lease it holds, so that a
worker which lost its lease changes nothing (source: ours).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.tasks.record import StoppedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A worker took the task to run it: a new generation and one more attempt."""

    worker: str
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRenewed:
    """The worker is still alive; its lease now runs to ``until_ms`` (Unix milliseconds)."""

    generation: int
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The worker handed the task back without an ending (a drain); somebody may claim it again.

    ``how`` is how the body was known to have stopped, for a task that was asked to stop meanwhile.
    """

    generation: int
    how: StoppedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The body said how far it is. ``total`` is None where there is no honest total."""

    generation: int
    done: float | None = None
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The body does something once for all its attempts; ``outcome`` is what came of it.

    Said twice: before (``done`` False), so that a stop can reach what may have come about, and
    after. ``reachable``: the tool declares how it can be stopped without the body.
    """

    generation: int
    key: str
    done: bool = True
    outcome: Any = None
    reachable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputAsked:
    """The body needs an answer; ``request`` is the server-to-client request, opaque here."""

    generation: int
    key: str
    request: Mapping[str, Any]
    answer_by_ms: int | None = None
    """Until when an answer is waited for; None: until it comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputAnswered:
    """The client answered some keys. Unknown and already answered keys are ignored (ext-tasks)."""

    responses: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputWithdrawn:
    """The body no longer waits for these answers (it went on, or gave up waiting)."""

    generation: int
    keys: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAsked:
    """Somebody asked for the work to be stopped. An intent: the work may still be running.

    ``final`` ends the task as cancelled at once, as a 2025-11-25 cancel has to; that the work has
    stopped, and how that is known, is then a later fact (`StopConfirmed`).
    """

    reason: str | None = None
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The body returned. ``is_error`` marks a tool that itself said no."""

    generation: int
    result: Mapping[str, Any]
    message: str = "Finished."
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The body ended in a protocol error; ``error`` is the JSON-RPC error object."""

    generation: int
    error: Mapping[str, Any]
    message: str
    stopped: bool = True
    """False: the work was told to stop in vain, and is still running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """After a cancel, the work has really stopped; ``how`` says how that is known."""

    generation: int
    how: StoppedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp:
    """After a cancel, the work ignored it past the tool's give-up time and is still running."""

    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopConfirmed:
    """The work of an already ended task has really stopped now: a fact, never a new ending."""

    generation: int
    how: StoppedHow


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """The lease ran out unrenewed and the task may not be run again."""

    error: Mapping[str, Any] = field(
        default_factory=lambda: {
            "code": -32603,
            "message": "The server stopped while this was running.",
            "data": {"reason": "worker_lost"},
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGone:
    """Nobody holds the task, and no worker has known its tool for ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """Somebody who operates the store took the task from the worker that has it, which is alive
    but stuck; another may claim it. Nothing the first worker still sends is taken any more.

    It may still be working for a while, so only what is declared safe to run again is taken back,
    unless ``even_if_unsafe``.
    """

    by: str
    even_if_unsafe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepChosen:
    """Its caller chose how long it is kept after its end; None for ever, 0 not at all."""

    keep_ms: int | None


Event = (
    Claimed
    | LeaseRenewed
    | Released
    | Reported
    | Noted
    | InputAsked
    | InputAnswered
    | InputWithdrawn
    | CancelAsked
    | Completed
    | Failed
    | Stopped
    | GaveUp
    | StopConfirmed
    | WorkerLost
    | ToolGone
    | TakenBack
    | KeepChosen
)
"""Any event."""

__all__ = [
    "CancelAsked",
    "Claimed",
    "Completed",
    "Event",
    "Failed",
    "GaveUp",
    "InputAnswered",
    "InputAsked",
    "InputWithdrawn",
    "KeepChosen",
    "LeaseRenewed",
    "Noted",
    "Released",
    "Reported",
    "StopConfirmed",
    "Stopped",
    "TakenBack",
    "ToolGone",
    "WorkerLost",
]
