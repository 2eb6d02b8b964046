"""The transition table: each kind of event in each status, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest

from awhile.errors import Fenced, IllegalEvent
from awhile.tasks import (
    Event,
    Lease,
    Progress,
    Status,
    StoppedHow,
    TaskRecord,
    apply,
    state,
)
from awhile.tasks import events as ev
from awhile.tasks.record import RECENT_STEPS
from awhile.tasks.state import (
    TRANSITIONS,
    belongs_in_history,
    may_claim,
    mermaid,
    worker_lost,
)
from tests.machine.tasks.happenings import (
    ASKED,
    AT,
    EVENTS,
    IN_STATUS,
    TERM,
    after,
    new_task,
    refused,
    running,
)

CANCELLED = (ev.CancelAsked(), ev.Stopped(generation=1, how=StoppedHow.COROUTINE_ENDED))


def test_the_table_and_these_tests_know_every_kind_of_event() -> None:
    assert set(TRANSITIONS) == set(get_args(Event)) == set(EVENTS)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_an_event_is_legal_exactly_where_the_table_says(kind: type[Event], status: Status) -> None:
    """Ours. Where an event needs more than a status (a cancel before a stop), that is given."""
    record, at_ms = IN_STATUS[status](), AT + 20
    if kind in {ev.Stopped, ev.GaveUp} and not status.ended:
        record = after(record, ev.CancelAsked())
    if kind in {ev.Claimed, ev.WorkerLost, ev.ToolGone} and not status.ended:
        record = replace(record, max_attempts=1 if kind is ev.WorkerLost else 2)
        at_ms = AT + TERM
    if status not in TRANSITIONS[kind]:
        with pytest.raises(IllegalEvent, match=f"{status.value!r}; read the task again"):
            apply(record, EVENTS[kind], at_ms)
    else:
        assert apply(record, EVENTS[kind], at_ms).status in TRANSITIONS[kind][status]


def test_a_rule_that_strays_from_the_table_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    strict: Mapping[Any, Any] = {
        **TRANSITIONS,
        ev.Completed: {Status.WORKING: frozenset({Status.FAILED})},
    }
    monkeypatch.setattr(state, "TRANSITIONS", strict)
    with pytest.raises(AssertionError, match="Completed"):
        after(running(), EVENTS[ev.Completed])


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_a_worker_of_another_generation_is_fenced(kind: type[Event]) -> None:
    event: Any = EVENTS[kind]
    if not hasattr(event, "generation"):
        return
    record = IN_STATUS[Status.CANCELLED]() if kind is ev.StopConfirmed else running()
    for generation in (0, 2):
        with pytest.raises(Fenced, match=f"generation {generation}"):
            apply(record, replace(event, generation=generation), AT + 10)


def test_a_worker_that_handed_its_task_back_is_fenced() -> None:
    released = after(running(), ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED))
    with pytest.raises(Fenced):
        after(released, EVENTS[ev.Completed])


# --- beginning and claiming ---------------------------------------------------------------------


def test_a_new_task_waits_or_has_begun_already() -> None:
    waiting = new_task()
    assert (waiting.status, waiting.status_message) == (Status.WORKING, "Waiting to start.")
    assert (waiting.generation, waiting.attempt, waiting.steps) == (0, 0, ())
    begun = running()
    assert (begun.status, begun.status_message) == (Status.WORKING, "Started.")
    assert (begun.generation, begun.attempt) == (1, 1)


def test_a_claim_counts_an_attempt_and_says_when_it_is_another() -> None:
    claim = ev.Claimed(worker="w", until_ms=AT + TERM)
    first = after(new_task(max_attempts=2), claim)
    assert (first.generation, first.attempt, first.status_message) == (1, 1, "Started.")
    assert first.lease == Lease(worker="w", until_ms=AT + TERM)
    asked = after(first, ev.Reported(generation=1, message="reading"), ASKED)
    again = after(asked, claim, at_ms=AT + TERM)
    assert (again.generation, again.attempt) == (2, 2)
    assert again.status_message == "Started again (attempt 2)."
    assert (again.status, again.progress, dict(again.outstanding)) == (Status.WORKING, None, {})
    assert again.inputs["which"].withdrawn
    assert again.steps == asked.steps


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(running(max_attempts=2), id="held"),
        pytest.param(replace(running(), lease=None), id="no attempt left"),
        pytest.param(after(running(), ev.CancelAsked()), id="to be stopped"),
    ],
)
def test_what_may_not_be_claimed_is_refused(record: TaskRecord) -> None:
    assert not may_claim(record, AT + 10)
    with pytest.raises(IllegalEvent, match="Claim another"):
        after(record, EVENTS[ev.Claimed])


def test_a_release_costs_no_attempt_and_ends_a_task_that_was_to_be_stopped() -> None:
    released = after(running(), ASKED, ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED))
    assert (released.status, released.attempt, released.lease) == (Status.WORKING, 0, None)
    assert may_claim(released, AT + 10)
    assert not worker_lost(released, AT + TERM)
    stopped = after(
        running(), ev.CancelAsked(), ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED)
    )
    assert (stopped.status, stopped.stopped_how) == (Status.CANCELLED, StoppedHow.COROUTINE_ENDED)


def test_a_renewal_moves_the_lease_and_nothing_else() -> None:
    before = running()
    renewed = after(before, EVENTS[ev.LeaseRenewed])
    assert renewed == replace(before, lease=Lease(worker="w1", until_ms=AT + 3 * TERM))


# --- progress -----------------------------------------------------------------------------------


def test_each_changed_message_is_a_step_and_only_the_recent_ones_stay() -> None:
    record = running()
    for number in range(60):
        said = ev.Reported(generation=1, done=number, message=f"step {number // 2}")
        record = after(record, said)
    assert [step.seq for step in record.steps] == list(range(1, 31))
    for number in range(30, 70):
        record = after(record, ev.Reported(generation=1, message=f"step {number}"))
    assert len(record.steps) == RECENT_STEPS
    assert (record.steps[-1].seq, record.steps[-1].message) == (70, "step 69")
    assert record.status_message == "step 69"


def test_a_report_without_words_leaves_the_words() -> None:
    record = after(running(), ev.Reported(generation=1, message="reading"))
    moved = after(record, ev.Reported(generation=1, done=5, total=10))
    assert (moved.status_message, moved.steps) == ("reading", record.steps)
    assert moved.progress == Progress(at_ms=AT + 10, done=5, total=10)


def test_a_report_does_not_hide_that_a_stop_was_asked() -> None:
    record = after(running(), ev.CancelAsked(), ev.Reported(generation=1, message="reading"))
    assert record.status_message == "Stop asked; the work has not stopped yet."
    assert record.steps[-1].message == "reading"


# --- questions ----------------------------------------------------------------------------------


def test_answers_close_their_questions_and_the_last_one_lets_the_work_go_on() -> None:
    two = after(running(), ASKED, EVENTS[ev.InputAsked])
    assert (two.status, two.status_message) == (Status.INPUT_REQUIRED, "Waiting for your answer.")
    one = after(two, ev.InputAnswered(responses={"which": "b", "unknown": 1}))
    assert (one.status, list(one.outstanding)) == (Status.INPUT_REQUIRED, ["other"])
    assert one.inputs["which"].response == "b"
    none = after(one, ev.InputAnswered(responses={"other": None, "which": "again"}))
    assert (none.status, none.status_message) == (Status.WORKING, "Answered; going on.")
    assert none.inputs["which"].response == "b"


def test_unknown_and_answered_keys_are_ignored() -> None:
    """Ext-tasks."""
    record = after(running(), ASKED)
    assert after(record, ev.InputAnswered(responses={"unknown": 1})) is record
    assert after(record, ev.InputWithdrawn(generation=1, keys=frozenset({"unknown"}))) is record
    working = running()
    assert after(working, ev.InputAnswered(responses={"which": 1})) is working


def test_a_question_can_be_withdrawn() -> None:
    record = after(running(), ASKED, EVENTS[ev.InputWithdrawn])
    assert (record.status, record.status_message) == (Status.WORKING, "Going on without an answer.")
    assert record.inputs["which"].withdrawn


def test_a_key_is_used_once_in_a_tasks_life() -> None:
    """Ext-tasks."""
    answered = after(running(), ASKED, EVENTS[ev.InputAnswered])
    with pytest.raises(IllegalEvent, match="'which' was used before"):
        after(answered, ASKED)


def test_questions_do_not_hide_that_a_stop_was_asked() -> None:
    words = "Stop asked; the work has not stopped yet."
    asked = after(running(), ev.CancelAsked(), ASKED)
    assert (asked.status, asked.status_message) == (Status.INPUT_REQUIRED, words)
    assert after(asked, EVENTS[ev.InputAnswered]).status_message == words


# --- endings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "status", "words"),
    [
        ([EVENTS[ev.Completed]], Status.COMPLETED, "Finished."),
        (
            [ev.CancelAsked(), EVENTS[ev.Completed]],
            Status.COMPLETED,
            "Finished. The stop that was asked for came too late.",
        ),
        ([EVENTS[ev.Failed]], Status.FAILED, "no"),
        (CANCELLED, Status.CANCELLED, "Cancelled: the work ended 0.00 s after the stop was asked."),
        (
            [ev.CancelAsked(), ev.GaveUp(generation=1)],
            Status.CANCELLED,
            "Cancelled, but the work could not be stopped and may still be having effects.",
        ),
    ],
)
def test_A9_the_last_words_are_about_the_ending(
    events: list[Event], status: Status, words: str
) -> None:
    """Field case A9: never an old message beside a new status."""
    busy = after(running(), ev.Reported(generation=1, message="reading"), ASKED)
    ended = after(busy, *events)
    assert (ended.status, ended.status_message) == (status, words)
    assert (ended.ended_at_ms, ended.last_updated_at_ms) == (AT + 10, AT + 10)
    assert (ended.lease, dict(ended.outstanding)) == (None, {})


def test_work_nobody_started_is_cancelled_at_once() -> None:
    record = after(new_task(), ev.CancelAsked(reason="enough"))
    assert (record.status, record.stopped_how) == (Status.CANCELLED, StoppedHow.NEVER_STARTED)
    assert (record.cancel_reason, record.stopped_at_ms) == ("enough", AT + 10)


def test_a_second_cancel_changes_nothing() -> None:
    once = after(running(), ev.CancelAsked(reason="first"))
    assert after(once, ev.CancelAsked(reason="second"), at_ms=AT + 99) is once


@pytest.mark.parametrize("status", [Status.WORKING, Status.INPUT_REQUIRED])
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_final_cancel_ends_a_running_task_at_once(status: Status, asked_before: bool) -> None:
    """Spec: 2025-11-25, Task Cancellation: `cancelled` before the response is sent."""
    record = IN_STATUS[status]()
    if asked_before:
        record = after(record, ev.CancelAsked(reason="enough"), at_ms=AT + 15)
    ended = after(record, ev.CancelAsked(reason="now", final=True), at_ms=AT + 20)
    assert (ended.status, ended.lease, dict(ended.outstanding)) == (Status.CANCELLED, None, {})
    assert ended.status_message == "Cancelled: the work was told to stop."
    assert (ended.stopped_at_ms, ended.stopped_how) == (None, None)
    assert (ended.cancel_asked_at_ms, ended.cancel_reason) == (
        (AT + 15, "enough") if asked_before else (AT + 20, "now")
    )
    assert refused(ended, ev.CancelAsked(final=True))
    for late in (ev.Completed, ev.Failed, ev.Stopped, ev.GaveUp, ev.Reported):
        assert refused(ended, EVENTS[late])


def test_that_finally_cancelled_work_has_stopped_is_a_fact_and_nothing_more() -> None:
    """Ours: neither status, message nor `lastUpdatedAt` of the ending change by it."""
    ended = after(running(), ev.CancelAsked(final=True))
    told = after(ended, EVENTS[ev.StopConfirmed], at_ms=AT + 500)
    facts = {"stopped_at_ms": AT + 500, "stopped_how": StoppedHow.PROCESS_ENDED}
    assert told == replace(ended, **facts)
    assert after(told, EVENTS[ev.StopConfirmed], at_ms=AT + 900) is told


def test_a_final_cancel_of_work_nobody_started_says_so() -> None:
    ended = after(new_task(), ev.CancelAsked(final=True))
    assert (ended.status, ended.stopped_how) == (Status.CANCELLED, StoppedHow.NEVER_STARTED)


def test_nothing_stops_that_nobody_asked_to_stop() -> None:
    for kind in (ev.Stopped, ev.GaveUp):
        with pytest.raises(IllegalEvent, match="end it as failed instead"):
            after(running(), EVENTS[kind])


def test_a_lost_worker_ends_only_what_may_not_run_again() -> None:
    once = running()
    with pytest.raises(IllegalEvent, match="not lost"):
        apply(once, ev.WorkerLost(), AT + TERM - 1)
    with pytest.raises(IllegalEvent, match="not lost"):
        apply(running(max_attempts=2), ev.WorkerLost(), AT + TERM)
    lost = apply(once, ev.WorkerLost(), AT + TERM)
    words = "The server stopped while this was running."
    assert (lost.status, lost.status_message) == (Status.FAILED, words)
    assert lost.error is not None
    assert lost.error["message"] == words
    assert lost.stopped_at_ms is None
    stopping = after(once, ev.CancelAsked())
    ended = apply(stopping, ev.WorkerLost(), AT + TERM)
    assert (ended.status, ended.stopped_how) == (Status.CANCELLED, StoppedHow.WORKER_LOST)


def test_a_gone_tool_ends_only_what_waits_for_a_worker() -> None:
    gone = ev.ToolGone(seconds=300)
    for held in (running(), after(new_task(), ev.Claimed(worker="w", until_ms=AT + TERM))):
        with pytest.raises(IllegalEvent, match="it waits for no worker"):
            apply(held, gone, AT + 20)
    ended = apply(new_task(), gone, AT + 20)
    words = (
        "No worker has known the tool 'report' for 300 s, so this was not run. It may have been "
        "renamed or removed."
    )
    assert (ended.status, ended.status_message) == (Status.FAILED, words)
    assert ended.error == {"code": -32603, "message": words, "data": {"reason": "tool_gone"}}
    noted = ev.Noted(generation=1, key="job", done=False)
    ran = apply(after(running(max_attempts=2), noted), gone, AT + TERM)
    assert ran.status_message == f"{words} {state.LEFT_BEHIND}"


def test_what_was_taken_back_waits_for_another_worker_and_fences_the_first() -> None:
    back = after(running(max_attempts=3), ev.TakenBack(by="olga"))
    assert (back.status, back.lease, back.generation, back.attempt) == (Status.WORKING, None, 2, 0)
    assert back.status_message == "Taken back by an operator. Waiting to start again."
    for late in (EVENTS[ev.Reported], EVENTS[ev.Completed], EVENTS[ev.Released]):
        with pytest.raises(Fenced):
            after(back, late)
    again = after(back, EVENTS[ev.Claimed])
    assert (again.generation, again.attempt) == (3, 1)
    with pytest.raises(Fenced):
        after(again, EVENTS[ev.Completed])


def test_only_what_is_held_safe_and_not_to_stop_is_taken_back() -> None:
    back = ev.TakenBack(by="olga")
    with pytest.raises(IllegalEvent, match="nobody to take it from"):
        after(new_task(max_attempts=3), back)
    with pytest.raises(IllegalEvent, match="asked to stop"):
        after(running(max_attempts=3), ev.CancelAsked(), back)
    with pytest.raises(IllegalEvent, match="'report' is not declared safe to run again"):
        after(running(), back)
    assert after(running(), replace(back, even_if_unsafe=True)).lease is None


def test_a_lost_worker_says_how_often_it_was_tried() -> None:
    second = replace(running(max_attempts=2), attempt=2)
    lost = apply(second, ev.WorkerLost(error={"code": 1, "message": "Gone."}), AT + TERM)
    assert lost.status_message == "Gone. It was tried 2 times."


def test_a_stop_confirmed_late_is_a_fact_and_no_new_ending() -> None:
    gave_up = IN_STATUS[Status.CANCELLED]()
    confirmed = after(gave_up, EVENTS[ev.StopConfirmed], at_ms=AT + 50)
    assert confirmed == replace(
        gave_up, stopped_at_ms=AT + 50, stopped_how=StoppedHow.PROCESS_ENDED
    )
    assert after(confirmed, EVENTS[ev.StopConfirmed], at_ms=AT + 60) is confirmed


def test_a_tasks_life_is_counted_from_its_end() -> None:
    assert (running().ttl_ms, running().expires_at_ms) == (None, None)
    ended = after(running(keep_ms=500), EVENTS[ev.Completed])
    assert (ended.ttl_ms, ended.expires_at_ms) == (510, AT + 510)
    assert after(running(keep_ms=None), EVENTS[ev.Completed]).expires_at_ms is None


def test_a_clock_that_goes_back_moves_no_instant_back() -> None:
    record = after(running(), ev.Reported(generation=1, message="a"), at_ms=AT + 500)
    later = after(record, EVENTS[ev.Completed], at_ms=AT - 500)
    assert (later.last_updated_at_ms, later.ended_at_ms) == (AT + 500, AT + 500)


# --- history and diagram ------------------------------------------------------------------------


def test_renewals_and_mere_numbers_are_no_history() -> None:
    record = after(running(), ev.Reported(generation=1, message="reading"))
    for event, belongs in (
        (EVENTS[ev.LeaseRenewed], False),
        (ev.Reported(generation=1, done=3, message="reading"), False),
        (ev.Reported(generation=1, done=3, message="sorting"), True),
        (EVENTS[ev.CancelAsked], True),
    ):
        assert belongs_in_history(record, event, after(record, event)) is belongs


def test_the_diagram_has_an_arrow_for_each_change_of_status() -> None:
    drawn = mermaid()
    assert drawn.startswith("stateDiagram-v2\n    [*] --> working\n")
    assert "    working --> completed: Completed\n" in drawn
    assert "    input_required --> working: Claimed, InputAnswered, InputWithdrawn, Rel" in drawn
    assert drawn.endswith("    failed --> [*]\n    cancelled --> [*]\n")
    assert not any(refused(IN_STATUS[Status.WORKING](), EVENTS[kind]) for kind in (ev.Completed,))


def test_a_stop_asked_while_a_stopping_server_left_the_body_running_is_not_called_stopped() -> None:
    """Ours: a cancel may come between the worker's last look and its handing back."""
    asked = after(running(), ev.CancelAsked())
    left = after(asked, ev.Released(generation=1, how=StoppedHow.NOT_STOPPED))
    assert (left.status, left.stopped_how) == (Status.CANCELLED, StoppedHow.NOT_STOPPED)
    assert left.stopped_at_ms is None
