"""From the server's listing, a watch and a result to what the page shows. Source: ours."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from awhile.ask.web.facts import clocks_of, read_run, with_progress
from awhile.client import Now, State

LISTED: dict[str, Any] = {
    "run_id": "a",
    "tool": "ask",
    "question": "How many?",
    "sql": "SELECT 1",
    "reading": "One.",
    "outcome": None,
    "status": "working",
    "status_message": "Running the query",
    "created_at": "2026-11-01T10:00:00Z",
    "ended_at": None,
    "is_error": False,
    "cancel_asked_at": None,
    "stopped_how": None,
    "rev": 7,
}
WALL = datetime(2026, 11, 1, 10, 0, 30, tzinfo=UTC)


def now(**some: Any) -> Now:
    return replace(Now(state=State.WORKING, words="Working", inputs={}), **some)


def test_a_listed_run_keeps_its_facts() -> None:
    run = read_run(LISTED, None)
    assert (run.id, run.status, run.sql, run.message) == (
        "a",
        "working",
        "SELECT 1",
        "Running the query",
    )
    assert run.percent is None


def test_a_listing_does_not_forget_how_far_the_watch_saw_the_work() -> None:
    known = with_progress(read_run(LISTED, None), now(percent=40.0, message="Joining"))
    run = read_run(LISTED, known)
    assert (run.percent, run.message) == (40.0, "Joining")


def test_an_ended_run_keeps_no_percentage_and_no_working_message() -> None:
    known = with_progress(read_run(LISTED, None), now(percent=40.0, message="Joining"))
    ended = {**LISTED, "status": "completed", "ended_at": "2026-11-01T10:00:09Z"}
    run = read_run({**ended, "status_message": None}, known)
    assert (run.percent, run.message, run.live) == (None, None, False)


def test_a_watch_never_ends_a_run() -> None:
    """Only the listing says what a run is; a watch is only closer to how far it is."""
    run = read_run(LISTED, None)
    assert with_progress(run, now(state=State.FINISHED, ended=True)) == run


def test_an_ended_run_takes_no_progress() -> None:
    run = replace(read_run(LISTED, None), status="cancelled")
    assert with_progress(run, now(percent=50.0)) == run


def test_rows_so_far_are_counted_where_there_is_no_total() -> None:
    run = read_run(LISTED, None)
    assert with_progress(run, now(done=1200.0)).row_count == 1200
    assert with_progress(run, now(done=40.0, total=100.0)).row_count is None


def test_how_long_a_stop_took_is_from_asking_to_the_end() -> None:
    run = read_run(
        {
            **LISTED,
            "status": "cancelled",
            "cancel_asked_at": "2026-11-01T10:00:08.970Z",
            "ended_at": "2026-11-01T10:00:09Z",
            "stopped_how": "engine_confirmed",
        },
        None,
    )
    assert run.stopped_after_seconds == pytest.approx(0.03)


def test_clocks_are_durations_so_no_two_clocks_are_compared_in_the_page() -> None:
    live = clocks_of({**LISTED, "cancel_asked_at": "2026-11-01T10:00:20Z"}, at=5.0, wall=WALL)
    assert (live.elapsed_seconds, live.cancel_asked_seconds) == (30.0, 10.0)
    ended = clocks_of({**LISTED, "ended_at": "2026-11-01T10:00:09.500Z"}, at=5.0, wall=WALL)
    assert (ended.elapsed_seconds, ended.cancel_asked_seconds) == (9.5, None)


def test_a_servers_clock_ahead_of_ours_gives_no_negative_time() -> None:
    ahead = clocks_of({**LISTED, "created_at": "2026-11-01T11:00:00Z"}, at=5.0, wall=WALL)
    assert ahead.elapsed_seconds == 0.0
