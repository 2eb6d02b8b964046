"""A call that a tool makes of another task tool, for its caller: a task at once, waited for by
nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from awhile.errors import SettingsError
from awhile.runtime.ids import new_task_id
from awhile.server.audit import asked
from awhile.server.program import kept_of_request
from awhile.server.v2026 import declares_tasks
from awhile.tasks import new_record
from awhile.wire.v2026_07_28 import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from awhile.server.calls import Calls
    from awhile.tasks import TaskRecord

UNASKED = (
    "This work was started by another tool, and its caller takes no tasks of MCP 2026-07-28, which "
    "carry questions: it can be asked nothing."
)


async def start(
    calls: Calls, ctx: ServerRequestContext[Any, Any], tool: str, arguments: Mapping[str, Any]
) -> TaskRecord:
    """See `awhile.server.tasks.Tasks.start`."""
    options = calls.options(tool)
    if options is None or options.task_support == "forbidden":
        raise SettingsError(f"{tool!r} is no task tool of this server, so it cannot be started.")
    carries = ctx.protocol_version == PROTOCOL_VERSION and declares_tasks(ctx)
    key = arguments.get(options.request_key) if options.request_key else None
    record = await calls.worker.queue(
        new_record(
            task_id=new_task_id(),
            owner=calls.principal(ctx),
            tool=tool,
            arguments=arguments,
            context=kept_of_request(
                ctx,
                can=ctx.session.client_capabilities,
                unasked=None if carries else UNASKED,
                headers=calls.keep_headers,
            ),
            at_ms=calls.now_ms(),
            request_key=key if isinstance(key, str) and key else None,
            keep_ms=options.keep_ms,
            max_attempts=options.max_attempts,
            unobserved_ms=options.unobserved_ms,
        )
    )
    same_call(options.request_key, record, arguments)
    asked(record)
    return record


def same_call(argument: str | None, record: TaskRecord, arguments: Mapping[str, Any]) -> None:
    """Refuse a key that was used before in a call with other arguments.

    Raises:
        MCPError: the answer to that one would be taken for the answer to this.
    """
    if record.arguments != arguments:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"{argument} {record.request_key!r} was used before, in a call with other "
            "arguments: repeat that call as it was, or choose a new key.",
            data={"taskId": record.task_id},
        )


__all__ = ["same_call", "start"]
