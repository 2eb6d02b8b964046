"""Tasks in each state, and events to happen to them, shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from awhile.errors import IllegalEvent
from awhile.tasks import Event, Lease, Status, StoppedHow, TaskRecord, apply, new_record
from awhile.tasks import events as ev

AT = 1_000_000
TERM = 10_000


def new_task(**more: Any) -> TaskRecord:
    """A task that waits to be claimed."""
    asked: dict[str, Any] = {
        "task_id": "t",
        "owner": "ada",
        "tool": "report",
        "arguments": {},
        "at_ms": AT,
    }
    return new_record(**{**asked, **more})


def running(**more: Any) -> TaskRecord:
    """A task that worker w1 runs, at generation 1."""
    return new_task(lease=Lease(worker="w1", until_ms=AT + TERM), **more)


def after(record: TaskRecord, *events: Event, at_ms: int = AT + 10) -> TaskRecord:
    """The record after all of these at the same instant."""
    for event in events:
        record = apply(record, event, at_ms)
    return record


ASKED = ev.InputAsked(generation=1, key="which", request={"q": "which?"})

IN_STATUS: dict[Status, Callable[[], TaskRecord]] = {
    Status.WORKING: running,
    Status.INPUT_REQUIRED: lambda: after(running(), ASKED),
    Status.COMPLETED: lambda: after(running(), ev.Completed(generation=1, result={"n": 1})),
    Status.FAILED: lambda: after(running(), ev.WorkerLost(), at_ms=AT + TERM),
    Status.CANCELLED: lambda: after(running(), ev.CancelAsked(), ev.GaveUp(generation=1)),
}
"""A task in each status, its work not known to have stopped where that is possible."""

EVENTS: dict[type[Event], Event] = {
    type(event): event
    for event in (
        ev.Claimed(worker="w2", until_ms=AT + 3 * TERM),
        ev.LeaseRenewed(generation=1, until_ms=AT + 3 * TERM),
        ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED),
        ev.Reported(generation=1, done=1, total=2, message="half"),
        ev.Noted(generation=1, key="job", outcome={"id": 7}),
        ev.InputAsked(generation=1, key="other", request={"q": "other?"}),
        ev.InputAnswered(responses={"which": 1}),
        ev.InputWithdrawn(generation=1, keys=frozenset({"which"})),
        ev.CancelAsked(reason="enough"),
        ev.Completed(generation=1, result={"n": 2}),
        ev.Failed(generation=1, error={"code": -32603, "message": "no"}, message="no"),
        ev.Stopped(generation=1, how=StoppedHow.THREAD_RETURNED),
        ev.GaveUp(generation=1),
        ev.StopConfirmed(generation=1, how=StoppedHow.PROCESS_ENDED),
        ev.WorkerLost(),
        ev.ToolGone(seconds=300),
        ev.TakenBack(by="olga", even_if_unsafe=True),
        ev.KeepChosen(keep_ms=None),
    )
}
"""One event of each kind, from the worker that runs the tasks above."""


def refused(record: TaskRecord, event: Event, at_ms: int = AT + 10) -> bool:
    """Whether the event may not happen."""
    try:
        apply(record, event, at_ms)
    except IllegalEvent:
        return True
    return False
