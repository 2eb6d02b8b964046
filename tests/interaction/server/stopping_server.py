"""A server process to be stopped by a signal: ``python -m … STORE`` prints its URL."""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from awhile import Run, Tasks
from awhile.server.http import serve_http


def build(store: str, **settings: Any) -> MCPServer[Any]:
    """One tool that waits to be stopped."""
    tasks = Tasks(store, **settings)
    mcp: MCPServer[Any] = MCPServer("stopping", log_level="WARNING", **tasks.install())

    @mcp.tool()
    @tasks.tool(inline_seconds=60, rerun="safe")
    async def work(run: Run) -> str:
        run.report(1, 2, "begun")
        await anyio.sleep_forever()
        raise AssertionError

    return mcp


async def main(store: str) -> None:
    """Serve until a signal; what runs is stopped at once."""

    def say(url: str) -> None:
        print(url, flush=True)  # noqa: T201

    await serve_http(build(store), drains=False, on_ready=say)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
