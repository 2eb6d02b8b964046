"""The Tasks extension of the 2026-07-28 era (``io.modelcontextprotocol/tasks``), both directions.

Source: modelcontextprotocol/ext-tasks, ``specification/draft/tasks.md``. Results are plain
dictionaries, because ``ttlMs`` has to be present also when it is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from awhile.tasks import Status
from awhile.wire.codec import read_instant, whole, write_instant
from awhile.wire.run import mapping, read_run, write_run
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

EXTENSION_ID = "io.modelcontextprotocol/tasks"
"""The extension's identifier in both sides' ``capabilities.extensions``."""

PROTOCOL_VERSION = "2026-07-28"


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
    meta = write_run(task)
    if meta:
        fields["_meta"] = meta
    return fields


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
    message = fields.get("statusMessage")
    return Snapshot(
        task_id=task_id,
        status=status,
        status_message=message if isinstance(message, str) else None,
        created_at_ms=created_at_ms,
        last_updated_at_ms=updated_at_ms,
        ttl_ms=whole(fields.get("ttlMs")),
        poll_interval_ms=whole(fields.get("pollIntervalMs")),
        result=mapping(fields.get("result")) if status is Status.COMPLETED else None,
        error=mapping(fields.get("error")) if status is Status.FAILED else None,
        input_requests=mapping(fields.get("inputRequests"))
        if status is Status.INPUT_REQUIRED
        else {},
        **read_run(fields.get("_meta")),
    )
