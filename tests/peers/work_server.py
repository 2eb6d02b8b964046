"""A server that other projects' clients are tried against.

``python -m tests.peers.work_server`` prints its URL, and ends when its stdin closes; with
``--stdio`` it speaks over that instead.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from awhile import Run, Tasks
from tests.serving import serve_until_stdin_closes

STEP_SECONDS = 0.3


class Which(BaseModel):
    """What `ask` asks."""

    database: str


def build(store: str) -> MCPServer[Any]:
    """The server on a store."""
    tasks = Tasks(store)
    installed = tasks.install()
    mcp: MCPServer[Any] = MCPServer("work", version="1", log_level="WARNING", **installed)

    @mcp.tool()
    @tasks.tool(inline_seconds=0.1)
    async def long_job(steps: int, run: Run) -> str:
        """Works in steps."""
        for step in range(1, steps + 1):
            run.report(step, steps, f"step {step}/{steps}")
            await anyio.sleep(STEP_SECONDS)
        return f"{steps} steps done"

    @mcp.tool()
    @tasks.tool(inline_seconds=0.1)
    async def ask(ctx: Context[Any, Any]) -> str:
        """Asks which of two databases is meant."""
        answer = await ctx.elicit("Which database: sales or stock?", Which)
        return f"asked {answer.data.database}" if answer.action == "accept" else answer.action

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def strict() -> str:
        """Runs only as a task."""
        await anyio.sleep(STEP_SECONDS)
        return "done"

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def says_no() -> str:
        """The tool itself says no."""
        raise ToolError("no such table: sales")

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def breaks() -> str:
        """Ends in a JSON-RPC error."""
        raise MCPError(code=-32050, message="the engine is down", data={"engine": "duckdb"})

    @mcp.tool()
    def quick() -> str:
        """Answers at once; never a task."""
        return "done"

    return mcp


def main() -> None:
    """Serve until stdin closes."""
    with tempfile.TemporaryDirectory() as folder:
        mcp = build(f"sqlite:///{Path(folder) / 'tasks.db'}")
        if sys.argv[1:] == ["--stdio"]:
            mcp.run("stdio")
        else:
            serve_until_stdin_closes(mcp)


if __name__ == "__main__":
    main()
