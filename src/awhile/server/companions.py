"""For hosts without task support: an honest answer in time, and three tools to go on with.

Such a host waits 60 s and then shows an error, whether or not the work goes on. So its call is
answered before that, in words that a model cannot take for the result, and the work is a task that
``task_result`` waits for, ``task_cancel`` stops and ``task_list`` finds again. Source: ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.server.extension import ToolBinding
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.server.telling import Told
from awhile.tasks import Status
from awhile.tasks import events as ev
from awhile.wire.codec import write_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.server.calls import Calls
    from awhile.tasks import TaskRecord

LISTED = 20
"""How many tasks ``task_list`` shows, the newest first."""

STILL_RUNNING = "awhile/stillRunning"
"""The ``_meta`` entry of an answer that is no result, for programs: the task's id."""


def still_running(record: TaskRecord, *, wait_seconds: float, is_error: bool) -> dict[str, Any]:
    """The answer to a call whose work goes on as a task.

    ``is_error``: the tool promises structured results. Official clients refuse a result without
    them, and this is none; only a result marked as an error passes without.
    """
    words = (
        f"NOT FINISHED: this is not the result of {record.tool}. The work is still running on the "
        f"server, as task {record.task_id}{_latest(record)}.\n"
        f"Do not call {record.tool} again: that would start the work a second time.\n"
        f'To get the result, call the tool task_result with id "{record.task_id}". It answers as '
        f"soon as there is a result, after {wait_seconds:g} seconds at most; call it again until "
        "then. To stop the work, call task_cancel with the same id."
    )
    return {
        "content": [{"type": "text", "text": words}],
        "isError": is_error,
        "_meta": {STILL_RUNNING: {"taskId": record.task_id}},
        "resultType": "complete",
    }


def companions(calls: Calls) -> Sequence[ToolBinding]:
    """The three tools."""
    limit = calls.waiting.inline_limit_seconds

    async def task_result(
        id: str,  # noqa: A002 - it is what the model has to fill in
        ctx: Context[Any, Any],
        wait_seconds: float = limit,
    ) -> CallToolResult:
        record = await _mine(calls, ctx, id)
        if record is None:
            return _said(str(TaskNotFound()), is_error=True)
        told = Told(ctx.request_context)
        async with calls.store.watch([id]) as watch:
            with anyio.move_on_after(max(0.0, min(wait_seconds, limit))):
                while True:
                    record = await calls.get(id) or record
                    await told.tell_of(record)
                    if record.status is not Status.WORKING:
                        break
                    await watch.wait()
        return _as_result(record, limit)

    async def task_cancel(id: str, ctx: Context[Any, Any]) -> CallToolResult:  # noqa: A002
        record = await _mine(calls, ctx, id)
        if record is None:
            return _said(str(TaskNotFound()), is_error=True)
        try:
            record = await calls.append(id, ev.CancelAsked())
        except IllegalEvent:
            record = await calls.get(id) or record
        if record.status is Status.CANCELLED:
            return _said(f"Task {id} is stopped. {record.status_message or ''}".rstrip())
        if record.status.ended:
            return _said(f"Task {id} had already ended ({record.status.value}).")
        return _said(
            f"Task {id} was asked to stop, and has not stopped yet. Call task_result with the same "
            "id to see when it has."
        )

    async def task_list(ctx: Context[Any, Any]) -> CallToolResult:
        owner = calls.principal(ctx.request_context)
        records = await calls.store.find(owner=owner, limit=LISTED)
        lines = [
            f"{one.task_id}  {one.tool}  {one.status.value}  started "
            f"{write_instant(one.created_at_ms)}{_latest(one)}"
            for one in records
        ]
        return _said("\n".join(lines) or "There are no tasks of yours.")

    return (
        ToolBinding(
            task_result,
            kwargs={
                "description": "Get the result of work that was answered with 'NOT FINISHED' and a "
                f"task id. Waits up to {limit:g} seconds for it, or as long as wait_seconds says.",
                "annotations": ToolAnnotations(read_only_hint=True, open_world_hint=False),
                "structured_output": False,
            },
        ),
        ToolBinding(
            task_cancel,
            kwargs={
                "description": "Stop the work of a task, by its id. What it did so far stays done.",
                "annotations": ToolAnnotations(idempotent_hint=True, open_world_hint=False),
                "structured_output": False,
            },
        ),
        ToolBinding(
            task_list,
            kwargs={
                "description": f"Your tasks, newest first, at most {LISTED}: id, tool and state.",
                "annotations": ToolAnnotations(read_only_hint=True, open_world_hint=False),
                "structured_output": False,
            },
        ),
    )


async def _mine(calls: Calls, ctx: Context[Any, Any], task_id: str) -> TaskRecord | None:
    record = await calls.get(task_id)
    if record is None or record.owner != calls.principal(ctx.request_context):
        return None  # foreign and unknown read the same
    return record


def _as_result(record: TaskRecord, limit: float) -> CallToolResult:
    match record.status:
        case Status.COMPLETED:
            return CallToolResult.model_validate(dict(record.result or {}), by_name=False)
        case Status.FAILED | Status.CANCELLED:
            words = f"Task {record.task_id} ended without a result ({record.status.value}): "
            return _said(words + (record.status_message or "no reason was given."), is_error=True)
        case Status.INPUT_REQUIRED:
            asked = "\n".join(question(one.request) for one in record.outstanding.values())
            return _said(
                f"NOT FINISHED: task {record.task_id} waits for an answer from a person:\n{asked}\n"
                "It has to be given where the task was started; this tool cannot pass it on. Tell "
                "the user, then call task_result again."
            )
        case Status.WORKING:
            fields = still_running(record, wait_seconds=limit, is_error=False)
            return CallToolResult.model_validate(fields, by_name=False)


def question(request: Mapping[str, Any]) -> str:
    """A question of a body in plain words, with its choices."""
    params = cast("Mapping[str, Any]", request.get("params") or {})
    lines = [f"- {params.get('message') or request.get('method')}"]
    schema = cast("Mapping[str, Any]", params.get("requestedSchema") or {})
    for name, field in cast("Mapping[str, Any]", schema.get("properties") or {}).items():
        choices = _choices(cast("Mapping[str, Any]", field))
        title = cast("Mapping[str, Any]", field).get("title") or name
        lines.append(f"  {title}: {' | '.join(choices)}" if choices else f"  {title}")
    return "\n".join(lines)


def _choices(field: Mapping[str, Any]) -> list[str]:
    if field.get("type") == "boolean":
        return ["yes", "no"]
    if "items" in field:
        return _choices(cast("Mapping[str, Any]", field["items"]))
    named = cast("list[Mapping[str, Any]]", field.get("oneOf") or field.get("anyOf") or [])
    if named:
        return [str(one.get("title") or one.get("const")) for one in named if one]
    return [
        one if isinstance(one, str) else json.dumps(one)
        for one in cast("list[Any]", field.get("enum") or [])
    ]


def _latest(record: TaskRecord) -> str:
    return f" (its latest word: {record.status_message})" if record.status_message else ""


def _said(words: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=is_error)
