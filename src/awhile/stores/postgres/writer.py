"""The one task of a process that writes, and the group commit.

Whatever callers ask for while one commit is on its way to the disk goes into the next one together:
a commit costs the same few milliseconds for one change as for hundreds.
"""

from __future__ import annotations

import asyncio
import collections
import time
from typing import TYPE_CHECKING, Any

import psycopg

from awhile.errors import StoreError
from awhile.stores.postgres.connections import GIVE_UP_SECONDS
from awhile.stores.postgres.explain import explain, is_conflict, is_lost
from awhile.stores.postgres.group import Append, Create, Group, settle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.stores.bounds import Bounds
    from awhile.stores.postgres.connections import Connections
    from awhile.stores.postgres.group import Item
    from awhile.stores.postgres.listener import Listener
    from awhile.tasks import Event, TaskRecord

GROUP_LIMIT = 512
"""Changes in one transaction at most, so that nobody waits for a group without end."""


class Writer:
    """Writes until closed, one group after the other."""

    def __init__(self, connections: Connections, listener: Listener) -> None:
        """Begin, on the running event loop."""
        self._connections = connections
        self._listener = listener
        self._waiting: collections.deque[Item] = collections.deque()
        self._asked = asyncio.Event()
        self._closed = False
        # A task of the loop's own and not of a group's scope: a caller's cancelled scope must not
        # take back a write, and the group holds the writes of many callers.
        self._task = asyncio.get_running_loop().create_task(self._run(), name="awhile-writer")

    async def create(
        self, record: TaskRecord, row: Mapping[str, Any], bounds: Bounds
    ) -> TaskRecord:
        """See `TaskStore.create`."""
        return await self._put(Create(self._future(), record, row, bounds))

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """See `TaskStore.append`."""
        return await self._put(Append(self._future(), task_id, event, at_ms))

    async def close(self) -> None:
        """Finish what was asked for."""
        self._closed = True
        self._asked.set()
        await asyncio.shield(self._task)

    def _future(self) -> asyncio.Future[TaskRecord]:
        if self._closed:
            shown = self._connections.address.shown
            raise StoreError(f"The store {shown!r} is closed; open it again.")
        return asyncio.get_running_loop().create_future()

    async def _put(self, item: Item) -> TaskRecord:
        self._waiting.append(item)
        self._asked.set()
        return await item.settled

    async def _run(self) -> None:
        while True:
            await self._asked.wait()
            self._asked.clear()
            while self._waiting:
                count = min(len(self._waiting), GROUP_LIMIT)
                await self._write([self._waiting.popleft() for _ in range(count)])
            if self._closed:
                return

    async def _write(self, items: Sequence[Item]) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        tries = 0
        left = items
        while left:
            try:
                group = Group(self._connections, self._listener, left)
                left = await self._connections.once(group.write)
                tries = 0
            except Exception as error:  # noqa: BLE001 - it belongs to the callers, not to this task
                left = [item for item in left if not item.settled.done()]
                if (is_conflict(error) or is_lost(error)) and time.monotonic() < deadline:
                    await self._connections.pause(error, tries)
                    tries += 1
                elif len(left) > 1 and not is_lost(error):
                    for item in left:  # one of them spoiled it: only that one shall hear of it
                        await self._write([item])
                    return
                else:
                    if isinstance(error, (psycopg.Error, TimeoutError)):
                        error = explain(error, self._connections.address)
                    for item in left:
                        settle(item, error)
                    return


__all__ = ["GROUP_LIMIT", "Writer"]
