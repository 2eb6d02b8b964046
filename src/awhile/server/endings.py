"""What a tool call came to: between the SDK's results and errors and the runtime's endings."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from awhile.runtime.ending import Halted, NoAnswer, Raised, Returned, internal_error
from awhile.runtime.progress import readable
from awhile.tasks import Status
from awhile.telemetry.logs import task_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator, Mapping

    from mcp.server.context import HandlerResult

    from awhile.errors import QueueFull
    from awhile.runtime.ending import Ending
    from awhile.tasks import TaskRecord

logger = task_logger(__name__)

_in_json = json.JSONEncoder(ensure_ascii=False).encode

MESSAGE_LENGTH = 500
"""How much of a tool's error text a status message repeats; the whole text is in the result."""


async def ending_of(call: Awaitable[HandlerResult]) -> Returned | Raised:
    """Await a tool call; the ending it came to, whatever it raises."""
    try:
        with _own_cancels():
            result = await call
    except MCPError as error:
        # By way of JSON text, which has no NaN: an error that cannot be kept would never be told.
        data = json.loads(error.error.model_dump_json(by_alias=True, exclude_none=True))
        return Raised(error=data, message=readable(error.error.message))
    except ToolError as error:  # from MCPServer.call_tool, which leaves this mapping to its caller
        result = CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
    except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException:
        logger.exception("A tool call ended in an unexpected error.")
        return internal_error("The server failed while running this; its log says why.")
    fields: Mapping[str, Any] = (
        result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if isinstance(result, BaseModel)
        else dict(result or {})
    )
    is_error = fields.get("isError") is True
    message = f"The tool reported an error: {first_text(fields)}" if is_error else "Finished."
    asks = fields.get("resultType") == "input_required"  # to be answered by a retry of the request
    result = _kept(fields)
    return Returned(result=result, is_error=is_error, message=message, inline_only=asks)


def _kept(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result as it can be sent: a lone surrogate in it (a file name read from disk may hold some)
    would leave its caller without any answer in 2025-11-25, although the work is done."""
    try:
        _in_json(fields).encode()  # for most results the quickest way to know that there is none
    except (UnicodeEncodeError, TypeError):
        return cast("Mapping[str, Any]", _told(fields))
    return fields


def _told(value: Any) -> Any:
    match value:
        case str():
            return value if value.isascii() else readable(value)
        case dict():
            fields = cast("dict[str, Any]", value)
            return {_told(name): _told(one) for name, one in fields.items()}
        case list():
            return [_told(one) for one in cast("list[Any]", value)]
        case _:
            return value


@contextmanager
def _own_cancels() -> Generator[None]:
    """Take back what code in the block did to its own task with ``asyncio.Task.cancel``.

    A cancel that nobody takes back is delivered again at the next scope outside (measured, anyio
    4.14), where it would end everything else that runs here.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    try:
        yield
    finally:
        if task and anyio.current_effective_deadline() != -math.inf:  # else it comes from outside
            while task.cancelling() > before:
                task.uncancel()


def unanswered(late: NoAnswer) -> MCPError:
    """A question that nobody answered in time, as the protocol error its task ends in."""
    return _as_mcp_error(internal_error(str(late), reason="answer_deadline").error, str(late))


def first_text(result: Mapping[str, Any]) -> str:
    """The first text of a ``CallToolResult``, shortened for a status message."""
    for block in cast("list[dict[str, Any]]", result.get("content") or []):
        if block.get("type") == "text":
            text = readable(str(block.get("text", "")).strip())
            return text if len(text) <= MESSAGE_LENGTH else f"{text[:MESSAGE_LENGTH]}…"
    return "it gave no text."


def server_stopped(words: str = "The server was stopped while this was running.") -> MCPError:
    """The answer to whoever waits for something when the server stops."""
    return _as_mcp_error(internal_error(words, reason="server_stopped").error, words)


def answer(ending: Ending, *, server_stops: bool = False) -> dict[str, Any]:
    """The inline answer to ``tools/call``; ``server_stops``: that is why its body was stopped.

    Raises:
        MCPError: the call ended in a protocol error, or was stopped.
    """
    if isinstance(ending, Returned):
        return dict(ending.result)
    if isinstance(ending, Halted) and server_stops:
        raise server_stopped()
    if isinstance(ending, Halted):
        ending = internal_error("This call was stopped before it finished.", reason="cancelled")
    raise _as_mcp_error(ending.error, ending.message)


def answer_from(record: TaskRecord) -> dict[str, Any]:
    """The inline answer of a call whose task has ended.

    Raises:
        MCPError: the task failed, or was cancelled.
    """
    if record.status is Status.COMPLETED:
        return dict(record.result or {})
    words = record.status_message or "This call did not finish."
    if record.status is Status.FAILED:
        raise _as_mcp_error(record.error or {}, words)
    raise _as_mcp_error(internal_error(words, reason="cancelled").error, words)


QUEUE_FULL = -32010
"""The JSON-RPC error of a call for which there is no place (-32000 to -32019 are free for servers;
the data's ``reason`` is ``queue_full``). Source: ours."""


def refused(full: QueueFull) -> MCPError:
    """A call for which there is no place, with a hint when there may be one."""
    return MCPError(
        code=QUEUE_FULL,
        message=str(full),
        data={
            "reason": "queue_full",
            "retryAfterSeconds": full.retry_after_seconds,
            "waiting": full.waiting,
            "own": full.own,
        },
    )


def _as_mcp_error(error: Mapping[str, Any], words: str) -> MCPError:
    return MCPError(
        code=int(error.get("code", -32603)),
        message=str(error.get("message", words)),
        data=error.get("data"),
    )
