"""What a store promises. `awhile.testing` has the suite that every store passes.

A store keeps records and their append-only history, and wakes those who wait for a change. It never
decides what a record becomes: inside its own transaction it reads the record, calls
`awhile.tasks.apply`, and writes record and event together. So every change is one atomic
compare-and-set, and two writers can never both win.

A caller that is cancelled while it waits for a write does not take the write back: it is made whole
or not at all, and nobody hears which. Values that have no JSON form (NaN) are refused with a
`StoreError` before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Self

    from awhile.tasks import Event, Status, TaskRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One event of a task's append-only history."""

    task_id: str
    seq: int
    """Counts from 1 without gaps within the task; 1 is always ``Created``."""
    at_ms: int
    kind: str
    """The event's class name, or ``Created``."""
    fields: Mapping[str, Any]
    """The event's fields as JSON has them, without a ``Completed``'s result: that is the record's.

    Of ``Created``: ``tool``, ``message``, ``worker`` (None if it waited to be claimed), ``steps``
    (``[seq, at_ms, message]``): what its body had said already before the task was kept.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease a worker believes it holds."""

    task_id: str
    generation: int


class Watch(Protocol):
    """A subscription to changes. Subscribed first and then read, nothing is missed."""

    async def wait(self, timeout_seconds: float | None = None) -> frozenset[str]:
        """Wait for changes since the last call; returns the ids of the changed tasks.

        Changes that happened between two calls are returned at once, together. Wakes waiters in the
        same process as soon as the change is committed, those of other processes on the same store
        within 50 ms. Empty means the timeout passed without a change. A subscription to all tasks
        reports every id, one to some tasks only theirs. Deleting what has expired is no change. A
        wait that is cancelled loses nothing: the next one returns what it would have.
        """
        ...


class TaskStore(Protocol):
    """What everybody who submits, looks at, answers or stops tasks uses."""

    async def create(self, record: TaskRecord) -> TaskRecord:
        """Keep a new task, durably before this returns.

        If the record has a ``request_key`` that its owner already used for that tool, nothing is
        created and the existing task's record is returned (its ``task_id`` differs).
        """
        ...

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """Apply one event, durably before this returns; returns the record after it.

        An event without effect (a second cancel, an answer nobody asked for) writes nothing, not
        even history, and wakes nobody.

        Raises:
            TaskNotFound: no such task.
            IllegalEvent: the event is illegal now (`Fenced` for a lost lease); nothing changed.
        """
        ...

    async def get(self, task_id: str) -> TaskRecord | None:
        """The record, or None."""
        ...

    async def find(
        self,
        *,
        owner: str,
        statuses: Collection[Status] | None = None,
        tools: Collection[str] | None = None,
        after_rev: int = 0,
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[TaskRecord]:
        """One owner's tasks with ``rev > after_rev``, newest creation first; None means any.

        With ``before``, the id of one of them, only those that come after it in this order: the
        next page.

        Raises:
            TaskNotFound: ``before`` is no task of this owner, or no longer.
        """
        ...

    async def history(
        self, task_id: str, *, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[Kept]:
        """The task's history in order, behind ``after_seq``; empty for an unknown task."""
        ...

    def watch(self, task_ids: Collection[str] | None = None) -> AbstractAsyncContextManager[Watch]:
        """Subscribe to changes of some tasks, or of all."""
        ...


class Store(TaskStore, Protocol):
    """What a worker uses beside that. An async context manager: open on entry, closed on exit."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def claim(
        self, *, worker: str, tools: Collection[str], at_ms: int, until_ms: int, limit: int
    ) -> Sequence[TaskRecord]:
        """Take up to ``limit`` tasks of these tools that nobody holds, oldest first.

        In the same pass, tasks whose worker is lost and that may not be run again are ended
        (whatever their tool), so that none stays ``working`` for longer than its lease.
        """
        ...

    async def renew(self, held: Sequence[Held], *, at_ms: int, until_ms: int) -> Sequence[Held]:
        """Extend leases in one write; returns those that were no longer held.

        A lease that ran out, but whose task nobody has taken or ended since, is extended like any.

        A renewal is not part of the history, wakes nobody and does not change ``rev``.
        """
        ...

    async def sweep(self, *, at_ms: int, limit: int = 500) -> Sequence[str]:
        """Delete up to ``limit`` expired tasks with their history; returns their ids."""
        ...


__all__ = ["Held", "Kept", "Store", "TaskStore", "Watch"]
