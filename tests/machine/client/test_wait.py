"""When the next look is due."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awhile.client.wait import (
    LONGEST_POLL_SECONDS,
    LONGEST_RETRY_SECONDS,
    SAFETY_POLL_SECONDS,
    SHORTEST_POLL_SECONDS,
    Connects,
    Pace,
    poll_seconds,
    retry_seconds,
)


@pytest.mark.parametrize(
    ("suggested_ms", "seconds"),
    [(None, 1.0), (0, 1.0), (10, 1.0), (50, 0.05), (250, 0.25), (5_000, 5.0), (3_600_000, 60.0)],
)
def test_the_servers_rhythm_is_kept_within_sane_bounds(
    suggested_ms: int | None, seconds: float
) -> None:
    """Spec: ext-tasks, "Task Polling" (SHOULD); the bounds are ours."""
    assert poll_seconds(suggested_ms) == seconds


@given(st.one_of(st.none(), st.integers(min_value=0)))
def test_no_suggestion_makes_a_busy_loop_or_a_forgotten_task(suggested_ms: int | None) -> None:
    assert SHORTEST_POLL_SECONDS <= poll_seconds(suggested_ms) <= LONGEST_POLL_SECONDS


def test_retries_slow_down_to_a_limit() -> None:
    waits = [retry_seconds(failures, chance=1.0) for failures in range(8)]
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


@given(st.integers(min_value=0), st.floats(min_value=0, max_value=1))
def test_jitter_spreads_a_retry_over_the_second_half_of_its_wait(
    failures: int, chance: float
) -> None:
    whole = retry_seconds(failures, chance=1.0)
    assert whole / 2 <= retry_seconds(failures, chance=chance) <= whole <= LONGEST_RETRY_SECONDS


def test_an_ended_task_is_never_asked_about_again() -> None:
    ended = Pace().answered(10.0, poll_interval_ms=250, ended=True)
    assert ended.wait_seconds(99.0) is None
    assert ended.hurried(99.0).wait_seconds(99.0) is None


def test_an_answer_ends_the_failing() -> None:
    pace = Pace().failed(1.0, chance=1.0).failed(2.0, chance=1.0)
    assert (pace.failures, pace.due_at) == (2, 2.5)
    again = pace.answered(3.0, poll_interval_ms=1000, ended=False)
    assert (again.failures, again.wait_seconds(3.0)) == (0, 1.0)


def test_after_a_change_of_ours_looks_come_sooner_and_ever_later_up_to_the_rhythm() -> None:
    """Ours: a stop that took 10 ms was known after 100 ms; and this is no busy loop."""
    pace = Pace().answered(0.0, poll_interval_ms=500, ended=False).hurried(0.0)
    waits: list[float | None] = []
    for _ in range(6):
        waits.append(pace.wait_seconds(0.0))
        pace = pace.answered(0.0, poll_interval_ms=500, ended=False)
    assert waits == pytest.approx([0.01, 0.03, 0.09, 0.27, 0.5, 0.5])
    due = Pace().answered(0.0, poll_interval_ms=500, ended=False)
    assert due.hurried(0.495).wait_seconds(0.495) == pytest.approx(0.005)


def test_after_a_change_of_ours_a_push_is_waited_for_and_looked_once_in_vain() -> None:
    pushed = Pace(pushed=True).answered(0.0, poll_interval_ms=500, ended=False).hurried(0.0)
    assert pushed.wait_seconds(0.0) == 0.1
    looked = pushed.answered(0.1, poll_interval_ms=500, ended=False)
    assert looked.wait_seconds(0.1) == SAFETY_POLL_SECONDS


def test_a_server_that_does_not_answer_is_not_hurried() -> None:
    failing = Pace().failed(0.0, chance=1.0)
    assert failing.hurried(0.0) == failing


def test_a_look_that_is_overdue_is_due_now() -> None:
    assert Pace(due_at=5.0).wait_seconds(7.0) == 0.0


def test_while_changes_are_pushed_a_look_is_only_for_safety() -> None:
    pace = Pace().answered(0.0, poll_interval_ms=250, ended=False).listening(0.0)
    assert pace.wait_seconds(0.0) == 0.1, "the server need not say how it stands already"
    told = pace.answered(0.0, poll_interval_ms=250, ended=False)
    assert told.wait_seconds(0.0) == SAFETY_POLL_SECONDS
    rare = pace.answered(0.0, poll_interval_ms=40_000, ended=False)
    assert rare.wait_seconds(0.0) == 40.0


def test_when_pushes_end_the_rhythm_is_the_servers_again() -> None:
    pushed = replace(Pace(), pushed=True).answered(0.0, poll_interval_ms=2_000, ended=False)
    assert pushed.deaf(1.0, chance=0.5).wait_seconds(1.0) == 1.0
    assert not pushed.deaf(1.0, chance=0.5).pushed
    ended = pushed.answered(0.0, poll_interval_ms=None, ended=True)
    assert ended.deaf(1.0, chance=0.0).wait_seconds(1.0) is None


def test_C6_connects_are_bounded_whatever_they_are_for() -> None:
    connects = Connects(most=3, within_seconds=10.0)
    for at in (0.0, 1.0, 2.0):
        assert connects.wait_seconds(at) == 0.0
        connects.made(at)
    assert connects.wait_seconds(2.0) == 8.0
    assert connects.wait_seconds(11.0) == 0.0
