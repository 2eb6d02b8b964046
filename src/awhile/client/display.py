"""What a person should be shown of one task. Pure: everything known goes in, a `Now` comes out.

Two rules beyond the obvious. A working message never stands beside an ended status: some servers
leave "step 4/5" on a finished task, so unless the server is known to write status and message in
one go (ours is), the words of an ending come from the ending alone. And a tool that said no
(``completed`` with ``isError``) is shown as failed, whatever its task's status says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.client.known import Known, Now, State, cancel_asked_at_ms
from awhile.client.words import (
    detail_of,
    failure_text,
    is_error,
    message_of,
    result_text,
    seconds_since,
    words_of,
)
from awhile.tasks import Status, StoppedHow

if TYPE_CHECKING:
    from awhile.wire.snapshot import Snapshot

GIVE_UP_SECONDS = 30.0
"""How long after asking for a stop "stopping" turns into "not stopped yet" (source: ours)."""


def show(known: Known, *, now_ms: int, give_up_seconds: float = GIVE_UP_SECONDS) -> Now:
    """The one thing to show, from everything known at ``now_ms``."""
    task = known.task
    state = _state(known, now_ms=now_ms, give_up_seconds=give_up_seconds)
    ended = _ended(known)
    done, total = _progress(state, known)
    return Now(
        state=state,
        words=words_of(state, known, now_ms=now_ms),
        detail=detail_of(state, known),
        message=None if ended else message_of(known),
        percent=_percent(done, total),
        done=done,
        total=total,
        steps=(task.steps if task else ()) or known.steps,
        inputs={} if ended else {**(task.input_requests if task else {}), **known.questions},
        elapsed_seconds=_elapsed(known, now_ms=now_ms),
        last_news_seconds=None if ended else seconds_since(known.changed_at_ms, now_ms),
        ended=ended,
        how_stopped=task.stopped_how if task else None,
        stopped_after_seconds=_stopped_after(task),
        attempt=task.attempt if task else None,
        unobserved_seconds=_unobserved(task),
    )


def _unobserved(task: Snapshot | None) -> float | None:
    return None if task is None or task.unobserved_ms is None else task.unobserved_ms / 1000


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
    asks = task.status is Status.INPUT_REQUIRED or known.questions
    return State.NEEDS_INPUT if asks else State.WORKING


def _ending(task: Snapshot, *, asked: bool) -> State:
    if task.status is Status.CANCELLED:
        # A status cannot say that nobody managed to stop the work; this fact can.
        if task.stopped_how is StoppedHow.NOT_STOPPED:
            return State.NOT_STOPPED_YET
        return State.CANCELLED
    if task.status is Status.FAILED or is_error(task.result):
        return State.FAILED_AFTER_CANCEL if asked else State.FAILED
    return State.FINISHED_ANYWAY if asked else State.FINISHED


def _progress(state: State, known: Known) -> tuple[float | None, float | None]:
    at = (known.task.progress if known.task else None) or known.progress
    if at is None:
        return None, None
    done, total = at.done, at.total
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
    return seconds_since(began_at_ms, now_ms) or 0.0


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
