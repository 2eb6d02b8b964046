"""Mounted in somebody else's app: the same tasks, and the same context inside of a tool."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from fastapi import FastAPI
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from awhile import Run, Tasks
from awhile.server.http import http_app
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import Json, Peer, serving_app
from tests.interaction.server.test_owners import ISSUER, SERVER_URL, Verifier

pytestmark = pytest.mark.anyio

Mounting = Callable[[MCPServer[Any], ASGIApp], ASGIApp]


def in_starlette(mcp: MCPServer[Any], endpoint: ASGIApp) -> ASGIApp:
    """As a sub-app of a sub-app of Starlette."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with mcp.session_manager.run():
            yield

    inner = Starlette(routes=[Mount("/tools", endpoint)])
    return Starlette(routes=[Mount("/api", inner)], lifespan=lifespan)


def in_fastapi(mcp: MCPServer[Any], endpoint: ASGIApp) -> ASGIApp:
    """As a sub-app of FastAPI."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
        async with mcp.session_manager.run():
            yield

    app = FastAPI(lifespan=lifespan)
    app.mount("/api/tools", endpoint)
    return app


mountings = pytest.mark.parametrize("mounting", [in_starlette, in_fastapi])


def known(ctx: Context[Any, Any], run: Run) -> Json:
    """What a tool can learn of its call."""
    token = get_access_token()
    headers = getattr(ctx.request_context.request, "headers", {})
    return {
        "user": token.subject if token else None,
        "owner": run.owner,
        "server": ctx.mcp_server.name,
        "trace": headers.get("x-trace"),
        "lifespan": ctx.request_context.lifespan_context,
    }


def server(app: App) -> MCPServer[Any]:
    """A server with verified callers and one tool of each kind."""
    tasks = Tasks(f"sqlite:///{app.store}")

    @asynccontextmanager
    async def lifespan(_server: MCPServer[Any]) -> AsyncGenerator[str]:
        yield "the author's own"

    auth = AuthSettings(
        issuer_url=AnyHttpUrl(ISSUER), resource_server_url=SERVER_URL, validate_token_resource=False
    )
    mcp: MCPServer[Any] = MCPServer(
        "mounted",
        log_level="WARNING",
        token_verifier=Verifier(),
        auth=auth,
        **tasks.install(lifespan=lifespan),
    )

    @mcp.tool()
    @tasks.tool(inline_seconds=30)
    async def inline(ctx: Context[Any, Any], run: Run) -> dict[str, Any]:
        return known(ctx, run)

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def as_task(ctx: Context[Any, Any], run: Run) -> dict[str, Any]:
        await anyio.sleep(0.05)
        return known(ctx, run)

    @mcp.tool()
    @tasks.tool(task_support="required", run_in="thread")
    def in_thread(ctx: Context[Any, Any], run: Run) -> dict[str, Any]:
        return known(ctx, run)

    return mcp


@mountings
async def test_A12_a_tool_knows_its_caller_wherever_it_runs(app: App, mounting: Mounting) -> None:
    """Ours: field case A12: user, server, headers, lifespan: inline, in a task, in a thread."""
    mcp = server(app)
    headers = {"authorization": "Bearer ada-at-home", "x-trace": "t-1"}
    async with serving_app(mounting(mcp, http_app(mcp, path="/mcp")), "/api/tools/mcp") as peer:

        async def ask(method: str, params: Json) -> Json:
            return (await peer.ask(method, params, headers=headers)).result

        answers = [await ask("tools/call", {"name": "inline", "arguments": {}})]
        for tool in ("as_task", "in_thread"):
            task = await ask("tools/call", {"name": tool, "arguments": {}})
            answers.append(await _result(ask, task["taskId"]))
    for answer in answers:
        assert answer["structuredContent"] == {
            "user": "ada",
            "owner": f"{ISSUER}|user:ada",
            "server": "mounted",
            "trace": "t-1",
            "lifespan": "the author's own",
        }


async def _result(ask: Callable[[str, Json], Any], task_id: str) -> Json:
    with anyio.fail_after(10):
        while True:
            task = await ask("tasks/get", {"taskId": task_id})
            if task["status"] == "completed":
                return task["result"]
            assert task["status"] == "working", task


async def test_A12_a_task_taken_by_another_worker_knows_its_owner_and_server(app: App) -> None:
    """Ours: field case A12: what a run without its request has: owner, server, lifespan. Headers
    and token belong to the request, and are not there."""
    crowded = App(app.store, slots=1)
    go = anyio.Event()

    @crowded.tool(inline_seconds=0)
    async def wait() -> str:
        await go.wait()
        return "done"

    @crowded.tool(inline_seconds=0)
    async def tell(ctx: Context[Any, Any], run: Run) -> dict[str, Any]:
        return known(ctx, run)

    async with crowded.serving() as peer:
        first, queued = await peer.start("wait"), await peer.start("tell")
        go.set()
        await peer.ended(first)
        task = await peer.ended(queued)
    assert task["result"]["structuredContent"] == {
        "user": None,
        "owner": "anonymous",
        "server": "app",
        "trace": None,
        "lifespan": {},
    }


@mountings
async def test_a_mounted_stream_is_kept_alive(app: App, mounting: Mounting) -> None:
    """Ours: the wrapper comes with the app, wherever that is mounted."""

    @app.tool(inline_seconds=60)
    async def work() -> str:
        await anyio.sleep(0.4)
        return "done"

    endpoint = http_app(app.mcp, path="/mcp", keepalive_seconds=0.1)
    async with serving_app(mounting(app.mcp, endpoint), "/api/tools/mcp") as peer:
        comments, answer = await _read(peer)
    assert comments >= 2
    assert '"done"' in answer


async def _read(peer: Peer) -> tuple[int, str]:
    async with httpx2.AsyncClient(timeout=10) as http:
        response = await http.send(peer.request("tools/call", {"name": "work"}), stream=True)
        lines = [line async for line in response.aiter_lines()]
    return sum(line.startswith(":") for line in lines), "".join(lines)


@mountings
async def test_a_mounted_stream_that_is_left_is_noticed(app: App, mounting: Mounting) -> None:
    """Ours: no layer in between hides the disconnect."""
    ended = anyio.Event()

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        run.report(1, 2, "begun")
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async with serving_app(mounting(app.mcp, http_app(app.mcp)), "/api/tools/mcp") as peer:
        request = peer.request("tools/call", {"name": "work"}, meta={"progressToken": 1})
        async with peer.opened(request) as (_, messages):
            await anext(messages)
        with anyio.fail_after(5):
            await ended.wait()
