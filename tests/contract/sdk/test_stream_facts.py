"""Facts about the SDK's HTTP side that `awhile.server` leans on: a changed SDK fails here first."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server import _streamable_http_modern as modern
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity

from tests.interaction.server.peer import Json, serving_app

pytestmark = pytest.mark.anyio


def bare(**options: Any) -> MCPServer[Any]:
    """A server with nothing of ours."""
    return MCPServer("bare", log_level="WARNING", **options)


def test_a_quiet_call_is_held_back_for_fifteen_seconds_by_a_private_constant() -> None:
    """Why `awhile.server.stream` wraps the app: there is no option for it."""
    assert modern._SSE_PING_INTERVAL == 15.0  # pyright: ignore[reportPrivateUsage]


async def test_a_handlers_request_has_the_scope_of_the_app_around_it() -> None:
    """How a handler finds its exchange."""
    mcp = bare()
    seen: list[Any] = []

    @mcp.tool()
    async def look(ctx: Context[Any, Any]) -> str:
        request: Any = ctx.request_context.request
        seen.append(request.scope.get("mark"))
        return "done"

    app = mcp.streamable_http_app()

    async def marking(scope: Any, receive: Any, send: Any) -> None:
        scope["mark"] = "here"
        await app(scope, receive, send)

    async with serving_app(marking, "/mcp") as peer:
        await peer.call("look")
    assert seen == ["here"]


async def test_a_middleware_may_answer_a_listen_request_without_the_sdks_handler() -> None:
    """How `awhile.server.listen` serves streams of its own: also where the SDK serves none."""

    async def answering(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "subscriptions/listen":
            return {"resultType": "complete", "_meta": {"ours": True}}
        return await call_next(ctx)

    mcp = bare(middleware=[answering], subscriptions=False)
    async with serving_app(mcp.streamable_http_app(), "/mcp") as peer:
        reply = await peer.ask("subscriptions/listen", {"notifications": {}})
        capabilities = (await peer.ask("server/discover", {})).result["capabilities"]
    assert reply.result["_meta"]["ours"] is True
    assert not capabilities["tools"].get("listChanged"), "what is not served is not advertised"


async def test_the_outermost_middleware_sees_the_state_still_sealed() -> None:
    """How a retry is told from a second call: the sealed form is unique to its round."""
    seen: list[Json] = []

    async def remember(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        seen.append(dict(ctx.params or {}))
        return await call_next(ctx)

    mcp = bare()

    @mcp.tool()
    async def work() -> str:
        return "done"

    mcp.middleware.insert(0, remember)
    async with serving_app(mcp.streamable_http_app(), "/mcp") as peer:
        params: Json = {"name": "work", "arguments": {}, "requestState": "not sealed by us"}
        reply = await peer.ask("tools/call", params)
    assert seen[-1]["requestState"] == "not sealed by us"
    assert reply.error["code"] == -32602


def test_two_seals_of_one_state_differ() -> None:
    """And nobody else can make one, so an id derived from it cannot be guessed."""
    security = RequestStateSecurity(keys=[b"k" * 32])
    codec: Any = security.codec
    assert codec.seal(b"state") != codec.seal(b"state")


async def test_the_session_manager_says_whether_answers_are_json_only() -> None:
    """How that mode is refused when serving starts; before an app is made there is none."""
    mcp = bare()
    with pytest.raises(RuntimeError):
        _ = mcp.session_manager
    mcp.streamable_http_app(json_response=True)
    assert mcp.session_manager.json_response is True


async def test_a_call_of_2025_runs_on_when_its_client_has_left() -> None:
    """Why inline calls of that era have a bound of ours."""
    mcp = bare()
    started, go, done = anyio.Event(), anyio.Event(), anyio.Event()

    @mcp.tool()
    async def work() -> str:
        started.set()
        await go.wait()
        done.set()
        return "done"

    async with serving_app(mcp.streamable_http_app(), "/mcp") as peer:
        async with httpx2.AsyncClient() as http:
            headers = {
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
            }
            params: Json = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "old", "version": "1"},
            }
            body: Json = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            response = await http.post(peer.url, json=body, headers=headers)
            headers["mcp-session-id"] = response.headers["mcp-session-id"]
            headers["mcp-protocol-version"] = "2025-11-25"
            ready: Json = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
            await http.post(peer.url, content=json.dumps(ready), headers=headers)
            call: Json = {"name": "work", "arguments": {}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            request = http.build_request("POST", peer.url, json=body, headers=headers)
            stream = await http.send(request, stream=True)
            await started.wait()
            await stream.aclose()
        go.set()
        with anyio.fail_after(5):
            await done.wait()
