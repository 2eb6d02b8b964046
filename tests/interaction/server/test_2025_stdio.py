"""Tasks of 2025-11-25 over stdin and stdout: the pipe is the session."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tests.interaction.server.legacy import CAN, LEGACY, METHOD_NOT_FOUND, RELATED
from tests.interaction.server.peer import INVALID_PARAMS, PATIENCE_SECONDS, Json, accepted, until

pytestmark = pytest.mark.anyio

SERVER = """
import sys
import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel
from awhile import Run, Tasks

tasks = Tasks(sys.argv[1])
mcp = MCPServer("over stdio", log_level="WARNING", **tasks.install())

class Which(BaseModel):
    database: str

@mcp.tool()
@tasks.tool()
async def ask(ctx: Context, run: Run) -> str:
    run.report(1, 2, "asking")
    answer = await ctx.elicit("Which database?", Which)
    return f"asked {answer.data.database}"

@mcp.tool()
@tasks.tool(task_support="required")
async def wait() -> str:
    await anyio.sleep_forever()

mcp.run("stdio")
"""


class Pipe:
    """A bare legacy client over a child's stdin and stdout; accepts every question."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._answers: dict[int, Json] = {}
        self.news: list[Json] = []
        self.asked: list[Json] = []
        self._id = 0

    async def read(self) -> None:
        """Sort what comes."""
        assert self._process.stdout
        buffered = ""
        async for text in TextReceiveStream(self._process.stdout):
            buffered += text
            *whole, buffered = buffered.split("\n")
            for line in whole:
                message = json.loads(line)
                if "method" not in message:
                    self._answers[message["id"]] = message
                elif "id" in message:
                    self.asked.append(message)
                    await self.send(id=message["id"], result=accepted(database="sales"))
                else:
                    self.news.append(message)

    async def send(self, **message: object) -> None:
        """Send one message."""
        assert self._process.stdin
        line = json.dumps({"jsonrpc": "2.0", **message})
        await self._process.stdin.send(line.encode() + b"\n")

    async def ask(self, method: str, params: Json) -> Json:
        """Send one request; its whole response."""
        self._id += 1
        number = self._id
        await self.send(id=number, method=method, params=params)
        await until(lambda: number in self._answers, f"{method} was answered")
        return self._answers.pop(number)


@asynccontextmanager
async def piped(folder: Path) -> AsyncGenerator[Pipe]:
    """A client of a server of its own, after the handshake; both end in order."""
    script = folder / "server.py"
    script.write_text(SERVER)
    command = [sys.executable, str(script), f"sqlite:///{folder / 'tasks.db'}"]
    with anyio.fail_after(3 * PATIENCE_SECONDS):
        async with (
            await anyio.open_process(command, stderr=None) as process,
            anyio.create_task_group() as group,
        ):
            pipe = Pipe(process)
            group.start_soon(pipe.read)
            params: Json = {
                "protocolVersion": LEGACY,
                "capabilities": CAN,
                "clientInfo": {"name": "pipe", "version": "1"},
            }
            answer = await pipe.ask("initialize", params)
            assert answer["result"]["capabilities"]["tasks"]["list"] == {}
            await pipe.send(method="notifications/initialized")
            yield pipe
            assert process.stdin
            await process.stdin.aclose()
            assert await process.wait() == 0


async def test_a_task_is_made_asked_told_and_collected_over_stdio(tmp_path: Path) -> None:
    """Spec: 2025-11-25, tasks; the whole life of one."""
    async with piped(tmp_path) as pipe:
        params: Json = {"name": "ask", "arguments": {}, "task": {"ttl": 60_000}}
        created = await pipe.ask("tools/call", {**params, "_meta": {"progressToken": "t"}})
        task = created["result"]["task"]
        assert (task["status"], task["ttl"]) == ("working", 60_000)
        result = (await pipe.ask("tasks/result", {"taskId": task["taskId"]}))["result"]
        assert result["content"][0]["text"] == "asked sales"
        assert result["_meta"] == {RELATED: {"taskId": task["taskId"]}}
        assert pipe.asked[0]["params"]["_meta"] == {RELATED: {"taskId": task["taskId"]}}
        statuses = [
            one["params"]["status"]
            for one in pipe.news
            if one["method"] == "notifications/tasks/status"
        ]
        await until(lambda: pipe.news[-1]["params"].get("status") == "completed", "it was told")
        assert "input_required" in statuses
        progress = [one["params"] for one in pipe.news if one["method"] == "notifications/progress"]
        assert [(one["progressToken"], one["message"]) for one in progress] == [("t", "asking")]


async def test_a_plain_call_is_asked_over_stdio_too(tmp_path: Path) -> None:
    """Spec: 2025-11-25, elicitation."""
    async with piped(tmp_path) as pipe:
        answer = await pipe.ask("tools/call", {"name": "ask", "arguments": {}})
        assert answer["result"]["content"][0]["text"] == "asked sales"


async def test_a_task_is_listed_and_cancelled_over_stdio(tmp_path: Path) -> None:
    """Spec: 2025-11-25, Task Cancellation and Tool-Level Negotiation."""
    async with piped(tmp_path) as pipe:
        refused = await pipe.ask("tools/call", {"name": "wait", "arguments": {}})
        assert refused["error"]["code"] == METHOD_NOT_FOUND
        params: Json = {"name": "wait", "arguments": {}, "task": {}}
        task_id = (await pipe.ask("tools/call", params))["result"]["task"]["taskId"]
        listed = (await pipe.ask("tasks/list", {}))["result"]["tasks"]
        assert [one["taskId"] for one in listed] == [task_id]
        cancelled = (await pipe.ask("tasks/cancel", {"taskId": task_id}))["result"]
        assert cancelled["status"] == "cancelled"
        again = await pipe.ask("tasks/cancel", {"taskId": task_id})
        assert again["error"]["code"] == INVALID_PARAMS
