"""What the conformance suite calls beside tasks: the fixtures that revision 2026-07-28 requires.

Each is the smallest thing that its scenario asks for. They stand on the same server as the task
tools, so that the suite sees what tasks do to everything else.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CompletionArgument,
    CompletionContext,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    PromptReference,
    ResourceTemplateReference,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

AnyContext = Context[Any, Any]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJ"
    "RU5ErkJggg=="
)
"""A PNG of one pixel."""

SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A WAV without a sample."""

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""The keywords of JSON Schema 2020-12 that have to come out of ``tools/list`` as they are."""


async def with_the_whole_schema(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Middleware: a function's signature cannot say what `SCHEMA` does."""
    result = await call_next(ctx)
    if ctx.method != "tools/list":
        return result
    fields = cast("dict[str, Any]", result)
    tools = [
        {**tool, "inputSchema": SCHEMA} if tool["name"] == "json_schema_2020_12_tool" else tool
        for tool in fields["tools"]
    ]
    return {**fields, "tools": tools}


def add_revision_fixtures(mcp: MCPServer[Any]) -> None:
    """Give a server everything that the suite asks for beside tasks."""
    add_contents(mcp)
    add_calls(mcp)
    add_questions(mcp)
    add_changes(mcp)
    add_resources(mcp)
    add_prompts(mcp)


def add_contents(mcp: MCPServer[Any]) -> None:
    """Every kind of content. The first tool is listed first, and called without arguments."""
    pixel = ImageContent(type="image", data=PIXEL, mime_type="image/png")

    @mcp.tool()
    def test_simple_text() -> str:
        """Text."""
        return "Plain text."

    @mcp.tool()
    def test_image_content() -> list[ImageContent]:
        """An image."""
        return [pixel]

    @mcp.tool()
    def test_audio_content() -> list[AudioContent]:
        """A sound."""
        return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]

    @mcp.tool()
    def test_embedded_resource() -> list[EmbeddedResource]:
        """A resource inside of a result."""
        return [embedded("test://embedded-resource")]

    @mcp.tool()
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Three kinds in one result."""
        text = TextContent(type="text", text="Three kinds:")
        return [text, pixel, embedded("test://mixed-content-resource")]

    @mcp.tool()
    def test_error_handling() -> str:
        """Says no."""
        raise ToolError("this tool fails on purpose")

    @mcp.tool()
    def json_schema_2020_12_tool() -> str:
        """Its schema is `SCHEMA`."""
        return "done"


def embedded(uri: str) -> EmbeddedResource:
    """A text resource inside of a result."""
    text = TextResourceContents(uri=uri, mime_type="text/plain", text="Text inside of a result.")
    return EmbeddedResource(type="resource", resource=text)


def add_calls(mcp: MCPServer[Any]) -> None:
    """What a call may bring with it: progress, log messages, headers, capabilities."""

    @mcp.tool()
    async def test_tool_with_progress(ctx: AnyContext) -> str:
        """Reports three times."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"{done} of 100")
            await anyio.sleep(0.05)
        return "done"

    @mcp.tool()
    async def test_logging_tool(ctx: AnyContext) -> str:
        """Logs, which only callers hear that ask for it."""
        await ctx.info("a log message")  # pyright: ignore[reportDeprecated]
        return "logged"

    @mcp.tool()
    def test_custom_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",
    ) -> str:
        """Has an argument that is repeated in a header."""
        return f"region: {region}"

    @mcp.tool()
    def test_missing_capability(ctx: AnyContext) -> str:
        """Refuses clients that could not sample."""
        can = ctx.client_capabilities
        if can is None or can.sampling is None:
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message="This tool needs a client that samples.",
                data={"requiredCapabilities": {"sampling": {}}},
            )
        return "this client samples"


def add_changes(mcp: MCPServer[Any]) -> None:
    """Lists that change, and say so to whoever listens."""

    def added() -> str:
        """There for a moment."""
        return "added"

    @mcp.tool()
    async def test_trigger_tool_change(ctx: AnyContext) -> str:
        """Adds a tool and removes it again."""
        mcp.add_tool(added, name="test_added_tool")
        mcp.remove_tool("test_added_tool")
        await ctx.notify_tools_changed()
        return "changed"

    @mcp.tool()
    async def test_trigger_prompt_change(ctx: AnyContext) -> str:
        """Adds a prompt and removes it again."""
        mcp.add_prompt(Prompt.from_function(added, name="test_added_prompt"))
        mcp.remove_prompt("test_added_prompt")
        await ctx.notify_prompts_changed()
        return "changed"


def form(message: str, **properties: str) -> ElicitRequest:
    """A form with a required field of the given type for each name."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(text: str) -> CreateMessageRequest:
    """A question to the client's model."""
    said = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=50))


def answered(ctx: AnyContext, key: str, field: str) -> str | None:
    """What was put into a form's field; None if there is no such answer."""
    answer = (ctx.input_responses or {}).get(key)
    if not isinstance(answer, ElicitResult) or answer.content is None:
        return None
    value = answer.content.get(field)
    return None if value is None else str(value)


def add_questions(mcp: MCPServer[Any]) -> None:
    """Tools that answer a call by a question, and its retry by a result."""

    @mcp.tool()
    def test_input_required_result_elicitation(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks a person for a name."""
        name = answered(ctx, "user_name", "name")
        if name is not None:
            return f"Hello, {name}!"
        return InputRequiredResult(input_requests={"user_name": form("Your name?", name="string")})

    @mcp.tool()
    def test_streaming_elicitation(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks in its result, never by a request on the stream."""
        return test_input_required_result_elicitation(ctx)

    @mcp.tool()
    def test_input_required_result_sampling(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks the client's model."""
        answer = (ctx.input_responses or {}).get("capital_question")
        if isinstance(answer, CreateMessageResult) and isinstance(answer.content, TextContent):
            return f"The model said: {answer.content.text}"
        asked = sampling("What is the capital of France?")
        return InputRequiredResult(input_requests={"capital_question": asked})

    @mcp.tool()
    def test_input_required_result_list_roots(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks for the client's roots."""
        answer = (ctx.input_responses or {}).get("client_roots")
        if isinstance(answer, ListRootsResult):
            return f"{len(answer.roots)} roots"
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})

    @mcp.tool()
    def test_input_required_result_request_state(ctx: AnyContext) -> str | InputRequiredResult:
        """Gives a state along, and wants it back."""
        if ctx.request_state == "round 1" and answered(ctx, "confirm", "ok") is not None:
            return "state-ok"
        return InputRequiredResult(
            input_requests={"confirm": form("All right?", ok="boolean")}, request_state="round 1"
        )

    @mcp.tool()
    def test_input_required_result_tampered_state(ctx: AnyContext) -> str | InputRequiredResult:
        """The same; a changed state does not get this far."""
        if ctx.request_state is not None:
            return "state-ok"
        return InputRequiredResult(
            input_requests={"confirm": form("All right?", ok="boolean")}, request_state="round 1"
        )

    @mcp.tool()
    def test_input_required_result_multiple_inputs(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks three things at once."""
        asked: dict[str, InputRequest] = {
            "user_name": form("Your name?", name="string"),
            "greeting": sampling("Say hello."),
            "client_roots": ListRootsRequest(),
        }
        if asked.keys() <= (ctx.input_responses or {}).keys():
            return "all three were answered"
        return InputRequiredResult(input_requests=asked, request_state="three at once")

    @mcp.tool()
    def test_input_required_result_multi_round(ctx: AnyContext) -> str | InputRequiredResult:
        """Asks one thing, then another; what was said first travels in the state."""
        state = json.loads(ctx.request_state or "{}")
        colour, name = answered(ctx, "step2", "color"), answered(ctx, "step1", "name")
        if "name" in state and colour is not None:
            return f"{state['name']} likes {colour}."
        if state and name is not None:
            return InputRequiredResult(
                input_requests={"step2": form("Your colour?", color="string")},
                request_state=json.dumps({"round": 2, "name": name}),
            )
        return InputRequiredResult(
            input_requests={"step1": form("Your name?", name="string")},
            request_state=json.dumps({"round": 1}),
        )

    @mcp.tool()
    def test_input_required_result_capabilities(ctx: AnyContext) -> InputRequiredResult:
        """Asks only what this client can answer."""
        can, asked = ctx.client_capabilities, cast("dict[str, InputRequest]", {})
        if can is not None and can.sampling is not None:
            asked["sample"] = sampling("Say hello.")
        if can is not None and can.elicitation is not None:
            asked["ask"] = form("Your name?", name="string")
        return InputRequiredResult(input_requests=asked, request_state="what it can")


def add_resources(mcp: MCPServer[Any]) -> None:
    """A text, some bytes and a template."""

    @mcp.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "A resource's text."

    @mcp.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """Bytes."""
        return base64.b64decode(PIXEL)

    @mcp.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the template's own name for it
        """One of many."""
        return json.dumps({"id": id})

    @mcp.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """What can be listened to."""
        return "A watched resource's text."


def add_prompts(mcp: MCPServer[Any]) -> None:
    """Every kind of prompt, and completion of their arguments."""

    def said(text: str) -> UserMessage:
        return UserMessage(content=TextContent(type="text", text=text))

    @mcp.prompt()
    def test_simple_prompt() -> list[UserMessage]:
        """Without arguments."""
        return [said("A prompt.")]

    @mcp.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        """With two."""
        return [said(f"arg1={arg1!r}, arg2={arg2!r}")]

    @mcp.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
        """With a resource inside."""
        return [UserMessage(content=embedded(resourceUri)), said("Read the resource above.")]

    @mcp.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """With an image inside."""
        pixel = ImageContent(type="image", data=PIXEL, mime_type="image/png")
        return [UserMessage(content=pixel), said("Look at the image above.")]

    @mcp.prompt()
    async def test_input_required_result_prompt(
        ctx: AnyContext,
    ) -> list[UserMessage] | InputRequiredResult:
        """Asks before it is rendered."""
        context = answered(ctx, "user_context", "context")
        if context is not None:
            return [said(f"Mind this: {context}")]
        asked = form("In which context?", context="string")
        return InputRequiredResult(input_requests={"user_context": asked})

    @mcp.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        """What begins like what was typed."""
        values = [one for one in ("paris", "park", "party") if one.startswith(argument.value)]
        return Completion(values=values, total=len(values), has_more=False)
