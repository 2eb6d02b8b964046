"""Behind a real nginx with its default buffering and a read limit of five seconds.

Ours: field cases C1 and C2: nothing is lost, and the first byte comes within a second.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from awhile import Run
from awhile.server.stream import FIRST_BYTE_SECONDS
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import Json, Peer
from tests.interaction.server.proxy import IDLE_SECONDS, proxied
from tests.interaction.server.test_streams import Raw

pytestmark = [pytest.mark.anyio, pytest.mark.nginx]

QUIET_SECONDS = IDLE_SECONDS + 1.5
"""Longer than nginx waits for a quiet server."""

FIRST_BYTE_BY = FIRST_BYTE_SECONDS + 1.5
"""The server's own clock, and what a busy machine adds on the way through nginx; far less than the
SDK would hold it back (15 s), or the proxy wait."""


@asynccontextmanager
async def behind(app: App, folder: Path) -> AsyncGenerator[Peer]:
    """The server with comments every two seconds, as seen through nginx."""
    async with (
        app.serving(keepalive_seconds=2) as direct,
        proxied(direct.url, folder) as url,
        httpx2.AsyncClient(timeout=30) as http,
    ):
        yield Peer(url, http)


@pytest.fixture
def quiet(app: App) -> App:
    """A server with a tool that says nothing for longer than nginx waits."""

    @app.tool(inline_seconds=60)
    async def quiet() -> str:
        await anyio.sleep(QUIET_SECONDS)
        return "done"

    return app


async def test_C1_a_quiet_call_of_2026_outlives_the_proxys_patience(
    quiet: App, tmp_path: Path
) -> None:
    """Ours: field cases C1 and C2, one call: early first byte, no cut, the whole answer."""
    async with behind(quiet, tmp_path) as peer:
        raw = Raw()
        await raw.read(peer, peer.request("tools/call", {"name": "quiet"}))
    assert raw.status == 200
    assert raw.pieces[0][0] < FIRST_BYTE_BY
    assert raw.pieces[-1][0] > IDLE_SECONDS
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_C1_a_quiet_call_of_2025_outlives_it_too(quiet: App, tmp_path: Path) -> None:
    """Ours: field cases C1 and C2: the SDK opens this stream at once; the first byte is ours."""
    async with behind(quiet, tmp_path) as peer, httpx2.AsyncClient(timeout=30) as http:
        old = await Legacy(peer.url, http).opened()
        raw = Raw()
        await raw.read(peer, old.request("tools/call", {"name": "quiet", "arguments": {}}))
    assert raw.pieces[0][0] < FIRST_BYTE_BY
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_C2_progress_comes_through_as_it_is_told(app: App, tmp_path: Path) -> None:
    """Ours: field case C2: nothing is held in a buffer until the end."""
    go = anyio.Event()

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        for number in range(1, 4):
            run.report(number, 3, f"step {number}")
            await anyio.sleep(0.15)
        await go.wait()
        return "done"

    async with behind(app, tmp_path) as peer:
        request = peer.request("tools/call", {"name": "work"}, meta={"progressToken": 1})
        async with peer.opened(request) as (_, messages):
            told: list[Json] = [await anext(messages) for _ in range(3)]
            go.set()  # only now: each of them came while the work was running
            answer = await anext(messages)
    assert [one["params"]["progress"] for one in told] == [1, 2, 3]
    assert answer["result"]["content"][0]["text"] == "done"


async def test_C1_a_listen_stream_outlives_it_and_pushes_at_once(app: App, tmp_path: Path) -> None:
    """Ours: field case C1: the stream that is quiet for longest."""
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work() -> str:
        await go.wait()
        return "done"

    async with behind(app, tmp_path) as peer:
        task_id = await peer.start("work")
        request = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
        async with peer.opened(request) as (_, messages):
            acknowledged = await anext(messages)
            assert acknowledged["params"]["notifications"] == {"taskIds": [task_id]}
            assert (await anext(messages))["params"]["status"] == "working"
            let_go: list[float] = []

            async def let_go_late() -> None:
                await anyio.sleep(QUIET_SECONDS)
                let_go.append(time.monotonic())
                go.set()

            async with anyio.create_task_group() as group:
                group.start_soon(let_go_late)
                assert (await anext(messages))["params"]["status"] == "completed"
            assert 0 < time.monotonic() - let_go[0] < 1


async def test_C4_a_disconnect_reaches_the_server_through_it(app: App, tmp_path: Path) -> None:
    """Ours: field case C4: nginx passes it on, and the work stops."""
    ended = anyio.Event()

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        run.report(1, 2, "begun")
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async with behind(app, tmp_path) as peer:
        request = peer.request("tools/call", {"name": "work"}, meta={"progressToken": 1})
        async with peer.opened(request) as (_, messages):
            await anext(messages)
        with anyio.fail_after(5):
            await ended.wait()
