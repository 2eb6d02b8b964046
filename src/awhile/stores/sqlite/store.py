"""The store in one SQLite file."""

from __future__ import annotations

import asyncio
import collections
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import apsw

from awhile.errors import SettingsError, StoreError, TaskNotFound
from awhile.stores.asked import Asked
from awhile.stores.bounds import NO_BOUNDS
from awhile.stores.changes import Changes
from awhile.stores.rows import created_fields, to_row
from awhile.stores.sqlite import operating
from awhile.stores.sqlite.connection import Connection
from awhile.stores.sqlite.files import StoreFiles, explain
from awhile.stores.sqlite.lines import place_in_line
from awhile.stores.sqlite.listener import Listener, current_rev, read_changes
from awhile.stores.sqlite.reading import QUERIES, kept, stored
from awhile.stores.sqlite.transaction import LOST_AT_ONCE
from awhile.stores.sqlite.writer import Writer
from awhile.stores.statements import LISTS
from awhile.stores.wanted import Wanted
from awhile.tasks.state import may_claim

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
    from typing import Self

    from awhile.stores.bounds import Bounds
    from awhile.stores.changes import Change
    from awhile.stores.contract import Detail, Held, Kept, Watch
    from awhile.stores.operated import Lost, Notice, Overview
    from awhile.stores.sqlite.transaction import Transaction
    from awhile.tasks import Event, Status, TaskRecord

T = TypeVar("T")

READERS = 4
"""Reads of many rows at the same time, each in a thread on its own connection."""


class SqliteStore:
    """Keeps tasks in one file; implements `awhile.stores.contract.Store`.

    Every confirmed write is on the disk (WAL, ``synchronous=FULL``). Writes of one process share
    one thread and, under load, one commit; processes take turns. Cancelling a caller that waits for
    a write does not take the write back: it is made whole, or not at all, but nobody hears of it.

    Used in one event loop at a time; every process opens its own, and a process that forks opens
    it after the fork.
    """

    def __init__(self, path: Path | str) -> None:
        """A store in that file; it and its folder are created on entry where they are missing."""
        self._files = StoreFiles(Path(path).resolve())  # one lock, whatever way leads there
        self._open: _Open | None = None
        self.on_lost: Callable[[Lost], None] | None = None
        """See `TellsOfLost`."""

    @classmethod
    def from_url(cls, url: str) -> Self:
        """The store of a ``sqlite:`` URL, written as SQLAlchemy has them.

        ``sqlite:///reports.db`` is relative to the working directory, ``sqlite:////var/reports.db``
        absolute.

        Raises:
            SettingsError: the URL names no file.
        """
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        if path == ":memory:" or (rest in {"", "/", ":memory:"} and scheme == "sqlite"):
            raise SettingsError(
                f"The store {url!r} would be in memory, where no task survives its process, nor is "
                "seen by another one. Name a file: 'sqlite:///tasks.db'."
            )
        if scheme != "sqlite" or host or not slash or "?" in path:
            raise SettingsError(
                f"{url!r} does not name a file as a store. Write 'sqlite:///relative.db' or "
                "'sqlite:////absolute/path.db', without a host and without options."
            )
        return cls(path)

    async def __aenter__(self) -> Self:
        """Open the file, creating or migrating it.

        Raises:
            StoreError: the file cannot be used; it says why and what to do.
        """
        if self._open is not None:
            raise StoreError(f"The store {str(self._files.database)!r} is open already.")
        loop = asyncio.get_running_loop()
        self._open = await anyio.to_thread.run_sync(_Open, self._files, loop)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Finish the writes that were asked for and close. No thread is left."""
        opened, self._open = self._opened, None
        await opened.close()

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        """See `TaskStore.create`."""
        row, fields = to_row(record), created_fields(record)
        asked = Asked()

        def write(to: Transaction) -> TaskRecord:
            if (late_ms := asked.late_ms) and record.lease is not None:
                lease = replace(record.lease, until_ms=record.lease.until_ms + late_ms)
                extended = {**row, "lease_until_ms": lease.until_ms}
                return to.create(extended, replace(record, lease=lease), fields, bounds)
            return to.create(row, record, fields, bounds)

        return await self._opened.writer.write(write)

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """See `TaskStore.append`."""
        return await self._opened.writer.write(lambda to: to.append(task_id, event, at_ms))

    async def get(self, task_id: str) -> TaskRecord | None:
        """See `TaskStore.get`. Reads in the event loop's own thread.

        Such a read takes 10 to 70 µs, idle or busy. By way of a thread one took twice as long
        (``benchmarks/studies/store_sqlite.py`` prints both), and many would queue for the threads.
        A reader of a write-ahead log never waits for a writer.
        """
        opened = self._opened
        try:
            row = opened.in_loop.row(QUERIES["one_task"], {"task_id": task_id})
        except apsw.Error as error:
            raise explain(error, self._files.database) from error
        return None if row is None else stored(row).record

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
        """See `TaskStore.find`."""
        query = QUERIES[LISTS[detail]]
        asked: dict[str, Any] = {
            "owner": owner,
            "statuses": None if statuses is None else json.dumps([str(one) for one in statuses]),
            "tools": None if tools is None else json.dumps(list(tools)),
            "after_rev": after_rev,
            "ordinal": None,
            "limit": limit,
        }

        def read(on: Connection) -> list[TaskRecord]:
            if before is not None:
                place = on.row(QUERIES["ordinal_of_task"], {"task_id": before, "owner": owner})
                if place is None:
                    raise TaskNotFound
                asked["ordinal"] = place[0]
            return [stored(row).record for row in on.rows(query, asked)]

        return await self._opened.read(read)

    async def history(
        self, task_id: str, *, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[Kept]:
        """See `TaskStore.history`."""
        asked = {"task_id": task_id, "after_seq": after_seq, "limit": limit}
        return await self._opened.read(
            lambda on: [kept(task_id, row) for row in on.rows(QUERIES["history"], asked)]
        )

    async def place(self, task_id: str) -> int | None:
        """See `TaskStore.place`. In the loop's own thread, like `get`: it counts to 1,000."""
        opened = self._opened
        try:
            return place_in_line(opened.in_loop, task_id)
        except apsw.Error as error:
            raise explain(error, self._files.database) from error

    async def looked(self, task_ids: Collection[str], at_ms: int) -> None:
        """See `TaskStore.looked`."""
        ids = list(task_ids)
        await self._opened.writer.write(lambda to: to.looked(ids, at_ms))

    @asynccontextmanager
    async def watch(self, task_ids: Collection[str] | None = None) -> AsyncGenerator[Watch]:
        """See `TaskStore.watch`."""
        opened = self._opened
        # Nothing is awaited between reading where the store is and subscribing from there.
        one = opened.changes.subscribe(task_ids, current_rev(opened.in_loop))
        opened.listener.start()
        try:
            yield one
        finally:
            opened.changes.unsubscribe(one)

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
        """See `Store.claim`."""
        # Workers look after every change. A write that finds nothing took a millisecond of CPU, as
        # much as all else about a short task; this read takes 20 µs.
        if not self._anything_to_claim(at_ms):
            return []
        write = self._opened.writer.write
        wanted = Wanted(frozenset(tools), at_ms, limit, per_owner, frozenset(without), fit)
        asked = Asked()

        def take(to: Transaction) -> list[TaskRecord]:
            return to.claim(worker, wanted, until_ms + asked.late_ms)

        ended, claimed = await write(lambda to: (to.end_lost(wanted), take(to)))
        self._tell_of_lost(ended)
        while len(ended) == LOST_AT_ONCE:  # a whole fleet was lost; the rest one by one transaction
            ended = await write(lambda to: to.end_lost(wanted))
            self._tell_of_lost(ended)
        return claimed

    async def unclaimed(
        self, *, besides: Collection[str], at_ms: int, limit: int = 100
    ) -> Sequence[TaskRecord]:
        """See `Store.unclaimed`."""
        asked = {"besides": json.dumps(list(besides)), "at_ms": at_ms, "limit": limit}

        def read(on: Connection) -> list[TaskRecord]:
            found = [stored(row).record for row in on.rows(QUERIES["unclaimed"], asked)]
            return [one for one in found if may_claim(one, at_ms)]

        return await self._opened.read(read)

    async def renew(self, held: Sequence[Held], *, at_ms: int, until_ms: int) -> Sequence[Held]:
        """See `Store.renew`. A lease that ran out but that nobody took is still extended."""
        asked = Asked()
        return await self._opened.writer.write(lambda to: to.renew(held, until_ms + asked.late_ms))

    async def sweep(self, *, at_ms: int, limit: int = 500) -> Sequence[str]:
        """See `Store.sweep`."""
        return await self._opened.writer.write(lambda to: to.sweep(at_ms, limit))

    async def overview(self, *, limit: int = 100) -> Overview:
        """See `Operated.overview`."""
        return await self._opened.read(lambda on: operating.overview(on, limit))

    async def unstopped(
        self, *, owner: str | None = None, tool: str | None = None, limit: int = 500
    ) -> Sequence[str]:
        """See `Operated.unstopped`."""
        return await self._opened.read(lambda on: operating.unstopped(on, owner, tool, limit))

    async def note_endings(self) -> None:
        """See `Notifies.note_endings`."""
        await self._opened.writer.write(lambda to: to.run(operating.note_endings))

    async def take_notices(
        self, *, at_ms: int, until_ms: int, limit: int = 100
    ) -> Sequence[Notice]:
        """See `Notifies.take_notices`."""
        return await self._opened.writer.write(
            lambda to: to.run(lambda on: operating.take_notices(on, at_ms, until_ms, limit))
        )

    async def settle_notices(
        self, *, told: Collection[str] = (), again_ms: Mapping[str, int] | None = None
    ) -> None:
        """See `Notifies.settle_notices`."""
        await self._opened.writer.write(
            lambda to: to.run(lambda on: operating.settle_notices(on, told, again_ms or {}))
        )

    def _anything_to_claim(self, at_ms: int) -> bool:
        try:
            row = self._opened.in_loop.row(QUERIES["anything_to_claim"], {"at_ms": at_ms})
        except apsw.Error as error:
            raise explain(error, self._files.database) from error
        return row is not None and bool(row[0])

    def _tell_of_lost(self, ended: Sequence[Lost]) -> None:
        if self.on_lost is not None:
            for one in ended:
                self.on_lost(one)

    @property
    def _opened(self) -> _Open:
        if self._open is None:
            raise StoreError(
                f"The store {str(self._files.database)!r} is not open. Use it inside "
                "`async with store:`."
            )
        return self._open


class _Open:
    """What exists between entry and exit. Constructed in a thread: it waits for the disk."""

    def __init__(self, files: StoreFiles, loop: asyncio.AbstractEventLoop) -> None:
        self._files = files
        self.writer = Writer(files, loop)
        self.in_loop = Connection(files.database, reads_only=True)
        self.changes = Changes(loop, self._changes_after)
        self.listener = Listener(files, self.changes)
        self._idle: collections.deque[Connection] = collections.deque()
        self._limiter = anyio.CapacityLimiter(READERS)
        self.writer.start(self.listener)

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query of many rows in a thread."""

        def run() -> T:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = Connection(self._files.database, reads_only=True)
            try:
                return query(connection)
            except apsw.Error as error:
                raise explain(error, self._files.database) from error
            finally:
                self._idle.append(connection)

        return await anyio.to_thread.run_sync(run, limiter=self._limiter)

    async def close(self) -> None:
        """End both threads; the writer's, which closes the file last, folds the log into it."""
        await self.listener.close()
        self.in_loop.close()
        while self._idle:
            self._idle.pop().close()
        await self.writer.close()

    async def _changes_after(self, rev: int, limit: int) -> Sequence[Change]:
        return await self.read(lambda on: read_changes(on, rev, limit))


__all__ = ["READERS", "SqliteStore"]
