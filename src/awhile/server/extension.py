"""The Tasks extension of the 2026-07-28 era on the official SDK.

Source: modelcontextprotocol/ext-tasks, ``specification/draft/tasks.md``. The SDK leaves these
checks to an extension's handlers: the declared capability, ``Mcp-Name``, and whose task it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field, ValidationError

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.tasks import events as ev
from awhile.wire.snapshot import snapshot_of
from awhile.wire.v2026_07_28 import EXTENSION_ID, PROTOCOL_VERSION, write_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.server.calls import Calls
    from awhile.tasks import TaskRecord

_VERSIONS = frozenset({PROTOCOL_VERSION})


class TaskParams(RequestParams):
    """The parameters of ``tasks/get`` and ``tasks/cancel``."""

    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    """The parameters of ``tasks/update``."""

    input_responses: dict[str, Any] = Field(alias="inputResponses")


def declares_tasks(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether this very request declares that its client can take a task."""
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return False
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities else None
    return bool(declared) and EXTENSION_ID in declared


class TasksExtension(Extension):
    """Adds ``tasks/get``, ``tasks/update`` and ``tasks/cancel``, and decides on ``tools/call``."""

    identifier = EXTENSION_ID

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def methods(self) -> Sequence[MethodBinding]:
        """The extension's request methods, at the one protocol version that has them."""
        return (
            MethodBinding("tasks/get", TaskParams, self._get, _VERSIONS),
            MethodBinding("tasks/update", UpdateParams, self._update, _VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, _VERSIONS),
        )

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """Answer ``tools/call`` inline or by a task; other tools pass through untouched."""
        options = self._calls.options(params.name)
        if options is None:
            return await call_next(ctx)
        if options.task_support == "required" and not declares_tasks(ctx):
            require_client_extension(ctx, EXTENSION_ID)
        takes_tasks = options.task_support != "forbidden" and declares_tasks(ctx)
        return await self._calls.answer(options, params, ctx, call_next, takes_tasks=takes_tasks)

    async def _get(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> HandlerResult:
        record = await self._admitted(ctx, params.task_id)
        poll_ms = self._calls.poll_interval_ms(record)
        return write_task(snapshot_of(record, poll_interval_ms=poll_ms))

    async def _update(
        self, ctx: ServerRequestContext[Any, Any], params: UpdateParams
    ) -> HandlerResult:
        record = await self._admitted(ctx, params.task_id)
        for key, asked in record.outstanding.items():
            if key in params.input_responses:
                _check_answer(key, str(asked.request.get("method")), params.input_responses[key])
        await self._happened(record, ev.InputAnswered(responses=params.input_responses))
        return {}

    async def _cancel(
        self, ctx: ServerRequestContext[Any, Any], params: TaskParams
    ) -> HandlerResult:
        record = await self._admitted(ctx, params.task_id)
        await self._happened(record, ev.CancelAsked())
        return {}

    async def _happened(self, record: TaskRecord, event: ev.InputAnswered | ev.CancelAsked) -> None:
        try:
            await self._calls.append(record.task_id, event)
        except TaskNotFound as gone:  # it expired between the two
            raise _unknown() from gone
        except IllegalEvent:
            return  # it has ended: an acknowledgement is all that is due, and nothing may change

    async def _admitted(self, ctx: ServerRequestContext[Any, Any], task_id: str) -> TaskRecord:
        """The caller's task, past every gate: declared, routed as it says, the caller's own."""
        require_client_extension(ctx, EXTENSION_ID)
        headers = getattr(ctx.request, "headers", None)
        if headers is not None:  # over HTTP; other transports have no headers to check
            name = decode_header_value(headers.get(MCP_NAME_HEADER))
            if name != task_id:
                raise MCPError(
                    code=HEADER_MISMATCH,
                    message=f"The Mcp-Name header is {name!r}; it has to be the request's taskId.",
                )
        record = await self._calls.get(task_id)
        if record is None or record.owner != self._calls.principal(ctx):
            raise _unknown()
        return record


_ANSWERS: Mapping[str, type[BaseModel]] = {
    "elicitation/create": ElicitResult,
    "sampling/createMessage": CreateMessageResult,
    "roots/list": ListRootsResult,
}
"""What the response to each kind of input request has to be (2026-07-28, mrtr)."""


def _check_answer(key: str, method: str, answer: object) -> None:
    """Refuse an answer that the body could not read: its question stays open. Source: ours."""
    model = _ANSWERS.get(method)
    if model is None:
        return
    try:
        model.model_validate(answer, by_name=False)
    except ValidationError as unreadable:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The answer to {key!r} is no {model.__name__}; the question is still open.",
            data={"errors": unreadable.error_count()},
        ) from unreadable


def _unknown() -> MCPError:
    # Unknown and foreign read the same, and the id is not repeated (ext-tasks, Error Handling).
    return MCPError(code=INVALID_PARAMS, message=str(TaskNotFound()))
