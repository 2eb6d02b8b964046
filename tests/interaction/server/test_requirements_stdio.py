"""Requirements of 2026-07-28 that only show over stdio: one channel, and cancelling by name.

The manifest in `tests/requirements` says which requirement each of them is for.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tests.interaction.server.peer import PATIENCE_SECONDS, REVISION, TASKS, VENDOR, Json

pytestmark = pytest.mark.anyio

SUBSCRIPTION_ID = f"{VENDOR}/subscriptionId"

SERVER = """
import sys
import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.subscriptions import ResourceUpdated
from pydantic import BaseModel
from awhile import Run, Tasks

tasks = Tasks(sys.argv[1])
mcp = MCPServer("over stdio", log_level="ERROR", **tasks.install(subscriptions="store"))

class Name(BaseModel):
    name: str

@mcp.tool()
@tasks.tool(inline_seconds=600)
async def hold(run: Run) -> str:
    run.report(1, 2, "holding")
    try:
        await anyio.sleep_forever()
    finally:
        await tasks.publish(ResourceUpdated("let-go://hold"))

@mcp.tool()
@tasks.tool(task_support="required")
async def gives_up_asking(ctx: Context) -> str:
    with anyio.move_on_after(0.1):
        await ctx.elicit("Which one?", Name)
    await anyio.sleep_forever()

@mcp.tool()
def quick() -> str:
    return "done"

mcp.run("stdio")
"""


class Pipe:
    """A bare client over a child's stdin and stdout; ``heard`` is all that came."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._ids = itertools.count(1)
        self._news = anyio.Event()
        self.heard: list[Json] = []

    async def read(self) -> None:
        """Take in what comes, until the child's stdout ends."""
        assert self._process.stdout
        buffered = ""
        async for text in TextReceiveStream(self._process.stdout):
            *lines, buffered = (buffered + text).split("\n")
            self.heard += [json.loads(line) for line in lines]
            self._news.set()
            self._news = anyio.Event()

    async def send(self, message: Json) -> None:
        """Any message, or what is none."""
        assert self._process.stdin
        await self._process.stdin.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def post(self, method: str, params: Json, progress: object = None) -> int:
        """Send a request, perhaps with a progress token; its id."""
        request_id = next(self._ids)
        meta: Json = {
            f"{VENDOR}/protocolVersion": REVISION,
            f"{VENDOR}/clientInfo": {"name": "pipe", "version": "1"},
            f"{VENDOR}/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {TASKS: {}},
            },
            **({} if progress is None else {"progressToken": progress}),
        }
        await self.send({"id": request_id, "method": method, "params": {**params, "_meta": meta}})
        return request_id

    async def listen(self, **wanted: Any) -> int:
        """Open a subscription; its id, once it is acknowledged."""
        request_id = await self.post("subscriptions/listen", {"notifications": wanted})
        await self.until(lambda one: subscription(one) == request_id)
        return request_id

    async def cancel(self, request_id: object) -> None:
        """Send ``notifications/cancelled``."""
        params = {"requestId": request_id, "reason": "a test"}
        await self.send({"method": "notifications/cancelled", "params": params})

    async def ask(self, method: str, params: Json) -> Json:
        """Send one request; its response."""
        return await self.response(await self.post(method, params))

    async def response(self, request_id: int) -> Json:
        """The response to a request."""
        return await self.until(lambda one: one.get("id") == request_id and "method" not in one)

    async def until(self, wanted: Callable[[Json], bool]) -> Json:
        """The first message of that kind, those heard before included."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:
                news = self._news
                for one in self.heard:
                    if wanted(one):
                        return one
                await news.wait()

    def of(self, request_id: int) -> list[Json]:
        """What was heard on a subscription."""
        return [one for one in self.heard if subscription(one) == request_id]


def subscription(message: Json) -> object:
    """The subscription a message belongs to."""
    carrier: Json = message.get("params") or message.get("result") or {}
    return carrier.get("_meta", {}).get(SUBSCRIPTION_ID)


@asynccontextmanager
async def piped(tmp_path: Path) -> AsyncGenerator[Pipe]:
    """The server as a child, which ends when its stdin closes."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    command = [sys.executable, str(script), f"sqlite:///{tmp_path / 'tasks.db'}"]
    with anyio.fail_after(4 * PATIENCE_SECONDS):
        async with await anyio.open_process(command, stderr=None) as process:
            pipe = Pipe(process)
            async with anyio.create_task_group() as reading:
                reading.start_soon(pipe.read)
                yield pipe
                assert process.stdin
                await process.stdin.aclose()
                assert await process.wait() == 0


async def test_subscriptions_share_the_channel_and_are_told_apart_by_their_ids(
    tmp_path: Path,
) -> None:
    """Spec: subscriptions: acknowledged first, each by its own id, and only what was asked for."""
    async with piped(tmp_path) as pipe:
        created = await pipe.ask("tools/call", {"name": "gives_up_asking", "arguments": {}})
        task_id = created["result"]["taskId"]
        tasks = await pipe.listen(taskIds=[task_id])
        uris = await pipe.listen(resourceSubscriptions=["let-go://hold"])
        call = await pipe.post("tools/call", {"name": "hold", "arguments": {}}, progress="p")
        await pipe.until(lambda one: one.get("method") == "notifications/progress")
        await pipe.cancel(call)
        await pipe.until(lambda one: one.get("method") == "notifications/resources/updated")
        await pipe.ask("tasks/cancel", {"taskId": task_id})
        await pipe.until(lambda one: one.get("params", {}).get("status") == "cancelled")
    for one, kind in ((tasks, "notifications/tasks"), (uris, "notifications/resources/updated")):
        first, *later = pipe.of(one)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert {message["method"] for message in later if "method" in message} <= {
            kind,
            "notifications/cancelled",
        }


async def test_a_cancelled_request_is_stopped_and_never_answered(tmp_path: Path) -> None:
    """Spec: cancellation: stop the work, free what it held, send no response."""
    async with piped(tmp_path) as pipe:
        await pipe.listen(resourceSubscriptions=["let-go://hold"])
        call = await pipe.post("tools/call", {"name": "hold", "arguments": {}}, progress="p")
        await pipe.until(lambda one: one.get("method") == "notifications/progress")
        await pipe.cancel(call)
        await pipe.until(lambda one: one.get("method") == "notifications/resources/updated")
        await pipe.ask("tools/call", {"name": "quick", "arguments": {}})
        assert [one for one in pipe.heard if one.get("id") == call] == []


async def test_a_cancelled_subscription_hears_nothing_more(tmp_path: Path) -> None:
    """Spec: subscriptions, Cancellation: on stdio by `notifications/cancelled`."""
    async with piped(tmp_path) as pipe:
        left = await pipe.listen(resourceSubscriptions=["let-go://hold"])
        stays = await pipe.listen(resourceSubscriptions=["let-go://hold"])
        await pipe.cancel(left)
        call = await pipe.post("tools/call", {"name": "hold", "arguments": {}}, progress="p")
        await pipe.until(lambda one: one.get("method") == "notifications/progress")
        await pipe.cancel(call)
        await pipe.until(lambda one: one in pipe.of(stays)[1:])
        await pipe.ask("tools/call", {"name": "quick", "arguments": {}})
        assert [one["method"] for one in pipe.of(left)] == [
            "notifications/subscriptions/acknowledged"
        ]


async def test_a_cancel_of_nothing_is_ignored(tmp_path: Path) -> None:
    """Spec: cancellation, Error Handling: unknown, finished and malformed ones."""
    async with piped(tmp_path) as pipe:
        done = await pipe.post("tools/call", {"name": "quick", "arguments": {}})
        await pipe.response(done)
        for nothing in (done, 4711, "no such request", None, {"a": 1}):
            await pipe.cancel(nothing)
        await pipe.send({"method": "notifications/cancelled"})
        answer = await pipe.ask("tools/call", {"name": "quick", "arguments": {}})
        assert answer["result"]["content"][0]["text"] == "done"
        assert len([one for one in pipe.heard if "method" not in one]) == 2


async def test_the_server_cancels_nothing_but_subscriptions(tmp_path: Path) -> None:
    """Spec: cancellation: not for a question that it takes back, nor for a task that is stopped."""
    async with piped(tmp_path) as pipe:
        created = await pipe.ask("tools/call", {"name": "gives_up_asking", "arguments": {}})
        task_id = created["result"]["taskId"]
        await pipe.listen(taskIds=[task_id])
        words = "Going on without an answer."
        await pipe.until(lambda one: one.get("params", {}).get("statusMessage") == words)
        await pipe.ask("tasks/cancel", {"taskId": task_id})
        await pipe.until(lambda one: one.get("params", {}).get("status") == "cancelled")
        told = [one for one in pipe.heard if one.get("method") == "notifications/cancelled"]
        assert told == []
