"""For hosts without task support: an honest answer in time, and four tools to go on with.

Such a host waits 60 s and then shows an error, whether or not the work goes on. So its call is
answered before that, in words that a model cannot take for the result, and the work is a task that
``task_result`` waits for, ``task_cancel`` stops and ``task_list`` finds again. What the work asks
is shown to the model, for its user, and ``task_answer`` passes the answer on. Source: ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.server.extension import ToolBinding
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.server.forms import is_form, misfit
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
    not_finished = f"NOT FINISHED: this is not the result of {record.tool}."
    if record.outstanding:
        words = f"{not_finished} {_asking(record)}"
    else:
        words = (
            f"{not_finished} The work is still running on the server, as task "
            f"{record.task_id}{_latest(record)}.\n"
            f"Do not call {record.tool} again: that would start the work a second time.\n"
            f'To get the result, call the tool task_result with id "{record.task_id}". It answers '
            f"as soon as there is a result, after {wait_seconds:g} seconds at most; call it again "
            "until then. To stop the work, call task_cancel with the same id."
        )
    return {
        "content": [{"type": "text", "text": words}],
        "isError": is_error,
        "_meta": {STILL_RUNNING: {"taskId": record.task_id}},
        "resultType": "complete",
    }


def companions(calls: Calls) -> Sequence[ToolBinding]:
    """The four tools."""
    limit = calls.waiting.inline_limit_seconds

    async def outcome(record: TaskRecord, ctx: Context[Any, Any], seconds: float) -> CallToolResult:
        told = Told(ctx.request_context)
        async with calls.store.watch([record.task_id]) as watch:
            patience = anyio.move_on_after(max(0.0, min(seconds, limit)))
            stops = calls.closing.over.cuts(patience)
            with calls.looking.watched([record.task_id]), patience, stops:
                while True:
                    record = await calls.get(record.task_id) or record
                    await told.tell_of(record)
                    if record.status is not Status.WORKING:
                        break
                    await watch.wait()
        return _as_result(record, limit)

    async def task_result(
        id: str,  # noqa: A002 - it is what the model has to fill in
        ctx: Context[Any, Any],
        wait_seconds: float = limit,
    ) -> CallToolResult:
        record = await _mine(calls, ctx, id)
        if record is None:
            return _said(str(TaskNotFound()), is_error=True)
        return await outcome(record, ctx, wait_seconds)

    async def task_answer(
        id: str,  # noqa: A002
        ctx: Context[Any, Any],
        answers: dict[str, Any] | None = None,
        declined: bool = False,
        question: str | None = None,
    ) -> CallToolResult:
        record = await _mine(calls, ctx, id)
        if record is None:
            return _said(str(TaskNotFound()), is_error=True)
        open_now = [key for key, one in record.outstanding.items() if is_form(one.request)]
        if question is None and len(open_now) == 1:
            [question] = open_now
        if question not in open_now:
            return _said(_not_asked(record, open_now), is_error=True)
        wrong = None if declined else misfit(record.outstanding[question].request, answers or {})
        if wrong:
            words = f"The question is still open, because this does not answer it: {wrong}"
            return _said(f"{words}\n{_asking(record)}", is_error=True)
        said = {"action": "decline"} if declined else {"action": "accept", "content": answers or {}}
        try:
            record = await calls.append(id, ev.InputAnswered(responses={question: said}))
        except IllegalEvent:
            return _said(f"Task {id} has ended: nobody waits for an answer now.", is_error=True)
        return await outcome(record, ctx, limit)

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
        records = await calls.store.find(owner=owner, limit=LISTED, detail="outline")
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
            task_answer,
            kwargs={
                "description": "Pass on your user's answer to a question that a task waits for. "
                "Ask the user first and wait for what they say: never make an answer up. answers "
                "has a value for each name of the question; declined=true says that the user does "
                "not want to answer; question is its key, if the task asks several. Returns what "
                "task_result returns.",
                "annotations": ToolAnnotations(open_world_hint=False),
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
    await calls.looking.at(calls.store, record)
    return record


def _as_result(record: TaskRecord, limit: float) -> CallToolResult:
    match record.status:
        case Status.COMPLETED:
            return CallToolResult.model_validate(dict(record.result or {}), by_name=False)
        case Status.FAILED | Status.CANCELLED:
            words = f"Task {record.task_id} ended without a result ({record.status.value}): "
            return _said(words + (record.status_message or "no reason was given."), is_error=True)
        case Status.INPUT_REQUIRED | Status.WORKING:
            fields = still_running(record, wait_seconds=limit, is_error=False)
            return CallToolResult.model_validate(fields, by_name=False)


def has_form(record: TaskRecord) -> bool:
    """Whether a task waits for what ``task_answer`` can pass on."""
    return any(is_form(one.request) for one in record.outstanding.values())


def _asking(record: TaskRecord) -> str:
    """What a task waits for, and how to go on."""
    several = len(record.outstanding) > 1
    asked = "\n".join(
        _question(one.request, key if several else None) for key, one in record.outstanding.items()
    )
    words = f"Task {record.task_id} waits for an answer from your user:\n{asked}\n"
    if not has_form(record):
        return (
            f"{words}The program that started the task has to answer that; no tool can. Tell the "
            "user, then call task_result with the task's id."
        )
    return (
        f"{words}Ask your user this, and wait for what they say. Do not answer for them and do not "
        f'guess. Then call task_answer with id "{record.task_id}" and their answer'
        f"{', once for each question' if several else ''}. Do not call {record.tool} again. To "
        "stop the work, call task_cancel."
    )


def _not_asked(record: TaskRecord, open_now: list[str]) -> str:
    if record.status.ended:
        return f"Task {record.task_id} has ended: nobody waits for an answer now."
    if not open_now:
        return (
            f"Task {record.task_id} asks nothing that this tool could answer now. Call task_result "
            "to see how it stands."
        )
    return f"Say which question this answers: question is one of {', '.join(open_now)}."


def _question(request: Mapping[str, Any], key: str | None) -> str:
    """A question of a body in plain words, with its choices."""
    params = cast("Mapping[str, Any]", request.get("params") or {})
    words = str(params.get("message") or request.get("method"))
    lines = [f"- {words}" if key is None else f"- {words} (question: {key})"]
    schema = cast("Mapping[str, Any]", params.get("requestedSchema") or {})
    needed = cast("list[str]", schema.get("required") or [])
    for name, one in cast("Mapping[str, Any]", schema.get("properties") or {}).items():
        field = cast("Mapping[str, Any]", one)
        title, choices = field.get("title"), _choices(field)
        shown = name if title in {None, name} else f"{name} ({title})"
        kind = " | ".join(choices) or field.get("type", "string")
        lines.append(f"  {shown}: {kind}{'' if name in needed else ', may be left out'}")
    return "\n".join(lines)


def _choices(field: Mapping[str, Any]) -> list[str]:
    """What a field may be, as it has to be written; with its title where it has one."""
    if field.get("type") == "boolean":
        return ["true (yes)", "false (no)"]
    if "items" in field:
        return _choices(cast("Mapping[str, Any]", field["items"]))
    named = cast("list[Mapping[str, Any]]", field.get("oneOf") or field.get("anyOf") or [])
    if named:
        return [_choice(one) for one in named if "const" in one]
    return [
        one if isinstance(one, str) else json.dumps(one)
        for one in cast("list[Any]", field.get("enum") or [])
    ]


def _choice(one: Mapping[str, Any]) -> str:
    title, value = one.get("title"), one["const"]
    return str(value) if title in {None, value} else f"{value} ({title})"


def _latest(record: TaskRecord) -> str:
    return f" (its latest word: {record.status_message})" if record.status_message else ""


def _said(words: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=is_error)
