"""`python -m benchmarks.servers.ours STORE_URL SLOTS LOG`: the server of ours that is measured.

Beside the endpoint, in the same process: a bare route, `/bare`, which reads a request and writes
an answer of the same size by the same `json`, and does nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from awhile import Run, Tasks
from awhile.listening import listening_on, url_of
from awhile.server import collector, event_loop
from awhile.server.http import http_app

STORE, SLOTS, LOG = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])

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

stamps: dict[str, int] = {}
"""When a body stopped, by its tag: nanoseconds of the clock that all processes share."""

released: dict[str, anyio.Event] = {}

tasks = Tasks(STORE, slots=SLOTS, listen_streams=2000, max_queued=None, max_queued_per_owner=None)
mcp = MCPServer("bench", log_level="WARNING", **tasks.install())


@mcp.tool()
@tasks.tool(task_support="required", kept="always")
async def noop(n: int) -> int:
    """Ends at once."""
    return n


@mcp.tool()
@tasks.tool(task_support="required", kept="always")
async def sleeper(tag: str, run: Run) -> None:
    """Sleeps until it is stopped."""
    run.report(message="running")
    try:
        await anyio.sleep_forever()
    finally:
        stamps[tag] = time.monotonic_ns()


@mcp.tool()
@tasks.tool(task_support="required", kept="always")
async def teller(tag: str) -> int:
    """Ends when it is released, and tells when that was."""
    await released.setdefault(tag, anyio.Event()).wait()
    return time.monotonic_ns()


@mcp.tool()
@tasks.tool(task_support="required", kept="always")
async def reporter(reports: int, run: Run) -> float:
    """Reports so often; how many seconds that took it."""
    began = time.perf_counter()
    for done in range(reports):
        run.report(done, reports, f"step {done}")
        if done % 64 == 0:
            await anyio.lowlevel.checkpoint()
    return time.perf_counter() - began


@mcp.tool()
@tasks.tool(task_support="required", kept="always", rerun="safe")
async def rerun(tag: str) -> None:
    """Notes that it began, and goes on for longer than anybody waits."""
    note(tag)
    await anyio.sleep(3600)


def note(tag: str) -> None:
    """Write down that a body began, where a kill of this process leaves it."""
    with LOG.open("a") as log:
        log.write(f"{tag} {time.monotonic_ns()}\n")


async def bare(request: Request) -> Response:
    """Reads JSON, writes JSON."""
    asked = json.loads(await request.body())
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": BARE})


async def stamp(request: Request) -> Response:
    """When the body of a tag stopped, or null."""
    return JSONResponse(stamps.get(request.path_params["tag"]))


async def release(request: Request) -> Response:
    """Let a `teller` end."""
    released.setdefault(request.path_params["tag"], anyio.Event()).set()
    return Response()


beside = Starlette(
    routes=[
        Route("/bare", bare, methods=["POST"]),
        Route("/stamps/{tag}", stamp, methods=["POST"]),
        Route("/release/{tag}", release, methods=["POST"]),
    ]
)
endpoint = http_app(mcp)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Nothing of ours is on the way to the bare route."""
    if scope["type"] == "lifespan":
        await endpoint(scope, receive, partial(settled, send))
        return
    one = beside if scope.get("path", "/mcp") != "/mcp" else endpoint
    await one(scope, receive, send)


async def settled(send: Send, message: Message) -> None:
    """As `awhile serve` does once it is ready."""
    if message["type"] == "lifespan.startup.complete":
        collector.settle()
    await send(message)


def end_with_stdin() -> None:
    """End at once when whoever started this closes the pipe, or is gone."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_stdin, daemon=True).start()
    with listening_on("127.0.0.1", 0) as listening:
        listening.listen(2048)
        # It answers once its lifespan has begun: what connects earlier waits.
        print(f"{url_of(listening)}/mcp", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        event_loop.run(lambda: server.serve(sockets=[listening]))
