"""Bodies of every kind, stopped from the process they run in and from another one.

Measured from the call that records the cancel until the row says ``cancelled``, which it never does
before the work has stopped. "Another process" writes the cancel through the store alone.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.text import TextReceiveStream

from awhile import ChildRun
from awhile.runtime.bodies import RunIn, perform
from awhile.runtime.ending import Returned
from awhile.runtime.ids import new_task_id
from awhile.runtime.limits import Limits
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.tasks import Status, TaskRecord, new_record
from awhile.tasks import events as ev

GRACE_SECONDS = 0.5
"""How long a child gets to end by itself; one that ignores SIGTERM costs this much."""

Cancel = Callable[[str], Awaitable[int]]
"""Asks for a stop; when it began to, in Unix nanoseconds."""


async def coroutine(run: Run) -> None:
    """Waits, as for a database's asynchronous driver."""
    run.report(message="running")
    await anyio.sleep_forever()


def checking_thread(run: Run) -> None:
    """Works in steps of a millisecond and looks at its run between them."""
    run.report(message="running")
    while True:
        run.check()
        time.sleep(0.001)


def cooperative_child(run: ChildRun) -> None:
    """Works in steps of a millisecond and ends when told."""
    run.report(0, None, "running")
    while not run.cancelled.wait(0.001):
        pass
    raise InterruptedError("told to stop")


def busy_child(run: ChildRun) -> None:
    """Looks at nothing, and ends by SIGTERM."""
    run.report(0, None, "running")
    while True:
        sum(range(10_000))


def deaf_child(run: ChildRun) -> None:
    """Looks at nothing and ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    busy_child(run)


SHAPES: dict[str, tuple[str, Callable[..., Any], RunIn]] = {
    "coroutine": ("async body", coroutine, "async"),
    "thread": ("thread that checks", checking_thread, "thread"),
    "cooperative": ("child, cooperative", cooperative_child, "process"),
    "busy": (f"child that never looks, SIGTERM after {GRACE_SECONDS} s", busy_child, "process"),
    "deaf": (f"child deaf to SIGTERM, killed after 2 x {GRACE_SECONDS} s", deaf_child, "process"),
}


class Program:
    """The bodies above, as a worker runs them."""

    @property
    def tools(self) -> Collection[str]:
        """The shapes."""
        return list(SHAPES)

    def may_ask(self, record: TaskRecord) -> bool:
        """None of them asks."""
        return False

    def stop(self, tool: str) -> None:
        """None of them starts anything elsewhere."""

    def limits(self, tool: str) -> Limits:
        """Longer than any of them takes."""
        return Limits(give_up_seconds=60)

    def body(self, record: TaskRecord) -> Callable[[Run], Awaitable[Returned]]:
        """The body of one shape."""
        _, function, run_in = SHAPES[record.tool]

        async def run_it(run: Run) -> Returned:
            given = {} if run_in == "process" else {"run": run}
            await perform(function, given, run=run, run_in=run_in, grace_seconds=GRACE_SECONDS)
            return Returned(result={})

        return run_it


async def one_stop(store: Store, shape: str, cancel: Cancel) -> float:
    """Milliseconds from the cancel of one running task to its stop."""
    record = new_record(
        task_id=new_task_id(), owner="bench", tool=shape, arguments={}, at_ms=wall_clock_ms()
    )
    async with store.watch([record.task_id]) as watch:
        await store.create(record)
        while record.status_message != "running":
            await watch.wait()
            record = await store.get(record.task_id) or record
        asked_ns = await cancel(record.task_id)
        while not record.status.ended:
            record = await store.get(record.task_id) or record
            if not record.status.ended:
                await watch.wait()
        took_ms = (time.time_ns() - asked_ns) / 1e6
    if record.status is not Status.CANCELLED:
        raise RuntimeError(f"{shape} ended as {record.status!r}: {record.status_message}")
    return took_ms


async def ask(store: Store, task_id: str) -> int:
    """Ask for a stop through the store."""
    asked_ns = time.time_ns()
    await store.append(task_id, ev.CancelAsked(), wall_clock_ms())
    return asked_ns


@asynccontextmanager
async def another_process(url: str) -> AsyncGenerator[Cancel]:
    """A process that asks for the stops it is told to."""
    command = [sys.executable, "-m", "benchmarks.stops", url]
    async with await anyio.open_process(command, stderr=None) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the other process has no pipes")
        sends, answers = process.stdin, TextReceiveStream(process.stdout)

        async def cancel(task_id: str) -> int:
            await sends.send(f"{task_id}\n".encode())
            return int(await answers.receive())

        yield cancel
        await sends.aclose()
        await process.wait()


async def ask_for(url: str) -> None:
    """The other process: a task id a line in, the instant of its cancel a line out."""
    async with open_store(url) as store, anyio.wrap_file(sys.stdin) as lines:
        async for line in lines:
            sys.stdout.write(f"{await ask(store, line.strip())}\n")
            sys.stdout.flush()


class Stopping:
    """A worker here on a store, whose bodies are stopped from here and from another process."""

    def __init__(self, store: Store, from_there: Cancel) -> None:
        self._store = store
        self._ways: dict[str, Cancel] = {"here": self._from_here, "there": from_there}

    async def stop(self, shape: str, way: str) -> float:
        """See `one_stop`."""
        return await one_stop(self._store, shape, self._ways[way])

    async def _from_here(self, task_id: str) -> int:
        return await ask(self._store, task_id)


@asynccontextmanager
async def stopping(url: str) -> AsyncGenerator[Stopping]:
    """The worker and the other process, until the block is left."""
    async with (
        open_store(url) as store,
        Worker(store, Program()).running(),
        another_process(url) as from_there,
    ):
        yield Stopping(store, from_there)


if __name__ == "__main__":
    anyio.run(ask_for, sys.argv[1])
