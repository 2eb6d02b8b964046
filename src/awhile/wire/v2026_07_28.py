"""The Tasks extension of the 2026-07-28 era (``io.modelcontextprotocol/tasks``), both directions.

Source: modelcontextprotocol/ext-tasks, ``specification/draft/tasks.md``. Results are plain
dictionaries, because ``ttlMs`` has to be present also when it is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.tasks import Progress, Status, Step, StoppedHow
from awhile.wire.codec import (
    maybe_instant,
    maybe_number,
    read_instant,
    without_none,
    write_instant,
)
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

EXTENSION_ID = "io.modelcontextprotocol/tasks"
"""The extension's identifier in both sides' ``capabilities.extensions``."""

PROTOCOL_VERSION = "2026-07-28"

RUN_META = "awhile/run"
"""Our ``_meta`` entry: progress, recent steps and the facts about stopping. Source: ours."""


def write_created(task: Snapshot) -> dict[str, Any]:
    """``CreateTaskResult``: flat, ``resultType`` "task", never a result or an error."""
    return {"resultType": "task", **_base(task)}


def write_task(task: Snapshot) -> dict[str, Any]:
    """``GetTaskResult``: the whole ``DetailedTask``, ``resultType`` "complete"."""
    return {"resultType": "complete", **write_detailed(task)}


def write_detailed(task: Snapshot) -> dict[str, Any]:
    """``DetailedTask``, as ``notifications/tasks`` carries it."""
    fields = _base(task)
    if task.status is Status.COMPLETED:
        fields["result"] = dict(task.result or {})
    elif task.status is Status.FAILED:
        fields["error"] = dict(task.error or {})
    elif task.status is Status.INPUT_REQUIRED:
        fields["inputRequests"] = dict(task.input_requests)
    return fields


def _base(task: Snapshot) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "taskId": task.task_id,
        "status": task.status.value,
        "createdAt": write_instant(task.created_at_ms),
        "lastUpdatedAt": write_instant(task.last_updated_at_ms),
        "ttlMs": task.ttl_ms,
    }
    if task.status_message is not None:
        fields["statusMessage"] = task.status_message
    if task.poll_interval_ms is not None:
        fields["pollIntervalMs"] = task.poll_interval_ms
    run = _write_run(task)
    if run:
        fields["_meta"] = {RUN_META: run}
    return fields


def _write_run(task: Snapshot) -> dict[str, Any]:
    at = task.progress
    return without_none(
        {
            "progress": without_none(
                {
                    "done": at.done,
                    "total": at.total,
                    "message": at.message,
                    "at": write_instant(at.at_ms),
                }
            )
            if at
            else None,
            "steps": [
                {"seq": step.seq, "at": write_instant(step.at_ms), "message": step.message}
                for step in task.steps
            ]
            or None,
            "cancelAskedAt": _maybe_write(task.cancel_asked_at_ms),
            "stoppedAt": _maybe_write(task.stopped_at_ms),
            "stoppedHow": task.stopped_how.value if task.stopped_how else None,
            "attempt": task.attempt,
        }
    )


def read_task(fields: Mapping[str, Any]) -> Snapshot:
    """A task from ``CreateTaskResult``, ``GetTaskResult`` or ``notifications/tasks``.

    Strict on what a client acts on (id, status, instants), lenient on the rest: an unreadable
    optional member is as good as absent.

    Raises:
        ValueError: the id, the status or an instant is missing or not what the extension says.
    """
    try:
        task_id, status = fields["taskId"], Status(fields["status"])
        created, updated = fields["createdAt"], fields["lastUpdatedAt"]
        if not isinstance(task_id, str) or not task_id:
            raise ValueError(f"taskId is {task_id!r}")
        created_at_ms, updated_at_ms = read_instant(created), read_instant(updated)
    except (KeyError, TypeError, ValueError) as broken:
        raise ValueError(f"not a task of the {EXTENSION_ID!r} extension: {broken}") from broken
    run = _mapping(_mapping(fields.get("_meta")).get(RUN_META))
    how = run.get("stoppedHow")
    message = fields.get("statusMessage")
    return Snapshot(
        task_id=task_id,
        status=status,
        status_message=message if isinstance(message, str) else None,
        created_at_ms=created_at_ms,
        last_updated_at_ms=updated_at_ms,
        ttl_ms=_milliseconds(fields.get("ttlMs")),
        poll_interval_ms=_milliseconds(fields.get("pollIntervalMs")),
        result=_mapping(fields.get("result")) if status is Status.COMPLETED else None,
        error=_mapping(fields.get("error")) if status is Status.FAILED else None,
        input_requests=_mapping(fields.get("inputRequests"))
        if status is Status.INPUT_REQUIRED
        else {},
        progress=_read_progress(run.get("progress")),
        steps=_read_steps(run.get("steps")),
        cancel_asked_at_ms=maybe_instant(run.get("cancelAskedAt")),
        stopped_at_ms=maybe_instant(run.get("stoppedAt")),
        stopped_how=StoppedHow(how) if isinstance(how, str) and how in set(StoppedHow) else None,
        attempt=_milliseconds(run.get("attempt")),
    )


def _read_progress(value: Any) -> Progress | None:
    fields = _mapping(value)
    at_ms = maybe_instant(fields.get("at"))
    if at_ms is None:
        return None
    message = fields.get("message")
    return Progress(
        at_ms=at_ms,
        done=maybe_number(fields.get("done")),
        total=maybe_number(fields.get("total")),
        message=message if isinstance(message, str) else None,
    )


def _read_steps(value: Any) -> tuple[Step, ...]:
    if not isinstance(value, list):
        return ()
    steps: list[Step] = []
    for one in cast("list[Any]", value):
        fields = _mapping(one)
        seq, at_ms = fields.get("seq"), maybe_instant(fields.get("at"))
        message = fields.get("message")
        if isinstance(seq, int) and at_ms is not None and isinstance(message, str):
            steps.append(Step(seq=seq, at_ms=at_ms, message=message))
    return tuple(steps)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _milliseconds(value: Any) -> int | None:
    number = maybe_number(value)
    return None if number is None or number < 0 else int(number)


def _maybe_write(at_ms: int | None) -> str | None:
    return None if at_ms is None else write_instant(at_ms)
