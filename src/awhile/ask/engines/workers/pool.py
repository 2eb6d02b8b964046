"""The parent's end: a bounded pool of worker processes, one of them kept warm."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread

from awhile.ask.engines.contract import HowStopped, OnStopped, Stage
from awhile.ask.engines.errors import (
    DatabaseNotOpened,
    EngineError,
    EngineLost,
    QueryError,
    QueryRefused,
)
from awhile.ask.engines.parquet import part_of
from awhile.ask.engines.workers.lost import lost
from awhile.ask.engines.workers.messages import (
    Answered,
    Begun,
    Connected,
    Described,
    Failed,
    Fetched,
    Interrupt,
    Interrupted,
    Looked,
    NotOpened,
    Opened,
    Order,
    OutOfReach,
    Progressed,
    Refused,
    ToEnd,
    ToRun,
)
from awhile.ask.engines.workers.places import Places
from awhile.processes import Child, ChildEnded, ProcessError
from awhile.processes.shield import shielded

__all__ = ["Pool", "Worker"]

_Answer = TypeVar("_Answer")

_SHORT_ORDERS = 2
"""How many orders that are no queries are carried out at once, beside the queries."""

_END_SECONDS = 5.0
"""How long a server gets to confirm that what a killed worker left there is ended."""


class Pool:
    """Workers, each for one query at a time; `side_by_side` of them run queries at once.

    `start` starts a worker. `grace_seconds` is how long an interrupt may take before the worker is
    killed.
    """

    def __init__(
        self, start: Callable[[], Awaitable[Worker]], *, side_by_side: int, grace_seconds: float
    ) -> None:
        if side_by_side < 1:
            raise ValueError(
                f"side_by_side must be at least 1 or nothing runs, got {side_by_side!r}"
            )
        self._start = start
        self._grace_seconds = grace_seconds
        self._places = Places(side_by_side)
        self._short = anyio.CapacityLimiter(_SHORT_ORDERS)
        self._spare: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    def open(self) -> None:
        """Take orders (again)."""
        self._closed = False

    async def close(self) -> None:
        """End every worker, busy ones included."""
        self._closed = True
        with shielded():
            for worker in [*self._spare, *self._busy]:
                await worker.kill()
            for worker in [*self._busy]:
                await self._ended(worker)
            self._spare.clear()

    async def order(self, order: Order, expected: type[_Answer]) -> _Answer:
        """The answer to a short order; a cancelled one costs the process, and returns only once it
        has stopped."""
        async with self._short:
            answer = await self._with_worker(lambda worker: self._answer(worker, order))
        if not isinstance(answer, expected):
            raise EngineLost(f"the worker answered {order!r} with {answer!r}")
        return answer

    async def _answer(self, worker: Worker, order: Order) -> object:
        try:
            return await worker.answer(order)
        except anyio.get_cancelled_exc_class():
            with shielded():
                await worker.kill()
                await self._ended(worker)
            raise

    async def run(
        self,
        order: ToRun,
        tell: Callable[[float | None, int, Stage], None],
        on_stopped: OnStopped,
        moved: Callable[[int | None], None],
    ) -> Fetched:
        """Run a query once there is a place. Cancelled, it returns only once it has stopped.

        `moved` is told how many come before it, as by `Places.one`; they are taken fairly between
        those who ask.
        """
        async with self._places.one(order.principal, moved):
            return await self._with_worker(
                lambda worker: self._run(worker, order, tell, on_stopped)
            )

    async def _run(
        self,
        worker: Worker,
        order: ToRun,
        tell: Callable[[float | None, int, Stage], None],
        on_stopped: OnStopped,
    ) -> Fetched:
        try:
            return await worker.run(order, tell)
        except anyio.get_cancelled_exc_class():
            asked = time.monotonic()
            with shielded():
                how = await worker.stop(self._grace_seconds)
                if how == "process_ended" and worker.token is not None:
                    # The process was only the client: what it ran is on a server.
                    how = "engine_confirmed" if await self._ended(worker) else "not_stopped"
                worker.remove(order)
            on_stopped(how, time.monotonic() - asked)
            raise
        except ChildEnded:
            worker.remove(order)
            if not self._closed:  # else `close` sees to it
                with shielded():
                    await self._ended(worker)
            raise

    async def _ended(self, worker: Worker) -> bool:
        """Whether nothing that a killed worker left on a server runs there any more."""
        if worker.token is None:
            return True
        token, worker.token = worker.token, None
        if isinstance(token, OutOfReach):
            return False
        with anyio.move_on_after(_END_SECONDS), suppress(EngineError, ChildEnded, ProcessError):
            another = await self._start()
            try:
                await another.answer(ToEnd(token))
            finally:
                with shielded():
                    await another.kill()
            return True
        return False

    async def _with_worker(self, use: Callable[[Worker], Awaitable[_Answer]]) -> _Answer:
        """What comes of an order; once more with a new worker where the first was gone before it
        took the order up."""
        worker = await self._take()
        try:
            return await self._use(worker, use)
        except ChildEnded as ended:
            if self._closed:
                raise EngineLost("the database was closed while the query ran") from None
            if worker.begun:
                raise lost(ended) from None
        try:
            return await self._use(await self._start(), use)
        except ChildEnded as ended:
            raise lost(ended) from None

    async def _use(self, worker: Worker, use: Callable[[Worker], Awaitable[_Answer]]) -> _Answer:
        self._busy.add(worker)
        try:
            if not self._spare:
                # Only started here, not waited for: it warms up beside the query.
                self._spare.append(await self._start())
            return await use(worker)
        finally:
            self._busy.discard(worker)
            with shielded():
                await self._give_back(worker)

    async def _take(self) -> Worker:
        while self._spare:
            worker = self._spare.pop()
            if worker.usable:
                return worker
            with shielded():
                await worker.kill()
        return await self._start()

    async def _give_back(self, worker: Worker) -> None:
        if worker.usable and not self._closed:
            self._spare.append(worker)
        else:
            await worker.kill()


class Worker:
    """One worker process, from this side. It carries out one order at a time.

    `clean_up` is called, in a thread, once the process is gone.
    """

    def __init__(self, child: Child, clean_up: Callable[[], None] | None = None) -> None:
        self._child = child
        self._clean_up = clean_up
        self._lost = False
        self.begun = False
        """Whether the process has taken up the last order it was given."""
        self.token: object = None
        """What finds on a server whatever the process runs there (`Session.token`); None while it
        runs nothing."""

    @property
    def usable(self) -> bool:
        return not self._lost and self._child.running

    async def answer(self, order: Order) -> object:
        """Carry out a short order; a cancelled one costs the process."""
        try:
            await self._begin(order)
            answer = await self._receive()
        except BaseException:
            self._lost = True
            raise
        self.token = None
        if isinstance(answer, Opened | Described | Looked | Answered):
            return answer
        raise self._error(answer)

    async def run(self, order: ToRun, tell: Callable[[float | None, int, Stage], None]) -> Fetched:
        """Run a query. Cancelled, it still runs: see `stop`."""
        try:
            await self._begin(order)
            tell(None, 0, "running")
            while True:
                match await self._receive():
                    case Progressed(percent, rows, stage):
                        tell(percent, rows, stage)
                    case Fetched() as fetched:
                        self.token = None
                        return fetched
                    case answer:
                        self.token = None
                        raise self._error(answer)
        except ChildEnded:
            self._lost = True
            raise

    async def stop(self, grace_seconds: float) -> HowStopped:
        """End what runs: by an interrupt, or the process after `grace_seconds`."""
        with anyio.move_on_after(grace_seconds), suppress(ChildEnded, ProcessError):
            await self._child.send(Interrupt())
            while True:
                match await self._receive():
                    case Begun() | Progressed():
                        pass
                    case Interrupted(confirmed=False):
                        self.token = None
                        return "not_stopped"
                    case _:
                        # Interrupted, or it had come to its end by itself: no longer running.
                        self.token = None
                        return "engine_confirmed"
        await self.kill()
        return "process_ended"

    async def kill(self) -> None:
        """End the process and what it left on this machine; returns once both are done."""
        self._lost = True
        await self._child.kill()
        if self._clean_up is not None:
            await anyio.to_thread.run_sync(self._clean_up)

    def remove(self, order: ToRun) -> None:
        """Remove what there is of a result."""
        part_of(order.destination).unlink(missing_ok=True)
        order.destination.unlink(missing_ok=True)

    async def _begin(self, order: Order) -> None:
        """Hand over an order; returns once it is taken up."""
        self.begun = False
        await self._child.send(order)
        first = await self._receive()
        self.begun = True
        if not isinstance(first, Begun):
            raise self._error(first)

    async def _receive(self) -> object:
        while isinstance(message := await self._child.receive(), Connected):
            self.token = message.token
        return message

    def _error(self, answer: object) -> EngineError:
        match answer:
            case Failed(message, line, column, unknown_name):
                return QueryError(message, line, column, unknown_name)
            case Refused(word, why):
                return QueryRefused(word, why)
            case NotOpened(message):
                return DatabaseNotOpened(message)
            case Interrupted():
                # Not by us: `stop` reads the answer to that.
                return QueryError("somebody ended it on the server; ask again")
            case _:
                self._lost = True
                return EngineLost(f"the worker sent {answer!r}, which is not part of an answer")
