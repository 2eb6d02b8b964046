"""The same server over stdin and stdout: no headers to check, everything else alike."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tests.interaction.server.peer import ENDED, PATIENCE_SECONDS, REVISION, TASKS, VENDOR, Json

pytestmark = pytest.mark.anyio

SERVER = """
import sys
import anyio
from mcp.server.mcpserver import MCPServer
from awhile import Run, Tasks

tasks = Tasks(sys.argv[1])
mcp = MCPServer("over stdio", log_level="WARNING", **tasks.install())

@mcp.tool()
@tasks.tool(inline_seconds=0.1)
async def wait(seconds: float, run: Run) -> str:
    run.report(0, seconds, "waiting")
    await anyio.sleep(seconds)
    return f"waited {seconds} s"

mcp.run("stdio")
"""


class Pipe:
    """A bare client over a child's stdin and stdout."""

    def __init__(self, process: Process) -> None:
        self._process = process
        assert process.stdout
        self._lines = _lines(TextReceiveStream(process.stdout))
        self._id = 0

    async def ask(self, method: str, params: Json) -> Json:
        """Send one request; its response."""
        self._id += 1
        meta: Json = {
            f"{VENDOR}/protocolVersion": REVISION,
            f"{VENDOR}/clientInfo": {"name": "pipe", "version": "1"},
            f"{VENDOR}/clientCapabilities": {"extensions": {TASKS: {}}},
        }
        request: Json = {
            "jsonrpc": "2.0",
            "id": self._id,
            "method": method,
            "params": {**params, "_meta": meta},
        }
        assert self._process.stdin
        await self._process.stdin.send(json.dumps(request).encode() + b"\n")
        async for message in self._lines:
            if message.get("id") == self._id:
                return message
        raise AssertionError("the server's stdout ended")


async def _lines(stdout: TextReceiveStream) -> AsyncIterator[Json]:
    buffered = ""
    async for text in stdout:
        buffered += text
        *whole, buffered = buffered.split("\n")
        for line in whole:
            yield json.loads(line)


async def test_a_task_is_made_read_and_cancelled_over_stdio(tmp_path: Path) -> None:
    """Ours: one server object, every transport."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    command = [sys.executable, str(script), f"sqlite:///{tmp_path / 'tasks.db'}"]
    with anyio.fail_after(3 * PATIENCE_SECONDS):
        async with await anyio.open_process(command, stderr=None) as process:
            peer = Pipe(process)
            quick = await peer.ask("tools/call", {"name": "wait", "arguments": {"seconds": 0}})
            assert quick["result"]["content"][0]["text"] == "waited 0.0 s"
            slow = await peer.ask("tools/call", {"name": "wait", "arguments": {"seconds": 600}})
            task_id = slow["result"]["taskId"]
            assert slow["result"]["resultType"] == "task"
            shown = await peer.ask("tasks/get", {"taskId": task_id})
            assert shown["result"]["statusMessage"] == "waiting"
            await peer.ask("tasks/cancel", {"taskId": task_id})
            while (await peer.ask("tasks/get", {"taskId": task_id}))["result"][
                "status"
            ] not in ENDED:
                pass
            ended = (await peer.ask("tasks/get", {"taskId": task_id}))["result"]
            assert ended["status"] == "cancelled"
            assert process.stdin
            await process.stdin.aclose()
            assert await process.wait() == 0
