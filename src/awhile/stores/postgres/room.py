"""How much of the queue is taken, and who gets what is left, within one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from awhile.stores.bounds import queue_full
from awhile.stores.postgres.values import Texts, kept
from awhile.tasks.record import as_waiting

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from awhile.stores.bounds import Bounds
    from awhile.tasks import TaskRecord


@dataclass(slots=True)
class _Line:
    waiting: int
    oldest_ms: int | None


def is_bounded(record: TaskRecord, bounds: Bounds) -> bool:
    """Whether it depends on what else there is what becomes of this create."""
    if record.lease is not None and bounds.running_per_owner is None:
        return False
    return bounds.queued is not None or bounds.queued_per_owner is not None or bool(record.lease)


def asked_of_room(asked: Collection[tuple[TaskRecord, Bounds]]) -> dict[str, Any]:
    """The values of the statement ``room`` for these creates."""
    return {
        "owners": Texts(sorted({record.owner for record, _ in asked})),
        "most": max((bounds.queued or 0 for _, bounds in asked), default=0),
        "most_of_one": max((bounds.queued_per_owner or 0 for _, bounds in asked), default=0),
    }


class Room:
    """What the statement ``room`` found, and what was let in since."""

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        (_, _, waiting, oldest_ms), *owners = rows
        self._all = _Line(waiting, oldest_ms)
        self._held: dict[str, int] = {kept(row[0]): row[1] for row in owners}
        self._own = {kept(row[0]): _Line(row[2], row[3]) for row in owners}

    def let_in(self, record: TaskRecord, bounds: Bounds) -> TaskRecord:
        """The record as it is to be kept: waiting, if its owner runs as much as they may.

        Raises:
            QueueFull: it would wait, and as many wait as may.
        """
        most = bounds.running_per_owner
        if record.lease is not None and most is not None and self._held[record.owner] >= most:
            record = as_waiting(record)
        if record.lease is not None:
            self._held[record.owner] += 1
            return record
        own = self._own[record.owner]
        for line, bound in ((own, bounds.queued_per_owner), (self._all, bounds.queued)):
            if bound is not None and line.waiting >= bound:
                made_ms = record.created_at_ms if line.oldest_ms is None else line.oldest_ms
                raise queue_full(
                    waiting=line.waiting,
                    own=line is own,
                    oldest_waits_ms=record.created_at_ms - made_ms,
                )
        for line in (own, self._all):
            line.waiting += 1
            if line.oldest_ms is None:
                line.oldest_ms = record.created_at_ms
        return record


__all__ = ["Room", "asked_of_room", "is_bounded"]
