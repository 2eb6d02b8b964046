"""What holds for every task, whatever happens to it in whatever order (Hypothesis)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from awhile.errors import Fenced, IllegalEvent
from awhile.tasks import Event, Status, StoppedHow, TaskRecord, apply
from awhile.tasks import events as ev
from awhile.tasks.record import RECENT_STEPS
from awhile.tasks.state import (
    REACH_ATTEMPTS,
    TRANSITIONS,
    UNREACHED_MS,
    belongs_in_history,
    is_news,
    may_claim,
    to_be_reached,
    worker_lost,
)
from tests.machine.tasks.happenings import AT, TERM, new_task, running

MESSAGES = st.sampled_from([None, "reading", "sorting", "joining"])
NUMBERS = st.none() | st.integers(0, 9)
KEYS = st.sampled_from("abc")
HOWS = st.sampled_from(StoppedHow)
RESULTS = st.fixed_dictionaries({"n": st.integers(0, 9)})

KINDS: list[st.SearchStrategy[Event]] = [
    st.builds(
        ev.Claimed,
        worker=st.sampled_from(["w1", "w2"]),
        until_ms=st.integers(AT, AT + 9 * TERM),
    ),
    st.builds(ev.LeaseRenewed, generation=st.just(0), until_ms=st.integers(AT, AT + 9 * TERM)),
    st.builds(ev.Released, generation=st.just(0), how=HOWS),
    st.builds(ev.Reported, generation=st.just(0), done=NUMBERS, total=NUMBERS, message=MESSAGES),
    st.builds(ev.InputAsked, generation=st.just(0), key=KEYS, request=RESULTS),
    st.builds(
        ev.Noted,
        generation=st.just(0),
        key=KEYS,
        done=st.booleans(),
        outcome=NUMBERS,
        reachable=st.booleans(),
    ),
    st.builds(ev.InputAnswered, responses=st.dictionaries(KEYS, st.integers(0, 9), max_size=3)),
    st.builds(ev.InputWithdrawn, generation=st.just(0), keys=st.frozensets(KEYS)),
    st.builds(ev.CancelAsked, reason=MESSAGES, final=st.sampled_from([False] * 7 + [True])),
    st.builds(ev.Completed, generation=st.just(0), result=RESULTS, is_error=st.booleans()),
    st.builds(ev.Failed, generation=st.just(0), error=RESULTS, message=st.just("It broke.")),
    st.builds(ev.Stopped, generation=st.just(0), how=HOWS),
    st.builds(ev.GaveUp, generation=st.just(0)),
    st.builds(ev.StopConfirmed, generation=st.just(0), how=HOWS),
    st.builds(ev.WorkerLost),
    st.builds(ev.ToolGone, seconds=st.just(300.0)),
    st.builds(ev.TakenBack, by=st.just("olga"), even_if_unsafe=st.booleans()),
    st.builds(ev.KeepChosen, keep_ms=st.sampled_from([None, 0, 1000])),
]
UNENDING = KINDS[:8]
"""Those that come more often, so that lives are long enough for a second claim, a stop, a loss."""


@dataclass(frozen=True)
class Happening:
    """An event to come: its generation and instant depend on the task it will meet."""

    event: Event
    behind: int
    """How far its generation differs from the one the task will be at; mostly not at all."""
    later_ms: int

    def on(self, record: TaskRecord) -> Event:
        """The event with its generation."""
        if not hasattr(self.event, "generation"):
            return self.event
        event: Any = self.event
        return replace(event, generation=record.generation + self.behind)


LIVES = st.lists(
    st.builds(
        Happening,
        event=st.one_of(*KINDS, *UNENDING * 3),
        behind=st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1]),
        later_ms=st.sampled_from([0, 1, 1, 50, TERM, -30]),
    ),
    min_size=20,
    max_size=40,
)


def a_task(held: bool, attempts: int, keep_ms: int | None) -> TaskRecord:
    """A task at its beginning, waiting or running already."""
    make = running if held else new_task
    return make(max_attempts=attempts, keep_ms=keep_ms)


TASKS = st.builds(
    a_task,
    held=st.sampled_from([True, True, False]),
    attempts=st.integers(1, 3),
    keep_ms=st.sampled_from([None, 0, 1000]),
)


def shown(record: TaskRecord) -> dict[str, Any]:
    """What a client sees of the work, written down apart from the code under test."""
    return {
        "status": record.status,
        "statusMessage": record.status_message,
        "result": record.result,
        "error": record.error,
        "inputRequests": {key: one.request for key, one in record.outstanding.items()},
        "progress": record.progress,
        "steps": record.steps,
        "cancelAskedAt": record.cancel_asked_at_ms,
    }


def live(record: TaskRecord, happenings: list[Happening]) -> list[tuple[TaskRecord, Event, Any]]:
    """Let it all happen: (before, event, record after or the refusal)."""
    told: list[tuple[TaskRecord, Event, Any]] = []
    at_ms = AT
    for one in happenings:
        at_ms += one.later_ms
        before, event = copy.deepcopy(record), one.on(record)
        try:
            outcome: Any = apply(record, event, at_ms)
        except IllegalEvent as refusal:
            outcome = refusal
        assert record == before  # whatever came of it, the record itself was not touched
        told.append((record, event, outcome))
        record = record if isinstance(outcome, IllegalEvent) else outcome
    return told


def changes(record: TaskRecord, happenings: list[Happening]) -> list[tuple[TaskRecord, Any, Any]]:
    """Only what was accepted: (before, event, after)."""
    told = live(record, happenings)
    return [each for each in told if not isinstance(each[2], IllegalEvent)]


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_no_sequence_of_events_leaves_a_terminal_state(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    for before, event, after in changes(record, happenings):
        assert after.status in TRANSITIONS[type(event)][before.status]
        if before.status.ended:
            facts = {
                "stopped_at_ms": after.stopped_at_ms,
                "stopped_how": after.stopped_how,
                "keep_ms": after.keep_ms,
            }
            assert after == replace(before, **facts)
            assert after.last_updated_at_ms == before.last_updated_at_ms


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_no_sequence_of_events_loses_a_result(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    for before, event, after in changes(record, happenings):
        if isinstance(event, ev.Completed):
            assert (after.result, after.is_error) == (event.result, event.is_error)
        elif before.result is not None:
            assert after.result == before.result
        else:
            assert after.result is None
        assert (after.result is not None) == (after.status is Status.COMPLETED)
        assert (after.error is not None) == (after.status is Status.FAILED)


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_no_sequence_of_events_reuses_an_input_key(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    asked: set[str] = set()
    for before, event, after in live(record, happenings):
        if isinstance(after, IllegalEvent):
            continue
        if isinstance(event, ev.InputAsked):
            assert event.key not in asked
            asked.add(event.key)
        assert set(after.inputs) == asked
        for key, one in before.inputs.items():
            assert after.inputs[key].request == one.request
            assert one.outstanding or after.inputs[key] == one
        assert bool(after.outstanding) == (after.status is Status.INPUT_REQUIRED)


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_last_updated_moves_exactly_with_a_visible_change_and_never_back(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    at_ms = AT
    for one, (before, _event, after) in zip(happenings, live(record, happenings), strict=True):
        at_ms += one.later_ms
        if isinstance(after, IllegalEvent):
            continue
        if shown(after) == shown(before):
            assert after.last_updated_at_ms == before.last_updated_at_ms
        else:
            assert after.last_updated_at_ms == max(at_ms, before.last_updated_at_ms)


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_the_fenced_never_change_anything(record: TaskRecord, happenings: list[Happening]) -> None:
    for before, event, after in live(record, happenings):
        generation = getattr(event, "generation", before.generation)
        if generation != before.generation:
            assert isinstance(after, IllegalEvent)
        if isinstance(after, Fenced):
            assert generation != before.generation or before.lease is None


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_a_task_always_has_somebody_to_run_it_or_to_end_it(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    """Ours: no unended task is stuck; whoever claims next runs it or ends it."""
    for before, event, after in changes(record, happenings):
        much_later = AT + 1000 * TERM + UNREACHED_MS
        if after.status.ended:
            assert after.lease is None
            assert not may_claim(after, much_later)
            assert not worker_lost(after, much_later)
            assert after.ended_at_ms is not None
        else:
            assert may_claim(after, much_later) or worker_lost(after, much_later)
            if not to_be_reached(after):  # which waits for a worker that can, and not for ever
                assert may_claim(after, much_later) != worker_lost(after, much_later)
            assert after.ended_at_ms is None
        reached = REACH_ATTEMPTS if after.cancel_asked and after.reachable else 0
        assert 0 <= after.attempt <= after.max_attempts + reached
        leases = isinstance(event, ev.Claimed | ev.TakenBack)
        assert after.generation == before.generation + leases


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_what_was_noted_once_stays_as_it_was(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    """Ours: a later attempt has to find what an earlier one did, whatever happened between."""
    for before, event, after in changes(record, happenings):
        done = {key: note for key, note in before.journal.items() if note.done}
        assert {key: after.journal[key] for key in done} == done
        assert set(before.journal) <= set(after.journal)
        if isinstance(event, ev.Noted):
            assert event.key in after.journal
            assert shown(after) == shown(before)
        else:
            assert after.journal == before.journal
        if not is_news(event):
            assert shown(after) == shown(before)


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_what_is_not_declared_safe_begins_again_only_if_somebody_says_even_so(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    """Ours: neither a crash nor a requeue runs such a body twice by itself."""
    insisted = handed_back = begun = 0
    for before, event, _after in changes(record, happenings):
        if isinstance(event, ev.TakenBack):
            insisted += event.even_if_unsafe
        handed_back += isinstance(event, ev.Released)
        begun += isinstance(event, ev.Claimed) and not before.cancel_asked
    if record.max_attempts == 1:
        assert begun + (record.lease is not None) <= 1 + insisted + handed_back


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_a_body_is_never_begun_after_a_stop_was_asked(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    """Field case A6: whoever claims such a task only reaches what it has started elsewhere."""
    for before, event, _after in changes(record, happenings):
        if isinstance(event, ev.Claimed) and before.cancel_asked:
            assert before.reachable


@given(TASKS, LIVES)
@settings(max_examples=100, deadline=None)
def test_the_words_and_facts_fit_the_status(
    record: TaskRecord, happenings: list[Happening]
) -> None:
    for before, event, after in changes(record, happenings):
        assert after.status_message
        if after.status is Status.CANCELLED:
            assert after.cancel_asked
            # Only after a final cancel may a task have ended before its work is known to have.
            final = isinstance(event, ev.CancelAsked) and event.final
            assert after.stopped_how is not None or final or before.stopped_how is None
            assert after.stopped_how is not None or after.stopped_at_ms is None
            assert before.stopped_how is None or after.stopped_how is not None
            assert after.status_message.startswith("Cancelled")
        if before.cancel_asked:
            assert after.cancel_asked_at_ms == before.cancel_asked_at_ms
            assert after.cancel_reason == before.cancel_reason
        seqs = [step.seq for step in after.steps]
        assert len(seqs) <= RECENT_STEPS
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))) if seqs else True
        assert after is not before or after == before
        belongs = belongs_in_history(before, event, after)
        assert belongs or shown(after) == shown(before) or isinstance(event, ev.Reported)


def test_the_properties_exercise_every_kind_of_event() -> None:
    """Else a property would hold only because its event never happens."""
    accepted: set[type[Event]] = set()

    @given(TASKS, LIVES)
    @settings(max_examples=400, deadline=None, derandomize=True)
    def collect(record: TaskRecord, happenings: list[Happening]) -> None:
        accepted.update(event.__class__ for _, event, _ in changes(record, happenings))

    collect()
    assert accepted == set(TRANSITIONS)
