"""Drives a task server with `mcp` 1.30.0's experimental client; prints what it saw as JSON.

Run by that version's Python: ``python mcp_1_30.py URL``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp.types as types
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError

news: list[dict[str, Any]] = []
asked: list[dict[str, Any]] = []


async def on_message(message: Any) -> None:
    """Keeps the notifications."""
    if isinstance(message, types.ServerNotification):
        news.append(message.root.model_dump(by_alias=True, mode="json", exclude_none=True))


async def on_elicitation(_context: Any, params: Any) -> types.ElicitResult:
    """Accepts every question."""
    asked.append(params.model_dump(by_alias=True, mode="json", exclude_none=True))
    return types.ElicitResult(action="accept", content={"database": "sales"})


def plain(model: Any) -> Any:
    """A result as JSON."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


async def refused(call: Any) -> dict[str, Any]:
    """The error a call ends in."""
    try:
        return {"unexpected": plain(await call)}
    except McpError as error:
        return {"code": error.error.code, "message": error.error.message}


async def drive(session: ClientSession) -> dict[str, Any]:
    """Each thing that the client can do."""
    seen: dict[str, Any] = {"initialized": plain(await session.initialize())}
    tasks = session.experimental
    tools = await session.list_tools()
    seen["support"] = {
        one.name: one.execution.taskSupport for one in tools.tools if one.execution is not None
    }
    created = await tasks.call_tool_as_task("long_job", {"steps": 3}, ttl=90_000)
    seen["created"] = plain(created)
    task_id = created.task.taskId
    seen["polled"] = [plain(one) async for one in tasks.poll_task(task_id)]
    seen["result"] = plain(await tasks.get_task_result(task_id, types.CallToolResult))
    asking = (await tasks.call_tool_as_task("ask", {})).task.taskId
    seen["asked_result"] = plain(await tasks.get_task_result(asking, types.CallToolResult))
    waiting = (await tasks.call_tool_as_task("long_job", {"steps": 10_000})).task.taskId
    seen["cancelled"] = plain(await tasks.cancel_task(waiting))
    seen["cancelled_again"] = await refused(tasks.cancel_task(waiting))
    says_no = (await tasks.call_tool_as_task("says_no", {})).task.taskId
    seen["says_no"] = plain(await tasks.get_task_result(says_no, types.CallToolResult))
    seen["says_no_task"] = plain(await tasks.get_task(says_no))
    breaks = (await tasks.call_tool_as_task("breaks", {})).task.taskId
    seen["breaks"] = await refused(tasks.get_task_result(breaks, types.CallToolResult))
    seen["unknown"] = await refused(tasks.get_task("nobody"))
    seen["not_as_task"] = await refused(session.call_tool("strict", {}))
    seen["listed"] = [one.taskId for one in (await tasks.list_tasks()).tasks]
    seen["made"] = [breaks, says_no, waiting, asking, task_id]
    seen["progress"] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen["progress"].append([done, total, message])

    plain_call = await session.call_tool("long_job", {"steps": 2}, progress_callback=progress)
    seen["plain"] = plain(plain_call)
    return seen


async def main(url: str) -> None:
    """Drive the server at ``url``."""
    async with streamable_http_client(url) as (read, write, _):
        session = ClientSession(
            read, write, elicitation_callback=on_elicitation, message_handler=on_message
        )
        async with session:
            seen = await drive(session)
    sys.stdout.write(json.dumps({**seen, "news": news, "asked": asked}))


anyio.run(main, sys.argv[1])
