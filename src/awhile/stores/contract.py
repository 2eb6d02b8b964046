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
from typing import TYPE_CHECKING, Any, Literal, Protocol

from awhile.stores.bounds import NO_BOUNDS
from awhile.tasks.record import PLACES_COUNTED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Self

    from awhile.stores.bounds import Bounds
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
    """The event's fields as JSON has them, without a ``Completed``'s result and a
    ``Noted``'s outcome: those are the record's.

    Of ``Created``: ``tool``, ``message``, ``worker`` (None if it waited to be claimed), ``steps``
    (``[seq, at_ms, message]``): what its body had said already before the task was kept.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease a worker believes it holds."""

    task_id: str
    generation: int


PLACE_LIMIT = PLACES_COUNTED
"""`TaskStore.place` counts this far: a place beyond is told as this one."""


PASSED_OVER = 100
"""How many tasks that are not for its caller `Store.claim` looks past."""


Detail = Literal["whole", "brief", "outline"]
"""How much of each record a list reads: all of it; all but the ``result``; or neither what the task
was given, asked and noted, nor what came of it, nor its progress (as in `operated.Overview`)."""


class Watch(Protocol):
    """A subscription to changes. Subscribed first and then read, nothing is missed."""

    async def wait(self, timeout_seconds: float | None = None) -> Mapping[str, int]:
        """Wait for changes since the last call; returns the ids of the changed tasks, each with
        the ``rev`` of its last change: who holds a record of that ``rev`` need not read it again.

        Changes that happened between two calls are returned at once, together. Wakes waiters in the
        same process as soon as the change is committed, those of other processes on the same store
        within 50 ms. Empty means the timeout passed without a change. A subscription to all tasks
        reports every id, one to some tasks only theirs. Deleting what has expired is no change. A
        wait that is cancelled loses nothing: the next one returns what it would have.
        """
        ...


class TaskStore(Protocol):
    """What everybody who submits, looks at, answers or stops tasks uses."""

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        """Keep a new task, durably before this returns.

        If the record has a ``request_key`` that its owner already used for that tool, nothing is
        created and the existing task's record is returned (its ``task_id`` differs), whatever the
        bounds.

        A record with a lease, whose owner holds ``running_per_owner`` tasks already, is kept
        waiting instead (`awhile.tasks.record.as_waiting`). A record that waits counts against
        ``queued`` and ``queued_per_owner``, checked in the same transaction: of two creators only
        one gets the last place. (``running_per_owner`` is a bound on claims; two creators at the
        same instant may pass it by one each.)

        Raises:
            QueueFull: as many tasks wait as may; nothing was kept.
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
        detail: Detail = "whole",
    ) -> Sequence[TaskRecord]:
        """One owner's tasks with ``rev > after_rev``, newest creation first; None means any.

        What ``detail`` leaves out is empty in the records, and is not read: a list of a hundred
        megabytes is no list.

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

    async def place(self, task_id: str) -> int | None:
        """How many waiting tasks `Store.claim` would take before this one, asked for all tools and
        without ``per_owner``, if nothing else happened meanwhile; 0: it is next.

        None: it does not wait (it runs, has ended, was asked to stop, or is unknown). Counted up to
        `PLACE_LIMIT`; cheap enough for every look at a waiting task.
        """
        ...

    async def looked(self, task_ids: Collection[str], at_ms: int) -> None:
        """Remember that the tasks' caller looked at them (``looked_at_ms``, never backwards).

        Like a renewal it is not part of the history, wakes nobody and changes neither ``rev`` nor
        ``lastUpdatedAt``. Unknown ids are ignored. Callers write it sparingly: at most about once a
        minute for a task, whoever polls it.
        """
        ...

    def watch(self, task_ids: Collection[str] | None = None) -> AbstractAsyncContextManager[Watch]:
        """Subscribe to changes of some tasks, or of all."""
        ...


class Store(TaskStore, Protocol):
    """What a worker uses beside that. An async context manager: open on entry, closed on exit.

    A write may be made seconds after it was asked for (once a lock is free, or the server is back).
    A lease in it then holds for as much longer: it counts from when it is written.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def claim(
        self,
        *,
        worker: str,
        tools: Collection[str],
        at_ms: int,
        until_ms: int,
        limit: int,
        per_owner: int | None = None,
        without: Collection[str] = (),
        fit: Callable[[TaskRecord], bool] | None = None,
    ) -> Sequence[TaskRecord]:
        """Take up to ``limit`` tasks of these tools that nobody holds (`state.may_claim`).

        First those that ran before: whose lease ran out and that may run again, and those that were
        asked to stop and have something to be reached (`state.to_be_reached`). Then those that
        wait, fairly between owners: always the next one of the owner with the fewest held tasks
        (whatever their tool), of those the oldest; each one taken counts at once. An owner who
        holds ``per_owner`` tasks gets no more of them, nor does one of ``without``.

        A task that ``fit`` refuses is left to others, and nothing is written of it: those that come
        after it are taken as if it were not there, up to `PASSED_OVER` such tasks in one call. It
        is asked about each before the claim, in any thread, maybe more than once.

        In the same pass, tasks whose worker is lost and that may not be run again are ended
        (`state.worker_lost`, whatever their tool, except what this claim could have taken), so that
        none stays ``working`` for longer than its lease.

        Its cost does not grow with the number of tasks that wait or have ended.
        """
        ...

    async def unclaimed(
        self, *, besides: Collection[str], at_ms: int, limit: int = 100
    ) -> Sequence[TaskRecord]:
        """Tasks of other tools than ``besides`` that could be claimed, oldest first.

        Of those that stand in line the first of each owner and tool; of those that ran before, all
        that may run again. Its cost grows with the owners and tools in line, not with the tasks.
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


__all__ = ["PASSED_OVER", "PLACE_LIMIT", "Detail", "Held", "Kept", "Store", "TaskStore", "Watch"]
