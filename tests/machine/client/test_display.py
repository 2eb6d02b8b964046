"""What a person is shown, for every combination of what can be known."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from awhile.client.display import Known, Now, State, show
from awhile.client.outcome import CancelOutcome, outcome_of
from awhile.client.words import NO_REASON
from awhile.tasks import Progress, Status, Step, StoppedHow
from awhile.wire.snapshot import Snapshot

START_MS = 1_000_000
NOW_MS = START_MS + 60_000
STALE = "step 4/5"


def snapshot(status: Status, **members: Any) -> Snapshot:
    """A task with everything on it that a careless server leaves there."""
    plain = Snapshot(
        task_id="t",
        status=status,
        status_message=STALE,
        created_at_ms=START_MS,
        last_updated_at_ms=START_MS + 10_000,
        progress=Progress(at_ms=START_MS, done=4, total=5, message=STALE),
        steps=(Step(seq=1, at_ms=START_MS, message=STALE),),
    )
    return replace(plain, **members)


ANSWER = {"content": [{"type": "text", "text": "42"}]}
REFUSAL = {"content": [{"type": "text", "text": "no such table"}], "isError": True}
QUESTION = {"k": {"method": "elicitation/create", "params": {"message": "Really?"}}}

TASKS = {
    "none": None,
    "working": snapshot(Status.WORKING),
    "input": snapshot(Status.INPUT_REQUIRED, input_requests=QUESTION),
    "completed": snapshot(Status.COMPLETED, result=ANSWER),
    "isError": snapshot(Status.COMPLETED, result=REFUSAL),
    "failed": snapshot(Status.FAILED, error={"code": -1, "message": "broke"}),
    "cancelled": snapshot(Status.CANCELLED),
    "unstoppable": snapshot(Status.CANCELLED, stopped_how=StoppedHow.NOT_STOPPED),
}
CANCELS = {"no": None, "just now": NOW_MS - 1_000, "long ago": NOW_MS - 31_000}
REACH = ("reached", "unreachable", "gone")

ALIVE = {
    ("none", "no"): State.SENDING,
    ("working", "no"): State.WORKING,
    ("input", "no"): State.NEEDS_INPUT,
    **{(task, "just now"): State.CANCEL_REQUESTED for task in ("none", "working", "input")},
    **{(task, "long ago"): State.NOT_STOPPED_YET for task in ("none", "working", "input")},
}
ENDED = {
    ("completed", False): State.FINISHED,
    ("completed", True): State.FINISHED_ANYWAY,
    ("isError", False): State.FAILED,
    ("isError", True): State.FAILED_AFTER_CANCEL,
    ("failed", False): State.FAILED,
    ("failed", True): State.FAILED_AFTER_CANCEL,
    ("cancelled", False): State.CANCELLED,
    ("cancelled", True): State.CANCELLED,
    ("unstoppable", False): State.NOT_STOPPED_YET,
    ("unstoppable", True): State.NOT_STOPPED_YET,
}


def shown(task: str, cancel: str, reach: str) -> Now:
    known = Known(
        task=TASKS[task],
        started_at_ms=START_MS,
        changed_at_ms=START_MS + 30_000,
        cancel_asked_at_ms=CANCELS[cancel],
        unreachable_since_ms=NOW_MS - 12_000 if reach == "unreachable" else None,
        unreachable_why="connection refused" if reach == "unreachable" else None,
        gone=reach == "gone",
    )
    return show(known, now_ms=NOW_MS)


EVERYTHING = list(product(TASKS, CANCELS, REACH))


@pytest.mark.parametrize(("task", "cancel", "reach"), EVERYTHING)
def test_the_state_shown_for_everything_that_can_be_known(
    task: str, cancel: str, reach: str
) -> None:
    if (task, cancel != "no") in ENDED:  # an ending that was seen beats everything seen later
        expected = ENDED[task, cancel != "no"]
    elif reach == "gone":
        expected = State.EXPIRED
    elif reach == "unreachable":
        expected = State.UNREACHABLE
    else:
        expected = ALIVE[task, cancel]
    assert shown(task, cancel, reach).state is expected


@pytest.mark.parametrize(("task", "cancel", "reach"), EVERYTHING)
def test_no_working_message_stands_beside_an_ending(task: str, cancel: str, reach: str) -> None:
    """A9, whatever the server left on the task."""
    now = shown(task, cancel, reach)
    if now.ended:
        assert now.message is None
        assert STALE not in now.words
        assert now.detail != STALE
        assert not now.inputs
        assert now.last_news_seconds is None
    assert now.words


@pytest.mark.parametrize(("task", "cancel", "reach"), EVERYTHING)
def test_ended_means_that_nothing_more_will_come(task: str, cancel: str, reach: str) -> None:
    now = shown(task, cancel, reach)
    assert now.ended == (reach == "gone" or (task, True) in ENDED)
    endings = {State.FINISHED, State.FINISHED_ANYWAY, State.FAILED, State.FAILED_AFTER_CANCEL}
    if now.state in endings | {State.CANCELLED, State.EXPIRED}:
        assert now.ended


def test_every_state_is_reached() -> None:
    assert {shown(*one).state for one in EVERYTHING} == set(State)


@pytest.mark.parametrize(
    ("done", "total", "percent"),
    [
        (1, 4, 25.0),
        (4, 4, 100.0),
        (0, 4, 0.0),
        (1, None, None),
        (None, 4, None),
        (5, 4, None),
        (-1, 4, None),
        (0, 0, None),
    ],
)
def test_a_percentage_needs_an_honest_total(
    done: float | None, total: float | None, percent: float | None
) -> None:
    at = Progress(at_ms=START_MS, done=done, total=total)
    now = show(Known(task=snapshot(Status.WORKING, progress=at)), now_ms=NOW_MS)
    assert now.percent == percent


def test_a_finished_task_does_not_stand_at_four_of_five() -> None:
    now = shown("completed", "no", "reached")
    assert (now.percent, now.done, now.total) == (None, None, None)
    rows = snapshot(Status.COMPLETED, result=ANSWER, progress=Progress(at_ms=START_MS, done=1204))
    assert show(Known(task=rows), now_ms=NOW_MS).done == 1204


def test_a_failed_task_keeps_how_far_it_came() -> None:
    assert shown("failed", "no", "reached").percent == 80.0


@pytest.mark.parametrize(
    ("task", "detail"), [("isError", "no such table"), ("failed", "broke"), ("input", "Really?")]
)
def test_the_second_line_has_the_text_that_matters(task: str, detail: str) -> None:
    """A8: the tool's own words, the error's message, the question."""
    assert shown(task, "no", "reached").detail == detail


def test_an_error_without_words_says_so() -> None:
    silent = Known(task=snapshot(Status.FAILED, error={"code": -1}))
    assert show(silent, now_ms=NOW_MS).detail == NO_REASON
    mute = Known(task=snapshot(Status.COMPLETED, result={"content": [], "isError": True}))
    assert show(mute, now_ms=NOW_MS).detail == "The tool failed without saying why."


@pytest.mark.parametrize("how", list(StoppedHow))
def test_how_it_is_known_that_work_stopped_is_said(how: StoppedHow) -> None:
    now = show(Known(task=snapshot(Status.CANCELLED, stopped_how=how)), now_ms=NOW_MS)
    assert now.how_stopped is how
    assert now.detail
    assert (now.state is State.CANCELLED) == (how is not StoppedHow.NOT_STOPPED)


def test_a_stop_somebody_else_asked_for_counts_too() -> None:
    task = snapshot(Status.WORKING, cancel_asked_at_ms=NOW_MS - 1_000)
    assert show(Known(task=task), now_ms=NOW_MS).state is State.CANCEL_REQUESTED


def test_while_it_is_being_stopped_the_second_line_is_what_the_work_says() -> None:
    task = snapshot(Status.WORKING, status_message="Stop asked.", cancel_asked_at_ms=NOW_MS - 1_000)
    assert show(Known(task=task), now_ms=NOW_MS).detail == STALE


def test_a_server_that_is_away_is_said_to_be_away_and_since_when() -> None:
    now = shown("working", "no", "unreachable")
    assert now.words == "No answer from the server for 12 s; trying again"
    assert "may be running on" in (now.detail or "")
    assert "connection refused" in (now.detail or "")
    assert now.percent == 80.0


def test_a_running_task_counts_from_our_own_start_and_an_ended_one_from_the_servers_clock() -> None:
    """The two clocks may differ by hours; each difference is of one clock."""
    assert shown("working", "no", "reached").elapsed_seconds == 60.0
    assert shown("completed", "no", "reached").elapsed_seconds == 10.0
    assert shown("working", "no", "reached").last_news_seconds == 30.0


def test_a_clock_behind_the_servers_never_counts_backwards() -> None:
    task = snapshot(Status.WORKING, created_at_ms=NOW_MS + 3_600_000)
    assert show(Known(task=task), now_ms=NOW_MS).elapsed_seconds == 0.0


def test_only_the_clocks_make_no_difference() -> None:
    known = Known(task=TASKS["working"], started_at_ms=START_MS, changed_at_ms=START_MS)
    first, later = (show(known, now_ms=NOW_MS + more) for more in (0, 5_000))
    assert first != later
    assert not later.differs(first)
    assert later.differs(None)
    assert later.differs(shown("input", "no", "reached"))


def test_a_closed_call_without_a_task_claims_nothing() -> None:
    now = show(Known(call_closed=True, cancel_asked_at_ms=NOW_MS), now_ms=NOW_MS)
    assert (now.state, now.ended) == (State.NOT_STOPPED_YET, True)


def test_a_lost_call_without_a_task_cannot_be_waited_for() -> None:
    now = show(Known(call_lost="connection reset"), now_ms=NOW_MS)
    assert (now.state, now.ended) == (State.UNREACHABLE, True)
    assert "connection reset" in (now.detail or "")


@pytest.mark.parametrize(
    ("era_proves_nothing", "how", "words", "detail", "outcome"),
    [
        (False, None, "Cancelled", None, CancelOutcome.CANCELLED),
        (
            True,
            None,
            "Cancelled, but the server may still be working",
            "nothing here shows that the work has stopped",
            CancelOutcome.CANCELLED_UNPROVEN,
        ),
        (
            True,
            StoppedHow.PROCESS_ENDED,
            "Cancelled",
            "Its process has ended.",
            CancelOutcome.CANCELLED,
        ),
        (
            True,
            StoppedHow.NOT_STOPPED,
            "Not stopped yet: the work may still be running",
            "may still be having effects",
            CancelOutcome.NOT_STOPPED_YET,
        ),
    ],
)
def test_a_cancel_is_told_by_what_proves_it(
    era_proves_nothing: bool,
    how: StoppedHow | None,
    words: str,
    detail: str | None,
    outcome: CancelOutcome,
) -> None:
    """2025-11-25 has a cancel answered "cancelled" at once, whatever the work is doing."""
    known = Known(
        task=snapshot(Status.CANCELLED, stopped_how=how),
        cancel_asked_at_ms=NOW_MS,
        cancel_proves_nothing=era_proves_nothing,
    )
    now = show(known, now_ms=NOW_MS)
    assert (now.words, now.ended) == (words, True)
    assert (now.detail is None) if detail is None else (detail in (now.detail or ""))
    assert outcome_of(known, now_ms=NOW_MS) is outcome
    assert outcome.words


@pytest.mark.parametrize("status", [Status.WORKING, Status.COMPLETED, Status.FAILED])
def test_an_era_without_proof_changes_nothing_but_a_cancel(status: Status) -> None:
    known = Known(task=snapshot(status, result=ANSWER))
    unproven = replace(known, cancel_proves_nothing=True)
    assert show(unproven, now_ms=NOW_MS) == show(known, now_ms=NOW_MS)


def test_a_question_asked_of_this_side_directly_is_shown_like_a_listed_one() -> None:
    known = Known(task=snapshot(Status.WORKING), questions=QUESTION)
    now = show(known, now_ms=NOW_MS)
    assert (now.state, now.detail, now.inputs) == (State.NEEDS_INPUT, "Really?", QUESTION)


def test_what_this_side_heard_stands_in_for_what_a_task_does_not_carry() -> None:
    heard = Progress(at_ms=NOW_MS, done=1, total=4, message="heard")
    steps = (Step(seq=1, at_ms=NOW_MS, message="heard"),)
    bare = snapshot(Status.WORKING, status_message=None, progress=None, steps=())
    now = show(Known(task=bare, progress=heard, steps=steps), now_ms=NOW_MS)
    assert (now.words, now.percent, now.steps) == ("heard", 25.0, steps)
    carried = show(Known(task=TASKS["working"], progress=heard, steps=steps), now_ms=NOW_MS)
    assert (carried.words, carried.percent) == (STALE, 80.0)
