"""Calls answered with their task at once: the same answers with and without the SDK's stream."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import anyio
import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import ProgressNotification, ProgressNotificationParams
from pydantic import Field

from tests.interaction.server.conftest import App
from tests.interaction.server.peer import REVISION, Json
from tests.interaction.server.test_direct import (
    CAPS,
    INFO,
    META,
    SAYS,
    Ways,
    batched,
    envelope,
    member,
    parameter,
    two_ways,
    without_id,
)

pytestmark = pytest.mark.anyio

CHANGING = re.compile(rb'"(taskId|createdAt|lastUpdatedAt|stoppedAt)":"[^"]*"')
"""What no two tasks have in common."""


async def send(
    ways: Ways,
    tool: str,
    *,
    headers: Mapping[str, str | None] | None = None,
    body: Callable[[Json], object] | None = None,
) -> httpx2.Response:
    """One call, changed as asked."""
    plain: Json = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {"n": 1}, "_meta": dict(META)},
    }
    wanted: dict[str, str | None] = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
        "mcp-method": "tools/call",
        "mcp-name": tool,
        **(headers or {}),
    }
    given = [(name, value) for name, value in wanted.items() if value is not None]
    content = json.dumps(body(plain) if body else plain)
    return await ways.http.post(ways.peer.url, content=content, headers=given)


async def both(ways: Ways, tool: str, **changes: Any) -> tuple[httpx2.Response, bool]:
    """The answer of both ways, alike; and whether it came without the SDK's stream."""
    ways.manager.asgi_app = ways.direct.app
    by_the_sdk = await send(ways, tool, **changes)
    ways.manager.asgi_app = ways.direct
    before = ways.handed_on
    directly = await send(ways, tool, **changes)
    assert shown(directly) == shown(by_the_sdk), changes
    return directly, ways.handed_on == before


def shown(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    """All that a client sees, but for what differs between two tasks."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    headers.pop("transfer-encoding", None)
    return answer.status_code, headers, CHANGING.sub(b"", answer.content)


def with_tools(app: App) -> App:
    """Tools of each kind."""

    @app.tool(kept="always", inline_seconds=0)
    async def kept(n: int) -> int:
        await anyio.sleep_forever()
        return n

    @app.tool(kept="always", task_support="required", request_key="key")
    async def required(n: int, key: str = "") -> int:
        await anyio.sleep_forever()
        return n

    @app.tool(kept="always")
    async def patient(n: int) -> int:
        return n

    @app.tool(inline_seconds=0)
    async def handed_over(n: int) -> int:
        return n

    @app.mcp.tool()
    async def untasked(n: int) -> int:
        return n

    @app.tool(kept="always", inline_seconds=0)
    async def routed(n: Annotated[int, Field(json_schema_extra={"x-mcp-header": "N"})]) -> int:
        return n

    return app


PLAIN: Mapping[str, Json] = {
    "plain": {},
    "the id is text": {"body": member("id", "a-\N{SNOWMAN}")},
    "no arguments in it": {"body": parameter("arguments", {})},
    "arguments that do not fit": {"body": parameter("arguments", {"n": "x"})},
    "a token": {"body": envelope(progressToken=7)},
    "no client information": {"body": envelope(**{INFO: None})},
}

NOT_PLAIN: Mapping[str, Json] = {
    "no name": {"headers": {"mcp-name": None}},
    "another name": {"headers": {"mcp-name": "kept"}},
    "an unknown name": {"headers": {"mcp-name": "none"}, "body": parameter("name", "none")},
    "another method header": {"headers": {"mcp-method": "tools/list"}},
    "a foreign origin": {"headers": {"origin": "https://evil.example"}},
    "a foreign host": {"headers": {"host": "evil.example"}},
    "no stream taken": {"headers": {"accept": "application/json"}},
    "a parameter's header": {"headers": {"mcp-param-n": "1"}},
    "a batch": {"body": batched},
    "no id": {"body": without_id},
    "the id is null": {"body": member("id", None)},
    "one parameter more": {"body": parameter("requestState", "x")},
    "a task asked for": {"body": parameter("task", {})},
    "arguments as a list": {"body": parameter("arguments", [1])},
    "no arguments": {"body": parameter("arguments", None)},
    "another version": {"body": envelope(**{SAYS: "2025-11-25"})},
    "tasks not declared": {"body": envelope(**{CAPS: {}})},
    "a token that is none": {"body": envelope(progressToken=[1])},
    "too big": {"body": parameter("arguments", {"n": 1, "more": "x" * 70_000})},
}


async def test_a_plain_call_needs_no_stream_and_is_answered_as_with_one(app: App) -> None:
    """Ours: whatever a client may vary in a valid request."""
    async with two_ways(with_tools(app).mcp) as ways:
        for words, changes in PLAIN.items():
            answer, directly = await both(ways, "kept", **changes)
            assert (answer.json()["result"]["resultType"], directly) == ("task", True), words


async def test_every_other_call_is_handed_to_the_sdk(app: App) -> None:
    """Ours: each gate, by itself."""
    async with two_ways(with_tools(app).mcp) as ways:
        for words, changes in NOT_PLAIN.items():
            _, directly = await both(ways, "required", **changes)
            assert not directly, words
        for tool in ("patient", "untasked", "routed"):
            _, directly = await both(ways, tool)
            assert not directly, tool


async def test_a_retry_of_either_way_finds_the_task_of_the_other(app: App) -> None:
    """Ours: and other arguments under the same key are refused alike."""
    async with two_ways(with_tools(app).mcp) as ways:
        again = parameter("arguments", {"n": 1, "key": "k"})
        first, directly = await both(ways, "required", body=again)
        assert directly
        second = await send(ways, "required", body=again)
        assert first.json()["result"]["taskId"] == second.json()["result"]["taskId"]
        other = parameter("arguments", {"n": 2, "key": "k"})
        refused, directly = await both(ways, "required", body=other)
        assert directly
        assert "was used before" in refused.json()["error"]["message"]


async def test_what_middleware_sends_comes_on_a_stream_all_the_same(tmp_path: Path) -> None:
    """Ours: an author's middleware is asked, its notifications and its errors arrive alike."""

    async def talks(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call":
            said = ProgressNotificationParams(progress_token=7, progress=1, message="hello")
            await ctx.session.send_notification(
                ProgressNotification(params=said), related_request_id=ctx.request_id
            )
            if (ctx.params or {})["arguments"].get("n") == 13:
                raise ValueError("nobody is told why")
        return await call_next(ctx)

    app = with_tools(App(tmp_path / "tasks.db", install={"middleware": [talks]}))
    async with two_ways(app.mcp) as ways:
        answer, directly = await both(ways, "kept", body=envelope(progressToken=7))
        assert directly
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.text.count("event: message") == 2
        _, directly = await both(ways, "kept", body=parameter("arguments", {"n": 13}))
        assert directly


async def test_a_full_queue_is_refused_alike(tmp_path: Path) -> None:
    """Ours."""
    app = with_tools(App(tmp_path / "tasks.db", slots=1, max_queued=1))
    async with two_ways(app.mcp) as ways:
        for _ in range(2):
            await send(ways, "kept")
        answer, directly = await both(ways, "kept")
        assert directly
        assert "error" in answer.json()


async def test_a_body_sees_the_request_it_came_by(app: App) -> None:
    """Ours: headers, body and lifespan are the request's own on either way."""
    seen: list[tuple[str | None, object]] = []

    @app.tool(kept="always", inline_seconds=0)
    async def looks(n: int, ctx: Context[Any, Any]) -> int:
        headers = ctx.headers or {}
        seen.append((headers.get("mcp-name"), ctx.request_context.lifespan_context))
        return n

    async with two_ways(app.mcp) as ways:
        answer, directly = await both(ways, "looks")
        assert directly
        await ways.peer.ended(answer.json()["result"]["taskId"])
        with anyio.fail_after(10):
            while len(seen) < 2:  # noqa: ASYNC110 - the other one's body
                await anyio.sleep(0.005)
    assert seen[0] == seen[1]
