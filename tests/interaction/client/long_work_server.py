"""Long work of every temper, on a real server of ours, for the client's tests.

``python -m tests.interaction.client.long_work_server --store FILE --port 0`` prints its URL, and
ends when its stdin closes.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Annotated, Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND
from pydantic import BaseModel

from awhile import Run, Tasks
from tests.serving import serve_until_stdin_closes


class Confirmation(BaseModel):
    """What `delete` and `ask_first` ask."""

    confirm: bool


def ask_first(_ctx: Context[Any, Any]) -> Elicit[Confirmation]:
    """The question before the work."""
    return Elicit("Are you sure?", Confirmation)


async def refuse_discover(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """What a server of 2025-11-25 says to the handshake of 2026-07-28."""
    if ctx.method == "server/discover":
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
    return await call_next(ctx)


def build(store: str, *, older: bool = False) -> MCPServer[Any]:
    """The server on a store file."""
    tasks = Tasks(f"sqlite:///{store}", lease_seconds=1.0)
    installed = tasks.install(middleware=[refuse_discover] if older else [])
    mcp: MCPServer[Any] = MCPServer("long-work", **installed)

    @mcp.tool()
    def greet(name: str) -> str:
        """Answers at once."""
        return f"Hello, {name}!"

    @mcp.tool()
    def die() -> str:
        """Takes the whole server with it."""
        os._exit(1)

    @mcp.tool()
    def refuse() -> str:
        """Says no at once."""
        raise ToolError("not today")

    @mcp.tool()
    async def hold(marker: str, ctx: Context[Any, Any]) -> str:
        """Never a task: makes a file, then holds the call open and reports."""
        await ctx.report_progress(1, 4, "holding")
        await anyio.Path(marker).touch()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.Path(f"{marker}.let-go").touch()
        raise AssertionError

    async def counted(steps: int, seconds: float, run: Run) -> str:
        for step in range(steps):
            run.report(step, steps, f"step {step + 1} of {steps}")
            await anyio.sleep(seconds)
        run.report(steps, steps, "all steps done")
        return f"counted to {steps}"

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def count(steps: int, seconds: float, run: Run) -> str:
        """Counts; not to be run again."""
        return await counted(steps, seconds, run)

    @mcp.tool()
    @tasks.tool(inline_seconds=0, rerun="safe")
    async def count_again(steps: int, seconds: float, run: Run) -> str:
        """Counts; safe to run again."""
        return await counted(steps, seconds, run)

    @mcp.tool()
    @tasks.tool(inline_seconds=0, run_in="thread")
    def stubborn(seconds: float) -> str:
        """A thread that does not look at its token."""
        time.sleep(seconds)
        return "finished all the same"

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def fail_when_stopped(run: Run) -> str:
        """Breaks instead of stopping."""
        while not run.stop_asked:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
        raise ValueError("broke while tidying up")

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def fail() -> str:
        """Says no after a while."""
        await anyio.sleep(0.1)
        raise ValueError("the disk is full")

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def break_down() -> str:
        """Ends in a JSON-RPC error."""
        await anyio.sleep(0.1)
        raise MCPError(code=-32055, message="the gauge broke", data={"gauge": 7})

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def delete(file: str, ctx: Context[Any, Any]) -> str:
        """Asks while it runs."""
        answer = await ctx.elicit(f"Delete {file}?", Confirmation)
        agreed = answer.action == "accept" and answer.data.confirm
        return f"Deleted {file}." if agreed else f"Kept {file} ({answer.action})."

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def sure(confirmation: Annotated[Confirmation, Resolve(ask_first)]) -> str:
        """Asks before it becomes a task."""
        return f"sure: {confirmation.confirm}"

    return mcp


def main() -> None:
    """Serve until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--store", required=True)
    parser.add_argument("--stdio", action="store_true", help="speak over stdin and stdout")
    parser.add_argument("--older", action="store_true", help="know only 2025-11-25")
    given = parser.parse_args()
    mcp = build(given.store, older=given.older)
    if given.stdio:
        mcp.run("stdio")
    else:
        serve_until_stdin_closes(mcp, port=given.port)


if __name__ == "__main__":
    main()
