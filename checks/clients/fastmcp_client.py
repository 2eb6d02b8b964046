"""Drives a task server with fastmcp's client and fastmcp-tasks; prints what it saw as JSON.

Run by a Python that has them: ``python fastmcp_client.py TARGET legacy|modern [named]``, where
TARGET is a URL or a command as JSON. That client polls: it neither listens nor lists, and has no
handle from an id alone. In the legacy era it takes no tasks. Over HTTP it leaves out the
``Mcp-Name`` that the extension demands of it on requests about a task; "named" adds it.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from fastmcp_tasks import call_tool_task
from mcp.shared.exceptions import MCPError

Json = dict[str, Any]

asked: list[str] = []


async def on_elicitation(message: str, _response_type: Any, _params: Any, _context: Any) -> Json:
    """Accepts every question."""
    asked.append(message)
    return {"database": "sales"}


async def outcome(call: Any) -> Json:
    """What a call comes to, in words."""
    try:
        done = await call
    except (ToolError, MCPError, TimeoutError) as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"text": done.content[0].text}


async def plain(client: Client[Any]) -> Json:
    """Calls that wait to the end, whatever the server makes of them."""
    progress: list[Any] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append([done, total, message])

    long_job = client.call_tool("long_job", {"steps": 3}, progress_handler=on_progress)
    return {
        "tools": [tool.name for tool in await client.list_tools()],
        "quick": await outcome(client.call_tool("quick")),
        "strict": await outcome(client.call_tool("strict")),
        "long_job": await outcome(long_job),
        "progress": progress,
        "ask": await outcome(client.call_tool("ask")),
        "asked": asked,
        "says_no": await outcome(client.call_tool("says_no")),
        "breaks": await outcome(client.call_tool("breaks")),
    }


async def as_tasks(client: Client[Any]) -> Json:
    """Calls that are held as tasks meanwhile."""
    task = await call_tool_task(client, "long_job", {"steps": 4})
    seen: Json = {"steps": []}
    while True:
        now = await task.status()
        if now.status_message not in seen["steps"]:
            seen["steps"].append(now.status_message)
        if now.status != "working":
            break
        await anyio.sleep((now.poll_interval_ms or 1000) / 1000)
    seen["result"] = await outcome(task.result())

    stopped = await call_tool_task(client, "long_job", {"steps": 1000})
    await stopped.cancel()
    seen["cancelled"] = (await stopped.wait(timeout=20)).status
    seen["cancelled_result"] = await outcome(stopped.result())

    asking = await call_tool_task(client, "ask")
    seen["parked"] = (await asking.wait(state="input_required", timeout=20)).status
    seen["ask"] = await outcome(asking.result())

    never = call_tool_task(client, "quick")
    seen["quick"] = await outcome(never)
    seen["timed_out"] = await outcome(client.call_tool("long_job", {"steps": 1000}, timeout=1))
    return seen


def naming(**options: Any) -> httpx2.AsyncClient:
    """An HTTP client that adds the header."""

    async def name(request: httpx2.Request) -> None:
        params = (json.loads(request.content) if request.content else {}).get("params") or {}
        if "taskId" in params:
            request.headers["Mcp-Name"] = params["taskId"]

    return httpx2.AsyncClient(**options, event_hooks={"request": [name]})


def transport(target: str, *, named: bool) -> Any:
    """How to reach the server."""
    if target.startswith("["):
        command, *arguments = json.loads(target)
        root = Path(__file__).parents[2]
        return StdioTransport(command, arguments, cwd=str(root), keep_alive=False)
    return StreamableHttpTransport(target, httpx_client_factory=naming if named else None)


async def main(target: str, era: str, *options: str) -> None:
    """Drive the server at ``target``."""
    mode, named = "legacy" if era == "legacy" else "auto", "named" in options
    reached = transport(target, named=named)
    async with Client(reached, mode=mode, elicitation_handler=on_elicitation) as client:
        seen = {"version": client.protocol_version, **await plain(client)}
        if era != "legacy" and (named or target.startswith("[")):
            seen["tasks"] = await as_tasks(client)
    sys.stdout.write(json.dumps(seen))


anyio.run(lambda: main(*sys.argv[1:]))
