"""Who waits for which change, in this process. Shared by every store.

A store publishes what was committed (by itself, or found to have been committed elsewhere) in one
order, by number; each subscription gets what concerns it, once. What a subscription has not asked
for yet is held as ids, each with its last ``rev``, and beyond `PENDING_LIMIT` of them only as the
place to read on from, so memory stays bounded however slow the reader is.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import anyio
import anyio.lowlevel

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    ChangesAfter = Callable[[int, int], Awaitable[Sequence["Change"]]]


class Change(NamedTuple):
    """One change of a task."""

    task_id: str
    number: int
    """Its place in the one order in which this process hears of changes."""
    rev: int
    """The task's ``rev`` after it."""


PENDING_LIMIT = 10_000
"""Ids held for one subscription to all tasks before it reads on from the store instead."""


class Changes:
    """The subscriptions of one open store.

    Subscribing and delivering happen on the event loop; `publish` is called by the store's threads.
    """

    def __init__(self, loop: AbstractEventLoop, changes_after: ChangesAfter) -> None:
        self._loop = loop
        self._changes_after = changes_after
        self._by_id: dict[str, set[Subscription]] = {}
        self._to_all: set[Subscription] = set()
        self._count = 0
        self._lock = threading.Lock()
        self._seen = 0

    @property
    def active(self) -> bool:
        """Whether anybody is subscribed."""
        return self._count > 0

    @property
    def seen(self) -> int:
        """The number up to which every change was published (while anybody is subscribed)."""
        return self._seen

    def publish(self, changes: Sequence[Change]) -> None:
        """Deliver those of ``changes`` (ascending, complete from `seen` on) not yet published."""
        with self._lock:  # two threads publish; their deliveries must keep the order
            new = [change for change in changes if change.number > self._seen]
            if not new:
                return
            self._seen = new[-1].number
            try:
                self._loop.call_soon_threadsafe(self._deliver, new)
            except RuntimeError:  # the loop is closed: nobody is left to be woken
                return

    def subscribe(self, task_ids: Collection[str] | None, number: int) -> Subscription:
        """A subscription to what changes after ``number``, the last one, read just now."""
        one = Subscription(task_ids, number, self._changes_after)
        with self._lock:
            if not self._count:
                self._seen = number
            self._count += 1
        if one.task_ids is None:
            self._to_all.add(one)
        else:
            for task_id in one.task_ids:
                self._by_id.setdefault(task_id, set()).add(one)
        return one

    def unsubscribe(self, one: Subscription) -> None:
        """Forget a subscription."""
        with self._lock:
            self._count -= 1
        self._to_all.discard(one)
        for task_id in one.task_ids or ():
            subscribed = self._by_id[task_id]
            subscribed.discard(one)
            if not subscribed:
                del self._by_id[task_id]

    def _deliver(self, changes: Sequence[Change]) -> None:
        for one in self._to_all:
            one.offer(changes)
        for change in changes:
            for one in self._by_id.get(change.task_id, ()):
                one.offer((change,))


class Subscription:
    """What one waiter has not been told yet. Implements `awhile.stores.contract.Watch`."""

    def __init__(
        self, task_ids: Collection[str] | None, number: int, changes_after: ChangesAfter
    ) -> None:
        self.task_ids = None if task_ids is None else frozenset(task_ids)
        self._number = number
        """Everything up to here was returned, or is pending, or is not this waiter's."""
        self._changes_after = changes_after
        self._pending: dict[str, int] = {}
        self._behind = False
        """Too much was pending: what follows ``_number`` is read from the store."""
        self._changed = anyio.Event()

    def offer(self, changes: Sequence[Change]) -> None:
        """Take note of changes, ascending by number."""
        if not self._behind:
            new = [change for change in changes if change.number > self._number]
            if not new:
                return
            if self.task_ids is None and len(self._pending) + len(new) > PENDING_LIMIT:
                self._behind = True
            else:
                self._pending.update((change.task_id, change.rev) for change in new)
                self._number = new[-1].number
        self._changed.set()

    async def wait(self, timeout_seconds: float | None = None) -> Mapping[str, int]:
        """See `Watch.wait`. A cancelled wait loses nothing."""
        await anyio.lowlevel.checkpoint()
        with anyio.move_on_after(timeout_seconds):
            while not self._pending:
                if self._behind:
                    await self._read_on()
                    continue
                if self._changed.is_set():
                    self._changed = anyio.Event()
                await self._changed.wait()
        changed, self._pending = self._pending, {}
        return changed

    async def _read_on(self) -> None:
        after = self._number
        self._behind = False  # what is committed while this reads is offered, and taken, as usual
        try:
            changes = await self._changes_after(after, PENDING_LIMIT)
        except BaseException:
            self._number, self._behind = after, True
            raise
        for change in changes:  # what was offered meanwhile may be newer than what was read
            self._pending[change.task_id] = max(change.rev, self._pending.get(change.task_id, 0))
        if len(changes) == PENDING_LIMIT:
            self._number, self._behind = changes[-1].number, True
        elif changes:
            self._number = max(self._number, changes[-1].number)


__all__ = ["PENDING_LIMIT", "Change", "Changes", "Subscription"]
