"""How long after a cancel the work has really stopped.

Measured from the call that records the cancel until the row says ``cancelled``, which it never does
before the work has stopped. "Another process" writes the cancel through the store alone.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.text import TextReceiveStream
from rich.console import Console
from rich.table import Table

from awhile import ChildRun
from awhile.runtime.bodies import RunIn, perform
from awhile.runtime.ending import Returned
from awhile.runtime.limits import Limits
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker, new_task_id, wall_clock_ms
from awhile.stores.sqlite import SqliteStore
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


async def one_stop(store: SqliteStore, shape: str, cancel: Cancel) -> float:
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


async def ask(store: SqliteStore, task_id: str) -> int:
    """Ask for a stop through the store."""
    asked_ns = time.time_ns()
    await store.append(task_id, ev.CancelAsked(), wall_clock_ms())
    return asked_ns


@asynccontextmanager
async def another_process(path: Path) -> AsyncGenerator[Cancel]:
    """A process that asks for the stops it is told to."""
    command = [sys.executable, "-m", "benchmarks.stop", "--ask-for", str(path)]
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


async def ask_for(path: Path) -> None:
    """The other process: a task id a line in, the instant of its cancel a line out."""
    async with SqliteStore(path) as store, anyio.wrap_file(sys.stdin) as lines:
        async for line in lines:
            sys.stdout.write(f"{await ask(store, line.strip())}\n")
            sys.stdout.flush()


async def measure(times: int, child_times: int) -> Table:
    """The table."""
    table = Table("work", "cancel from", "p50 ms", "max ms", "N", title="cancel to stopped")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.db"
        async with (
            SqliteStore(path) as store,
            Worker(store, Program()).running(),
            another_process(path) as from_there,
        ):

            async def from_here(task_id: str) -> int:
                return await ask(store, task_id)

            ways: dict[str, Cancel] = {"this process": from_here, "another process": from_there}
            for shape, (words, _, run_in) in SHAPES.items():
                n = child_times if run_in == "process" else times
                for way, cancel in ways.items():
                    took = [await one_stop(store, shape, cancel) for _ in range(n)]
                    p50, most = f"{statistics.median(took):.1f}", f"{max(took):.1f}"
                    table.add_row(words, way, p50, most, str(n))
    return table


def main() -> None:
    """Measure and print, or be the other process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--child-times", type=int, default=8)
    parser.add_argument("--ask-for", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask_for:
        anyio.run(ask_for, given.ask_for)
        return
    Console().print(anyio.run(measure, given.times, given.child_times))


if __name__ == "__main__":
    main()
