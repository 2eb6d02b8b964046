"""Listen streams: what a client asked to be told of, and nothing else, on one stream."""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.streams.text
import httpx2
import pytest
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.subscriptions import ResourceUpdated, ToolsListChanged

from awhile import Run
from awhile.errors import SettingsError
from awhile.server.http import close_streams
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    PATIENCE_SECONDS,
    Json,
    Peer,
    until,
)

pytestmark = pytest.mark.anyio

METHOD_NOT_FOUND = -32601
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


class Stream:
    """One open listen stream."""

    def __init__(self, request_id: int, messages: AsyncIterator[Json]) -> None:
        self.request_id = request_id
        self.messages = messages

    async def next(self) -> Json:
        """The next message, which carries the subscription's id."""
        with anyio.fail_after(PATIENCE_SECONDS):
            message = await anext(self.messages)
        carrier = message["result"] if "result" in message else message["params"]
        assert carrier["_meta"][SUBSCRIPTION_ID] == self.request_id
        return message

    async def acknowledged(self) -> Json:
        """The filter of the acknowledgement, which has to be the first message."""
        first = await self.next()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        return first["params"]["notifications"]

    async def task(self, status: str) -> Json:
        """Read on to a task of that status."""
        while True:
            message = await self.next()
            assert message["method"] == "notifications/tasks"
            if message["params"]["status"] == status:
                return message["params"]

    async def farewell(self) -> None:
        """Read the end that the server gives a stream on purpose, whatever came before it."""
        while (message := await self.next()).get("method") != "notifications/cancelled":
            assert "method" in message
        assert message["params"]["requestId"] == self.request_id
        result = await self.next()
        assert result["id"] == self.request_id
        assert result["result"]["resultType"] == "complete"
        assert [one async for one in self.messages] == []


@asynccontextmanager
async def listening(peer: Peer, **wanted: Any) -> AsyncGenerator[Stream]:
    """An open listen stream."""
    request = peer.request("subscriptions/listen", {"notifications": wanted})
    async with peer.opened(request) as (_, messages):
        yield Stream(json.loads(request.content)["id"], messages)


def waiting(app: App) -> anyio.Event:
    """A task that reports, and waits to be let go."""
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work(run: Run) -> str:
        run.report(1, 2, "begun")
        await go.wait()
        return "done"

    return go


@asynccontextmanager
async def stopping_server(folder: Path) -> AsyncGenerator[tuple[anyio.abc.Process, str]]:
    """A server process, and its URL."""
    store = f"sqlite:///{folder / 'tasks.db'}"
    command = [sys.executable, "-m", "tests.interaction.server.stopping_server", store]
    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        url = await anyio.streams.text.TextReceiveStream(process.stdout).receive()
        yield process, url.strip()


@pytest.fixture
def publishing(tmp_path: Path) -> App:
    """A server that publishes."""
    return App(tmp_path / "tasks.db", install={"subscriptions": "store"})


async def test_a_task_is_told_to_its_end(app: App) -> None:
    """Spec: ext-tasks: `notifications/tasks` carries the whole task."""
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        async with listening(peer, taskIds=[task_id]) as stream:
            assert await stream.acknowledged() == {"taskIds": [task_id]}
            await stream.task("working")
            go.set()
            told = await stream.task("completed")
        assert told["result"]["content"][0]["text"] == "done"
        task = await peer.get(task_id)
        assert told["lastUpdatedAt"] == task["lastUpdatedAt"]
        assert told.keys() >= {"taskId", "createdAt", "ttlMs", "statusMessage"}


async def test_a_task_that_ended_before_is_told_all_the_same(app: App) -> None:
    """Ours: between its creation and the stream it may have ended."""
    go = waiting(app)
    go.set()
    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.ended(task_id)
        async with listening(peer, taskIds=[task_id, task_id]) as stream:
            assert await stream.acknowledged() == {"taskIds": [task_id]}
            await stream.task("completed")


async def test_unknown_ids_are_left_out_of_the_acknowledgement(app: App) -> None:
    """Spec: ext-tasks: only with what will be delivered."""
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        unknown = secrets.token_hex(16)
        async with listening(peer, taskIds=[unknown, task_id]) as stream:
            assert await stream.acknowledged() == {"taskIds": [task_id]}
        async with listening(peer, taskIds=[unknown]) as stream:
            assert await stream.acknowledged() == {}
        go.set()
        await peer.ended(task_id)


async def test_kinds_are_mixed_in_one_filter(publishing: App) -> None:
    """Spec: subscriptions: one stream, every kind that was asked for, and no other."""
    go = waiting(publishing)
    async with publishing.serving() as peer:
        task_id = await peer.start("work")
        asked = {
            "toolsListChanged": True,
            "promptsListChanged": False,
            "resourceSubscriptions": ["run://1"],
            "taskIds": [task_id],
        }
        async with listening(peer, **asked) as stream:
            assert await stream.acknowledged() == {
                "toolsListChanged": True,
                "resourceSubscriptions": ["run://1"],
                "taskIds": [task_id],
            }
            await stream.task("working")
            await publishing.tasks.publish(ResourceUpdated("run://2"))
            await publishing.tasks.publish(ResourceUpdated("run://1"))
            await publishing.tasks.publish(ToolsListChanged())
            told = [await stream.next() for _ in range(2)]
            go.set()
            await stream.task("completed")
        assert {one["method"]: one["params"].get("uri") for one in told} == {
            "notifications/resources/updated": "run://1",
            "notifications/tools/list_changed": None,
        }


async def test_several_streams_are_served_at_once(app: App) -> None:
    """Spec: subscriptions: each has its own id."""
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        async with (
            listening(peer, taskIds=[task_id]) as first,
            listening(peer, taskIds=[task_id]) as second,
        ):
            assert first.request_id != second.request_id
            for stream in (first, second):
                await stream.acknowledged()
            go.set()
            for stream in (first, second):
                await stream.task("completed")


async def test_progress_and_log_messages_are_never_on_it(app: App) -> None:
    """Spec: ext-tasks: neither is supported for tasks."""

    @app.tool(task_support="required")
    async def work(ctx: Context[Any, Any]) -> str:
        for number in range(5):
            await ctx.report_progress(number, 5, f"step {number}")
            await ctx.info("a log message")  # pyright: ignore[reportDeprecated]
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
        async with listening(peer, taskIds=[reply.result["taskId"]]) as stream:
            await stream.acknowledged()
            await stream.task("completed")  # it fails at any other kind of message


async def test_a_client_without_the_extension_is_refused_tasks(app: App) -> None:
    """Spec: ext-tasks: -32021."""
    async with app.serving() as peer:
        wanted: Json = {"notifications": {"taskIds": []}}
        reply = await peer.undeclared().ask("subscriptions/listen", wanted)
    assert (reply.http, reply.error["code"]) == (400, MISSING_CAPABILITY)


@pytest.mark.parametrize("ids", ["abc", [1], {"a": 1}, ["x"] * 1001])
async def test_a_list_that_cannot_be_meant_is_refused(app: App, ids: Any) -> None:
    """Spec: -32602."""
    async with app.serving() as peer:
        wanted: Json = {"notifications": {"taskIds": ids}}
        reply = await peer.ask("subscriptions/listen", wanted)
    assert reply.error["code"] == INVALID_PARAMS


async def test_C5_what_is_never_published_is_not_advertised(app: App) -> None:
    """Ours: field case C5: a stream that would never say anything pins a connection."""
    async with app.serving() as peer:
        wanted: Json = {"notifications": {"toolsListChanged": True}}
        reply = await peer.ask("subscriptions/listen", wanted)
        assert (reply.http, reply.error["code"]) == (404, METHOD_NOT_FOUND)
        capabilities = (await peer.ask("server/discover", {})).result["capabilities"]
        assert not capabilities["tools"].get("listChanged")
        async with listening(peer, toolsListChanged=True, taskIds=["x"]) as stream:
            assert await stream.acknowledged() == {}
    with pytest.raises(SettingsError, match="subscriptions='store'"):
        await app.tasks.publish(ToolsListChanged())


async def test_C5_listening_can_be_switched_off(tmp_path: Path) -> None:
    """Ours: field case C5: for a server whose every open request costs money."""
    off = App(tmp_path / "tasks.db", listen_streams=0, install={"subscriptions": "store"})
    async with off.serving() as peer:
        for wanted in ({"taskIds": ["x"]}, {"toolsListChanged": True}):
            reply = await peer.ask("subscriptions/listen", {"notifications": wanted})
            assert (reply.http, reply.error["code"]) == (404, METHOD_NOT_FOUND)
        capabilities = (await peer.ask("server/discover", {})).result["capabilities"]
        assert not capabilities["tools"].get("listChanged")


async def test_C5_a_stream_that_has_grown_old_ends_cleanly(tmp_path: Path) -> None:
    """Ours: field case C5; spec: subscriptions, Graceful Closure."""
    app = App(tmp_path / "tasks.db", listen_seconds=0.2)
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        async with listening(peer, taskIds=[task_id]) as stream:
            await stream.acknowledged()
            await stream.farewell()
        async with listening(peer, taskIds=[task_id]) as stream:  # its client comes back
            assert await stream.acknowledged() == {"taskIds": [task_id]}
        go.set()
        await peer.ended(task_id)


async def test_one_stream_too_many_is_refused_until_another_ends(tmp_path: Path) -> None:
    """Ours: bounded, and said before anything is acknowledged."""
    app = App(tmp_path / "tasks.db", listen_streams=2)
    async with app.serving() as peer:
        wanted: Json = {"notifications": {"taskIds": ["x"]}}
        async with listening(peer, taskIds=["x"]) as first, listening(peer, taskIds=["x"]) as last:
            await first.acknowledged()
            await last.acknowledged()
            refused = await peer.ask("subscriptions/listen", wanted)
            assert refused.error["code"] == INTERNAL_ERROR
            assert "2 open listen streams" in refused.error["message"]
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:  # the server has to notice that they were left
                async with listening(peer, taskIds=["x"]) as stream:
                    message = await anext(stream.messages)
                    if "error" not in message:
                        break


async def test_one_caller_cannot_take_all_the_streams(tmp_path: Path) -> None:
    """Ours: a caller gets a quarter of them; the others are served as before."""

    def caller(ctx: ServerRequestContext[Any, Any]) -> str:
        assert ctx.request is not None
        return ctx.request.headers["x-caller"]

    app = App(tmp_path / "tasks.db", listen_streams=8, principal=caller)
    wanted: Json = {"notifications": {"taskIds": ["x"]}}
    kept_open: list[AsyncIterator[Json]] = []
    async with app.serving() as peer, AsyncExitStack() as streams:

        async def opened(name: str) -> Json:
            request = peer.request("subscriptions/listen", wanted, headers={"x-caller": name})
            _, messages = await streams.enter_async_context(peer.opened(request))
            kept_open.append(messages)
            return await anext(messages)

        for _ in range(2):
            assert "error" not in await opened("ada")
        refused = (await opened("ada"))["error"]
        assert refused["code"] == INTERNAL_ERROR
        assert "This caller has 2 open listen streams already" in refused["message"]
        assert "error" not in await opened("bob")


@pytest.mark.parametrize(
    ("header", "others"),
    [
        ("x-forwarded-for", ["203.0.113.8", "203.0.113.7, 203.0.113.8"]),
        ("x-real-ip", ["203.0.113.8"]),
        ("forwarded", ["for=203.0.113.8", "for=203.0.113.7, for=203.0.113.8"]),
    ],
)
async def test_one_anonymous_address_behind_a_proxy_cannot_take_all_the_streams(
    tmp_path: Path, header: str, others: list[str]
) -> None:
    """Ours: by the address the nearest proxy saw, whatever was made up before it."""
    app = App(tmp_path / "tasks.db", listen_streams=8)
    wanted: Json = {"notifications": {"taskIds": ["x"]}}
    prefix = "for=" if header == "forwarded" else ""
    async with app.serving() as peer, AsyncExitStack() as streams:

        async def opened(headers: dict[str, str]) -> Json:
            request = peer.request("subscriptions/listen", wanted, headers=headers)
            _, messages = await streams.enter_async_context(peer.opened(request))
            kept_open.append(messages)
            return await anext(messages)

        kept_open: list[AsyncIterator[Json]] = []
        for made_up in ("", "198.51.100.1, "):
            assert "error" not in await opened({header: f"{made_up}{prefix}203.0.113.7"})
        refused = (await opened({header: f"198.51.100.2, {prefix}203.0.113.7"}))["error"]
        assert "This caller has 2 open listen streams already" in refused["message"]
        for other in others:
            assert "error" not in await opened({header: other})
        for _ in range(3):  # this machine's own user
            assert "error" not in await opened({})


async def test_every_stream_ends_with_its_result_when_the_server_stops(app: App) -> None:
    """Spec: subscriptions, Graceful Closure; a stream that comes after that is ended, too."""
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        async with (
            listening(peer, taskIds=[task_id]) as first,
            listening(peer, taskIds=["x"]) as second,
        ):
            for stream in (first, second):
                await stream.acknowledged()
            close_streams(app.mcp)
            for stream in (first, second):
                await stream.farewell()
        async with listening(peer, taskIds=[task_id]) as late:
            await late.acknowledged()
            await late.farewell()
        go.set()
        await peer.ended(task_id)


async def test_events_reach_listeners_of_every_process_on_the_store(tmp_path: Path) -> None:
    """Ours: published here, heard there; a tool's own `ctx.notify_…` is such an event."""
    here, there = (App(tmp_path / "tasks.db", install={"subscriptions": "store"}) for _ in range(2))

    @here.mcp.tool()
    async def change(ctx: Context[Any, Any]) -> str:
        await ctx.notify_resource_updated("run://1")
        return "done"

    async with here.serving() as writer, there.serving() as reader:
        capabilities = (await reader.ask("server/discover", {})).result["capabilities"]
        assert capabilities["tools"]["listChanged"] is True
        async with listening(reader.undeclared(), resourceSubscriptions=["run://1"]) as stream:
            await stream.acknowledged()
            await writer.call("change")
            assert (await stream.next())["params"]["uri"] == "run://1"
        assert await here.tasks.store.find(owner="anonymous") == []


async def test_a_listener_that_does_not_read_holds_nobody_up(publishing: App) -> None:
    """Ours: field case C1's other side: whoever publishes never waits for a client."""
    async with publishing.serving() as peer:
        slow = listening(peer.undeclared(), resourceSubscriptions=["run://1"])
        async with slow as stream:
            await stream.acknowledged()
            with anyio.fail_after(PATIENCE_SECONDS):
                for _ in range(500):
                    await publishing.tasks.publish(ResourceUpdated("run://1"))
            assert (await stream.next())["params"]["uri"] == "run://1"


async def test_the_sdks_own_client_hears_events_and_is_told_of_the_end(publishing: App) -> None:
    """Known gap: mcp 2.3.0's client takes the `notifications/cancelled` that a server has to send
    for a loss, and does not wait for the result behind it; either way it is to listen again."""
    async with publishing.serving() as peer, Client(peer.url) as client:
        heard: list[str] = []
        with anyio.fail_after(PATIENCE_SECONDS), pytest.raises(SubscriptionLost):  # noqa: PT012
            async with client.listen(tools_list_changed=True) as events:
                await publishing.tasks.publish(ToolsListChanged())
                async for event in events:
                    heard.append(type(event).__name__)
                    close_streams(publishing.mcp)
    assert heard == ["ToolsListChanged"]


async def test_a_left_stream_leaves_nothing_behind(app: App) -> None:
    """Ours: field case A18: closing it ends its work in the server."""
    go = waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        before = _tasks()
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            streams = Peer(peer.url, http)
            for _ in range(20):
                async with listening(streams, taskIds=[task_id]) as stream:
                    await stream.acknowledged()
        await until(lambda: _tasks() <= before, "the streams' coroutines have ended")
        go.set()
        await peer.ended(task_id)


def _tasks() -> int:
    return len(anyio.get_running_tasks())


async def test_a_signal_ends_the_process_although_calls_and_sessions_are_open(
    tmp_path: Path,
) -> None:
    """Ours: an inline call of 2026 and an open session of 2025 get two seconds, no more."""
    async with (
        stopping_server(tmp_path) as (process, url),
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
    ):
        old = await Legacy(url, http).opened()
        session = await http.send(http.build_request("GET", url, headers=old.headers), stream=True)
        call = Peer(url, http).request(
            "tools/call", {"name": "work", "arguments": {}}, meta={"progressToken": 1}
        )
        async with Peer(url, http).opened(call) as (_, messages):
            await anext(messages)
            process.terminate()
            with anyio.fail_after(4):
                await process.wait()
        await session.aclose()


async def test_a_signal_ends_streams_first_and_the_process_within_two_seconds(
    tmp_path: Path,
) -> None:
    """Spec: subscriptions, Graceful Closure. Ours: an open stream does not hold the process."""
    async with (
        stopping_server(tmp_path) as (process, url),
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
    ):
        peer = Peer(url, http)
        async with (
            listening(peer, taskIds=["x"]) as first,
            listening(peer, taskIds=["y"]) as second,
        ):
            for stream in (first, second):
                await stream.acknowledged()
            process.terminate()
            began = time.monotonic()
            for stream in (first, second):
                await stream.farewell()
            with anyio.fail_after(PATIENCE_SECONDS):
                await process.wait()
            assert time.monotonic() - began < 2
