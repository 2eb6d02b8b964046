"""Facts of the official SDK about 2025-11-25 that `awhile.server` leans on, one a test.

"We" is what has to be looked at when one of them changes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    Notification,
    RequestParams,
    ServerNotification,
)
from mcp_types.methods import serialize_server_result

from tests.interaction.server.legacy import LEGACY, METHOD_NOT_FOUND, Legacy
from tests.interaction.server.peer import INVALID_PARAMS, Json, accepted, serving, until

pytestmark = pytest.mark.anyio

TASK: Json = {"taskId": "t", "status": "working", "ttl": None}


class Probe(Extension):
    """An extension with one legacy method, that does what a test tells it to."""

    identifier = "example.com/probe"

    def __init__(self) -> None:
        self.context: ServerRequestContext[Any, Any] | None = None
        self.raises: Exception | None = None
        self.returns: Any = {}
        self.intercepts: Any = None
        self.asks = False
        self.answers: list[ElicitResult | MCPError] = []

    def methods(self) -> Sequence[MethodBinding]:
        return (MethodBinding("tasks/get", RequestParams, self._handle, frozenset({LEGACY})),)

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        self.context = ctx
        return self.intercepts if self.intercepts is not None else await call_next(ctx)

    async def _handle(self, ctx: ServerRequestContext[Any, Any], _params: RequestParams) -> Any:
        self.context = ctx
        if self.raises is not None:
            raise self.raises
        if self.asks:
            params: Json = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            asking = ElicitRequest.model_validate(
                {"method": "elicitation/create", "params": {**params, "_meta": {"x": 1}}}
            )
            on_this_stream = ServerMessageMetadata(related_request_id=ctx.request_id)
            try:
                answer = await ctx.session.send_request(
                    asking, ElicitResult, metadata=on_this_stream
                )
                self.answers.append(answer)
            except MCPError as error:
                self.answers.append(error)
        return self.returns


class Rewriting:
    """A middleware that replaces the result of one method."""

    def __init__(self, method: str, **members: Any) -> None:
        self.method = method
        self.members = members
        self.seen: Json | None = None

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != self.method:
            return result
        self.seen = cast("dict[str, Any]", result)
        return {**self.seen, **self.members}


@asynccontextmanager
async def legacy(
    probe: Probe, *middleware: Any, version: str = LEGACY, **options: Any
) -> AsyncGenerator[Legacy]:
    """A legacy client of a server with this probe."""
    mcp: MCPServer[Any] = MCPServer(
        "facts", extensions=[probe], middleware=list(middleware), log_level="WARNING"
    )

    @mcp.tool()
    async def echo(text: str) -> str:
        return text

    async with serving(mcp, **options) as peer, httpx2.AsyncClient(timeout=10) as http:
        client = await Legacy(peer.url, http, version=version).opened()
        yield client
        if "mcp-session-id" in client.headers:
            await client.leave()


async def test_a_task_is_no_result_of_tools_call_unless_a_middleware_puts_it_there() -> None:
    """We hand the task to the middleware beside an empty result."""
    probe = Probe()
    probe.intercepts = {"task": TASK}
    async with legacy(probe) as client:
        assert (await client.call("echo", text="x")).error["code"] == -32603
    probe.intercepts = CallToolResult(content=[])
    async with legacy(probe, Rewriting("tools/call", task=TASK)) as client:
        assert (await client.call("echo", text="x")).result["task"] == TASK


async def test_the_interceptor_sees_the_task_field() -> None:
    """We read `ttl` from it."""

    class Seeing(Probe):
        ttl: int | None = None

        async def intercept_tool_call(
            self,
            params: CallToolRequestParams,
            ctx: ServerRequestContext[Any, Any],
            call_next: CallNext,
        ) -> HandlerResult:
            self.ttl = params.task.ttl if params.task else None
            return await call_next(ctx)

    probe = Seeing()
    async with legacy(probe) as client:
        params: Json = {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 5}}
        await client.ask("tools/call", params)
    assert probe.ttl == 5


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_middleware_gets_a_dictionary_and_may_add_to_it(method: str) -> None:
    """We add `capabilities.tasks` and `execution`."""
    rewriting = Rewriting(method)
    async with legacy(Probe(), rewriting) as client:
        await client.ask("tools/list", {})
    assert isinstance(rewriting.seen, dict)
    members = {"initialize": {"protocolVersion", "capabilities"}, "tools/list": {"tools"}}
    assert members[method] <= rewriting.seen.keys()


async def test_what_a_middleware_adds_passes_unsieved() -> None:
    """We add `ttl: null` among others."""
    async with legacy(Probe(), Rewriting("tools/list", extra={"null": None})) as client:
        assert (await client.ask("tools/list", {})).result["extra"] == {"null": None}


async def test_an_extensions_method_is_not_found_at_other_versions_whatever_its_params() -> None:
    """We bind plain parameters and read them ourselves: the SDK reads them first."""
    async with legacy(Probe(), version="2025-06-18") as client:
        assert (await client.ask("tasks/get", {})).error["code"] == METHOD_NOT_FOUND


async def test_a_crashing_legacy_handler_sends_its_own_text() -> None:
    """We catch everything in our handlers, and log it."""
    probe = Probe()
    probe.raises = RuntimeError("secret detail")
    async with legacy(probe) as client:
        assert (await client.ask("tasks/get", {})).error["message"] == "secret detail"


async def test_a_validation_error_of_a_handler_is_invalid_params() -> None:
    """We read parameters in the handler."""
    probe = Probe()
    async with legacy(probe) as client:
        try:
            CallToolRequestParams.model_validate({})
        except ValueError as broken:
            probe.raises = broken
        assert (await client.ask("tasks/get", {})).error["code"] == INVALID_PARAMS


@pytest.mark.parametrize("stateless", [False, True], ids=["stateful", "stateless"])
async def test_only_a_session_carries_a_question_and_its_answer(stateless: bool) -> None:
    """We look at `can_send_request` before a body may ask."""
    probe = Probe()
    probe.asks = True

    async def answer(_request: Json) -> Json:
        return {"result": accepted()}

    async with legacy(probe, stateless_http=stateless) as client:
        client.on_request = answer
        await client.ask("tasks/get", {})
        assert probe.context is not None
        assert bool(client.asked) is not stateless
        request: Any = probe.context.request
        assert ("mcp-session-id" in request.headers) is not stateless
    [said] = probe.answers
    if stateless:
        assert isinstance(said, MCPError)
    else:
        assert isinstance(said, ElicitResult)
        assert client.asked[0]["params"]["_meta"] == {"x": 1}


async def test_a_session_that_ends_under_a_question_is_no_answer() -> None:
    """We leave the question open then."""
    probe = Probe()
    probe.asks = True
    async with legacy(probe) as client:
        other = await Legacy(client.url, client.http).opened()
        async with anyio.create_task_group() as group:
            nothing: dict[str, str] = {}
            group.start_soon(other.ask, "tasks/get", nothing)
            await until(lambda: bool(other.asked), "it was asked")
            await other.leave()
            group.cancel_scope.cancel()
    assert all(
        isinstance(one, MCPError) and one.error.code == CONNECTION_CLOSED for one in probe.answers
    )


async def test_a_session_takes_notifications_when_its_request_is_long_answered() -> None:
    """We tell of tasks so; a dictionary keeps its nulls."""
    probe = Probe()
    async with legacy(probe) as client, client.listening():
        await client.call("echo", text="x")
        assert probe.context is not None
        note = Notification[dict[str, Any], Any](
            method="notifications/tasks/status", params={"ttl": None}
        )
        await probe.context.session.send_notification(cast("ServerNotification", note))
        await until(lambda: bool(client.news), "it came")
    assert client.news[0]["params"] == {"ttl": None}


async def test_without_a_stream_of_its_own_a_session_drops_them_quietly() -> None:
    """We tell whoever listens, and nobody waits for the others."""
    probe = Probe()
    async with legacy(probe) as client:
        await client.call("echo", text="x")
        assert probe.context is not None
        note = Notification[dict[str, Any], Any](method="notifications/x", params={})
        with anyio.fail_after(1):
            await probe.context.session.send_notification(cast("ServerNotification", note))


async def test_a_session_knows_its_connection_which_says_when_it_ends() -> None:
    """We tell connections what is published, and forget them then."""
    probe = Probe()
    ended = anyio.Event()
    async with legacy(probe) as client, client.listening():
        await client.call("echo", text="x")
        assert probe.context is not None
        connection = probe.context.session._connection  # pyright: ignore[reportPrivateUsage]
        assert connection.has_standalone_channel
        assert connection.initialized.is_set()
        connection.exit_stack.callback(ended.set)
        await connection.notify("notifications/x", {"y": 1})
        await until(lambda: bool(client.news), "it came")
        await client.call("echo", text="x")
        assert probe.context.session._connection is connection  # pyright: ignore[reportPrivateUsage]
        assert not ended.is_set()
    await until(ended.is_set, "it has ended")
    async with legacy(probe, stateless_http=True) as client:
        await client.call("echo", text="x")
        assert not probe.context.session._connection.has_standalone_channel  # pyright: ignore[reportPrivateUsage]


async def test_a_result_is_shaped_for_the_legacy_wire_by_a_public_function() -> None:
    """We shape the result that `tasks/result` returns."""
    fields: Json = {"content": [], "resultType": "complete", "_meta": {"x": 1}}
    shaped = serialize_server_result("tools/call", LEGACY, fields)
    assert shaped.items() >= {"content": [], "_meta": {"x": 1}}.items()
    assert "resultType" not in shaped
