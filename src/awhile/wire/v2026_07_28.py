"""The Tasks extension of the 2026-07-28 era (``io.modelcontextprotocol/tasks``), both directions.

Source: modelcontextprotocol/ext-tasks, ``specification/draft/tasks.md``. Results are plain
dictionaries, because ``ttlMs`` has to be present also when it is null.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from awhile.tasks import Status
from awhile.wire.members import Names, read_members, write_members
from awhile.wire.run import mapping, write_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.wire.snapshot import Snapshot

EXTENSION_ID = "io.modelcontextprotocol/tasks"
"""The extension's identifier in both sides' ``capabilities.extensions``."""

PROTOCOL_VERSION = "2026-07-28"

_NAMES = Names(
    task=f"a task of the {EXTENSION_ID!r} extension", ttl="ttlMs", poll_interval="pollIntervalMs"
)


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
    fields = write_members(task, _NAMES, status=task.status)
    meta = write_run(task)
    if meta:
        fields["_meta"] = meta
    return fields


def read_task(fields: Mapping[str, Any]) -> Snapshot:
    """A task from ``CreateTaskResult``, ``GetTaskResult`` or ``notifications/tasks``.

    Raises:
        ValueError: the id, the status or an instant is missing or not what the extension says.
    """
    task = read_members(fields, _NAMES)
    match task.status:
        case Status.COMPLETED:
            return replace(task, result=mapping(fields.get("result")))
        case Status.FAILED:
            return replace(task, error=mapping(fields.get("error")))
        case Status.INPUT_REQUIRED:
            return replace(task, input_requests=mapping(fields.get("inputRequests")))
        case _:
            return task
