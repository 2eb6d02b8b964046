"""What a person should be shown of one task. Pure: everything known goes in, a `Now` comes out.

Two rules beyond the obvious. A working message never stands beside an ended status: some servers
leave "step 4/5" on a finished task, so unless the server is known to write status and message in
one go (ours is), the words of an ending come from the ending alone. And a tool that said no
(``completed`` with ``isError``) is shown as failed, whatever its task's status says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from awhile.tasks import Status, StoppedHow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.tasks import Step
    from awhile.wire.snapshot import Snapshot

GIVE_UP_SECONDS = 30.0
"""How long after asking for a stop "stopping" turns into "not stopped yet" (source: ours)."""


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
    """The server does not answer; the work itself may be running on."""


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
    """The first of the polls in a row that got no answer; None while the server answers."""
    unreachable_why: str | None = None
    gone: bool = False
    """The server says it keeps no such task."""
    call_closed: bool = False
    """This side closed the call, and there is no task behind it to ask what came of that."""
    call_lost: str | None = None
    """Why the call broke off, where there is no task behind it to come back to."""


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

    def differs(self, other: Now | None) -> bool:
        """Whether anything but the clocks is different."""
        return other is None or _without_clocks(self) != _without_clocks(other)


def show(known: Known, *, now_ms: int, give_up_seconds: float = GIVE_UP_SECONDS) -> Now:
    """The one thing to show, from everything known at ``now_ms``."""
    task = known.task
    state = _state(known, now_ms=now_ms, give_up_seconds=give_up_seconds)
    ended = _ended(known)
    done, total = _progress(state, task)
    return Now(
        state=state,
        words=_words(state, known, now_ms=now_ms),
        detail=_detail(state, known),
        message=None if ended else _message(task),
        percent=_percent(done, total),
        done=done,
        total=total,
        steps=task.steps if task else (),
        inputs={} if ended or task is None else dict(task.input_requests),
        elapsed_seconds=_elapsed(known, now_ms=now_ms),
        last_news_seconds=None if ended else _seconds_since(known.changed_at_ms, now_ms),
        ended=ended,
        how_stopped=task.stopped_how if task else None,
        stopped_after_seconds=_stopped_after(task),
    )


def _stopped_after(task: Snapshot | None) -> float | None:
    if task is None or task.stopped_at_ms is None or task.cancel_asked_at_ms is None:
        return None
    return max(0, task.stopped_at_ms - task.cancel_asked_at_ms) / 1000


def _ended(known: Known) -> bool:
    cut_off = known.gone or known.call_closed or known.call_lost is not None
    return cut_off or (known.task is not None and known.task.status.ended)


def _state(known: Known, *, now_ms: int, give_up_seconds: float) -> State:
    task = known.task
    asked_at_ms = cancel_asked_at_ms(known)
    if task is not None and task.status.ended:
        return _ending(task, asked=asked_at_ms is not None)
    if known.gone:
        return State.EXPIRED
    if known.call_closed:
        return State.NOT_STOPPED_YET
    if known.unreachable_since_ms is not None or known.call_lost is not None:
        return State.UNREACHABLE
    if asked_at_ms is not None:
        overdue = now_ms - asked_at_ms >= give_up_seconds * 1000
        return State.NOT_STOPPED_YET if overdue else State.CANCEL_REQUESTED
    if task is None:
        return State.SENDING
    return State.NEEDS_INPUT if task.status is Status.INPUT_REQUIRED else State.WORKING


def _ending(task: Snapshot, *, asked: bool) -> State:
    if task.status is Status.CANCELLED:
        # A status cannot say that nobody managed to stop the work; this fact can.
        if task.stopped_how is StoppedHow.NOT_STOPPED:
            return State.NOT_STOPPED_YET
        return State.CANCELLED
    if task.status is Status.FAILED or is_error(task.result):
        return State.FAILED_AFTER_CANCEL if asked else State.FAILED
    return State.FINISHED_ANYWAY if asked else State.FINISHED


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


def _words(state: State, known: Known, *, now_ms: int) -> str:
    if known.call_lost is not None and state is State.UNREACHABLE:
        return "The connection broke off before the answer"
    if state is State.UNREACHABLE:
        seconds = _seconds_since(known.unreachable_since_ms, now_ms) or 0.0
        return f"No answer from the server for {seconds:.0f} s; trying again"
    if state is State.WORKING and (message := _message(known.task)):
        return message
    return _WORDS[state]


def _detail(state: State, known: Known) -> str | None:
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
            return _question(task)
        case State.CANCEL_REQUESTED | State.NOT_STOPPED_YET:
            return _message(task)
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


def cancel_asked_at_ms(known: Known) -> int | None:
    """When a stop was first known to be asked for, by this side or (says the server) another."""
    theirs = known.task.cancel_asked_at_ms if known.task else None
    return theirs if known.cancel_asked_at_ms is None else known.cancel_asked_at_ms


def is_error(result: Mapping[str, Any] | None) -> bool:
    """Whether a tool's result says that the tool failed."""
    return result is not None and result.get("isError") is True


def failure_text(task: Snapshot) -> str:
    """What went wrong, in the tool's or the server's own words."""
    if task.status is Status.FAILED:
        message = (task.error or {}).get("message")
        return message if isinstance(message, str) and message else "The server gave no reason."
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


def _question(task: Snapshot | None) -> str | None:
    for request in task.input_requests.values() if task else ():
        message = _member(_member(request, "params"), "message")
        if isinstance(message, str) and message:
            return message
    return None


def _member(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def _message(task: Snapshot | None) -> str | None:
    if task is None or task.status.ended:
        return None
    said = task.progress.message if task.progress else None
    # Once a stop is asked, our server's status message speaks of that, the progress of the work.
    return said if said and task.cancel_asked_at_ms is not None else task.status_message or said


def _progress(state: State, task: Snapshot | None) -> tuple[float | None, float | None]:
    if task is None or task.progress is None:
        return None, None
    done, total = task.progress.done, task.progress.total
    if state in (State.FINISHED, State.FINISHED_ANYWAY) and total is not None and done != total:
        return None, None  # "4 of 5" beside "Finished" would contradict itself
    return done, total


def _percent(done: float | None, total: float | None) -> float | None:
    if done is None or total is None or not 0 <= done <= total or total <= 0:
        return None
    return 100.0 * done / total


def _elapsed(known: Known, *, now_ms: int) -> float:
    task = known.task
    if task is not None and task.status.ended:
        # Both instants are the server's, so its clock being off does not matter.
        return max(0, task.last_updated_at_ms - task.created_at_ms) / 1000
    began_at_ms = known.started_at_ms
    if began_at_ms is None and task is not None:
        began_at_ms = task.created_at_ms
    return _seconds_since(began_at_ms, now_ms) or 0.0


def _seconds_since(at_ms: int | None, now_ms: int) -> float | None:
    return None if at_ms is None else max(0, now_ms - at_ms) / 1000


def _without_clocks(now: Now) -> Now:
    return replace(now, elapsed_seconds=0.0, last_news_seconds=None)


__all__ = [
    "GIVE_UP_SECONDS",
    "Known",
    "Now",
    "State",
    "cancel_asked_at_ms",
    "failure_text",
    "is_error",
    "result_text",
    "show",
]
