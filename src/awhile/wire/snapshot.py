"""A task as one side shows it to the other: what both eras can say, in one shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from awhile.tasks.record import in_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.tasks import Progress, Status, Step, StoppedHow, TaskRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One task at one moment, as seen over the wire. Instants are Unix milliseconds.

    The members from ``progress`` on are facts that only Awhile servers send (in ``_meta``); from
    any other server they keep their defaults.
    """

    task_id: str
    status: Status
    status_message: str | None = None
    created_at_ms: int
    last_updated_at_ms: int
    ttl_ms: int | None = None
    poll_interval_ms: int | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    input_requests: Mapping[str, Any] = field(default_factory=dict[str, Any])

    progress: Progress | None = None
    steps: tuple[Step, ...] = ()
    answer_by_ms: int | None = None
    cancel_asked_at_ms: int | None = None
    stopped_at_ms: int | None = None
    stopped_how: StoppedHow | None = None
    attempt: int | None = None
    place: int | None = None
    """Of a task that waits to start: 1 if it is next."""
    unobserved_ms: int | None = None
    """How long the work goes on while nobody looks; None: for as long as it takes."""


def snapshot_of(record: TaskRecord, *, poll_interval_ms: int, place: int | None = None) -> Snapshot:
    """What a client may see of a record. Owner, arguments, lease and past answers stay inside.

    ``place``: how many come before it in line, if it waits.
    """
    return Snapshot(
        task_id=record.task_id,
        status=record.status,
        status_message=record.status_message if place is None else in_line(record, place),
        created_at_ms=record.created_at_ms,
        last_updated_at_ms=record.last_updated_at_ms,
        ttl_ms=record.ttl_ms,
        poll_interval_ms=poll_interval_ms,
        result=record.result,
        error=record.error,
        input_requests={key: one.request for key, one in record.outstanding.items()},
        progress=record.progress,
        steps=record.steps,
        answer_by_ms=min(
            (one.answer_by_ms for one in record.outstanding.values() if one.answer_by_ms),
            default=None,
        ),
        cancel_asked_at_ms=record.cancel_asked_at_ms,
        stopped_at_ms=record.stopped_at_ms,
        stopped_how=record.stopped_how,
        attempt=record.attempt,
        place=None if place is None else place + 1,
        unobserved_ms=record.unobserved_ms,
    )
