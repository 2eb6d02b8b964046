"""Facts of the official SDK that `awhile.client` leans on, one a test.

An SDK that changes one of them fails here, before anything subtle breaks elsewhere. "We" is what
has to be looked at then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client._memory import InMemoryTransport
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    JSONRPCRequest,
    ProgressNotification,
    SubscriptionsAcknowledgedNotification,
)
from pydantic import RootModel, ValidationError

from awhile.client.era import CallTool, GetTask, Listen
from tests.interaction.client.legacy_peer import TASKS, Json, LegacyPeer, legacy_task
from tests.interaction.client.pushing_server import Pushes, Stream, pushing
from tests.interaction.client.running import wait_until
from tests.interaction.client.scripted_server import TASK_ID, Script, scripted, task
from tests.interaction.server.peer import serving

pytestmark = pytest.mark.anyio

EXTENSION = "io.modelcontextprotocol/tasks"
WORK = CallTool(params={"name": "work", "arguments": {}})


class Anything(RootModel[Json]):
    """As ours: a result as it came."""


class Ear(ClientExtension):
    """As ours: no claims, and both notifications."""

    identifier = EXTENSION

    def __init__(self) -> None:
        self.heard: list[Json] = []

    async def hear(self, params: Anything) -> None:
        self.heard.append(params.root)

    def notifications(self) -> list[NotificationBinding[Any]]:
        methods = ("notifications/tasks", "notifications/tasks/status")
        return [
            NotificationBinding(method=one, params_type=Anything, handler=self.hear)
            for one in methods
        ]


async def ask(client: Client, request: Any, **options: Any) -> Json:
    """As our link does."""
    return (await client.session.send_request(request, Anything, **options)).root


def answering(**answers: Json) -> LegacyPeer:
    """A 2025-11-25 server that answers so, by method with ``__`` for a slash."""

    def answer(result: Json) -> Any:
        async def one(_params: Json) -> Json:
            return result

        return one

    return LegacyPeer(**{method: answer(result) for method, result in answers.items()})


class Sees:
    """A middleware that keeps what came, and may answer in place of the server."""

    def __init__(self, answer: Json | None = None) -> None:
        self.calls: list[Json] = []
        self.headers: list[Any] = []
        self._answer = answer

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """The middleware."""
        if ctx.method not in ("tools/call", "tasks/get"):
            return await call_next(ctx)
        self.calls.append(dict(ctx.params or {}))
        self.headers.append(getattr(ctx.request, "headers", None))
        return await call_next(ctx) if self._answer is None else self._answer


def plain(*middleware: Any) -> MCPServer[Any]:
    """A server with one tool that waits for as long as it is let."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING", middleware=list(middleware))

    @mcp.tool()
    async def work() -> str:
        return "done"

    @mcp.tool()
    async def wait() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    return mcp


# --- eras, and what is declared -----------------------------------------------------------------


async def test_a_server_that_knows_no_discover_is_met_by_the_handshake() -> None:
    """We look the era up by the version that came of it, and read the declared capabilities."""
    async with Client(answering()) as client:
        assert client.protocol_version == "2025-11-25"
        tasks = client.server_capabilities.tasks
        assert tasks
        assert tasks.model_dump(by_alias=True, exclude_none=True) == TASKS
    async with Client(InMemoryTransport(scripted(Script([])))) as client:
        assert client.protocol_version == "2026-07-28"
        assert EXTENSION in (client.server_capabilities.extensions or {})


async def test_an_extension_without_claims_is_declared_on_every_request() -> None:
    """We claim no result shape, and yet have to declare that we take tasks."""
    seen = Sees()
    async with Client(InMemoryTransport(plain(seen)), extensions=[Ear()]) as client:
        await ask(client, WORK)
    declared = seen.calls[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert EXTENSION in declared["extensions"]


async def test_a_tool_of_2025_says_whether_it_takes_tasks() -> None:
    """We ask for a task only where it is offered."""
    async with Client(LegacyPeer(support="required")) as client:
        [tool] = (await client.list_tools()).tools
        assert tool.execution
        assert tool.execution.task_support == "required"


async def test_a_listing_is_asked_for_anew_when_that_is_wanted() -> None:
    """We list again after a header mismatch, so a cache would be in the way."""
    peer = LegacyPeer()
    async with Client(peer) as client:
        for _ in range(2):
            await client.list_tools(cache_mode="refresh")
    assert peer.count("tools/list") == 2


# --- requests and results -----------------------------------------------------------------------


async def test_a_task_passes_as_the_result_of_a_call() -> None:
    """We read `resultType: "task"` ourselves: by `send_request` it comes as it was sent."""
    async with Client(InMemoryTransport(scripted(Script([]))), extensions=[Ear()]) as client:
        created = await ask(client, WORK)
    assert created.items() >= {"resultType": "task", "taskId": TASK_ID, "ttlMs": None}.items()


async def test_a_task_of_2025_needs_content_to_pass() -> None:
    """Why `awhile.client.transport` gives it some: the task exists, and its id would be lost."""
    created: Json = {"task": legacy_task("working")}
    async with Client(answering(tools__call=created)) as client:
        with pytest.raises(ValidationError, match="content"):
            await ask(client, WORK)
    async with Client(answering(tools__call={**created, "content": []})) as client:
        assert (await ask(client, WORK))["task"]["taskId"] == "old-1"


@pytest.mark.parametrize("method", ["tasks__get", "tasks__result", "tasks__list", "tasks__cancel"])
async def test_answers_about_tasks_of_2025_pass_unread(method: str) -> None:
    """We read them ourselves, null `ttl` included."""
    answer = legacy_task("working", ttl=None, odd=[1, None])
    async with Client(answering(**{method: answer})) as client:
        request = GetTask(params={"taskId": "old-1"}).model_copy(
            update={"method": method.replace("__", "/")}
        )
        assert await ask(client, request) == answer


async def test_a_question_before_the_task_is_handed_to_us() -> None:
    """We answer `input_required` in rounds of our own: `send_request` does not."""
    asks: Json = {"resultType": "input_required", "inputRequests": {}, "requestState": "s"}
    seen = Sees(asks)
    async with Client(InMemoryTransport(plain(seen))) as client:
        asked = await ask(client, WORK)
        assert (asked["resultType"], asked["inputRequests"]) == ("input_required", {})
        again: Json = {"inputResponses": {}, "requestState": asked["requestState"]}
        await ask(client, CallTool(params={**WORK.params, **again}))
    assert ["requestState" in one for one in seen.calls] == [False, True]


async def test_null_survives_in_plain_parameters() -> None:
    """We send arguments as they were given."""
    seen = Sees()
    async with Client(InMemoryTransport(plain(seen))) as client:
        await ask(client, CallTool(params={"name": "work", "arguments": {"n": None}}))
    assert seen.calls[0]["arguments"] == {"n": None}


async def test_a_request_class_says_which_parameter_is_its_name_header() -> None:
    """We need classes of our own: the SDK's requests about tasks send no `Mcp-Name`."""
    seen = Sees({"resultType": "complete", **task("working")})
    async with serving(plain(seen)) as peer, Client(peer.url) as client:
        await ask(client, GetTask(params={"taskId": "t-1"}))
    assert seen.headers[0]["mcp-name"] == "t-1"


async def test_a_write_is_awaited_by_the_task_that_sends_the_request() -> None:
    """We learn a request's id from its write, by a variable of the sending task's context."""
    sender: ContextVar[str] = ContextVar("sender", default="nobody")
    written: dict[str, Any] = {}

    class Writing:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        async def send(self, item: Any) -> None:
            if isinstance(item.message, JSONRPCRequest) and item.message.method == "tools/call":
                written[sender.get()] = item.message.id
            await self._inner.send(item)

        async def __aenter__(self) -> Any:
            await self._inner.__aenter__()
            return self

        async def __aexit__(self, *how: Any) -> Any:
            return await self._inner.__aexit__(*how)

    @asynccontextmanager
    async def told() -> AsyncGenerator[tuple[Any, Any]]:
        async with InMemoryTransport(plain()) as (incoming, outgoing):
            yield incoming, Writing(outgoing)

    async def call(name: str) -> None:
        sender.set(name)
        await ask(client, WORK)

    async with Client(told()) as client, anyio.create_task_group() as calls:
        calls.start_soon(call, "a")
        calls.start_soon(call, "b")
    assert written.keys() == {"a", "b"}
    assert written["a"] != written["b"]


# --- what comes by itself -----------------------------------------------------------------------


async def test_a_listen_request_of_ours_is_acknowledged_to_the_message_handler() -> None:
    """We open streams by `send_request`; ids and stamp come through, also of each pushed task."""
    heard: list[SubscriptionsAcknowledgedNotification] = []
    ear = Ear()

    async def on_message(message: Any) -> None:
        if isinstance(message, SubscriptionsAcknowledgedNotification):
            heard.append(message)

    async def push(stream: Stream) -> None:
        await stream.acknowledge(stream.asked)
        await stream.push(task("working", odd=None))

    mcp = pushing(Script([]), Pushes(push))
    async with Client(
        InMemoryTransport(mcp), extensions=[ear], message_handler=on_message
    ) as client:
        ended = await ask(client, Listen(params={"notifications": {"taskIds": [TASK_ID]}}))
        await wait_until(lambda: bool(ear.heard and heard))
    [acknowledged] = heard
    assert acknowledged.params.notifications.model_extra == {"taskIds": [TASK_ID]}
    stamp = (acknowledged.params.meta or {})[SUBSCRIPTION_ID_META_KEY]
    assert ended["_meta"][SUBSCRIPTION_ID_META_KEY] == stamp
    [pushed] = ear.heard
    assert pushed == {**task("working", odd=None), "_meta": {SUBSCRIPTION_ID_META_KEY: stamp}}


async def test_a_bound_notification_of_2025_comes_as_it_was_sent() -> None:
    """We hear `notifications/tasks/status`, whose null `ttl` stays."""
    ear, peer = Ear(), LegacyPeer()
    async with Client(peer, extensions=[ear]):
        await peer.notify("notifications/tasks/status", legacy_task("working", ttl=None))
        await wait_until(lambda: bool(ear.heard))
    assert ear.heard == [legacy_task("working", ttl=None)]


async def test_progress_under_a_token_of_ours_goes_to_the_message_handler() -> None:
    """We give a task's call a token that outlives the request, and hear of it there."""
    heard: list[Any] = []

    async def on_message(message: Any) -> None:
        if isinstance(message, ProgressNotification):
            heard.append((message.params.progress_token, message.params.progress))

    peer = answering(tools__call={"content": []})
    async with Client(peer, message_handler=on_message) as client:
        call = {**WORK.params, "_meta": {"progressToken": "ours"}}
        await ask(client, CallTool(params=call))
        [sent] = [params for method, params in peer.requests if method == "tools/call"]
        assert sent["_meta"]["progressToken"] == "ours"
        await peer.notify("notifications/progress", {"progressToken": "ours", "progress": 1})
        await wait_until(lambda: bool(heard))
    assert heard == [("ours", 1.0)]


async def test_progress_of_a_plain_call_goes_to_its_callback() -> None:
    """We show the progress of calls without a task."""
    mcp = plain()
    heard: list[Any] = []

    @mcp.tool()
    async def measure(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2, "half")
        return "done"

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with Client(InMemoryTransport(mcp)) as client:
        await ask(
            client,
            CallTool(params={"name": "measure", "arguments": {}}),
            progress_callback=on_progress,
        )
    assert heard == [(1.0, 2.0, "half")]


@pytest.mark.parametrize("answers", [True, False])
async def test_a_question_comes_with_its_meta_and_takes_an_error_for_an_answer(
    answers: bool,
) -> None:
    """We find the task a question is about in its `_meta`, and refuse where nobody is there."""
    asked: list[Any] = []
    peer = LegacyPeer()

    async def on_elicitation(
        context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        del context
        asked.append(params.model_dump(by_alias=True, mode="json")["_meta"])
        if answers:
            return ElicitResult(action="decline")
        return ErrorData(code=INVALID_REQUEST, message="nobody")

    related = {"io.modelcontextprotocol/related-task": {"taskId": "old-1"}}
    form: Json = {"type": "object", "properties": {}}
    async with Client(peer, elicitation_callback=on_elicitation):
        question: Json = {"message": "Sure?", "requestedSchema": form, "_meta": related}
        answer = await peer.ask("elicitation/create", question)
    assert answer == ({"action": "decline"} if answers else {"error": "nobody"})
    assert asked == [related]


# --- what goes wrong ----------------------------------------------------------------------------


async def test_an_error_keeps_its_code_and_data() -> None:
    """We tell errors apart by both."""

    async def refuse(_params: Json) -> Json:
        raise MCPError(code=-32055, message="the gauge broke", data={"gauge": 7})

    peer = LegacyPeer(tools__call=refuse)
    async with Client(peer) as client:
        with pytest.raises(MCPError) as caught:
            await ask(client, WORK)
    error = caught.value
    assert (error.code, error.message, error.data) == (-32055, "the gauge broke", {"gauge": 7})


async def test_a_request_out_of_time_and_one_on_a_closed_connection_have_codes_of_their_own() -> (
    None
):
    """We call both unreachable, and give up the connection after the second."""

    async def hang(_params: Json) -> Json:
        await anyio.sleep_forever()
        raise AssertionError

    peer = LegacyPeer(tools__call=hang)
    async with Client(peer) as client:
        with pytest.raises(MCPError) as caught:
            await ask(client, WORK, request_read_timeout_seconds=0.1)
        assert caught.value.code == REQUEST_TIMEOUT
        await peer.hang_up()
        with pytest.raises(MCPError) as caught:
            await ask(client, WORK)
        assert caught.value.code == CONNECTION_CLOSED


async def test_a_request_nobody_waits_for_any_more_is_cancelled_at_the_server() -> None:
    """We close a plain call, and a stream, by leaving it."""
    began = anyio.Event()

    async def hang(_params: Json) -> Json:
        began.set()
        await anyio.sleep_forever()
        raise AssertionError

    peer = LegacyPeer(tools__call=hang)
    async with Client(peer) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(ask, client, WORK)
            await began.wait()
            calls.cancel_scope.cancel()
        await wait_until(lambda: "notifications/cancelled" in [one for one, _ in peer.notified])


class Broken(httpx2.AsyncClient):
    """Reaches nobody once ``broken``; with ``instead``, that is the answer to a call then."""

    broken = False
    instead: Json | None = None

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if not self.broken or b"tools/call" not in request.content:
            return await super().send(request, **options)
        if self.instead is None:
            raise httpx2.ConnectError("nobody there")
        return httpx2.Response(503, json=self.instead, request=request)


async def test_one_request_that_cannot_connect_ends_the_whole_client() -> None:
    """Why `awhile.client.http` never lets a transport error through."""

    async def call_twice(url: str, http: Broken) -> None:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            http.broken = True
            with anyio.move_on_after(5):
                await ask(client, WORK)
            http.broken = False
            await ask(client, WORK)

    async with serving(plain()) as peer, Broken() as http:
        with pytest.raises(ExceptionGroup):
            await call_twice(peer.url, http)


async def test_an_error_without_an_id_in_a_refused_post_is_that_requests_answer() -> None:
    """What `awhile.client.http` gives instead: it reaches the one request, with its data."""
    error = {"code": CONNECTION_CLOSED, "message": "nobody", "data": {"awhile/unsent": True}}
    async with (
        serving(plain()) as peer,
        Broken() as http,
        Client(streamable_http_client(peer.url, http_client=http)) as client,
    ):
        http.broken, http.instead = True, {"jsonrpc": "2.0", "id": None, "error": error}
        with pytest.raises(MCPError) as caught:
            await ask(client, WORK)
        assert (caught.value.code, caught.value.data) == (CONNECTION_CLOSED, error["data"])
        http.broken = False
        assert (await ask(client, WORK))["content"][0]["text"] == "done"


def test_a_result_is_read_by_its_names_on_the_wire() -> None:
    """We hand results over as the SDK's own type."""
    raw: Json = {"content": [], "structuredContent": {"n": 1}, "isError": False}
    result = CallToolResult.model_validate(raw, by_name=False)
    assert (result.structured_content, result.is_error) == ({"n": 1}, False)
