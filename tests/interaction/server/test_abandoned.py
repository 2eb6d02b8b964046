"""Clients that leave while they wait: what a disconnect means in each era, and what it costs."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS, Json, Peer, coroutines, until

pytestmark = pytest.mark.anyio


class Work:
    """A tool that holds something for as long as it runs."""

    def __init__(self, app: App, **options: Any) -> None:
        self.held = 0
        self.ended = 0
        self.go = anyio.Event()

        @app.tool(**options)
        async def work(run: Run) -> str:
            self.held += 1
            try:
                run.report(1, 2, "begun")
                await self.go.wait()
            finally:
                self.held -= 1
                self.ended += 1
            return "done"


async def leave(http: httpx2.AsyncClient, request: httpx2.Request, work: Work, held: int) -> None:
    """Send a call, and close its connection once its work has begun."""
    response = await http.send(request, stream=True)
    await until(lambda: work.held == held, f"{held} bodies are running")
    await response.aclose()


def inline(http: httpx2.AsyncClient, url: str) -> httpx2.Request:
    """An inline call of a client without tasks."""
    params: Json = {"name": "work", "arguments": {}}
    meta: Json = {"progressToken": "p"}
    return Peer(url, http, declares=False).request("tools/call", params, meta=meta)


async def test_A18_fifty_abandoned_calls_leave_nothing_behind(app: App) -> None:
    """Ours: field case A18: fifty calls, and their client is gone: coroutines, places and whatever
    the bodies held are back where they were."""
    work = Work(app)
    async with app.serving() as peer:
        await peer.ask("tools/list", {})
        before = coroutines()
        limits = httpx2.Limits(max_connections=60)
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits) as http:
            streams: list[httpx2.Response] = []

            async def open_one() -> None:
                streams.append(await http.send(inline(http, peer.url), stream=True))

            async with anyio.create_task_group() as group:
                for _ in range(50):  # more than there are places
                    group.start_soon(open_one)
            await until(lambda: work.held == 24, "this caller has all the places it gets")
            for stream in streams:
                await stream.aclose()
        await until(lambda: work.held == 0, "every body has ended")
        await until(lambda: coroutines() <= before, "every coroutine has ended")
        work.go.set()
        assert (await peer.undeclared().call("work")).text == "done"


async def test_C4_leaving_cancels_an_inline_call_of_2026_at_once(app: App) -> None:
    """Spec: 2026-07-28: closing the stream MUST be treated as cancellation. Field case C4."""
    work = Work(app)
    async with app.serving() as peer, httpx2.AsyncClient() as http:
        await leave(http, inline(http, peer.url), work, held=1)
        with anyio.fail_after(1):
            await until(lambda: work.ended == 1, "the body has ended")


@pytest.mark.parametrize("stateless", [False, True], ids=["with a session", "stateless"])
async def test_C4_leaving_cancels_no_inline_call_of_2025(app: App, stateless: bool) -> None:
    """Spec: 2025-11-25: "Disconnection SHOULD NOT be interpreted as […] cancelling"."""
    work = Work(app)
    async with app.serving(stateless_http=stateless) as peer, httpx2.AsyncClient() as http:
        old = await Legacy(peer.url, http).opened()
        request = old.request("tools/call", {"name": "work", "arguments": {}}, token=1)
        await leave(http, request, work, held=1)
        with anyio.move_on_after(0.3):
            await until(lambda: work.ended == 1, "the body has ended")
        assert work.held == 1
        work.go.set()
        await until(lambda: work.ended == 1, "it went on to its end")


@pytest.mark.parametrize("stateless", [False, True], ids=["with a session", "stateless"])
async def test_A18_an_abandoned_call_of_2025_ends_after_its_grace(
    app: App, stateless: bool
) -> None:
    """Ours: field case A18: bounded, because nobody can collect its answer any more."""
    brief = App(app.store, abandoned_seconds=0.3, inline_limit_seconds=0.1)
    work = Work(brief)
    async with brief.serving(stateless_http=stateless) as peer, httpx2.AsyncClient() as http:
        old = await Legacy(peer.url, http).opened()
        for _ in range(3):
            request = old.request("tools/call", {"name": "work", "arguments": {}}, token=1)
            response = await http.send(request, stream=True)
            await until(lambda: work.held == 1, "it has begun")
            await response.aclose()
            await until(lambda: work.held == 0, "it was stopped")
        assert work.ended == 3
        found = await brief.tasks.store.find(owner="anonymous")
        assert found == [], "nobody would get the handle of such a task"


async def test_a_cancelled_notification_stops_a_call_of_2025_at_once(app: App) -> None:
    """Spec: 2025-11-25, basic/utilities/cancellation."""
    work = Work(app)
    async with app.serving() as peer, httpx2.AsyncClient() as http:
        old = await Legacy(peer.url, http).opened()
        request = old.request("tools/call", {"name": "work", "arguments": {}}, token=1)
        response = await http.send(request, stream=True)
        await until(lambda: work.held == 1, "it has begun")
        params = {"requestId": json.loads(request.content)["id"]}
        await old.post({"method": "notifications/cancelled", "params": params})
        with anyio.fail_after(1):
            await until(lambda: work.ended == 1, "the body has ended")
        await response.aclose()


async def test_C4_a_task_is_never_stopped_by_a_disconnect(app: App) -> None:
    """Ours: field case C4: the same tool, started as a task of either era."""
    brief = App(app.store, abandoned_seconds=0)
    work = Work(brief, inline_seconds=0)
    async with brief.serving() as peer:
        async with httpx2.AsyncClient() as http:
            old = await Legacy(peer.url, http).opened()
            ids = [await old.start("work"), await Peer(peer.url, http).start("work")]
        with anyio.move_on_after(0.3):
            await until(lambda: work.ended > 0, "one was stopped")
        assert (work.held, work.ended) == (2, 0)
        work.go.set()
        for task_id in ids:
            assert (await peer.ended(task_id))["status"] == "completed"


async def test_C8_sessions_that_nobody_closes_are_bounded_and_freed(app: App) -> None:
    """Ours: field case C8: connects without a goodbye; idle sessions end, and too many are refused.

    Both bounds are the SDK's; `http_app` passes them on.
    """
    async with app.serving(session_idle_timeout=1, max_sessions=5) as peer:
        await peer.ask("tools/list", {})
        before = coroutines()
        async with httpx2.AsyncClient() as http:
            for _ in range(5):
                await Legacy(peer.url, http).opened()
            params: Json = {}
            body: Json = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            one_more = await http.post(peer.url, json=body, headers=Legacy(peer.url, http).headers)
            assert one_more.status_code == 503
        await until(lambda: coroutines() <= before, "every session has ended")
        async with httpx2.AsyncClient() as http:
            await Legacy(peer.url, http).opened()
