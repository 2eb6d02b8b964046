"""A server process with open calls, to be stopped: ``python -m … STORE DRAIN_SECONDS`` prints its
URL, and then a line for each body that has begun."""

from __future__ import annotations

import sys
from contextlib import suppress

import anyio
from mcp.server.mcpserver import MCPServer

from awhile import Tasks, serve_http


async def main(store: str, drain_seconds: float) -> None:
    """Serve until a signal."""
    tasks = Tasks(store, drain_seconds=drain_seconds)
    mcp = MCPServer("closing", log_level="WARNING", **tasks.install())

    async def work() -> str:
        print("begun", flush=True)  # noqa: T201
        await anyio.sleep_forever()
        raise AssertionError

    @mcp.tool()
    @tasks.tool(inline_seconds=60)
    async def long() -> str:
        return await work()

    @mcp.tool()
    @tasks.tool(inline_seconds=0, rerun="safe")
    async def again() -> str:
        return await work()

    @mcp.tool()
    @tasks.tool(task_support="forbidden")
    async def inline() -> str:
        return await work()

    @mcp.tool()
    async def plain() -> str:
        return await work()

    await serve_http(mcp, on_ready=lambda url: print(url, flush=True))  # noqa: T201


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        anyio.run(main, sys.argv[1], float(sys.argv[2]))
