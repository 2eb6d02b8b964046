"""Field case C8: clients that come and go without a goodbye leave nothing of theirs in memory.

Dozens of each kind here; `benchmarks/studies/idle.py` does it with thousands, and measures memory.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS, Peer, coroutines, until

pytestmark = pytest.mark.anyio

ROUND = 24
"""How many clients come before what is held is counted, each time."""

AT_ONCE = 8

OURS = ("awhile.runtime", "awhile.server", "awhile.stores", "mcp.server", "mcp.shared", "uvicorn")

Visit = Callable[[str, httpx2.AsyncClient], Coroutine[Any, Any, None]]


async def held() -> Counter[str]:
    """How many objects there are of each type that serves a client."""
    loop = asyncio.get_running_loop()
    # asyncio keeps what a cancelled timer would have run in, until it has a hundred of them.
    for timer in [loop.call_later(60, gc.collect) for _ in range(1000)]:
        timer.cancel()
    await anyio.lowlevel.checkpoint()
    gc.collect()
    names = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return Counter(name for name in names if name.startswith(OURS))


async def a_session(url: str, http: httpx2.AsyncClient) -> None:
    """Connects, reads its own stream, has a tool called, and is gone."""
    old = await Legacy(url, http).opened()
    async with old.listening():
        assert (await old.call("quick")).text == "done"


async def a_session_with_a_task(url: str, http: httpx2.AsyncClient) -> None:
    """Makes a task, waits for its result for a moment, and is gone before it has it."""
    old = await Legacy(url, http).opened()
    task_id = await old.start("brief")
    with anyio.move_on_after(0.05):
        await old.result(task_id)


async def an_abandoned_call(url: str, http: httpx2.AsyncClient) -> None:
    """Calls a tool of 2026-07-28, and closes its connection."""
    with anyio.move_on_after(0.05):
        await Peer(url, http, declares=False).call("brief")


async def a_listener(url: str, http: httpx2.AsyncClient) -> None:
    """Follows a task on a stream, and closes it."""
    peer = Peer(url, http)
    task_id = await peer.start("brief")
    request = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
    async with peer.opened(request) as (_, messages):
        await anext(messages)


@pytest.mark.parametrize("visit", [a_session, a_session_with_a_task, an_abandoned_call, a_listener])
async def test_C8_clients_that_are_gone_hold_nothing(app: App, visit: Visit) -> None:
    """Ours: each round of them leaves no more objects behind than the one before."""

    @app.tool(inline_seconds=30)
    async def quick() -> str:
        return "done"

    @app.tool(inline_seconds=0)
    async def brief(run: Run) -> str:
        run.report(1, 2, "half of it")
        await anyio.sleep(0.2)
        return "done"

    places = anyio.Semaphore(AT_ONCE)
    async with app.serving(session_idle_timeout=2) as peer:

        async def come_and_go(http: httpx2.AsyncClient) -> None:
            async with places:
                await visit(peer.url, http)

        async def round_of_visits() -> None:
            async with (
                httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
                anyio.create_task_group() as visits,
            ):
                for _ in range(ROUND):
                    visits.start_soon(come_and_go, http)
            await until(lambda: coroutines() <= before, "all have gone")

        assert (await peer.call("quick")).text == "done"
        before = coroutines()
        await round_of_visits()
        first = await held()
        await round_of_visits()
        left: dict[str, int] = {}
        with anyio.move_on_after(PATIENCE_SECONDS):  # the last connections are being closed
            while True:
                left = {one: n for one, n in (await held() - first).items() if n > ROUND / 2}
                if not left:
                    break
                await anyio.sleep(0.1)
    assert left == {}
