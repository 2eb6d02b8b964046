"""The one transition table, and the one function that changes a task.

`TRANSITIONS` says which event is legal in which status and where it may lead; `apply` computes the
record that follows. Both are pure: time is an argument, and an illegal event raises and changes
nothing. The diagram in ``ARCHITECTURE.md`` is drawn from the table (`mermaid`); a test compares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from awhile.errors import Fenced, IllegalEvent
from awhile.tasks import events as ev
from awhile.tasks.record import (
    RECENT_STEPS,
    WAITING_AGAIN,
    Input,
    Lease,
    Note,
    Progress,
    Status,
    Step,
    StoppedHow,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from awhile.tasks.record import TaskRecord

MAX_NOTES = 100
"""Entries of one task's journal: every claim reads all of them."""

REACH_ATTEMPTS = 3
"""How often workers try to reach what a lost task left running elsewhere (source: ours)."""

UNREACHED_MS = 10 * 60 * 1000
"""How long it waits for a worker that has its tool; then it ends saying that nobody reached it."""

LEFT_BEHIND = "What it had started elsewhere may still be running."

_W, _I = Status.WORKING, Status.INPUT_REQUIRED
_DONE, _FAIL, _STOP = Status.COMPLETED, Status.FAILED, Status.CANCELLED

TRANSITIONS: Mapping[type[ev.Event], Mapping[Status, frozenset[Status]]] = {
    ev.Claimed: {_W: frozenset({_W}), _I: frozenset({_W})},
    ev.LeaseRenewed: {_W: frozenset({_W}), _I: frozenset({_I})},
    ev.Released: {_W: frozenset({_W, _STOP}), _I: frozenset({_W, _STOP})},
    ev.Reported: {_W: frozenset({_W}), _I: frozenset({_I})},
    ev.Noted: {_W: frozenset({_W}), _I: frozenset({_I})},
    ev.InputAsked: {_W: frozenset({_I}), _I: frozenset({_I})},
    ev.InputAnswered: {_W: frozenset({_W}), _I: frozenset({_I, _W})},
    ev.InputWithdrawn: {_W: frozenset({_W}), _I: frozenset({_I, _W})},
    ev.CancelAsked: {_W: frozenset({_W, _STOP}), _I: frozenset({_I, _STOP})},
    ev.Completed: {_W: frozenset({_DONE}), _I: frozenset({_DONE})},
    ev.Failed: {_W: frozenset({_FAIL}), _I: frozenset({_FAIL})},
    ev.Stopped: {_W: frozenset({_STOP}), _I: frozenset({_STOP})},
    ev.GaveUp: {_W: frozenset({_STOP}), _I: frozenset({_STOP})},
    ev.WorkerLost: {_W: frozenset({_FAIL, _STOP}), _I: frozenset({_FAIL, _STOP})},
    ev.ToolGone: {_W: frozenset({_FAIL}), _I: frozenset({_FAIL})},
    ev.TakenBack: {_W: frozenset({_W}), _I: frozenset({_W})},
    ev.StopConfirmed: {
        _DONE: frozenset({_DONE}),
        _FAIL: frozenset({_FAIL}),
        _STOP: frozenset({_STOP}),
    },
    ev.KeepChosen: {status: frozenset({status}) for status in Status},
}
"""Event -> status it is legal in -> statuses it may lead to. An absent status: illegal there."""


def apply(record: TaskRecord, event: ev.Event, at_ms: int) -> TaskRecord:
    """The record after ``event`` happened at ``at_ms`` (Unix milliseconds).

    ``lastUpdatedAt`` moves exactly when something a client can see of the work has changed, and
    never backwards. An event without any effect returns the record itself.

    Raises:
        IllegalEvent: the event may not happen in this status (see `TRANSITIONS`).
        Fenced: the event carries the generation of a lease that is no longer held.
    """
    legal = TRANSITIONS[type(event)].get(record.status)
    if legal is None:
        raise IllegalEvent(
            f"{type(event).__name__} cannot happen to a task that is {record.status.value!r}; "
            "read the task again before acting on it."
        )
    _check_generation(record, event)
    at_ms = max(at_ms, record.last_updated_at_ms)
    after = _RULES[type(event)](record, event, at_ms)
    if after == record:
        return record
    if after.status not in legal:  # a rule that strays from the table is a bug in this file
        raise AssertionError(f"{type(event).__name__}: {record.status} -> {after.status}")
    if after.status.ended and not record.status.ended:
        after = replace(after, lease=None, ended_at_ms=at_ms, inputs=_closed(after.inputs, at_ms))
    if _visible(after) != _visible(record):
        after = replace(after, last_updated_at_ms=at_ms)
    return after


def may_claim(record: TaskRecord, at_ms: int) -> bool:
    """Whether a worker may take this task now: nobody holds it, and it may (still) be run.

    One that was asked to stop is taken only where there is something to reach (`to_be_reached`).
    """
    if record.status.ended or not _unheld(record, at_ms):
        return False
    if record.cancel_asked:
        return to_be_reached(record)
    return record.attempt < record.max_attempts


def to_be_reached(record: TaskRecord) -> bool:
    """Whether a worker that takes this task has to stop what it left running elsewhere.

    Its body is not run for that: the tool declares how it is done (``stop``).
    """
    return (
        not record.status.ended
        and record.cancel_asked
        and record.reachable
        and record.attempt < record.max_attempts + REACH_ATTEMPTS
    )


def worker_lost(record: TaskRecord, at_ms: int) -> bool:
    """Whether the task's worker is gone and nobody may run it again, so that it has to end.

    What is `to_be_reached` ends when no worker that could has come within `UNREACHED_MS`.
    """
    if record.status.ended or not _unheld(record, at_ms):
        return False
    if to_be_reached(record):
        lapsed_ms = record.lease.until_ms if record.lease else 0
        return at_ms - max(lapsed_ms, record.cancel_asked_at_ms or 0) >= UNREACHED_MS
    return record.attempt > 0 and not may_claim(record, at_ms)


def is_news(event: ev.Event) -> bool:
    """Whether a store counts this event as a change (a new ``rev``) and wakes who waits for one.

    A renewed lease is nobody's news, and the journal is only for the task's own workers.
    """
    return not isinstance(event, ev.LeaseRenewed | ev.Noted)


def belongs_in_history(before: TaskRecord, event: ev.Event, after: TaskRecord) -> bool:
    """Whether a store keeps this event in the append-only history.

    Everything but lease renewals and reports that only move a number (at ten a second those would
    outgrow every result).
    """
    if isinstance(event, ev.LeaseRenewed):
        return False
    return not isinstance(event, ev.Reported) or after.steps != before.steps


def mermaid() -> str:
    """The state diagram, drawn from `TRANSITIONS` (Mermaid source)."""
    arrows: dict[tuple[Status, Status], list[str]] = {}
    for event, rows in TRANSITIONS.items():
        for before, afters in rows.items():
            for after in afters:
                if before is not after:
                    arrows.setdefault((before, after), []).append(event.__name__)
    order = list(Status)
    lines = ["stateDiagram-v2", "    [*] --> working"]
    lines += [
        f"    {before.value} --> {after.value}: {', '.join(sorted(names))}"
        for (before, after), names in sorted(
            arrows.items(), key=lambda one: (order.index(one[0][0]), order.index(one[0][1]))
        )
    ]
    lines += [f"    {status.value} --> [*]" for status in order if status.ended]
    return "\n".join(lines) + "\n"


# --- rules: one a kind of event ---------------------------------------------------------------


def _claimed(record: TaskRecord, event: ev.Claimed, at_ms: int) -> TaskRecord:
    if not may_claim(record, at_ms):
        raise IllegalEvent(
            f"Worker {event.worker!r} cannot take this task: it is held, has no attempt left, or "
            "was asked to stop. Claim another."
        )
    words = f"Started again (attempt {record.attempt + 1})." if record.attempt > 0 else "Started."
    if record.cancel_asked:
        words = "Stop asked; what this had started elsewhere is being stopped."
    return replace(
        record,
        status=Status.WORKING,
        status_message=words,
        lease=Lease(worker=event.worker, until_ms=event.until_ms),
        generation=record.generation + 1,
        attempt=record.attempt + 1,
        progress=None,
        inputs=_closed(record.inputs, at_ms),
    )


def _lease_renewed(record: TaskRecord, event: ev.LeaseRenewed, _at_ms: int) -> TaskRecord:
    assert record.lease is not None  # _check_generation
    return replace(record, lease=replace(record.lease, until_ms=event.until_ms))


def _released(record: TaskRecord, event: ev.Released, at_ms: int) -> TaskRecord:
    if record.cancel_asked and not record.reachable:
        return _cancelled(record, event.how, at_ms)
    return replace(
        record,
        status=Status.WORKING,
        status_message=record.status_message if record.cancel_asked else WAITING_AGAIN,
        lease=None,
        attempt=record.attempt - 1,  # handing back is not a lost worker: it costs no attempt
        inputs=_closed(record.inputs, at_ms),
    )


def _reported(record: TaskRecord, event: ev.Reported, at_ms: int) -> TaskRecord:
    steps, words = record.steps, record.status_message
    if event.message is not None and (not steps or steps[-1].message != event.message):
        seq = steps[-1].seq + 1 if steps else 1
        steps = (*steps, Step(seq=seq, at_ms=at_ms, message=event.message))[-RECENT_STEPS:]
    if event.message is not None and not record.cancel_asked:
        words = event.message
    progress = Progress(at_ms=at_ms, done=event.done, total=event.total, message=event.message)
    return replace(record, progress=progress, steps=steps, status_message=words)


def _noted(record: TaskRecord, event: ev.Noted, at_ms: int) -> TaskRecord:
    before = record.journal.get(event.key)
    if before is not None and (before.done or not event.done):
        return record  # the first outcome stands
    if before is None and len(record.journal) >= MAX_NOTES:
        raise IllegalEvent(
            f"The journal of this task is full: {MAX_NOTES} keys were noted before {event.key!r}. "
            "Note the batch instead of each of its parts."
        )
    note = Note(at_ms=at_ms, done=event.done, outcome=event.outcome, reachable=event.reachable)
    return replace(record, journal={**record.journal, event.key: note})


def _input_asked(record: TaskRecord, event: ev.InputAsked, at_ms: int) -> TaskRecord:
    if event.key in record.inputs:
        raise IllegalEvent(
            f"The input key {event.key!r} was used before in this task; ask under a new key."
        )
    asked = Input(request=event.request, asked_at_ms=at_ms, answer_by_ms=event.answer_by_ms)
    words = record.status_message if record.cancel_asked else "Waiting for your answer."
    return replace(
        record,
        status=Status.INPUT_REQUIRED,
        status_message=words,
        inputs={**record.inputs, event.key: asked},
    )


def _input_answered(record: TaskRecord, event: ev.InputAnswered, at_ms: int) -> TaskRecord:
    answered = {
        key: replace(one, response=event.responses[key], closed_at_ms=at_ms)
        for key, one in record.outstanding.items()
        if key in event.responses
    }
    return _after_inputs(record, answered, "Answered; going on.") if answered else record


def _input_withdrawn(record: TaskRecord, event: ev.InputWithdrawn, at_ms: int) -> TaskRecord:
    withdrawn = {
        key: replace(one, closed_at_ms=at_ms, withdrawn=True)
        for key, one in record.outstanding.items()
        if key in event.keys
    }
    return _after_inputs(record, withdrawn, "Going on without an answer.") if withdrawn else record


def _after_inputs(record: TaskRecord, closed: Mapping[str, Input], words: str) -> TaskRecord:
    after = replace(record, inputs={**record.inputs, **closed})
    if after.outstanding:
        return after
    words = (record.status_message or words) if record.cancel_asked else words
    return replace(after, status=Status.WORKING, status_message=words)


def _cancel_asked(record: TaskRecord, event: ev.CancelAsked, at_ms: int) -> TaskRecord:
    if record.cancel_asked and not event.final:
        return record
    asked = record
    if not record.cancel_asked:
        asked = replace(record, cancel_asked_at_ms=at_ms, cancel_reason=event.reason)
    if record.lease is None and not record.journal:
        return _cancelled(asked, StoppedHow.NEVER_STARTED, at_ms)
    if record.lease is None and not record.reachable:
        return _cancelled(asked, StoppedHow.NOT_STOPPED, at_ms)
    if event.final:
        words = "Cancelled: the work was told to stop."
        return replace(asked, status=Status.CANCELLED, status_message=words)
    return replace(asked, status_message="Stop asked; the work has not stopped yet.")


def _completed(record: TaskRecord, event: ev.Completed, at_ms: int) -> TaskRecord:
    words = event.message
    if record.cancel_asked:
        words = f"{words} The stop that was asked for came too late."
    return replace(
        record,
        status=Status.COMPLETED,
        status_message=words,
        result=event.result,
        is_error=event.is_error,
        stopped_at_ms=at_ms,
    )


def _failed(record: TaskRecord, event: ev.Failed, at_ms: int) -> TaskRecord:
    return replace(
        record,
        status=Status.FAILED,
        status_message=event.message,
        error=event.error,
        stopped_at_ms=at_ms if event.stopped else None,
        stopped_how=None if event.stopped else StoppedHow.NOT_STOPPED,
    )


def _stopped(record: TaskRecord, event: ev.Stopped, at_ms: int) -> TaskRecord:
    return _cancelled(record, event.how, at_ms)


def _gave_up(record: TaskRecord, _event: ev.GaveUp, at_ms: int) -> TaskRecord:
    return _cancelled(record, StoppedHow.NOT_STOPPED, at_ms)


def _worker_lost(record: TaskRecord, event: ev.WorkerLost, at_ms: int) -> TaskRecord:
    if not worker_lost(record, at_ms):
        raise IllegalEvent("This task's worker is not lost, or somebody may still run the task.")
    if record.cancel_asked:
        how = StoppedHow.NOT_STOPPED if record.journal else StoppedHow.WORKER_LOST
        return _cancelled(record, how, at_ms)
    words = str(event.error.get("message", "The server stopped while this was running."))
    if record.journal:
        words = f"{words} {LEFT_BEHIND}"
    if record.attempt > 1:
        words = f"{words} It was tried {record.attempt} times."
    error: dict[str, Any] = {**event.error, "message": words}
    return replace(record, status=Status.FAILED, status_message=words, error=error)


def _tool_gone(record: TaskRecord, event: ev.ToolGone, at_ms: int) -> TaskRecord:
    if record.cancel_asked or not may_claim(record, at_ms):
        raise IllegalEvent("This task is held, or was asked to stop: it waits for no worker.")
    words = (
        f"No worker has known the tool {record.tool!r} for {event.seconds:g} s, so this was not "
        "run. It may have been renamed or removed."
    )
    if record.journal:
        words = f"{words} {LEFT_BEHIND}"
    error = {"code": -32603, "message": words, "data": {"reason": "tool_gone"}}
    return replace(record, status=Status.FAILED, status_message=words, error=error)


def _taken_back(record: TaskRecord, event: ev.TakenBack, at_ms: int) -> TaskRecord:
    if record.lease is None:
        raise IllegalEvent("Nobody has this task, so there is nobody to take it from: it waits.")
    if record.cancel_asked:
        raise IllegalEvent("This task was asked to stop, so it is not run again.")
    if record.max_attempts <= 1 and not event.even_if_unsafe:
        raise IllegalEvent(
            f"The tool {record.tool!r} is not declared safe to run again, and its work may have "
            "had effects already. Stop the task instead, or say that it is to be run even so."
        )
    return replace(
        record,
        status=Status.WORKING,
        status_message=f"Taken back by an operator. {WAITING_AGAIN}",
        lease=None,
        generation=record.generation + 1,  # fences whoever had it, also while nobody has it
        attempt=record.attempt - 1,  # as for what is handed back: no worker was lost
        inputs=_closed(record.inputs, at_ms),
    )


def _stop_confirmed(record: TaskRecord, event: ev.StopConfirmed, at_ms: int) -> TaskRecord:
    if record.stopped_at_ms is not None:
        return record
    return replace(record, stopped_at_ms=at_ms, stopped_how=event.how)


def _keep_chosen(record: TaskRecord, event: ev.KeepChosen, _at_ms: int) -> TaskRecord:
    return replace(record, keep_ms=event.keep_ms)


_STOPPED_WORDS: Mapping[StoppedHow, str] = {
    StoppedHow.NEVER_STARTED: "Cancelled before it started.",
    StoppedHow.COROUTINE_ENDED: "Cancelled: the work ended {seconds} s after the stop was asked.",
    StoppedHow.THREAD_RETURNED: "Cancelled: its thread returned {seconds} s after the asking.",
    StoppedHow.ENGINE_CONFIRMED: "Cancelled: confirmed by the engine after {seconds} s.",
    StoppedHow.PROCESS_ENDED: "Cancelled: its process ended {seconds} s after the stop was asked.",
    StoppedHow.WORKER_LOST: "Cancelled: the server running it stopped after the stop was asked.",
    StoppedHow.NOT_STOPPED: (
        "Cancelled, but the work could not be stopped and may still be having effects."
    ),
}


def _cancelled(record: TaskRecord, how: StoppedHow, at_ms: int) -> TaskRecord:
    if record.cancel_asked_at_ms is None:
        raise IllegalEvent("Nobody asked for this task to be stopped; end it as failed instead.")
    seconds = f"{(at_ms - record.cancel_asked_at_ms) / 1000:.2f}"
    return replace(
        record,
        status=Status.CANCELLED,
        status_message=_STOPPED_WORDS[how].format(seconds=seconds),
        stopped_at_ms=None if how is StoppedHow.NOT_STOPPED else at_ms,
        stopped_how=how,
    )


_RULES: Mapping[type[ev.Event], Callable[[TaskRecord, Any, int], TaskRecord]] = {
    ev.Claimed: _claimed,
    ev.LeaseRenewed: _lease_renewed,
    ev.Released: _released,
    ev.Reported: _reported,
    ev.Noted: _noted,
    ev.InputAsked: _input_asked,
    ev.InputAnswered: _input_answered,
    ev.InputWithdrawn: _input_withdrawn,
    ev.CancelAsked: _cancel_asked,
    ev.Completed: _completed,
    ev.Failed: _failed,
    ev.Stopped: _stopped,
    ev.GaveUp: _gave_up,
    ev.WorkerLost: _worker_lost,
    ev.ToolGone: _tool_gone,
    ev.TakenBack: _taken_back,
    ev.StopConfirmed: _stop_confirmed,
    ev.KeepChosen: _keep_chosen,
}


def _check_generation(record: TaskRecord, event: ev.Event) -> None:
    generation = getattr(event, "generation", None)
    if generation is None:
        return
    held = record.lease is not None or isinstance(event, ev.StopConfirmed)
    if generation != record.generation or not held:
        raise Fenced(
            f"{type(event).__name__} came from generation {generation!r}, but the task is at "
            f"{record.generation!r}: another worker has it now. Drop this work."
        )


def _unheld(record: TaskRecord, at_ms: int) -> bool:
    return record.lease is None or record.lease.until_ms <= at_ms


def _closed(inputs: Mapping[str, Input], at_ms: int) -> Mapping[str, Input]:
    return {
        key: replace(one, closed_at_ms=at_ms, withdrawn=True) if one.outstanding else one
        for key, one in inputs.items()
    }


def _visible(record: TaskRecord) -> tuple[object, ...]:
    """What a client can see of a task in `tasks/get`, beside the facts about stopping."""
    return (
        record.status,
        record.status_message,
        record.progress,
        record.steps,
        record.outstanding,
        record.result,
        record.error,
        record.cancel_asked_at_ms,
    )


__all__ = [
    "MAX_NOTES",
    "REACH_ATTEMPTS",
    "TRANSITIONS",
    "UNREACHED_MS",
    "apply",
    "belongs_in_history",
    "is_news",
    "may_claim",
    "mermaid",
    "to_be_reached",
    "worker_lost",
]
