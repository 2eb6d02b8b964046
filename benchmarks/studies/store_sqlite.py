"""The SQLite store beside a bare loop on the same disk: one insert, one fsync, one commit.

Run ``python -m benchmarks.studies.store_sqlite``. All numbers are medians of interleaved rounds on
this machine; a ratio travels better between machines than a rate.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import apsw
from anyio.streams.text import TextReceiveStream

from awhile.stores.contract import Store
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task

SECONDS = 0.7
"""How long each measurement of a round takes."""

ROUNDS = 3


def bare(folder: Path) -> float:
    """Commits per second of a loop that does nothing else."""
    connection: Any = apsw.Connection(str(folder / f"bare-{time.monotonic_ns()}.db"))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, status TEXT, arguments TEXT)")
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        connection.execute("INSERT INTO task (status, arguments) VALUES ('working', '{}')")
        count += 1
    took = time.perf_counter() - began
    connection.close()
    return count / took


async def rate(callers: int, act: Callable[[], Awaitable[object]]) -> float:
    """Calls per second of so many callers at once."""
    count, began = 0, time.perf_counter()

    async def call() -> None:
        nonlocal count
        while time.perf_counter() - began < SECONDS:
            await act()
            count += 1

    async with anyio.create_task_group() as group:
        for _ in range(callers):
            group.start_soon(call)
    return count / (time.perf_counter() - began)


async def measure(store: Store, folder: Path) -> dict[str, float]:
    """One round: what each thing costs, in calls per second."""
    running = [await store.create(task(worker="w")) for _ in range(32)]
    turn = 0

    async def report() -> None:
        nonlocal turn
        turn += 1
        event = ev.Reported(generation=1, done=turn, message=f"step {turn // 64}")
        await store.append(running[turn % 32].task_id, event, AT)

    async def life() -> None:
        one = await store.create(task(worker="w"))
        await store.append(one.task_id, ev.Completed(generation=1, result={"n": 1}), AT)

    async def read() -> None:
        await store.get(running[0].task_id)

    async def read_by_thread() -> None:
        await anyio.to_thread.run_sync(anyio_free_get, store, running[0].task_id)

    return {
        "bare commit": bare(folder),
        "create, 1 caller": await rate(1, lambda: store.create(task())),
        "create, 32 callers": await rate(32, lambda: store.create(task())),
        "report, 1 caller": await rate(1, report),
        "report, 32 callers": await rate(32, report),
        "create and complete, 32 callers": await rate(32, life),
        "get": await rate(1, read),
        "get by way of a thread": await rate(1, read_by_thread),
    }


def anyio_free_get(store: Store, task_id: str) -> object:
    """The same read, run to its end in whatever thread this is called in."""
    try:
        store.get(task_id).__await__().send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("The read waited for something.")


async def wakes(path: Path) -> list[float]:
    """Milliseconds from the call that changes a task to a waiter's waking in another process."""
    command = [sys.executable, "-m", "benchmarks.studies.store_sqlite", "--waiter", str(path)]
    took: list[float] = []
    async with SqliteStore(path) as store, await anyio.open_process(command) as waiter:
        assert waiter.stdout is not None
        lines = TextReceiveStream(waiter.stdout)
        assert await lines.receive() == "watching\n"
        for _ in range(200):
            began = time.monotonic_ns()
            await store.create(task())
            took.append((int(await lines.receive()) - began) / 1e6)
            await anyio.sleep(0.003)  # else the waiter would still be awake
        waiter.kill()
    return took


async def wait_and_tell(path: Path) -> None:
    """The other process: says when it woke, on the clock both share."""
    async with SqliteStore(path) as store, store.watch() as watch:
        sys.stdout.write("watching\n")
        sys.stdout.flush()
        while True:
            await watch.wait()
            sys.stdout.write(f"{time.monotonic_ns()}\n")
            sys.stdout.flush()


async def main() -> None:
    """Measure and print."""
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(ROUNDS):
            async with SqliteStore(folder / f"round-{number}.db") as store:
                rounds.append(await measure(store, folder))
        woken = await wakes(folder / "wakes.db")
    base = statistics.median(each["bare commit"] for each in rounds)
    lines = [f"{'':34}{'per second':>12}{'of bare':>9}"]
    for what in rounds[0]:
        rate_of = statistics.median(each[what] for each in rounds)
        lines.append(f"{what:34}{rate_of:12,.0f}{rate_of / base:8.2f}x")
    lines.append(
        f"{'another process wakes after':34}{statistics.median(woken):9.1f} ms p50"
        f"{max(woken):8.1f} ms max"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiter", type=Path, help=argparse.SUPPRESS)
    waiter_of: Path | None = parser.parse_args().waiter
    anyio.run(main) if waiter_of is None else anyio.run(wait_and_tell, waiter_of)
