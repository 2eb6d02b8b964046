"""The members that a task has in both eras, both directions, under each era's own names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from awhile.tasks import Status
from awhile.wire.codec import read_instant, whole, write_instant
from awhile.wire.run import read_run
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What an era calls what the other calls otherwise."""

    task: str
    """A task of that era, in words."""
    ttl: str
    poll_interval: str


def write_members(task: Snapshot, names: Names, *, status: Status) -> dict[str, Any]:
    """The members, with ``status`` as the era has it."""
    fields: dict[str, Any] = {
        "taskId": task.task_id,
        "status": status.value,
        "createdAt": write_instant(task.created_at_ms),
        "lastUpdatedAt": write_instant(task.last_updated_at_ms),
        names.ttl: task.ttl_ms,
    }
    if task.status_message is not None:
        fields["statusMessage"] = task.status_message
    if task.poll_interval_ms is not None:
        fields[names.poll_interval] = task.poll_interval_ms
    return fields


def read_members(fields: Mapping[str, Any], names: Names) -> Snapshot:
    """A task with these members, and the facts about its run.

    Strict on what a client acts on (id, status, instants), lenient on the rest: an unreadable
    optional member is as good as absent.

    Raises:
        ValueError: the id, the status or an instant is missing or not what the era says.
    """
    try:
        task_id, status = fields["taskId"], Status(fields["status"])
        if not isinstance(task_id, str) or not task_id:
            raise ValueError(f"taskId is {task_id!r}")
        created_at_ms = read_instant(fields["createdAt"])
        updated_at_ms = read_instant(fields["lastUpdatedAt"])
    except (KeyError, TypeError, ValueError) as broken:
        raise ValueError(f"not {names.task}: {broken}") from broken
    message = fields.get("statusMessage")
    return Snapshot(
        task_id=task_id,
        status=status,
        status_message=message if isinstance(message, str) else None,
        created_at_ms=created_at_ms,
        last_updated_at_ms=updated_at_ms,
        ttl_ms=whole(fields.get(names.ttl)),
        poll_interval_ms=whole(fields.get(names.poll_interval)),
        **read_run(fields.get("_meta")),
    )
