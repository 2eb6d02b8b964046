"""What happens when everybody has left. Source: ours, "Leaving and coming back"."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from awhile.ask.web.board import Board
from awhile.ask.web.presence import Presence
from tests.machine.web.backend import followed, served

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.sqlite3'}"


async def endless() -> AsyncGenerator[str]:
    yield "beat"
    await anyio.sleep_forever()


async def status_of(board: Board, run_id: str) -> str:
    run = board.run(run_id)
    return "" if run is None else run.status


async def test_somebody_has_left_only_after_nobody_was_here_for_a_while() -> None:
    presence = Presence(left_seconds=0.05)
    async with aclosing(presence.while_open(endless())) as one:
        await anext(one)
        with anyio.move_on_after(0.2) as waited:
            await presence.left()
        assert waited.cancelled_caught
    with anyio.fail_after(5):
        await presence.left()


async def test_who_closes_one_of_two_browsers_has_not_left() -> None:
    presence = Presence(left_seconds=0.05)
    async with aclosing(presence.while_open(endless())) as one:
        await anext(one)
        async with aclosing(presence.while_open(endless())) as other:
            await anext(other)
        with anyio.move_on_after(0.2) as waited:
            await presence.left()
        assert waited.cancelled_caught


async def test_only_the_run_that_is_to_stop_is_stopped_when_everybody_has_left(store: str) -> None:
    presence = Presence(left_seconds=0.1)
    go = anyio.Event()
    async with served(store, go) as url, followed(url, presence) as (board, follower):
        async with aclosing(presence.while_open(endless())) as page:
            await anext(page)
            keeps = await follower.start("ask", {"question": "Keep?", "request_key": "a"})
            stops = await follower.start("ask", {"question": "Stop?", "request_key": "b"})
            await follower.label(stops, {"stop_when_left": True})
            with anyio.move_on_after(0.3):
                await presence.left()
            assert await status_of(board, stops) == "working"
        with anyio.fail_after(10):
            while await status_of(board, stops) != "cancelled":
                await board.changed()
        assert await status_of(board, keeps) == "working"


async def test_a_run_that_nobody_watched_is_watched_again_by_who_comes_back(store: str) -> None:
    presence = Presence(left_seconds=0.05)
    go = anyio.Event()
    async with served(store, go) as url, followed(url, presence) as (board, follower):
        for _ in range(2):  # nobody, and still nobody
            await presence.left()
        run_id = await follower.start("ask", {"question": "How many?", "request_key": "a"})
        async with aclosing(presence.while_open(endless())) as page:
            await anext(page)
            with anyio.fail_after(10):
                while (run := board.run(run_id)) is None or run.percent != 40:
                    await board.changed()
