"""Finds what others committed, and tells others that this process has.

A ring (NOTIFY) carries nothing but "look again", from a connection and a transaction of its own:
inside the transaction of a change it would make all commits of the database wait for each other.
What has changed is read, exactly (`snapshots.py`), so rings that are lost, come twice or late cost
nothing but time; a slow poll beside them finds what a process committed that died before it rang.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import psycopg
from psycopg import sql

from awhile.errors import StoreError
from awhile.stores.changes import Change, Changes
from awhile.stores.postgres.explain import explain
from awhile.stores.postgres.snapshots import NOTHING, Seen, Snapshot
from awhile.stores.postgres.values import Numbers, kept

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Sequence

    from awhile.stores.changes import Subscription
    from awhile.stores.postgres.connections import Connections, Raw

logger = logging.getLogger("awhile.stores.postgres")

LISTENING_POLL_SECONDS = 1.0
"""Between looks when no ring comes: how late a change is found whose writer died before it rang."""

POLL_SECONDS = 0.025
"""Between looks where rings do not work; half of the 50 ms that watching promises."""

BREATH_SECONDS = 0.004
"""Between two looks, and between two rings, at least: under load, many changes share one."""

TRIAL_SECONDS = 5.0
"""How long a ring of our own may take to arrive before LISTEN counts as not working."""

AGAIN_SECONDS = 60.0
"""After that long it is tried once more: it may only have been a very slow moment."""

CHECKPOINTS = 64
"""Of what had been seen when, for subscriptions that are behind; an older one tells more."""


@dataclass(frozen=True, slots=True)
class _Joining:
    task_ids: Collection[str] | None
    joined: asyncio.Future[Subscription]


class Listener:
    """Three tasks of one process: looking, listening and ringing."""

    def __init__(self, connections: Connections) -> None:
        """Begin, on the running event loop."""
        loop = asyncio.get_running_loop()
        self.changes = Changes(loop, self._changes_after)
        self._connections = connections
        self._me = secrets.token_hex(8)
        self._number = 0
        """Counts what was published: `Changes` wants one order, which revs do not have here."""
        self._seen: Seen | None = None
        """Everything published so far; None: nobody is subscribed."""
        self._checkpoints: list[tuple[int, Seen]] = []
        self._told: dict[str, int] = {}
        self._told_before: dict[str, int] = {}
        """The rev last published of tasks that changed lately: own commits are seen twice."""
        self._joining: list[_Joining] = []
        self._look_now = asyncio.Event()
        self._ring_now = asyncio.Event()
        self._rings_work = False
        self._told_of_polling = False
        self._over = False
        # Tasks of the loop's own, as the writer's: they belong to no caller's scope.
        self._tasks = [
            loop.create_task(each, name=f"awhile-{name}") for name, each in self._loops().items()
        ]

    def _loops(self) -> dict[str, Coroutine[Any, Any, None]]:
        loops: dict[str, Coroutine[Any, Any, None]] = {
            "look": self._look_on(),
            "ring": self._ring_on(),
        }
        if self._connections.address.listen == "auto":
            loops["listen"] = self._listen_on()
        return loops

    @property
    def rings_work(self) -> bool:
        """Whether rings arrive; else changes of others are found by polling."""
        return self._rings_work

    async def close(self) -> None:
        """Ring once more if that is due, and end the tasks."""
        self._over = True
        self._ring_now.set()
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(2):
                await asyncio.wait([self._tasks[1]])
            for each in self._tasks:
                each.cancel()
            await asyncio.wait(self._tasks)
        shown = self._connections.address.shown
        _give_up(self._joining, StoreError(f"The store {shown!r} is closed; open it again."))

    def published(self, changes: Sequence[tuple[str, int]]) -> None:
        """Tell subscribers here, now, of what this process committed; and the others soon."""
        if changes:
            self._publish(changes)
            self._ring_now.set()

    async def subscribe(self, task_ids: Collection[str] | None) -> Subscription:
        """Subscribe to what changes from now on, which is after one more look.

        Raises:
            StoreError: the store cannot be read.
        """
        asked = _Joining(task_ids, asyncio.get_running_loop().create_future())
        self._joining.append(asked)
        self._look_now.set()
        try:
            return await asked.joined
        except asyncio.CancelledError:
            if (
                asked.joined.done()
                and not asked.joined.cancelled()
                and not asked.joined.exception()
            ):
                self.changes.unsubscribe(asked.joined.result())
            raise

    def _publish(self, changes: Sequence[tuple[str, int]]) -> None:
        if not self.changes.active:
            return
        new: list[Change] = []
        for task_id, rev in changes:
            if rev > max(self._told.get(task_id, 0), self._told_before.get(task_id, 0)):
                self._told[task_id] = rev
                self._number += 1
                new.append(Change(task_id, self._number, rev))
        self.changes.publish(new)

    # --- looking ------------------------------------------------------------------------------

    async def _look_on(self) -> None:
        while True:
            seconds = LISTENING_POLL_SECONDS if self._rings_work else POLL_SECONDS
            with contextlib.suppress(TimeoutError):
                # Not asyncio.wait_for, which on Python 3.11 loses a cancellation that comes with
                # the ring: then this task never ended, nor did the close of the store.
                async with asyncio.timeout(seconds if self.changes.active else None):
                    await self._look_now.wait()
            self._look_now.clear()
            joining, self._joining = self._joining, []
            if not joining and not self.changes.active:
                self._seen = None
                continue
            try:
                await self._look()
            except StoreError as error:
                _give_up(joining, error)
                continue
            for one in joining:
                if not one.joined.done():  # here and not by whoever waits: no change slips between
                    one.joined.set_result(self.changes.subscribe(one.task_ids, self._number))
            if not joining:
                await asyncio.sleep(BREATH_SECONDS)

    async def _look(self) -> None:
        before = self._seen
        if before is None:
            [(text, rev_base, last_rev)] = await self._connections.read("now")
            self._seen = Seen(Snapshot.parse(text, rev_base), last_rev)
            self._told, self._told_before = {}, {}
            self._number += 1  # nobody has read up to a number given out before
            self._checkpoints = []
        else:
            snapshot, changed = await self._read_changes(before)
            if snapshot.xmax < before.snapshot.xmax:
                # A standby that was behind took over: it counts on from an earlier transaction.
                before, self._told, self._told_before = NOTHING, {}, {}
                snapshot, changed = await self._read_changes(before)
            self._seen = before.then(snapshot, [rev for _, rev in changed])
            told = [(kept(task_id), rev) for task_id, rev in changed]
            self._publish(sorted(told, key=lambda one: one[1]))
            self._told, self._told_before = {}, self._told
        self._checkpoints.append((self._number, self._seen))
        if len(self._checkpoints) > CHECKPOINTS:
            del self._checkpoints[1::2]

    async def _read_changes(self, after: Seen) -> tuple[Snapshot, list[tuple[str, int]]]:
        asked = {"from_rev": after.from_rev, "unseen": Numbers(after.unseen)}
        [now, *changed] = await self._connections.read("changed", asked)
        return Snapshot.parse(*now), [(row[0], row[1]) for row in changed]

    async def _changes_after(self, number: int, _limit: int) -> Sequence[Change]:
        """For a subscription that is behind. At once, however many: ids are all that is read."""
        reached = self._number
        seen = next(
            (one for at, one in reversed(self._checkpoints) if at <= number),
            self._checkpoints[0][1],
        )
        _, changed = await self._read_changes(seen)
        return [Change(kept(task_id), reached, rev) for task_id, rev in changed]

    # --- ringing ------------------------------------------------------------------------------

    async def _ring_on(self) -> None:
        while not self._over:
            await self._ring_now.wait()
            self._ring_now.clear()
            with contextlib.suppress(StoreError):  # the others' poll finds what there is
                await self._ring(self._me)
            await asyncio.sleep(BREATH_SECONDS)

    async def _ring(self, sender: str) -> None:
        asked = {"channel": self._connections.address.channel, "sender": sender}
        await self._connections.read("ring", asked)

    # --- listening ----------------------------------------------------------------------------

    async def _listen_on(self) -> None:
        tries = 0
        while True:
            began = time.monotonic()
            try:
                await self._listen()
            except (psycopg.Error, OSError, StoreError) as error:
                if self._rings_work:
                    if not isinstance(error, StoreError):
                        error = explain(error, self._connections.address)
                    logger.warning("%s Looking for changes meanwhile.", error)
            self._rings_work = False
            if time.monotonic() - began > 10:
                tries = 0
            await asyncio.sleep(random.uniform(0.5, 1) * min(0.1 * 2**tries, 10))  # noqa: S311
            tries += 1

    async def _listen(self) -> None:
        """Listen until the connection breaks. First it is tried out whether rings arrive at all:
        a pooler that shares sessions takes LISTEN and forgets it."""
        channel = self._connections.address.channel
        connection = await self._connections.connect()
        try:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            trial = secrets.token_hex(8)
            await self._ring(trial)
            if await self._arrives(connection, trial):
                await self._connections.read("move_revs")  # it may be another server by now
                self._rings_work = True
                self._connections.prepare = True  # what hears its own ring has its own session
                self._look_now.set()  # what was missed meanwhile is read
                async for one in connection.notifies():
                    if one.payload != self._me:
                        self._look_now.set()
        finally:
            await connection.close()
        self._tell_of_polling()
        await asyncio.sleep(AGAIN_SECONDS)

    async def _arrives(self, connection: Raw, trial: str) -> bool:
        async for one in connection.notifies(timeout=TRIAL_SECONDS):
            if one.payload == trial:
                return True
        return False

    def _tell_of_polling(self) -> None:
        if self._told_of_polling:
            return
        self._told_of_polling = True
        logger.warning(
            "The store %r is behind something that keeps no session (PgBouncer in transaction "
            "mode?): LISTEN does not work there. It looks for changes every %d ms instead, and "
            "prepares no statements. Name the server itself in the URL, or write '?listen=off' to "
            "leave out the try.",
            self._connections.address.shown,
            POLL_SECONDS * 1000,
        )


def _give_up(joining: Sequence[_Joining], error: StoreError) -> None:
    for one in joining:
        if not one.joined.done():
            one.joined.set_exception(error)


__all__ = ["LISTENING_POLL_SECONDS", "POLL_SECONDS", "TRIAL_SECONDS", "Listener"]
