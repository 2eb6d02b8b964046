"""One run as ``list_runs`` has it: the record, what it is about, and what its owner says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.ask.mcp_server import model
from awhile.wire.codec import write_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcp.server.mcpserver import Context

    from awhile.ask.answer.labels import Label
    from awhile.ask.answer.statements import Statement
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord
    from awhile.tasks.record import Input


async def found(
    tasks: Tasks,
    ctx: Context[Any, Any],
    *,
    tools: Collection[str],
    after_rev: int,
    limit: int,
    labelled: Mapping[str, Label],
) -> list[TaskRecord]:
    """The caller's runs that changed after a revision, newest first; the pinned ones of all."""
    records = await tasks.find(ctx, tools=tools, after_rev=after_rev, limit=limit, detail="brief")
    listed = {one.task_id: one for one in records}
    if len(records) == limit and after_rev == 0:  # older ones are left out, but for the pinned
        pinned = [run_id for run_id, label in labelled.items() if label.pinned]
        for run_id in pinned:
            record = None if run_id in listed else await tasks.mine(ctx, run_id)
            if record is not None and record.tool in tools:
                listed[run_id] = record
    return [one for one in listed.values() if not is_deleted(one)]


def is_deleted(record: TaskRecord) -> bool:
    """Whether its owner has deleted it: it is kept for no time at all, and soon gone."""
    return record.status.ended and record.keep_ms == 0


def listed(
    record: TaskRecord,
    statement: Statement | None,
    label: Label,
    outcome: model.Outcome | None,
) -> model.RunModel:
    """One run of the inbox."""
    said = record.arguments
    return model.RunModel(
        run_id=record.task_id,
        result_name=statement.result_name if statement else None,
        tool=record.tool,
        question=(statement and statement.question) or said.get("question"),
        sql=statement.sql if statement else said.get("sql"),
        parameters=said.get("parameters"),
        reading=statement.reading if statement else None,
        outcome=outcome,
        status=record.status.value,
        status_message=record.status_message,
        created_at=write_instant(record.created_at_ms),
        ended_at=maybe_instant(record.ended_at_ms),
        is_error=record.is_error,
        attempt=record.attempt,
        cancel_asked_at=maybe_instant(record.cancel_asked_at_ms),
        stopped_how=record.stopped_how.value if record.stopped_how else None,
        updated_at=write_instant(record.last_updated_at_ms),
        answers=[given for one in record.inputs.values() if (given := _given(one)) is not None],
        title=label.title,
        pinned=label.pinned,
        stop_when_left=label.stop_when_left,
        follows=said.get("follows"),
        unobserved_seconds=(None if record.unobserved_ms is None else record.unobserved_ms / 1000),
        rev=record.rev,
    )


def _given(asked: Input) -> model.AnswerGivenModel | None:
    if asked.closed_at_ms is None or asked.response is None:
        return None
    response = cast("Mapping[str, Any]", asked.response)
    params = cast("Mapping[str, Any]", asked.request.get("params") or {})
    return model.AnswerGivenModel(
        question=str(params.get("message") or ""),
        action=str(response.get("action") or "accept"),
        content=response.get("content"),
        at=write_instant(asked.closed_at_ms),
    )


def outcome_of(record: TaskRecord) -> model.Outcome | None:
    """What a run came to, apart from its status; None while it has no result."""
    if record.result is None:
        return None
    answer: Mapping[str, Any] = record.result.get("structuredContent") or {}
    for outcome in ("refusal", "question_back", "not_run", "error"):
        if outcome in answer:
            return outcome
    return "error" if record.is_error else "table"


def maybe_instant(at_ms: int | None) -> str | None:
    """As instants are told; None stays None."""
    return None if at_ms is None else write_instant(at_ms)


__all__ = ["found", "is_deleted", "listed", "maybe_instant", "outcome_of"]
