"""Reads: single tasks many at once, and lists that may be gone on from."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from awhile.errors import StoreError
from awhile.stores.postgres.changing import stored
from awhile.stores.postgres.snapshots import Snapshot
from awhile.stores.postgres.values import Numbers, Texts
from awhile.stores.statements import LISTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.stores.contract import Detail
    from awhile.stores.postgres.connections import Connections
    from awhile.tasks import TaskRecord

READ_LIMIT = 256
"""Tasks read in one query at most."""


class Reader:
    """Reads single tasks: whoever asks while a query is under way shares the next one."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._waiting: list[tuple[str, asyncio.Future[TaskRecord | None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def get(self, task_id: str) -> TaskRecord | None:
        """See `TaskStore.get`."""
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[TaskRecord | None] = loop.create_future()
        self._waiting.append((task_id, asked))
        if self._task is None or self._task.done():
            # Of the loop's own: it reads for others than the caller that happened to come first.
            self._task = loop.create_task(self._read(), name="awhile-read")
        return await asked

    async def close(self) -> None:
        """Finish what was asked for."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def _read(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting[:READ_LIMIT], self._waiting[READ_LIMIT:]
            ids = Texts({task_id for task_id, _ in asked})
            try:
                rows = await self._connections.read("tasks", {"task_ids": ids})
            except StoreError as error:
                for _, one in asked:
                    if not one.done():
                        one.set_exception(error)
                continue
            found = {one.record.task_id: one.record for one in map(stored, rows)}
            for task_id, one in asked:
                if not one.done():
                    one.set_result(found.get(task_id))


async def find(
    connections: Connections, detail: Detail, asked: Mapping[str, Any]
) -> Sequence[TaskRecord]:
    """One owner's tasks; see `TaskStore.find`."""
    # Planned anew each time: how many tasks an owner has, and of which kind, decides how to look.
    rows = await connections.read(LISTS[detail], asked, prepare=False)
    if not rows:
        return []
    snapshot = Snapshot.parse(rows[0][0], rows[0][1])
    records = [stored(row[2:]).record for row in rows]
    highest = max(one.rev for one in records)
    running = [xid for xid in snapshot.running if snapshot.first_rev(xid) < highest]
    if not running:
        return records
    unsettled = await connections.read("unsettled", {"xids": Numbers(running)})
    settled = snapshot.settled_rev([row[0] for row in unsettled])
    if settled is None:
        return records
    return [replace(one, rev=min(one.rev, settled)) for one in records]


__all__ = ["READ_LIMIT", "Reader", "find"]
