"""The audit trail: who asked for, saw, answered and stopped which task, in both eras.

Each is one record of the logger ``awhile.audit`` at INFO, with its fields as attributes of the log
record: ``owner``, ``did``, ``task_id``, ``tool``, ``how`` (the method, or the companion tool), and
``outcome``: "done", or what the caller got instead (a JSON-RPC error code, "error" for a tool's
result that is one, "left"). Who tries ids that are not theirs is found by ``outcome`` -32602. When
a task ended, and how, is in the store's history. Source: 2025-11-25 basic/utilities/tasks, Audit
and Logging.
"""

from __future__ import annotations

import contextvars
import logging
from typing import TYPE_CHECKING, Any, cast

from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import HandlerResult, ServerRequestContext

    from awhile.tasks import TaskRecord

logger = logging.getLogger("awhile.audit")

BY_METHOD: Mapping[str, str] = {
    "tasks/get": "saw",
    "tasks/result": "saw",
    "tasks/update": "answered",
    "tasks/cancel": "stopped",
    "tasks/list": "listed",
}

BY_TOOL: Mapping[str, str] = {
    "task_result": "saw",
    "task_answer": "answered",
    "task_cancel": "stopped",
    "task_list": "listed",
}

_asked: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar(
    "awhile_asked", default=None
)


def note(
    did: str,
    *,
    owner: str,
    how: str,
    task_id: object,
    tool: object = None,
    outcome: object = "done",
) -> None:
    """Write one record."""
    fields = {
        "owner": owner,
        "did": did,
        "task_id": task_id,
        "tool": tool,
        "how": how,
        "outcome": outcome,
    }
    logger.info("%(owner)s %(did)s %(task_id)s by %(how)s: %(outcome)s", fields, extra=fields)


def asked(record: TaskRecord) -> None:
    """Say that the call being served has become this task."""
    made = _asked.get()
    if made is not None:
        made[record.task_id] = record.tool


async def audited(
    ctx: ServerRequestContext[Any, Any], owner: Callable[..., str], serve: Awaitable[HandlerResult]
) -> HandlerResult:
    """Await the answer to a request, and write down what it was about."""
    made: dict[str, str] = {}
    token = _asked.set(made)
    outcome: object = "left"
    try:
        result = await serve
        outcome = "error" if _is_error(result) else "done"
        return result
    except MCPError as error:
        outcome = error.error.code
        raise
    finally:
        _asked.reset(token)
        if logger.isEnabledFor(logging.INFO):
            _write(ctx, owner(ctx), made, outcome)


def _write(
    ctx: ServerRequestContext[Any, Any], owner: str, made: Mapping[str, str], outcome: object
) -> None:
    params = cast("Mapping[str, Any]", ctx.params or {})
    if did := BY_METHOD.get(ctx.method):
        note(did, owner=owner, how=ctx.method, task_id=params.get("taskId"), outcome=outcome)
    elif ctx.method == "tools/call" and (did := BY_TOOL.get(str(params.get("name")))):
        given = cast("Mapping[str, Any]", params.get("arguments") or {})
        tool = str(params.get("name"))
        note(did, owner=owner, how=tool, task_id=given.get("id"), outcome=outcome)
    for task_id, tool in made.items():
        note("asked", owner=owner, how=ctx.method, task_id=task_id, tool=tool, outcome=outcome)


def _is_error(result: HandlerResult) -> bool:
    if isinstance(result, dict):
        return result.get("isError") is True
    return getattr(result, "is_error", None) is True
