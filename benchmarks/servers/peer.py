"""The same server by fastmcp and fastmcp-tasks, run by a Python that has them: `peer.py LOG`.

Where its tasks are, and how many run at once, it reads from its own ``FASTMCP_DOCKET_*``.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedFunctionDecorator=false, reportUnknownParameterType=false
# pyright: reportUnknownArgumentType=false

import asyncio
import json
import os
import socket
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import anyio
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

LOG = Path(sys.argv[1])
BARE = {
    "resultType": "complete",
    "taskId": "0123456789abcdef0123456789abcdef",
    "status": "working",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "lastUpdatedAt": "2026-01-01T00:00:00.000Z",
    "ttlMs": None,
    "pollIntervalMs": 250,
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "0"}},
}
REQUIRED = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=100))

mcp = FastMCP("bench")
mcp.add_extension(TasksExtension())
stamps: dict[str, int] = {}


@mcp.tool(task=REQUIRED)
async def noop(n: int) -> int:
    """Ends at once."""
    return n


@mcp.tool(task=REQUIRED)
async def sleeper(tag: str, ctx: Context) -> None:
    """Sleeps until it is stopped."""
    await ctx.report_progress(0, None, "running")
    try:
        await asyncio.sleep(3600)
    finally:
        stamps[tag] = time.monotonic_ns()


@mcp.tool(task=REQUIRED)
async def reporter(reports: int, ctx: Context) -> float:
    """Reports so often; how many seconds that took it."""
    began = time.perf_counter()
    for done in range(reports):
        await ctx.report_progress(done, reports, f"step {done}")
    return time.perf_counter() - began


@mcp.tool(task=REQUIRED)
async def rerun(tag: str) -> None:
    """Notes that it began, and goes on for longer than anybody waits."""
    note(tag)
    await asyncio.sleep(3600)


def note(tag: str) -> None:
    """Write down that a body began, where a kill of this process leaves it."""
    with LOG.open("a") as log:
        log.write(f"{tag} {time.monotonic_ns()}\n")


async def bare(request: Request) -> JSONResponse:
    """Reads JSON, writes JSON."""
    asked = json.loads(await request.body())
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": BARE})


async def stamp(request: Request) -> JSONResponse:
    """When the body of a tag stopped, or null."""
    return JSONResponse(stamps.get(request.path_params["tag"]))


beside = Starlette(
    routes=[
        Route("/bare", bare, methods=["POST"]),
        Route("/stamps/{tag}", stamp, methods=["POST"]),
    ]
)
endpoint = mcp.http_app()


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Nothing of fastmcp is on the way to the bare route."""
    one = beside if scope.get("path", "/mcp") != "/mcp" else endpoint
    await one(scope, receive, send)


def end_with_stdin() -> None:
    """End at once when whoever started this closes the pipe, or is gone."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_stdin, daemon=True).start()
    # The protocol is named so that asyncio sets TCP_NODELAY, as for our server.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(2048)
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        anyio.run(lambda: server.serve(sockets=[listening]))
