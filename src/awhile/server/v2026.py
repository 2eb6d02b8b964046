"""The Tasks extension of 2026-07-28: what its methods do.

Source: modelcontextprotocol/ext-tasks, ``specification/draft/tasks.md``. The SDK leaves these
checks to an extension's handlers: the declared capability, ``Mcp-Name``, and whose task it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
)
from pydantic import BaseModel, ValidationError

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.server.forms import is_form, misfit
from awhile.server.params import TaskParams, UpdateParams, refuse_unkept, unknown_task
from awhile.tasks import events as ev
from awhile.wire.v2026_07_28 import EXTENSION_ID, write_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.server.calls import Calls
    from awhile.server.options import ToolOptions
    from awhile.tasks import TaskRecord


CANNOT_ASK = (
    "This tool needs to ask its caller something, and this caller cannot be asked: "
    "call it from a client that supports tasks with elicitation."
)


class Era2026:
    """The methods of this era."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def call(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """``tools/call`` of a task tool: the server decides whether it becomes a task."""
        declared = declares_tasks(ctx)
        if options.task_support == "required" and not declared:
            require_client_extension(ctx, EXTENSION_ID)
        takes_tasks = options.task_support != "forbidden" and declared
        asked_by_answer = not takes_tasks and self._calls.asks_by_answer(options)
        return await self._calls.answer(
            options,
            params,
            ctx,
            call_next,
            takes_tasks=takes_tasks,
            unasked=None if takes_tasks or asked_by_answer else CANNOT_ASK,
            asked_by_answer=asked_by_answer,
        )

    async def get(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> HandlerResult:
        """``tasks/get``."""
        record = await self._admitted(ctx, params.task_id)
        return write_task(await self._calls.shown(record))

    async def update(
        self, ctx: ServerRequestContext[Any, Any], params: UpdateParams
    ) -> HandlerResult:
        """``tasks/update``."""
        record = await self._admitted(ctx, params.task_id)
        refuse_unkept(params.input_responses)
        for key, asked in record.outstanding.items():
            if key in params.input_responses:
                _check_answer(key, asked.request, params.input_responses[key])
        await self._happened(record, ev.InputAnswered(responses=params.input_responses))
        return {}

    async def cancel(
        self, ctx: ServerRequestContext[Any, Any], params: TaskParams
    ) -> HandlerResult:
        """``tasks/cancel``: an intent; the status says when the work has stopped."""
        record = await self._admitted(ctx, params.task_id)
        await self._happened(record, ev.CancelAsked())
        return {}

    async def _happened(self, record: TaskRecord, event: ev.InputAnswered | ev.CancelAsked) -> None:
        try:
            await self._calls.append(record.task_id, event)
        except TaskNotFound as gone:  # it expired between the two
            raise unknown_task() from gone
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
                    message=f"The Mcp-Name header is {repr(name) if name else 'missing'}; send the "
                    "request's taskId in it.",
                )
        return await self._calls.own(ctx, task_id)


def declares_tasks(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether this very request declares that its client can take a task."""
    capabilities = ctx.session.client_capabilities
    declared = capabilities.extensions if capabilities else None
    return bool(declared) and EXTENSION_ID in declared


_ANSWERS: Mapping[str, type[BaseModel]] = {
    "elicitation/create": ElicitResult,
    "sampling/createMessage": CreateMessageResult,
    "roots/list": ListRootsResult,
}
"""What the response to each kind of input request has to be (2026-07-28, mrtr)."""


def _check_answer(key: str, request: Mapping[str, Any], answer: object) -> None:
    """Refuse an answer that the body could not read: its question stays open. Source: ours."""
    model = _ANSWERS.get(str(request.get("method")))
    if model is None:
        return
    try:
        read = model.model_validate(answer, by_name=False)
    except ValidationError as unreadable:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The answer to {key!r} is no {model.__name__}; the question is still open.",
            data={"errors": unreadable.error_count()},
        ) from unreadable
    if not is_form(request) or not isinstance(read, ElicitResult) or read.action != "accept":
        return
    if read.content is None:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The answer to {key!r} accepts a form and has no content; the question is "
            "still open. Send what was filled in, or decline.",
        )
    if wrong := misfit(request, read.content):
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The answer to {key!r} does not fit its form ({wrong}); the question is still "
            "open, and nothing of this call was kept. Correct that and send it again, or decline.",
        )
