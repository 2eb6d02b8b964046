"""A client that leaves: the call it was waiting for is stopped, a task never is."""

from __future__ import annotations

import threading

import anyio
import httpx2
import pytest

from awhile import Run
from awhile.errors import StoreError
from awhile.tasks import TaskRecord
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INTERNAL_ERROR, run_facts, until

pytestmark = pytest.mark.anyio


async def test_an_inline_call_whose_client_leaves_is_stopped(app: App) -> None:
    """Spec: 2026-07-28: closing the response stream cancels the request. Ours: field case C4."""
    ended = anyio.Event()

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        run.report(1, 2, "running")
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async with app.serving() as peer:
        request = peer.request(
            "tools/call", {"name": "work", "arguments": {}}, meta={"progressToken": "p"}
        )
        async with peer.opened(request) as (_, messages):
            assert (await anext(messages))["method"] == "notifications/progress"
        await until(ended.is_set, "the body has ended")
        assert await app.tasks.store.find(owner="anonymous") == []


async def test_an_inline_thread_is_told_when_its_client_leaves(app: App) -> None:
    """Ours: and its thread is free again (the SDK's own sync tools can hang here)."""
    told = threading.Event()

    @app.tool(inline_seconds=60, run_in="thread")
    def work(run: Run) -> str:
        run.report(1, 2, "running")
        run.wait(60)
        told.set()
        run.check()
        raise AssertionError

    async with app.serving() as peer:
        for _ in range(3):
            told.clear()
            request = peer.request(
                "tools/call", {"name": "work", "arguments": {}}, meta={"progressToken": "p"}
            )
            async with peer.opened(request) as (_, messages):
                await anext(messages)
            await until(told.is_set, "the thread was told")


async def test_a_client_that_leaves_the_queue_for_a_place_starts_nothing(app: App) -> None:
    """Ours: a call nobody waits for any more takes no place."""
    crowded = App(app.store, slots=1)
    started: list[str] = []
    go = anyio.Event()

    @crowded.tool(inline_seconds=0)
    async def work(name: str) -> str:
        started.append(name)
        await go.wait()
        return name

    async with crowded.serving() as peer:
        first = await peer.start("work", name="first")
        arguments = {"name": "work", "arguments": {"name": "second"}}
        with anyio.move_on_after(0.2):
            await peer.undeclared().ask("tools/call", arguments)
        go.set()
        await peer.ended(first)
        third = await peer.call("work", name="third")
        await peer.ended(third.result["taskId"])
    assert started == ["first", "third"]


async def test_a_task_goes_on_without_any_client(app: App) -> None:
    """Ours: field case C4: never stopped by a disconnect."""
    go, done = anyio.Event(), anyio.Event()

    @app.tool(inline_seconds=0)
    async def work() -> str:
        await go.wait()
        done.set()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")  # its connection is closed now
        go.set()
        await until(done.is_set, "the body went on to its end")
        assert (await peer.ended(task_id))["status"] == "completed"


async def test_a_task_kept_from_the_start_survives_the_client_that_waits_for_it(app: App) -> None:
    """Ours: with a request key, the retry has to find it."""
    go, started = anyio.Event(), anyio.Event()

    @app.tool(kept="always", request_key="key", inline_seconds=60)
    async def work(key: str, run: Run) -> str:
        run.report(1, 2, "running")
        started.set()
        await go.wait()
        return f"answer to {key}"

    async with app.serving() as peer:
        arguments = {"name": "work", "arguments": {"key": "k"}}
        request = peer.request("tools/call", arguments, meta={"progressToken": "p"})
        async with peer.opened(request) as (_, messages):
            await anext(messages)
        go.set()
        again = await peer.call("work", key="k")
        assert again.text == "answer to k"
    assert started.is_set()


async def test_a_cancelled_notification_stops_no_task(app: App) -> None:
    """Spec: ext-tasks: `notifications/cancelled` is for requests; a task has `tasks/cancel`."""
    go = anyio.Event()

    @app.tool(inline_seconds=0)
    async def work() -> str:
        await go.wait()
        return "done"

    async with app.serving() as peer, httpx2.AsyncClient() as http:
        request = peer.request("tools/call", {"name": "work", "arguments": {}})
        async with peer.opened(request) as (_, messages):
            created = await anext(messages)
        notification = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": created["id"]},
        }
        headers = {**request.headers, "mcp-method": "notifications/cancelled"}
        del headers["content-length"]
        del headers["mcp-name"]
        sent = await http.post(peer.url, json=notification, headers=headers)
        assert sent.status_code == 202
        task_id = created["result"]["taskId"]
        assert "cancelAskedAt" not in run_facts(await peer.get(task_id))
        go.set()
        assert (await peer.ended(task_id))["status"] == "completed"


async def test_work_whose_row_cannot_be_kept_is_stopped_and_said_to_be_lost(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a handle is only given for what is kept, and nobody could find the rest."""
    ended = anyio.Event()

    @app.tool(inline_seconds=0)
    async def work() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async def full(_record: TaskRecord) -> TaskRecord:
        raise StoreError("The disk is full.")

    async with app.serving() as peer:
        monkeypatch.setattr(app.tasks.store, "create", full)
        reply = await peer.call("work")
        assert reply.error["code"] == INTERNAL_ERROR
        await until(ended.is_set, "the body has ended")
