"""The line that says how work stands, and the list of runs."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from awhile.ask.cli.listing import as_table
from awhile.cli.line import Line
from awhile.cli.words import QUERY, WORK, StopRequest, Subject
from awhile.client import Known, show
from awhile.tasks import Progress, Status
from awhile.wire.snapshot import Snapshot

NOW_MS = 31_400
TASK = Snapshot(
    task_id="1f", status=Status.WORKING, created_at_ms=0, last_updated_at_ms=0, attempt=1
)
HOSTILE = "\x1b[31m\u202eevil\n"


def known(**facts: Any) -> Known:
    at = Progress(at_ms=0, **facts)
    return Known(
        task=replace(TASK, status_message="Started.", progress=at),
        started_at_ms=0,
        changed_at_ms=NOW_MS - 1_000,
    )


def plain(facts: Known, of: Subject = QUERY, request: StopRequest = StopRequest.NONE) -> str:
    now, line = show(facts, now_ms=NOW_MS), Line(of)
    return line.plain(line.words(facts, now, NOW_MS, request), now, facts, NOW_MS)


def text_of(shown: RenderableType, width: int) -> str:
    file = io.StringIO()
    screen = Console(file=file, width=width, force_terminal=True, color_system=None)
    screen.print(shown)
    return file.getvalue()


def live(facts: Known, width: int, of: Subject = QUERY) -> str:
    now, line = show(facts, now_ms=NOW_MS), Line(of)
    words = line.words(facts, now, NOW_MS, StopRequest.NONE)
    return text_of(line.live(words, now, facts, NOW_MS, width), width)


@pytest.mark.parametrize(
    ("facts", "of", "said"),
    [
        (
            known(done=37.9, total=100, message="Running the query"),
            QUERY,
            "Running the query, 37 % (the engine's estimate), 31 s",
        ),
        (
            known(done=1234, total=None, message="Fetching rows"),
            QUERY,
            "Fetching rows, 1,234 rows so far, 31 s",
        ),
        (known(message="Waiting for a place"), QUERY, "Waiting for a place, 31 s"),
        (known(), QUERY, "Running, 31 s"),
        (known(done=3, total=10, message="step 3"), WORK, "Running: step 3, 30 %, 3 of 10, 31 s"),
        (known(done=0.5, total=None), WORK, "Running, 0.5 so far, 31 s"),
        (known(done=0, total=None), WORK, "Running, 31 s"),
        (
            replace(known(message="x"), changed_at_ms=0),
            QUERY,
            "x, 31 s, last news 31 s ago",
        ),
        (
            replace(known(done=1, total=2, message="x"), unreachable_since_ms=NOW_MS - 5_000),
            QUERY,
            "Unreachable: it was running when last heard of, and may be still, no answer for 5 s, "
            "trying again",
        ),
        (
            Known(task=replace(TASK, cancel_asked_at_ms=NOW_MS - 2_000)),
            QUERY,
            "Stop requested: still running until the database confirms, 31 s",
        ),
        (Known(task=replace(TASK, attempt=0)), QUERY, "Waiting to start, 31 s"),
    ],
)
def test_a_line_has_the_stage_and_every_figure_there_is(
    facts: Known, of: Subject, said: str
) -> None:
    """Ours: a percentage only where there is a total; and it says whose estimate it is."""
    assert plain(facts, of) == said


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_a_live_line_is_one_line_of_any_terminal_and_cuts_no_figure(width: int) -> None:
    """Ours: figures that can be missed are left out first, then the words are cut."""
    facts = replace(
        known(done=123_456, total=1_000_000, message="Counting everything there is, and more"),
        changed_at_ms=0,
    )
    for of in (QUERY, WORK):
        lines = live(facts, width, of).rstrip("\n").split("\n")
        assert len(lines) == 1
        assert len(lines[0]) <= width
        assert " 31 s" in lines[0]
    if width >= 120:
        assert "123,456 of 1,000,000" in live(facts, width)
        assert "last news 31 s ago" in live(facts, width)


def test_what_the_work_says_of_itself_drives_no_terminal() -> None:
    """Ours."""
    assert plain(known(message=HOSTILE), WORK) == "Running: \\x1b[31m\\u202eevil, 31 s"
    assert "\x1b[31m" not in live(known(message=HOSTILE), 80)


RUN = {
    "run_id": "0123456789abcdef",
    "tool": "ask",
    "question": f"orders {HOSTILE} " + "by country " * 20,
    "status": "completed",
    "outcome": "table",
    "created_at": "2026-11-30T10:00:00+00:00",
    "ended_at": "2026-11-30T10:00:42+00:00",
    "result_name": "result_3",
    "attempt": 1,
}


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_run_is_one_line_of_the_list(width: int) -> None:
    """Ours: whatever its question holds; and where there is room, the name of its result."""
    going = {**RUN, "status": "working", "ended_at": None, "result_name": None}
    said = text_of(as_table([RUN, going], width), width)
    lines = said.rstrip("\n").split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) <= width
    assert lines[1].startswith("01234567 ")
    assert "Finished" in lines[1]
    assert "42 s" in lines[1]
    assert "Running" in lines[2]
    assert ("result_3" in lines[1]) == (width >= 100)
    assert "\x1b[31m" not in said


def test_without_a_terminal_the_list_cuts_nothing() -> None:
    """Ours."""
    said = text_of(as_table([RUN], None), 10_000)
    assert said.count("by country") == 20
    assert "\\x1b[31m\\u202eevil" in said


def test_a_finished_run_without_a_table_is_told_apart() -> None:
    """Ours."""
    for outcome, words in (
        ("refusal", "Not answered"),
        ("question_back", "Asks you back"),
        ("not_run", "Not run"),
    ):
        assert words in text_of(as_table([{**RUN, "outcome": outcome}], 80), 80)


def test_work_of_another_server_is_as_old_as_it_was_last_seen() -> None:
    """Ours: what is shown is no guess."""
    seen = {
        **RUN,
        "tool": "count",
        "question": None,
        "server": "http://h/mcp",
        "status": "working",
        "ended_at": None,
        "last_seen_at": "2026-11-30T10:00:30+00:00",
    }
    said = text_of(as_table([seen], 200), 200)
    assert "Running (as of 30 Nov" in said
    assert "30 s" in said
    assert "count at http://h/mcp" in said
