"""Clients that poll far too often are slowed, in both eras, and nobody else is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from awhile.server.pace import LONGEST_DELAY_SECONDS, POLLS_PER_SECOND, REMEMBERED, Pace
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS, Peer, coroutines, until

pytestmark = pytest.mark.anyio

AT_ONCE = POLLS_PER_SECOND
"""How many polls are answered without delay."""

HELD_BACK = 20
"""So many more are answered in the course of a second."""


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """Both eras have ``tasks/get``."""
    return request.param


@asynccontextmanager
async def working(app: App, era: str) -> AsyncGenerator[Legacy | Peer]:
    """A client of that era, at a server whose work runs until it is stopped."""

    @app.tool(inline_seconds=0)
    async def work() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    limits = httpx2.Limits(max_connections=100)
    async with (
        app.serving() as peer,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits) as http,
    ):
        old = era == "2025-11-25"
        yield await Legacy(peer.url, http).opened() if old else Peer(peer.url, http)


async def test_A14_polls_without_a_pause_are_slowed_and_never_refused(app: App, era: str) -> None:
    """Spec: 2025-11-25: task methods SHOULD be limited in rate. Field case A14."""
    async with working(app, era) as client:
        task_id = await client.start("work")
        before = anyio.current_time()
        for _ in range(AT_ONCE + HELD_BACK):
            assert (await client.get(task_id))["status"] == "working"
        took = anyio.current_time() - before
        await client.cancel(task_id)
    assert took > HELD_BACK / POLLS_PER_SECOND - 0.1


async def test_A14_other_tasks_and_a_stop_are_never_held_up(app: App, era: str) -> None:
    """Ours: and a poll that was held back tells the task as it is when it is answered."""
    told: list[str] = []
    async with working(app, era) as client:
        flooded, other = await client.start("work"), await client.start("work")

        async def poll() -> None:
            told.append((await client.get(flooded))["status"])

        async with anyio.create_task_group() as polls:
            for _ in range(AT_ONCE + HELD_BACK):
                polls.start_soon(poll)
            await until(lambda: len(told) >= AT_ONCE, "as many as may are answered")
            assert (await client.get(other))["status"] == "working"
            await client.cancel(flooded)
            assert len(told) < AT_ONCE + HELD_BACK
        await client.cancel(other)
    assert told[0] == "working"
    assert told[-1] == "cancelled"


async def test_A14_a_poll_that_is_left_holds_nothing(app: App, era: str) -> None:
    """Ours: closing its connection ends it, delay and all."""
    async with working(app, era) as client:
        task_id = await client.start("work")
        await client.get(task_id)
        before = coroutines()
        with anyio.move_on_after(0.3):
            async with anyio.create_task_group() as polls:
                for _ in range(AT_ONCE + 2 * HELD_BACK):
                    polls.start_soon(client.get, task_id)
        await until(lambda: coroutines() <= before, "every poll has ended")
        await client.cancel(task_id)


def delays(pace: Pace, count: int, *, every: float, caller: str = "ada") -> list[float]:
    """How long so many polls of one task are held back, sent that far apart."""
    return [pace.delay(caller, "task", 100 + turn * every) for turn in range(count)]


def test_polls_at_the_shortest_interval_we_ask_for_are_never_held_back() -> None:
    """Ours: nor those of clients that are five times as impatient."""
    assert set(delays(Pace(), 1000, every=1 / POLLS_PER_SECOND)) == {0}


def test_a_flood_is_answered_at_the_rate_and_never_later_than_a_bound() -> None:
    """Ours."""
    held = delays(Pace(), 500, every=0)
    assert held[:AT_ONCE] == [0] * AT_ONCE
    assert held[AT_ONCE + 1] == pytest.approx(1 / POLLS_PER_SECOND)
    assert max(held) == held[-1] == LONGEST_DELAY_SECONDS


def test_a_callers_pace_is_nobody_elses() -> None:
    """Ours."""
    pace = Pace()
    delays(pace, 500, every=0)
    assert pace.delay("eve", "task", 100) == 0
    assert pace.delay("ada", "other", 100) == 0


def test_a_pause_makes_up_for_a_flood() -> None:
    """Ours."""
    pace = Pace()
    delays(pace, 500, every=0)
    assert pace.delay("ada", "task", 100 + LONGEST_DELAY_SECONDS + 1) == 0


def test_what_is_remembered_of_polls_is_bounded() -> None:
    """Ours: also of callers who poll ids that do not exist."""
    pace = Pace()
    for turn in range(3 * REMEMBERED):
        pace.delay("eve", f"made up {turn}", 100)
    assert len(pace) == REMEMBERED
    pace.delay("eve", "later", 200)
    assert len(pace) == 1
