"""What comes on a listen stream is told by the id of the request that opened it.

On one channel (as on stdio) everything arrives together, and over HTTP a server may be wrong, too.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client._memory import InMemoryTransport
from mcp.server.mcpserver import MCPServer
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import TextContent

from awhile.client import Handle, connect
from tests.interaction.client.pushing_server import Pushes, Stream, pushing
from tests.interaction.client.running import wait_until
from tests.interaction.client.scripted_server import TASK_ID, Script, result, task
from tests.interaction.server.peer import serving

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
SERVER = "tests.interaction.client.long_work_server"
RARELY = 60_000
WORKING = task("working", pollIntervalMs=RARELY)

Reached = Callable[[MCPServer[Any]], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def on_one_channel(mcp: MCPServer[Any]) -> AsyncGenerator[Any]:
    """As on stdio: all messages share one stream each way."""
    yield InMemoryTransport(mcp)


@asynccontextmanager
async def over_http(mcp: MCPServer[Any]) -> AsyncGenerator[Any]:
    """A stream a request."""
    async with serving(mcp) as peer:
        yield peer.url


@asynccontextmanager
async def in_process(mcp: MCPServer[Any]) -> AsyncGenerator[Any]:
    """Called directly, without messages."""
    yield mcp


REACHED = pytest.mark.parametrize("reached", [on_one_channel, over_http, in_process])


def finished(text: str, task_id: str = TASK_ID) -> dict[str, Any]:
    """A task that has ended."""
    return task("completed", taskId=task_id, pollIntervalMs=RARELY, result=result(text))


async def text_of(handle: Handle) -> str:
    with anyio.fail_after(20):
        block = (await handle.result()).content[0]
    assert isinstance(block, TextContent)
    return block.text


@REACHED
async def test_what_bears_the_id_of_no_stream_of_ours_is_not_for_us(reached: Reached) -> None:
    """Spec: subscriptions, Receiving Notifications."""

    async def crossed(stream: Stream) -> None:
        await stream.acknowledge(stream.asked)
        await stream.push(finished("foreign"), meta={SUBSCRIPTION_ID_META_KEY: "another"})
        await stream.push(finished("unstamped"), meta={})
        await stream.push(finished("ours"))
        await anyio.sleep_forever()

    script = Script([WORKING], created=WORKING)
    async with (
        reached(pushing(script, Pushes(crossed))) as target,
        connect(target, ledger=None) as server,
    ):
        assert await text_of(await server.start("work")) == "ours"


@pytest.mark.parametrize("reached", [on_one_channel, over_http])
async def test_an_acknowledgement_under_another_id_is_none(reached: Reached) -> None:
    """Spec: subscriptions, Acknowledgment: it carries the subscription's id."""
    went_on = anyio.Event()

    async def crossed(stream: Stream) -> None:
        await stream.acknowledge(stream.asked, meta={SUBSCRIPTION_ID_META_KEY: "another"})
        await went_on.wait()
        await stream.acknowledge(stream.asked)
        await stream.push(finished("ours"))
        await anyio.sleep_forever()

    script = Script([task("working")])
    async with (
        reached(pushing(script, Pushes(crossed))) as target,
        connect(target, ledger=None) as server,
    ):
        handle = await server.start("work")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(text_of, handle)
            await wait_until(lambda: len(script.gets) > 5)  # whoever is pushed to asks no more
            went_on.set()
        assert await text_of(handle) == "ours"


@REACHED
async def test_two_streams_at_once_are_told_apart(reached: Reached) -> None:
    """Spec: subscriptions, Multiple Concurrent Subscriptions: while one takes over from the other
    both are ours, and then only the new one."""
    streams: list[Stream] = []
    open_, seen, closed = anyio.Event(), anyio.Event(), anyio.Event()

    async def serve(stream: Stream) -> None:
        streams.append(stream)
        first = streams[0]
        if stream is first:
            try:
                await stream.acknowledge(stream.asked)
                open_.set()
                await anyio.sleep_forever()
            finally:
                closed.set()
        later = "2026-11-01T10:00:02Z"
        await first.push({**WORKING, "statusMessage": "on the first", "lastUpdatedAt": later})
        await seen.wait()
        await stream.acknowledge(stream.asked)
        await closed.wait()
        last = {"lastUpdatedAt": "2026-11-01T10:00:03Z"}
        await stream.push({**finished("of a closed stream"), **last}, meta=first.meta)
        for one in stream.asked:
            await stream.push({**finished(f"{one} on the second", one), **last})
        await anyio.sleep_forever()

    async def watch(handle: Handle) -> None:
        async for now in handle.watch():
            if now.words == "on the first":
                seen.set()

    script = Script([WORKING], created=WORKING)
    async with (
        reached(pushing(script, Pushes(serve))) as target,
        connect(target, ledger=None) as server,
    ):
        first = await server.start("work")
        async with anyio.create_task_group() as watches:
            watches.start_soon(watch, first)
            with anyio.fail_after(10):
                await open_.wait()
            second = await server.resume("task-2")
            assert await text_of(second) == "task-2 on the second"
        assert await text_of(first) == "task-1 on the second"
    assert [one.asked for one in streams] == [[TASK_ID], [TASK_ID, "task-2"]]


async def test_over_stdio_many_tasks_are_pushed_on_streams_of_their_own_ids(tmp_path: Path) -> None:
    """Spec: subscriptions, Receiving Notifications: on stdio by this id (MUST)."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", SERVER, "--stdio", "--store", str(tmp_path / "tasks.db")],
        cwd=ROOT,
    )
    pushed: dict[str, set[bool]] = {}
    texts: list[str] = []

    async def watch(handle: Handle) -> None:
        assert handle.id
        pushed[handle.id] = {handle.work.pace.pushed async for _ in handle.watch()}
        texts.append(await text_of(handle))

    async with connect(command, ledger=None) as server, anyio.create_task_group() as watches:
        for steps in (12, 10, 8):
            handle = await server.start("count", {"steps": steps, "seconds": 0.1})
            watches.start_soon(watch, handle)
    assert sorted(texts) == ["counted to 10", "counted to 12", "counted to 8"]
    assert all(True in one for one in pushed.values()), pushed
