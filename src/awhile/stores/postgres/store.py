"""The store in a PostgreSQL database."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from awhile.errors import StoreError, TaskNotFound
from awhile.stores.asked import Asked
from awhile.stores.bounds import NO_BOUNDS
from awhile.stores.contract import PLACE_LIMIT
from awhile.stores.postgres import operating
from awhile.stores.postgres.address import Address
from awhile.stores.postgres.changing import kept_entry, stored
from awhile.stores.postgres.claims import Claims
from awhile.stores.postgres.connections import Connections
from awhile.stores.postgres.listener import Listener
from awhile.stores.postgres.reader import Reader, find
from awhile.stores.postgres.schema import migrations, prepare
from awhile.stores.postgres.values import Numbers, Texts, keep, kept
from awhile.stores.postgres.writer import Writer
from awhile.stores.rows import created_fields, to_row
from awhile.stores.wanted import Wanted
from awhile.tasks import events as ev
from awhile.tasks.state import may_claim

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
    from typing import Self

    from awhile.stores.bounds import Bounds
    from awhile.stores.contract import Detail, Held, Kept, Watch
    from awhile.stores.operated import Lost, Notice, Overview
    from awhile.tasks import Event, Status, TaskRecord


class PostgresStore:
    """Keeps tasks in one schema of a database; implements `awhile.stores.contract.Store`.

    Every confirmed write was committed, and is on the server's disk if the server is set up so
    (its default; else a warning is logged). Writes of one process share one connection and, under
    load, one commit. Cancelling a caller that waits for a write does not take the write back: it is
    made whole, or not at all, but nobody hears of it. When the server cannot be reached, calls wait
    up to 15 s for it to come back before they fail.

    Used in one event loop at a time; every process opens its own, after a fork if it forks.
    """

    def __init__(self, address: Address) -> None:
        """A store at that address; its tables are created on entry where they are missing."""
        self._address = address
        self._open: _Open | None = None
        self.on_lost: Callable[[Lost], None] | None = None
        """See `TellsOfLost`."""

    @classmethod
    def from_url(cls, url: str) -> Self:
        """The store of a ``postgresql:`` URL, written as libpq has them.

        ``postgresql://user:password@host:5432/database?sslmode=require``, with three options of
        our own: ``schema`` (``awhile``), ``listen`` (``auto``, or ``off`` behind a pooler in
        transaction mode) and ``pool`` (5 connections at most, beside the one that listens).

        Raises:
            SettingsError: the URL names no database.
        """
        return cls(Address.parse(url))

    async def __aenter__(self) -> Self:
        """Connect, creating or migrating the schema.

        Raises:
            StoreError: the database cannot be used; it says why and what to do.
        """
        if self._open is not None:
            raise StoreError(f"The store {self._address.shown!r} is open already.")
        connections = Connections(self._address)
        await prepare(connections, migrations())
        await connections.open()
        self._open = _Open(connections)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Finish the writes that were asked for and close. No connection is left."""
        opened, self._open = self._opened, None
        await opened.close()

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        """See `TaskStore.create`."""
        row = {**to_row(record), "fields": created_fields(record)}
        return await self._opened.writer.create(record, row, bounds)

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """See `TaskStore.append`."""
        return await self._opened.writer.append(task_id, event, at_ms)

    async def get(self, task_id: str) -> TaskRecord | None:
        """See `TaskStore.get`. Under load, many share one query."""
        return await self._opened.reader.get(task_id)

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
        """See `TaskStore.find`.

        Of a task changed while changes with lower revs were still on their way, the ``rev`` given
        here is lower than its own: who goes on from the highest one that was told misses none.
        """
        connections = self._opened.connections
        ordinal: int | None = None
        if before is not None:
            asked = {"task_id": keep(before), "owner": keep(owner)}
            place = await connections.read("ordinal_of_task", asked)
            if not place:
                raise TaskNotFound
            ordinal = place[0][0]
        return await find(
            connections,
            detail,
            {
                "owner": keep(owner),
                "statuses": None if statuses is None else Texts([each.value for each in statuses]),
                "living": statuses is not None and not any(each.ended for each in statuses),
                "tools": None if tools is None else Texts(tools),
                "after_rev": after_rev,
                "before": ordinal,
                "limit": limit,
            },
        )

    async def history(
        self, task_id: str, *, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[Kept]:
        """See `TaskStore.history`."""
        asked = {"task_id": keep(task_id), "after_seq": after_seq, "limit": limit}
        rows = await self._opened.connections.read("history", asked)
        return [kept_entry(task_id, row) for row in rows]

    async def place(self, task_id: str) -> int | None:
        """See `TaskStore.place`."""
        asked = {"task_id": keep(task_id), "limit": PLACE_LIMIT}
        rows = await self._opened.connections.read("place", asked)
        return rows[0][0] if rows else None

    async def looked(self, task_ids: Collection[str], at_ms: int) -> None:
        """See `TaskStore.looked`."""
        asked = {"task_ids": Texts(task_ids), "at_ms": at_ms}
        await self._opened.connections.read("looked", asked)

    @asynccontextmanager
    async def watch(self, task_ids: Collection[str] | None = None) -> AsyncGenerator[Watch]:
        """See `TaskStore.watch`.

        Raises:
            StoreError: the store cannot be read.
        """
        listener = self._opened.listener
        one = await listener.subscribe(task_ids)
        try:
            yield one
        finally:
            listener.changes.unsubscribe(one)

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
        """See `Store.claim`. At most 1,000 tasks at once."""
        wanted = Wanted(frozenset(tools), at_ms, limit, per_owner, frozenset(without), fit)
        claimed = ev.Claimed(worker=worker, until_ms=until_ms)
        return await self._opened.claims.claim(claimed, wanted, self.on_lost)

    async def unclaimed(
        self, *, besides: Collection[str], at_ms: int, limit: int = 100
    ) -> Sequence[TaskRecord]:
        """See `Store.unclaimed`."""
        asked = {"besides": Texts(besides), "at_ms": at_ms, "limit": limit}
        rows = await self._opened.connections.read("unclaimed", asked)
        records = [stored(row).record for row in rows]
        return [one for one in records if may_claim(one, at_ms)]

    async def renew(self, held: Sequence[Held], *, at_ms: int, until_ms: int) -> Sequence[Held]:
        """See `Store.renew`. A lease that ran out but that nobody took is still extended."""
        asked: dict[str, Any] = {
            "task_ids": Texts([one.task_id for one in held]),
            "generations": Numbers([one.generation for one in held]),
        }
        connections, written = self._opened.connections, Asked()
        rows = await connections.retried(
            lambda on: connections.rows(
                on, "renew", {**asked, "until_ms": until_ms + written.late_ms}
            )
        )
        renewed = {(kept(task_id), generation) for task_id, generation in rows}
        return [one for one in held if (one.task_id, one.generation) not in renewed]

    async def sweep(self, *, at_ms: int, limit: int = 500) -> Sequence[str]:
        """See `Store.sweep`."""
        rows = await self._opened.connections.read("sweep", {"at_ms": at_ms, "limit": limit})
        return [kept(row[0]) for row in rows]

    async def overview(self, *, limit: int = 100) -> Overview:
        """See `Operated.overview`."""
        return await operating.overview(self._opened.connections, limit)

    async def unstopped(
        self, *, owner: str | None = None, tool: str | None = None, limit: int = 500
    ) -> Sequence[str]:
        """See `Operated.unstopped`."""
        return await operating.unstopped(self._opened.connections, owner, tool, limit)

    async def note_endings(self) -> None:
        """See `Notifies.note_endings`."""
        await self._opened.connections.read("note_endings")

    async def take_notices(
        self, *, at_ms: int, until_ms: int, limit: int = 100
    ) -> Sequence[Notice]:
        """See `Notifies.take_notices`."""
        return await operating.take_notices(self._opened.connections, at_ms, until_ms, limit)

    async def settle_notices(
        self, *, told: Collection[str] = (), again_ms: Mapping[str, int] | None = None
    ) -> None:
        """See `Notifies.settle_notices`."""
        await operating.settle_notices(self._opened.connections, told, again_ms or {})

    @property
    def _opened(self) -> _Open:
        if self._open is None:
            raise StoreError(
                f"The store {self._address.shown!r} is not open. Use it inside `async with store:`."
            )
        return self._open


class _Open:
    """What exists between entry and exit."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.listener = Listener(connections)
        self.writer = Writer(connections, self.listener)
        self.reader = Reader(connections)
        self.claims = Claims(connections, self.listener)

    async def close(self) -> None:
        """End the tasks, the writer's first, and give the connections back."""
        await self.writer.close()
        await self.listener.close()
        await self.reader.close()
        await self.connections.close()


__all__ = ["PostgresStore"]
