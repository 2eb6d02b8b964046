"""The PostgreSQL store beside a bare loop on the same server: one insert, one commit.

Run ``python -m benchmarks.studies.store_postgres``. It starts a cluster of its own. All numbers are
medians of interleaved rounds on this machine; a ratio travels better between machines than a rate.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import anyio
import psycopg
from anyio.streams.text import TextReceiveStream

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.stores.postgres.listener import Listener
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from checks.postgres import Cluster

SECONDS = 0.7
"""How long each measurement of a round takes."""

ROUNDS = 3


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


async def bare(cluster: Cluster, callers: int, *, notify: bool = False) -> float:
    """Commits per second of loops that do nothing else, each on a connection of its own."""
    idle: list[psycopg.AsyncConnection[Any]] = [
        await psycopg.AsyncConnection.connect(cluster.dsn(), autocommit=True)
        for _ in range(callers)
    ]
    await idle[0].execute("CREATE TABLE IF NOT EXISTS bare (status text, arguments text)")

    async def insert() -> None:
        connection = idle.pop()
        if notify:
            async with connection.pipeline(), connection.transaction():
                await connection.execute("INSERT INTO bare VALUES ('working', '{}')")
                await connection.execute("SELECT pg_notify('bare', '')")
        else:
            await connection.execute("INSERT INTO bare VALUES ('working', '{}')")
        idle.append(connection)

    try:
        return await rate(callers, insert)
    finally:
        for connection in idle:
            await connection.close()


async def measure(store: Store, cluster: Cluster) -> dict[str, float]:
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

    async def create() -> None:
        await store.create(task())

    async def silence(*_: object) -> None:
        """No ring."""

    told = {
        "bare commit, 1 connection": await bare(cluster, 1),
        "bare commit, 32 connections": await bare(cluster, 32),
        "the same with NOTIFY inside": await bare(cluster, 32, notify=True),
        "create, 1 caller": await rate(1, create),
        "create, 32 callers": await rate(32, create),
    }
    with mock.patch.object(Listener, "_ring", silence):
        told["the same without notifications"] = await rate(32, create)
    told |= {
        "report, 1 caller": await rate(1, report),
        "report, 32 callers": await rate(32, report),
        "create and complete, 32 callers": await rate(32, life),
        "get, 1 caller": await rate(1, read),
        "get, 32 callers": await rate(32, read),
    }
    return told


async def wakes(url: str) -> list[float]:
    """Milliseconds from the call that changes a task to a waiter's waking in another process."""
    command = [sys.executable, "-m", "benchmarks.studies.store_postgres", "--waiter", url]
    took: list[float] = []
    async with open_store(url) as store, await anyio.open_process(command) as waiter:
        assert waiter.stdout is not None
        lines = TextReceiveStream(waiter.stdout)
        assert await lines.receive() == "watching\n"
        for _ in range(200):
            began = time.monotonic_ns()
            await store.create(task())
            took.append((int(await lines.receive()) - began) / 1e6)
            await anyio.sleep(0.01)  # else the waiter would still be awake
        waiter.kill()
    return took


async def wait_and_tell(url: str) -> None:
    """The other process: says when it woke, on the clock both share."""
    async with open_store(url) as store, store.watch() as watch:
        await anyio.sleep(1)  # until it listens
        sys.stdout.write("watching\n")
        sys.stdout.flush()
        while True:
            await watch.wait()
            sys.stdout.write(f"{time.monotonic_ns()}\n")
            sys.stdout.flush()


async def main() -> None:
    """Measure and print."""
    rounds: list[dict[str, float]] = []
    with Cluster() as cluster:
        for _ in range(ROUNDS):
            async with open_store(cluster.url()) as store, store.watch():
                await anyio.sleep(0.5)  # until it listens
                rounds.append(await measure(store, cluster))
        woken = await wakes(cluster.url())
    base = statistics.median(each["bare commit, 1 connection"] for each in rounds)
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
    parser.add_argument("--waiter", help=argparse.SUPPRESS)
    waiter_of: str | None = parser.parse_args().waiter
    anyio.run(main) if waiter_of is None else anyio.run(wait_and_tell, waiter_of)
