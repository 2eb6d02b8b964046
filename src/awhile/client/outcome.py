"""How work came out: of a stop, and of the wait for a result. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from mcp_types import INTERNAL_ERROR, CallToolResult
from pydantic import ValidationError

from awhile.client.display import show
from awhile.client.known import Known, State
from awhile.client.unreadable import unreadable
from awhile.client.words import failure_text, is_error, unproven
from awhile.errors import (
    AwhileError,
    Cancelled,
    Expired,
    ProtocolFailed,
    ToolFailed,
    Unreachable,
    WorkerLost,
)
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.wire.snapshot import Snapshot


class CancelOutcome(StrEnum):
    """What came of asking for a stop. The value is said as it is."""

    CANCELLED = "cancelled"
    CANCELLED_UNPROVEN = "cancelled, but the server may still be working"
    """A 2025-11-25 server has to answer "cancelled" at once, whatever its work is doing."""
    FINISHED_ANYWAY = "finished anyway"
    FAILED = "failed after you asked"
    NOT_STOPPED_YET = "not stopped yet"
    """The server took the request, but nothing says that the work has stopped."""
    NO_LONGER_KNOWN = "no longer known"
    """Nobody can say any more: the task is gone, or the call had no task to ask about."""

    @property
    def words(self) -> str:
        """One line for a person."""
        return _OUTCOME_WORDS[self]


_OUTCOME_WORDS: Mapping[CancelOutcome, str] = {
    CancelOutcome.CANCELLED: "Cancelled.",
    CancelOutcome.CANCELLED_UNPROVEN: "Cancelled, but the server may still be working.",
    CancelOutcome.FINISHED_ANYWAY: "It had finished before it could be stopped.",
    CancelOutcome.FAILED: "It failed after you asked it to stop.",
    CancelOutcome.NOT_STOPPED_YET: "Asked to stop, but not stopped yet; it may still be running.",
    CancelOutcome.NO_LONGER_KNOWN: "Asked to stop; what came of it is no longer known.",
}

_OUTCOMES: Mapping[State, CancelOutcome] = {
    State.CANCELLED: CancelOutcome.CANCELLED,
    State.FINISHED: CancelOutcome.FINISHED_ANYWAY,
    State.FINISHED_ANYWAY: CancelOutcome.FINISHED_ANYWAY,
    State.FAILED: CancelOutcome.FAILED,
    State.FAILED_AFTER_CANCEL: CancelOutcome.FAILED,
    State.EXPIRED: CancelOutcome.NO_LONGER_KNOWN,
}


def outcome_of(known: Known, *, now_ms: int) -> CancelOutcome:
    """What came of a stop that was asked for."""
    state = show(known, now_ms=now_ms).state
    if state is State.CANCELLED and unproven(known):
        return CancelOutcome.CANCELLED_UNPROVEN
    return _OUTCOMES.get(state, CancelOutcome.NOT_STOPPED_YET)


def collect(known: Known, *, now_ms: int) -> CallToolResult:
    """The result of work that has ended.

    Raises:
        ToolFailed, ProtocolFailed, WorkerLost, Cancelled, Expired, Unreachable: it has none.
    """
    now, task = show(known, now_ms=now_ms), known.task
    if task is None or not task.status.ended:
        text = f"{now.words}. {now.detail}"
        if now.state is State.EXPIRED:
            raise Expired(text)
        raise Cancelled(text) if known.call_closed else Unreachable(text)
    if task.status is Status.CANCELLED:
        raise Cancelled(f"{now.words}. {now.detail or ''}".strip())
    if task.status is Status.FAILED:
        raise _failure(task)
    result = dict(task.result or {})
    if is_error(result):
        raise ToolFailed(failure_text(task), result=result)
    try:
        return CallToolResult.model_validate(result, by_name=False)
    except ValidationError as broken:
        raise unreadable(f"The result of {known.tool!r}", broken) from broken


def _failure(task: Snapshot) -> ProtocolFailed:
    error = task.error or {}
    code, data = error.get("code"), error.get("data")
    reason = cast("dict[str, Any]", data).get("reason") if isinstance(data, dict) else None
    kind = WorkerLost if reason == "worker_lost" else ProtocolFailed
    number = code if isinstance(code, int) else INTERNAL_ERROR
    return kind(failure_text(task), code=number, data=data)


def not_in_time(
    known: Known, *, now_ms: int, task_id: str | None, timeout_seconds: float | None
) -> AwhileError | TimeoutError:
    """The error for a wait that is over before the work is."""
    later = f"Resume it later by its id, {task_id!r}." if task_id else "Call again."
    since_ms = known.unreachable_since_ms
    if since_ms is not None:
        seconds = f"{(now_ms - since_ms) / 1000:.0f} s"
        said = (
            f"The server has answered with nothing but an error for {seconds}"
            if known.answers_with_errors
            else f"The server has not answered for {seconds}"
        )
        return Unreachable(f"{said} ({known.unreachable_why}); the work may be running on. {later}")
    waits = show(known, now_ms=now_ms).state is State.NEEDS_INPUT
    goes_on = "it waits for an answer" if waits else "the work goes on"
    return TimeoutError(f"Not finished within {timeout_seconds!r} s; {goes_on}. {later}")


def unanswered_stop(why: str) -> Unreachable:
    """The error for a request to stop that nobody answered."""
    return Unreachable(
        f"The request to stop got no answer ({why}): it may or may not have arrived. Try again; "
        "asking twice does no harm."
    )


__all__ = ["CancelOutcome", "collect", "not_in_time", "outcome_of", "unanswered_stop"]
