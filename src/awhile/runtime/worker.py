"""A worker: runs bodies in this process, keeps their leases, and obeys what others wrote."""

from __future__ import annotations

import logging
import math
import os
import secrets
import socket
import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol

import anyio

from awhile.errors import AwhileError, SettingsError, StoreError
from awhile.processes.shield import shielded
from awhile.runtime.attempt import attempt
from awhile.runtime.bell import Bell
from awhile.runtime.limits import unseen_ms
from awhile.runtime.lull import Lull
from awhile.runtime.outside import stop_afterwards
from awhile.runtime.running import Running
from awhile.runtime.slots import Slots
from awhile.stores.bounds import NO_BOUNDS
from awhile.stores.contract import Held
from awhile.stores.sealing import Left
from awhile.tasks import Lease, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.telemetry.logs import about_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from anyio.abc import TaskGroup

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.program import Program
    from awhile.runtime.run import Run
    from awhile.stores.bounds import Bounds
    from awhile.stores.contract import Store

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often at least a worker looks for leases that ran out (those wake nobody)."""

LOOKS_A_LEASE = 6
"""How often it looks at least within the time a vanished worker's task may say ``working``."""

SWEEP_SECONDS = 60.0
"""How often expired tasks are deleted."""

STOP_SECONDS = 5.0
"""How long bodies get to stop at the end of a process that let them go on first."""

SWEPT_AT_ONCE = 100
"""How many in one transaction: other writers waited for 2 ms then, and for 12 ms at 500 (measured
with 100,000 expired tasks in SQLite)."""

RETRY_SECONDS = 1.0
"""How long a worker waits when the store fails, before it goes on."""


def wall_clock_ms() -> int:
    """Unix milliseconds now."""
    return time.time_ns() // 1_000_000


class Row(Protocol):
    """Makes the row of one call: leased to the worker that runs it already, or free to claim."""

    def __call__(self, *, lease: Lease | None = None) -> TaskRecord:
        """The row; every call makes the same one but for the lease."""
        ...


class Worker:
    """Runs bodies in this process, at most ``slots`` at once.

    Args:
        store: where the tasks are.
        program: the code to run.
        slots: how many bodies may run at once.
        lease_seconds: how long a task stays ``working`` after its worker vanished.
        drain_seconds: how long bodies get to end when this process stops.
        claims: whether it takes tasks from the store; otherwise it runs only what is started here,
            and ends tasks whose worker is lost.
        bounds: how much may wait, and how much of one owner may run, over every process.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(
        self,
        store: Store,
        program: Program,
        *,
        slots: int = 32,
        lease_seconds: float = 6.0,
        drain_seconds: float = 5.0,
        claims: bool = True,
        bounds: Bounds = NO_BOUNDS,
        now_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        if lease_seconds <= 0:
            raise SettingsError(
                f"lease_seconds is {lease_seconds!r}: every lease would be lost at once; "
                "use a positive number of seconds."
            )
        self.slots = slots
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._store = store
        self._program = program
        self._slots = Slots(slots, bounds)
        self._bounds = bounds
        # A lease that ran out is noticed by the next look: both together are `lease_seconds`.
        self._look_seconds = min(LOOK_SECONDS, lease_seconds / LOOKS_A_LEASE)
        self._lease_ms = round((lease_seconds - self._look_seconds) * 1000)
        self._drain_seconds = drain_seconds
        self._claims = claims
        self.now_ms = now_ms
        self._kept: dict[str, Running] = {}
        self._arriving: dict[str, float] = {}
        """Rows being made for bodies here: the ``rev`` of the last change heard of each."""
        self._unread: set[str] = set()
        """Tasks of bodies here that could not be read when something was heard of them."""
        self._all: set[Running] = set()
        self._look = Bell()
        self._left = Left()
        self._lull = Lull(store, lease_ms=self._lease_ms, now_ms=now_ms)
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Worker]:
        """Work while the block runs. On leaving it, what runs is stopped and handed back."""
        self._lull.answered(self.now_ms())
        async with anyio.create_task_group() as bodies:
            self._tasks = bodies
            async with anyio.create_task_group() as keeping:
                keeping.start_soon(self._watch)
                keeping.start_soon(self._renew)
                try:
                    async with anyio.create_task_group() as taking:
                        taking.start_soon(self._claim_all)
                        taking.start_soon(self._sweep)
                        try:
                            yield self
                        finally:
                            taking.cancel_scope.cancel()
                finally:
                    self._tasks = None
                    with shielded():  # stops still reach the bodies, and leases are still kept
                        await self._drain()
                    keeping.cancel_scope.cancel()
                    bodies.cancel_scope.cancel()

    async def finish(self, seconds: float) -> None:
        """Claim nothing more, and wait until what runs here has ended, so many seconds at most.

        What goes on after that has had its time: leaving `running` then waits for it only as long
        as stopping takes.
        """
        self._claims = False
        self._drain_seconds = min(self._drain_seconds, STOP_SECONDS)
        with anyio.move_on_after(seconds):
            while running := next(iter(self._all), None):
                await running.gone.wait()

    async def halt(self, seconds: float) -> None:
        """Claim nothing more, stop what runs here, and wait for it, so many seconds at most.

        Leaving `running` then waits for the rest only as long as stopping takes.
        """
        self._claims = False
        self._drain_seconds = max(0.0, min(self._drain_seconds, STOP_SECONDS) - seconds)
        for running in list(self._all):
            running.drain()
        with anyio.move_on_after(seconds):
            for running in list(self._all):
                await running.gone.wait()

    @property
    def bodies(self) -> int:
        """How many bodies run here."""
        return len(self._all)

    def free(self, owner: str) -> bool:
        """Whether a body of this owner could start right now."""
        return self._slots.free(owner)

    async def start(
        self,
        body: Callable[[Run], Awaitable[Returned | Raised]],
        *,
        tool: str,
        owner: str,
        may_ask: bool = True,
    ) -> Running:
        """Start a body here without a row, once there is a place; `keep` gives it one.

        Raises:
            QueueFull: too many wait for a place already.
        """
        await self._slots.acquire(owner)
        return self._spawn(body, tool=tool, owner=owner, record=None, may_ask=may_ask)

    async def submit(
        self,
        body: Callable[[Run], Awaitable[Returned | Raised]],
        row: Row,
        *,
        tool: str,
        may_ask: bool = True,
    ) -> TaskRecord:
        """Keep a task, durably before this returns; started here if there is a place.

        Without a place, whichever worker is free claims it. With a request key that is known
        already, the task it belongs to is returned and nothing is started.

        Raises:
            QueueFull: too many tasks wait already.
        """
        leased = row(lease=self._lease())
        if not self._slots.take(leased.owner):
            return await self.queue(row())
        self._arriving[leased.task_id] = 0
        with shielded():  # a row that says it runs here has to run here
            try:
                created = await self._store.create(leased, bounds=self._bounds)
            except BaseException:
                self._slots.release(leased.owner)
                raise
            finally:
                heard_of = self._arriving.pop(leased.task_id)
            if created.task_id != leased.task_id or not self._holds(created):
                self._slots.release(leased.owner)
                return created
            self._spawn(body, tool=tool, owner=created.owner, record=created, may_ask=may_ask)
            if heard_of > created.rev:
                await self._obey(created.task_id)
        return created

    async def queue(self, record: TaskRecord) -> TaskRecord:
        """Keep a task for whichever worker is free.

        Raises:
            QueueFull: too many tasks wait already.
        """
        return await self._store.create(record, bounds=self._bounds)

    async def keep(self, running: Running, row: Row) -> bool:
        """Give a running body its row, durably; False if it has ended meanwhile."""
        record, kept = row(lease=self._lease()), False
        self._kept[record.task_id] = running  # before the row exists: a stop may come at once
        try:
            kept = await running.keep(record)
        finally:
            if not kept:
                self._kept.pop(record.task_id, None)
        await self._obey(record.task_id)
        return kept

    def reach(self, record: TaskRecord, lease: Lease | None) -> None:
        """Stop, beside, what a task left elsewhere that a final cancel has just ended, once
        ``lease``, which it had then, shows that its worker will not."""
        stop = self._program.stop(record.tool)
        if record.reachable and stop is not None and self._tasks is not None:
            left_ms = lease.until_ms - self.now_ms() if lease is not None else 0
            reaching = partial(
                stop_afterwards, grace_seconds=max(0, left_ms) / 1000, now_ms=self.now_ms
            )
            self._tasks.start_soon(reaching, self._store, record.task_id, stop)

    # --- inside ---------------------------------------------------------------------------

    def _holds(self, record: TaskRecord) -> bool:
        """Whether it is this worker's; the reply to a write may come after the lease ran out."""
        return record.lease is not None and record.lease.worker == self.name

    def _lease(self) -> Lease:
        return Lease(worker=self.name, until_ms=self.now_ms() + self._lease_ms)

    def _spawn(
        self,
        body: Callable[[Run], Awaitable[Returned | Raised]],
        *,
        tool: str,
        owner: str,
        record: TaskRecord | None,
        may_ask: bool,
    ) -> Running:
        if self._tasks is None:
            self._slots.release(owner)
            raise AwhileError(
                "No body can start: the server's lifespan is not running. Serve the MCPServer "
                "with the keyword arguments of Tasks.install()."
            )
        running = Running(
            body,
            owner=owner,
            store=self._store,
            now_ms=self.now_ms,
            limits=self._program.limits(tool),
            may_ask=may_ask,
            stop=self._program.stop(tool),
        )
        if record is not None:
            running.attach(record)
            self._kept[record.task_id] = running
        self._all.add(running)
        self._tasks.start_soon(self._live, running, tool)
        return running

    async def _live(self, running: Running, tool: str) -> None:
        try:
            with attempt(running, tool, self.name):
                await running.live()
        finally:
            self._all.discard(running)
            record = running.record
            if record is not None and self._kept.get(record.task_id) is running:
                del self._kept[record.task_id]
            self._slots.release(running.run.owner)
            self._look.ring()

    async def _watch(self) -> None:
        while True:
            try:
                async with self._store.watch() as watch:
                    self._arriving = dict.fromkeys(self._arriving, math.inf)
                    for task_id in list(self._kept):
                        await self._obey(task_id)
                    self._look.ring()
                    while True:
                        for task_id, rev in (await watch.wait()).items():
                            await self._hear_of(task_id, rev)
            except AwhileError as error:
                logger.error("The store failed; watching it again. %s", error)
                await anyio.sleep(RETRY_SECONDS)

    async def _claim_all(self) -> None:
        seen = 0
        while True:
            with anyio.move_on_after(self._look_seconds):
                seen = await self._look.wait(seen)
            try:
                await self._lull.sit_out(self._renew_all)
                with shielded():  # a claimed task that nobody runs would have to wait for its lease
                    await self._claim()
            except AwhileError as error:
                self._lull.failed()
                logger.error("Work could not be claimed; trying again. %s", error)
                await anyio.sleep(RETRY_SECONDS)

    async def _hear_of(self, task_id: str, rev: int) -> None:
        """Somebody, or a body here, has changed a task."""
        running = self._kept.get(task_id)
        if running is not None:
            # One that has ended here takes note of nothing more: mostly the change is its own.
            if running.ending is None and (running.record is None or running.record.rev < rev):
                await self._obey(task_id)
        elif task_id in self._arriving:
            self._arriving[task_id] = max(rev, self._arriving[task_id])
        else:
            self._look.ring()

    async def _obey(self, task_id: str) -> None:
        """Tell a body here what others wrote to its row; also once after it got the row, because
        what was written before it was known here woke nobody."""
        running = self._kept.get(task_id)
        if running is None or running.record is None:
            return
        try:
            running.refresh(await self._store.get(task_id))
        except StoreError as error:
            about = about_task(task_id)
            logger.error("A running task could not be read; trying again. %s", error, extra=about)
            if self._tasks is not None and task_id not in self._unread:
                self._unread.add(task_id)
                self._tasks.start_soon(self._obey_later, task_id)

    async def _obey_later(self, task_id: str) -> None:
        """Beside, so that one task that cannot be read keeps no other from being stopped."""
        await anyio.sleep(RETRY_SECONDS)
        self._unread.discard(task_id)
        await self._obey(task_id)

    async def _claim(self) -> None:
        while True:  # as often as there is more room: no claim may give one owner too much
            room = self._slots.room
            claimed = await self._claim_some(room)
            if not claimed or len(claimed) < room or self._lull.suspected:
                return

    async def _claim_some(self, limit: int) -> Sequence[TaskRecord]:
        now = self.now_ms()
        claimed = await self._store.claim(
            worker=self.name,
            tools=self._program.tools if self._claims else (),
            at_ms=now,
            until_ms=now + self._lease_ms,
            limit=limit,
            per_owner=self._bounds.running_per_owner,
            without=self._slots.sated,
            fit=self._left.readable,
        )
        self._lull.answered(now)
        for record in claimed:
            if not self._slots.take(record.owner):
                # A call took the place while the store was claiming.
                released = ev.Released(generation=record.generation, how=StoppedHow.NEVER_STARTED)
                await self._store.append(record.task_id, released, self.now_ms())
                continue
            self._spawn(
                self._program.body(record) if _may_begin(record, now) else _nothing,
                tool=record.tool,
                owner=record.owner,
                record=record,
                may_ask=self._program.may_ask(record),
            )
            await self._obey(record.task_id)
        return claimed

    async def _renew(self) -> None:
        pause = self._lease_ms / 3000
        while True:
            await anyio.sleep(pause)
            renewed = await self._renew_all()
            pause = self._lease_ms / (3000 if renewed else 12_000)  # soon: others wait for it

    async def _renew_all(self) -> bool:
        now = self.now_ms()
        held = [
            Held(task_id=task_id, generation=running.record.generation)
            for task_id, running in self._kept.items()
            if running.record is not None and not running.record.status.ended
        ]
        lost: Sequence[Held] = ()
        try:
            if held:
                lost = await self._store.renew(held, at_ms=now, until_ms=now + self._lease_ms)
        except AwhileError as error:
            self._lull.failed()  # they would be found as run out by this worker itself
            logger.error("Leases could not be renewed; trying again. %s", error)
            return False
        for one in lost:
            await self._obey(one.task_id)
        return True

    async def _sweep(self) -> None:
        while True:
            try:
                while await self._store.sweep(at_ms=self.now_ms(), limit=SWEPT_AT_ONCE):
                    pass
            except AwhileError as error:
                logger.error("Expired tasks could not be deleted; trying again later. %s", error)
            await anyio.sleep(SWEEP_SECONDS)

    async def _drain(self) -> None:
        for running in list(self._all):
            running.drain()
        with anyio.move_on_after(self._drain_seconds):
            for running in list(self._all):
                await running.gone.wait()
        if self._all:
            logger.warning(
                "%d bodies go on although their server has stopped; their tasks say so. A thread "
                "among them keeps this process from ending until it returns.",
                len(self._all),
            )
        for running in list(self._all):
            await running.abandon()


def _may_begin(record: TaskRecord, at_ms: int) -> bool:
    """Whether a claimed task is to be run; else it was claimed only to be ended properly."""
    return not record.cancel_asked and (unseen_ms(record, at_ms) or -1) < 0


async def _nothing(_run: Run) -> Returned | Raised:
    """The body of a task that is not to be run: it is asked to stop at once."""
    await anyio.sleep_forever()
    raise AssertionError("unreachable")
