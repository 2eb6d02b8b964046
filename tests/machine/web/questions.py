"""A small MCP server with the tools the page backend uses; also a program of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent

from awhile import Run, Tasks
from awhile.server.http import serve_http
from awhile.wire.codec import write_instant


def build(store: str, go: anyio.Event) -> MCPServer[Any]:
    """A server with the tools the backend uses; its question waits until ``go`` is set."""
    tasks = Tasks(store)
    mcp: MCPServer[Any] = MCPServer("questions", **tasks.install())

    @mcp.tool()
    @tasks.tool(kept="always", request_key="request_key", rerun="safe", inline_seconds=0.2)
    async def ask(question: str, run: Run, request_key: str | None = None) -> CallToolResult:  # pyright: ignore[reportUnusedFunction]
        run.report(40, 100, "Running the query")
        await go.wait()
        answer: dict[str, Any] = {"run_id": run.id, "columns": [], "rows": [], "row_count": 0}
        return CallToolResult(
            content=[TextContent(type="text", text=json.dumps(answer))], structured_content=answer
        )

    @mcp.tool()
    async def list_runs(  # pyright: ignore[reportUnusedFunction]
        ctx: Context[Any, Any], limit: int = 100, after_rev: int = 0
    ) -> dict[str, Any]:
        records = await tasks.find(ctx, after_rev=after_rev, limit=limit)
        return {
            "runs": [
                {
                    "run_id": one.task_id,
                    "tool": one.tool,
                    "question": one.arguments["question"],
                    "status": one.status.value,
                    "outcome": "table" if one.result else None,
                    "status_message": one.status_message,
                    "created_at": write_instant(one.created_at_ms),
                    "ended_at": one.ended_at_ms and write_instant(one.ended_at_ms),
                    "is_error": one.is_error,
                    "cancel_asked_at": one.cancel_asked_at_ms
                    and write_instant(one.cancel_asked_at_ms),
                    "stopped_how": one.stopped_how,
                    "rev": one.rev,
                }
                for one in records
            ]
        }

    return mcp


async def main(store: str, port: int) -> None:
    """Serve at once-answered questions; says its URL when it is ready."""
    go = anyio.Event()
    go.set()
    await serve_http(build(store, go), port=port, on_ready=lambda url: print(url, flush=True))  # noqa: T201


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]))
