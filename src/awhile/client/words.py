"""The words for a person. Pure, like all of `display`.

A working message never stands beside an ended status: some servers leave "step 4/5" on a finished
task, so the words of an ending come from the ending alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from awhile.client.known import Known, State
from awhile.tasks import Status, StoppedHow

if TYPE_CHECKING:
    from awhile.wire.snapshot import Snapshot

_WORDS: Mapping[State, str] = {
    State.SENDING: "Sending…",
    State.WORKING: "Working",
    State.NEEDS_INPUT: "Needs your answer",
    State.CANCEL_REQUESTED: "Stopping: the work may still be running",
    State.NOT_STOPPED_YET: "Not stopped yet: the work may still be running",
    State.FINISHED: "Finished",
    State.FINISHED_ANYWAY: "Finished before it could be stopped",
    State.FAILED: "Failed",
    State.FAILED_AFTER_CANCEL: "Failed after you asked it to stop",
    State.CANCELLED: "Cancelled",
    State.EXPIRED: "No longer kept by the server",
}


NO_REASON = "The server gave no reason. Look into its log, or ask whoever runs it."


def words_of(state: State, known: Known, *, now_ms: int) -> str:
    """The one line."""
    if known.call_lost is not None and state is State.UNREACHABLE:
        return "The connection broke off before the answer"
    if state is State.UNREACHABLE:
        seconds = seconds_since(known.unreachable_since_ms, now_ms) or 0.0
        if known.answers_with_errors:
            return f"The server has answered with an error for {seconds:.0f} s; trying again"
        return f"No answer from the server for {seconds:.0f} s; trying again"
    if state is State.WORKING and (message := message_of(known)):
        return message
    if state is State.CANCELLED and unproven(known):
        return "Cancelled, but the server may still be working"
    return _WORDS[state]


def detail_of(state: State, known: Known) -> str | None:
    """The second line, where there is more to say."""
    task = known.task
    match state:
        case State.UNREACHABLE if known.call_lost is not None:
            return f"There is no task to come back to, so call again. ({known.call_lost})"
        case State.NOT_STOPPED_YET if known.call_closed:
            return "The call was closed, which asks the server to stop; it does not say if it has."
        case State.UNREACHABLE:
            return f"The work itself may be running on. ({known.unreachable_why or 'no answer'})"
        case State.EXPIRED:
            return (
                "It has expired, or was never known there under this id. How it ended is not "
                "known here; start the work again if it is still wanted."
            )
        case State.FAILED | State.FAILED_AFTER_CANCEL:
            return failure_text(task) if task else None
        case State.CANCELLED | State.NOT_STOPPED_YET if task and task.stopped_how:
            return _HOW[task.stopped_how]
        case State.NEEDS_INPUT:
            return _question(known)
        case State.CANCELLED if unproven(known):
            return (
                "Servers of its protocol revision answer so at once; nothing here shows that the "
                "work has stopped."
            )
        case State.CANCEL_REQUESTED | State.NOT_STOPPED_YET:
            return message_of(known)
        case _:
            return None


_HOW: Mapping[StoppedHow, str] = {
    StoppedHow.NEVER_STARTED: "It had not started yet.",
    StoppedHow.COROUTINE_ENDED: "The work has ended.",
    StoppedHow.THREAD_RETURNED: "Its thread has returned.",
    StoppedHow.ENGINE_CONFIRMED: "The engine confirmed that it stopped.",
    StoppedHow.PROCESS_ENDED: "Its process has ended.",
    StoppedHow.WORKER_LOST: "The process running it is gone.",
    StoppedHow.NOT_STOPPED: "It could not be stopped and may still be having effects.",
}


def is_error(result: Mapping[str, Any] | None) -> bool:
    """Whether a tool's result says that the tool failed."""
    return result is not None and result.get("isError") is True


def failure_text(task: Snapshot) -> str:
    """What went wrong, in the tool's or the server's own words."""
    if task.status is Status.FAILED:
        message = (task.error or {}).get("message")
        return message if isinstance(message, str) and message else NO_REASON
    return result_text(task.result) or "The tool failed without saying why."


def result_text(result: Mapping[str, Any] | None) -> str:
    """The text blocks of a ``CallToolResult``, joined; empty where there are none."""
    content = (result or {}).get("content")
    texts: list[str] = []
    for block in cast("list[Any]", content) if isinstance(content, list) else []:
        text = _member(block, "text")
        if isinstance(text, str):
            texts.append(text)
    return "\n".join(texts)


def _question(known: Known) -> str | None:
    listed = known.task.input_requests.values() if known.task else ()
    for request in (*listed, *known.questions.values()):
        message = _member(_member(request, "params"), "message")
        if isinstance(message, str) and message:
            return message
    return None


def _member(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def unproven(known: Known) -> bool:
    """Whether a task is called cancelled without any fact that says its work has stopped."""
    return known.cancel_proves_nothing and (known.task is None or known.task.stopped_how is None)


def message_of(known: Known) -> str | None:
    """What the work says of itself while it runs."""
    task = known.task
    if task is None or task.status.ended:
        return None
    at = task.progress or known.progress
    said = at.message if at else None
    # Once a stop is asked, our server's status message speaks of that, the progress of the work.
    return said if said and task.cancel_asked_at_ms is not None else task.status_message or said


def seconds_since(at_ms: int | None, now_ms: int) -> float | None:
    """Seconds from an instant until now, never negative."""
    return None if at_ms is None else max(0, now_ms - at_ms) / 1000


__all__ = [
    "NO_REASON",
    "detail_of",
    "failure_text",
    "is_error",
    "message_of",
    "result_text",
    "seconds_since",
    "unproven",
    "words_of",
]
