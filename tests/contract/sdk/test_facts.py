"""Facts of the official SDK that `awhile.server` leans on, one a test.

An SDK that changes one of them fails here, before anything subtle breaks elsewhere. "We" is what
has to be looked at then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

import anyio
import pytest
from mcp.server.auth.provider import AccessToken, principal_components
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import (
    Context,
    Elicit,
    MCPServer,
    Resolve,
    require_client_extension,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    RequestParams,
    TextContent,
)
from pydantic import BaseModel, Field

from awhile.runtime.outside import Outside
from awhile.runtime.run import Run
from awhile.server.outbound import RESOLVER_VERSION, detached_session
from tests.interaction.server.peer import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    REVISION,
    TASKS,
    Json,
    serving,
    until,
)

pytestmark = pytest.mark.anyio

CREATED: Json = {"resultType": "task", "taskId": "t", "status": "working", "ttlMs": None}


class TaskParams(RequestParams):
    """As ours."""

    task_id: str = Field(alias="taskId")


class Answer(BaseModel):
    """What a handler could return in place of a dictionary."""

    ttl_ms: int | None = Field(default=None, serialization_alias="ttlMs")


class Probe(Extension):
    """An extension that does what a test tells it to."""

    identifier = TASKS

    def __init__(self, *, requires: bool = False, raises: int | None = None) -> None:
        self.requires = requires
        self.raises = raises
        self.handled: list[str] = []
        self.returns: Any = {}
        self.intercepts: Any = None

    def methods(self) -> Sequence[MethodBinding]:
        return (MethodBinding("tasks/get", TaskParams, self._handle, frozenset({REVISION})),)

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        return self.intercepts if self.intercepts is not None else await call_next(ctx)

    async def _handle(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> Any:
        if self.requires:
            require_client_extension(ctx, TASKS)
        if self.raises is not None:
            raise MCPError(code=self.raises, message="said the handler")
        self.handled.append(params.task_id)
        return self.returns


def server(*extensions: Extension, **more: Any) -> MCPServer[Any]:
    mcp: MCPServer[Any] = MCPServer(
        "facts", extensions=list(extensions), log_level="WARNING", **more
    )

    @mcp.tool()
    async def echo(text: str) -> str:
        return text

    return mcp


async def test_a_dictionary_from_the_interceptor_passes_unsieved() -> None:
    """We return `CreateTaskResult` from `intercept_tool_call` as a dictionary."""
    probe = Probe()
    probe.intercepts = CREATED
    async with serving(server(probe)) as peer:
        result = (await peer.call("echo", text="x")).result
    assert result.items() >= CREATED.items()


async def test_a_task_goes_out_also_to_a_client_that_declared_nothing() -> None:
    """Not enforced by the SDK, so `TasksExtension` has to look at every request."""
    probe = Probe()
    probe.intercepts = CREATED
    async with serving(server(probe)) as peer:
        assert (await peer.undeclared().call("echo", text="x")).result["resultType"] == "task"


async def test_null_survives_in_a_dictionary_and_not_in_a_model() -> None:
    """We return dictionaries: `ttlMs: null` has to be there."""
    probe = Probe()
    async with serving(server(probe)) as peer:
        probe.returns = {"ttlMs": None}
        assert "ttlMs" in (await peer.get("t"))
        probe.returns = Answer()
        assert "ttlMs" not in (await peer.get("t"))


async def test_an_answer_that_says_nothing_is_complete() -> None:
    """We acknowledge updates and cancels with an empty dictionary."""
    async with serving(server(Probe())) as peer:
        assert (await peer.get("t"))["resultType"] == "complete"


async def test_a_bound_method_is_not_found_at_another_version() -> None:
    """We bind each era's methods to its versions alone."""
    probe = Probe()
    async with serving(server(probe)) as peer:
        legacy = {"mcp-protocol-version": "2025-11-25"}
        meta = {"io.modelcontextprotocol/protocolVersion": "2025-11-25"}
        reply = await peer.ask("tasks/get", {"taskId": "t"}, headers=legacy, meta=meta)
        assert "error" in reply.message
    assert probe.handled == []


async def test_the_declared_extension_is_not_required_unless_we_ask() -> None:
    """We call `require_client_extension` in every handler: HTTP 400, -32021 with its data."""
    probe = Probe()
    async with serving(server(probe)) as peer:
        plain = peer.undeclared()
        assert (await plain.get("t"))["resultType"] == "complete"
        probe.requires = True
        reply = await plain.ask("tasks/get", {"taskId": "t"})
        assert reply.http == 400
        assert reply.error["code"] == MISSING_CAPABILITY
        assert reply.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


async def test_mcp_name_is_checked_for_tools_and_not_for_tasks() -> None:
    """We compare `Mcp-Name` with the taskId ourselves."""
    probe = Probe()
    async with serving(server(probe)) as peer:
        assert (await peer.ask("tasks/get", {"taskId": "t"}, name="other")).result
        arguments = {"name": "echo", "arguments": {"text": "x"}}
        refused = await peer.ask("tools/call", arguments, name="other")
        assert (refused.http, refused.error["code"]) == (400, HEADER_MISMATCH)


@pytest.mark.parametrize("code", [HEADER_MISMATCH, -32602])
async def test_a_handlers_protocol_error_is_http_400(code: int) -> None:
    """We raise these from handlers and leave the HTTP status to the SDK."""
    async with serving(server(Probe(raises=code))) as peer:
        reply = await peer.ask("tasks/get", {"taskId": "t"})
        assert (reply.http, reply.error["code"]) == (400, code)


async def test_the_lifespan_is_entered_once_for_all_clients_over_http() -> None:
    """We open the store and start the worker in it."""
    entered: list[str] = []

    @asynccontextmanager
    async def lifespan(_server: MCPServer[Any]) -> AsyncGenerator[dict[str, int]]:
        entered.append("entered")
        yield {"state": 1}
        entered.append("left")

    async with serving(server(lifespan=lifespan)) as peer:
        for _ in range(3):
            await peer.call("echo", text="x")
        assert entered == ["entered"]
    assert entered == ["entered", "left"]


async def test_closing_the_stream_cancels_an_async_handler() -> None:
    """We stop an inline body then, and only then: nobody has its handle."""
    cancelled = anyio.Event()
    mcp = server()

    @mcp.tool()
    async def wait(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise
        raise AssertionError

    async with serving(mcp) as peer:
        request = peer.request(
            "tools/call", {"name": "wait", "arguments": {}}, meta={"progressToken": 1}
        )
        async with peer.opened(request) as (_, messages):
            await anext(messages)
        await until(cancelled.is_set, "the handler was cancelled")


async def test_an_exceptions_text_is_hidden_but_a_tool_errors_is_shown() -> None:
    """We wrap every body, so that a person reads what went wrong."""
    mcp = server()

    @mcp.tool()
    async def raises() -> str:
        raise ValueError("the real reason")

    @mcp.tool()
    async def says_no() -> str:
        raise ToolError("the real reason")

    async with serving(mcp) as peer:
        assert "the real reason" not in (await peer.call("raises")).text
        assert "the real reason" in (await peer.call("says_no")).text


async def test_call_tool_raises_for_bad_arguments() -> None:
    """We map it to `isError` for a task that runs without its request."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")

    @mcp.tool()
    async def number(value: int) -> int:
        return value

    with pytest.raises(ToolError, match="value"):
        await mcp.call_tool("number", {"value": "many"}, _detached(mcp, Asked())[0])


class Asked(Run):
    """A run whose questions are answered by the test."""

    def __init__(self) -> None:
        self.questions: list[Json] = []

        async def answer(request: Any, key: str | None) -> Json:
            self.questions.append(request)
            return {"action": "accept", "content": {"name": "Ada"}}

        async def no_row(*_: object) -> Any:
            raise AssertionError("nothing here is done once")

        super().__init__(
            owner="ada", asker=answer, notes=Outside(row=no_row, note=no_row, stop=None)
        )


class Name(BaseModel):
    """What is asked."""

    name: str


ELICITS = ClientCapabilities.model_validate({"elicitation": {"form": {}}}, by_name=False)


def ask_for_a_name(_ctx: Context[Any, Any]) -> Elicit[Name]:
    """A resolver."""
    return Elicit("What is your name?", Name)


def _detached(
    mcp: MCPServer[Any], run: Run, version: str = RESOLVER_VERSION
) -> tuple[Context[Any, Any], ServerRequestContext[Any, Any]]:
    request = ServerRequestContext[Any, Any](
        session=detached_session(
            run, protocol_version=version, request_id="task", client_capabilities=ELICITS
        ),
        lifespan_context={},
        protocol_version=version,
        method="tools/call",
        params={},
        request_id="task",
    )
    return Context[Any, Any](request_context=request, mcp_server=mcp), request


async def test_an_unmodified_tool_works_over_a_detached_session() -> None:
    """We run bodies without the request's stream: `ctx` reports into the run and asks by it."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")

    @mcp.tool()
    async def work(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 2, "half")
        answer = await ctx.elicit("Your name?", Name)
        return answer.data.name if answer.action == "accept" else "nobody"

    run = Asked()
    result = await mcp.call_tool("work", {}, _detached(mcp, run)[0])
    assert isinstance(result, CallToolResult)
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == "Ada"
    [question] = run.questions
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "Your name?"
    [report] = run.progress.take()
    assert (report.done, report.total, report.message) == (1, 2, "half")


@pytest.mark.parametrize(
    ("version", "asks_in_the_session"), [("2025-11-25", True), (REVISION, False)]
)
async def test_resolvers_ask_as_the_era_of_their_context_does(
    version: str, asks_in_the_session: bool
) -> None:
    """We run them as 2025-11-25 where no request is left to answer with `input_required`."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")

    @mcp.tool()
    async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
        return f"Hello, {name.name}!"

    run = Asked()
    result = await mcp.call_tool("greet", {}, _detached(mcp, run, version)[0])
    fields = result.model_dump(by_alias=True)
    if asks_in_the_session:
        assert [one["method"] for one in run.questions] == ["elicitation/create"]
        assert fields["content"][0]["text"] == "Hello, Ada!"
    else:
        assert run.questions == []
        assert fields["resultType"] == "input_required"


async def test_a_request_context_can_be_given_another_session() -> None:
    """We `replace` the session of the request's context for its detached body."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")
    _, request = _detached(mcp, Asked())
    other = detached_session(Asked(), protocol_version=REVISION, request_id="task")
    assert replace(request, session=other).session is other


async def test_nan_becomes_null_in_a_result_dumped_as_json() -> None:
    """We keep results as strict JSON."""
    result = CallToolResult(content=[], structured_content={"mean": float("nan")})
    dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    assert dumped["structuredContent"] == {"mean": None}


def test_a_token_names_client_issuer_and_subject() -> None:
    """We own tasks by issuer and subject, or client."""
    token = AccessToken(token="x", client_id="c", scopes=[])  # noqa: S106
    client_id, issuer, subject = principal_components(token)
    assert (client_id, issuer, subject) == ("c", None, None)
