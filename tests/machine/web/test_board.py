"""What a page is told, and when. Source: ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from awhile.ask.web.board import Board, Clocks, Run
from awhile.ask.web.stream import HEARTBEAT_SECONDS, events, seen

pytestmark = pytest.mark.anyio

RUN = Run(id="a", tool="ask", question="How many?", status="working", percent=10.0)
CLOCKS = Clocks(at=100.0, elapsed_seconds=3.0)


def ids(sync: dict[str, Any]) -> list[str]:
    return [run["id"] for run in sync["runs"]]


def board_with(*runs: Run) -> Board:
    board = Board()
    for run in runs:
        board.put(run, CLOCKS)
    return board


def test_a_page_that_saw_nothing_gets_everything() -> None:
    board = board_with(RUN, replace(RUN, id="b"))
    sync = board.sync(None, 0, now=100.0)
    assert sync["full"]
    assert ids(sync) == ["a", "b"]


def test_a_page_gets_only_what_changed_since() -> None:
    board = board_with(RUN, replace(RUN, id="b"))
    before = board.rev
    board.put(replace(RUN, percent=11.0), CLOCKS)
    sync = board.sync(board.epoch, before, now=100.0)
    assert not sync["full"]
    assert ids(sync) == ["a"]


def test_a_page_of_another_backend_starts_over() -> None:
    """A restarted backend counts from 0 again; the page's revision means nothing to it."""
    sync = board_with(RUN).sync("of-before-the-restart", 99, now=100.0)
    assert sync["full"]
    assert ids(sync) == ["a"]


def test_the_same_facts_again_are_no_news_but_renew_the_clocks() -> None:
    board = board_with(RUN)
    before = board.rev
    board.put(RUN, Clocks(at=200.0, elapsed_seconds=99.0))
    assert board.rev == before
    assert board.sync(None, 0, now=201.0)["runs"][0]["elapsed_seconds"] == 100.0


def test_clocks_of_live_runs_go_on_and_those_of_ended_runs_stand() -> None:
    board = board_with(RUN, replace(RUN, id="b", status="completed"))
    elapsed = [run["elapsed_seconds"] for run in board.sync(None, 0, now=105.0)["runs"]]
    assert elapsed == [8.0, 3.0]


def test_the_stream_leaves_the_sql_of_finished_questions_to_the_run_itself() -> None:
    told = {"sql": "SELECT 1", "reading": "One."}
    runs = [
        replace(RUN, **told),
        replace(RUN, id="b", status="completed", ended_at="10:00", **told),
        replace(RUN, id="c", status="completed", ended_at="10:00", question=None, **told),
    ]
    board = board_with(*runs)
    assert [run["sql"] for run in board.sync(None, 0, now=0)["runs"]] == [
        "SELECT 1",
        None,
        "SELECT 1",
    ]
    whole = board.as_json("b", now=0)
    assert whole is not None
    assert (whole["sql"], whole["reading"]) == ("SELECT 1", "One.")


def test_runs_the_server_dropped_disappear_from_every_page() -> None:
    board = board_with(RUN, replace(RUN, id="b"))
    epoch, rev = board.epoch, board.rev
    board.keep_only(["b"])
    assert board.has_news(epoch, rev)
    sync = board.sync(epoch, rev, now=100.0)
    assert sync["full"]
    assert ids(sync) == ["b"]


def test_since_when_the_server_is_away_is_told_once() -> None:
    board = Board()
    board.server_is(reachable=False, since="10:00")
    board.server_is(reachable=False, since="10:05")
    assert board.since == "10:00"
    board.server_is(reachable=True, since="10:06")
    assert board.sync(None, 0, now=0)["server"] == {"reachable": True, "since": "10:06"}


@pytest.mark.parametrize("after", [None, "", "abc", "abc:", "abc:x", ":"])
def test_an_unreadable_position_means_nothing_seen(after: str | None) -> None:
    assert seen(after) == (None, 0)


def test_a_position_is_epoch_and_revision() -> None:
    assert seen("abc:12") == ("abc", 12)


async def test_changes_of_one_moment_arrive_as_one_message() -> None:
    board = board_with(RUN)
    stream = events(board, None, 0)
    await anext(stream)
    for percent in range(20):
        board.put(replace(RUN, percent=float(percent)), CLOCKS)
    with anyio.fail_after(2):
        name, data = (await anext(stream)).strip().split("\ndata: ")
    sync = json.loads(data)
    assert name == f"id: {board.epoch}:{board.rev}"
    assert [run["percent"] for run in sync["runs"]] == [19.0]
    await stream.aclose()


async def test_a_change_wakes_a_quiet_stream() -> None:
    board = board_with(RUN)
    stream = events(board, board.epoch, board.rev)
    heard: list[str] = []

    async def listen() -> None:
        heard.append(await anext(stream))

    with anyio.fail_after(HEARTBEAT_SECONDS / 2):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            board.put(replace(RUN, status="completed"), CLOCKS)
    assert '"status":"completed"' in heard[0]
    await stream.aclose()


async def test_a_silent_stream_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awhile.ask.web.stream.HEARTBEAT_SECONDS", 0.01)
    board = Board()
    stream = events(board, board.epoch, board.rev)
    with anyio.fail_after(2):
        assert await anext(stream) == "event: beat\ndata: {}\n\n"
    await stream.aclose()
