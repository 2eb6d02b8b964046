"""Claiming: what ran before, then fairly what waits; and an ending for those whose worker is lost.

Here the rows are locked while this process decides, passing over those that somebody else has
locked, so that workers woken together take different tasks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg

from awhile.stores.asked import Asked
from awhile.stores.contract import PASSED_OVER
from awhile.stores.operated import Lost
from awhile.stores.postgres.changing import Change, change_values, stored
from awhile.stores.postgres.explain import is_lost
from awhile.stores.postgres.group import FROZEN_MS
from awhile.stores.postgres.lines import Lines, first_asked
from awhile.stores.postgres.values import Texts
from awhile.tasks import events as ev
from awhile.tasks.state import worker_lost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from awhile.stores.postgres.connections import Connections, Cursor, Raw
    from awhile.stores.postgres.listener import Listener
    from awhile.stores.wanted import Wanted
    from awhile.tasks import TaskRecord

LOST_AT_ONCE = 500
"""How many lost tasks one transaction ends at most, so that other writers get their turn."""

CLAIMED_AT_ONCE = 1000
"""How many tasks one call claims at most, whatever was asked for."""


class Claims:
    """The claims of one process."""

    def __init__(self, connections: Connections, listener: Listener) -> None:
        self._connections = connections
        self._listener = listener
        self._wary = False
        """Whether there were tasks in line that are not for this process."""

    async def claim(
        self, event: ev.Claimed, wanted: Wanted, on_lost: Callable[[Lost], None] | None
    ) -> Sequence[TaskRecord]:
        """See `Store.claim`; ``on_lost`` is told of each task that was ended as lost."""
        one = _Claim(self._connections, self._listener, event, wanted, wary=self._wary)
        await self._connections.retried(one.take)
        self._wary = one.wary
        _tell(on_lost, one.ended)
        while one.full:  # a whole fleet was lost; the rest in transactions of its own
            await self._connections.retried(one.end_lost)
            _tell(on_lost, one.ended)
        return one.claimed


def _tell(on_lost: Callable[[Lost], None] | None, ended: Sequence[Lost]) -> None:
    if on_lost is not None:
        for one in ended:
            on_lost(one)


class _Claim:
    """One call of `Store.claim`: its transactions, and what they came to."""

    def __init__(
        self,
        connections: Connections,
        listener: Listener,
        event: ev.Claimed,
        wanted: Wanted,
        *,
        wary: bool,
    ) -> None:
        self._connections = connections
        self._listener = listener
        self._event = event
        self._asked = Asked()
        self._wanted = wanted
        self._limit = max(0, min(wanted.limit, CLAIMED_AT_ONCE)) if wanted.tools else 0
        self.wary = wary
        self._uncertain: list[TaskRecord] = []
        """What was to be claimed by a try whose reply was lost."""
        self.claimed: Sequence[TaskRecord] = []
        self.ended: Sequence[Lost] = []
        self.full = False
        """As many were ended as one transaction ends: there may be more."""

    async def take(self, on: Raw) -> None:
        """End the lost and claim, in one transaction."""
        if self._uncertain:
            self.claimed = await self._claimed_before(on)
            self._uncertain = []
            if self.claimed:
                return
        claimed: list[Change] = []
        try:
            async with on.pipeline(), on.transaction():
                found = await self._connections.each(on, self._first_asked())
                ended = self._end(found[1], found[2])
                if self._limit:
                    ran = [stored(row) for row in (*found[3], *found[4])]
                    self.wary = self.wary or not all(self._wanted.fits(one.record) for one in ran)
                    ran = [one for one in ran if self._wanted.may_have(one.record)]
                    ran.sort(key=lambda one: one.ordinal)
                    taken = ran[: self._limit]
                    line = Lines(self._connections, on, self._wanted, found[5], found[6])
                    taken += await line.take(self._limit - len(taken), wary=self.wary)
                    self.wary = self.wary or line.unfit
                    claimed = [Change.of(one) for one in taken]
                until_ms = self._event.until_ms + self._asked.late_ms
                event = replace(self._event, until_ms=until_ms)
                for number, one in enumerate(claimed, start=len(ended) + 1):
                    one.apply(event, self._wanted.at_ms, number)
                written = await self._write(on, [*ended, *claimed])
        except BaseException as error:
            if not isinstance(error, psycopg.Error) or is_lost(error):
                self._uncertain = [one.record for one in claimed]
            raise
        revs: dict[int, int] = dict(await written.fetchall()) if written else {}
        self._publish([*ended, *claimed], revs)
        self.full = len(ended) == LOST_AT_ONCE
        self.ended, self.claimed = _lost(ended, revs), _written(claimed, revs)

    async def end_lost(self, on: Raw) -> None:
        """End more of the lost."""
        async with on.pipeline(), on.transaction():
            _, lost, unreached = await self._connections.each(on, self._first_asked()[:3])
            ended = self._end(lost, unreached)
            written = await self._write(on, ended)
        revs: dict[int, int] = dict(await written.fetchall()) if written else {}
        self._publish(ended, revs)
        self.full = len(ended) == LOST_AT_ONCE
        self.ended = _lost(ended, revs)

    def _first_asked(self) -> list[tuple[str, Mapping[str, Any]]]:
        at_ms = self._wanted.at_ms
        asked: list[tuple[str, Mapping[str, Any]]] = [
            ("give_up_when_frozen", {"ms": str(FROZEN_MS)}),
            ("lost", {"at_ms": at_ms, "limit": LOST_AT_ONCE}),
            ("unreached", {"at_ms": at_ms}),
        ]
        if self._limit:
            looked_at = self._limit + (PASSED_OVER if self.wary else 0)
            ran = {"tools": Texts(self._wanted.tools), "at_ms": at_ms, "limit": looked_at}
            asked += [("again", ran), ("to_reach", ran), *first_asked(self._wanted)]
        return asked

    def _end(
        self, lost: Sequence[Sequence[Any]], unreached: Sequence[Sequence[Any]]
    ) -> list[Change]:
        at_ms = self._wanted.at_ms
        left = [stored(row) for row in unreached]
        candidates = [
            *map(stored, lost),
            *(
                one
                for one in left
                if not (one.record.tool in self._wanted.tools and self._wanted.may_have(one.record))
            ),
        ]
        changes = [Change.of(one) for one in candidates if worker_lost(one.record, at_ms)]
        changes = changes[:LOST_AT_ONCE]
        for number, one in enumerate(changes, start=1):
            one.apply(ev.WorkerLost(), at_ms, number)
        return changes

    async def _claimed_before(self, on: Raw) -> list[TaskRecord]:
        """What was claimed after all: locked first, so that a write still under way has ended."""
        ids = Texts([one.task_id for one in self._uncertain])
        rows = await self._connections.rows(on, "tasks_at_rest", {"task_ids": ids})
        sent = {one.task_id: (one.lease, one.generation) for one in self._uncertain}
        now = [stored(row).record for row in rows]
        return [one for one in now if (one.lease, one.generation) == sent[one.task_id]]

    async def _write(self, on: Raw, changes: Sequence[Change]) -> Cursor | None:
        if not changes:
            return None
        return await self._connections.send(on, "change", change_values(changes))

    def _publish(self, changes: Sequence[Change], revs: Mapping[int, int]) -> None:
        self._listener.published([(one.task_id, one.rev) for one in _written(changes, revs)])


def _written(changes: Sequence[Change], revs: Mapping[int, int]) -> list[TaskRecord]:
    return [
        replace(one.record, rev=revs[one.stored.ordinal])
        for one in changes
        if one.stored.ordinal in revs
    ]


def _lost(changes: Sequence[Change], revs: Mapping[int, int]) -> list[Lost]:
    had = {one.stored.record.task_id: one.stored.record.lease for one in changes}
    return [
        Lost(record=one, worker=lease.worker if (lease := had[one.task_id]) else None)
        for one in _written(changes, revs)
    ]


__all__ = ["CLAIMED_AT_ONCE", "LOST_AT_ONCE", "Claims"]
