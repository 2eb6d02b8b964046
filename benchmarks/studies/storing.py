"""What the studies of the stores have in common: the calls made, and how they are timed."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import anyio
from anyio.streams.text import TextReceiveStream

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task

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


class Calls:
    """What a server asks of a store, one call at a time."""

    def __init__(self, store: Store, running: list[str]) -> None:
        self._store = store
        self.running = running
        self._turn = 0

    @classmethod
    async def on(cls, store: Store) -> Calls:
        """With tasks that are running, to be read and reported on."""
        made = [await store.create(task(worker="w")) for _ in range(32)]
        return cls(store, [each.task_id for each in made])

    async def create(self) -> None:
        await self._store.create(task())

    async def report(self) -> None:
        self._turn += 1
        event = ev.Reported(generation=1, done=self._turn, message=f"step {self._turn // 64}")
        await self._store.append(self.running[self._turn % 32], event, AT)

    async def life(self) -> None:
        one = await self._store.create(task(worker="w"))
        await self._store.append(one.task_id, ev.Completed(generation=1, result={"n": 1}), AT)

    async def read(self) -> None:
        await self._store.get(self.running[0])


async def wakes(module: str, url: str, *, asleep_seconds: float) -> list[float]:
    """Milliseconds from the call that changes a task to a waiter's waking in another process.

    `asleep_seconds` is how long until a woken waiter sleeps again.
    """
    command = [sys.executable, "-m", module, "--waiter", url]
    took: list[float] = []
    async with open_store(url) as store, await anyio.open_process(command) as waiter:
        assert waiter.stdout is not None
        lines = TextReceiveStream(waiter.stdout)
        assert await lines.receive() == "watching\n"
        for _ in range(200):
            began = time.monotonic_ns()
            await store.create(task())
            took.append((int(await lines.receive()) - began) / 1e6)
            await anyio.sleep(asleep_seconds)
        waiter.kill()
    return took


def table(rounds: list[dict[str, float]], base: str, woken: list[float]) -> str:
    """Medians, each beside the one called `base`."""
    of_base = statistics.median(each[base] for each in rounds)
    lines = [f"{'':34}{'per second':>12}{'of bare':>9}"]
    for what in rounds[0]:
        rate_of = statistics.median(each[what] for each in rounds)
        lines.append(f"{what:34}{rate_of:12,.0f}{rate_of / of_base:8.2f}x")
    lines.append(
        f"{'another process wakes after':34}{statistics.median(woken):9.1f} ms p50"
        f"{max(woken):8.1f} ms max"
    )
    return "\n".join(lines) + "\n"


def command(
    about: str | None, measured: Callable[[], Awaitable[str]], *, listens_seconds: float
) -> None:
    """Measure and print; or be the other process, which says when it woke on the clock both share.

    `listens_seconds` is how long until a new watch is heard.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--waiter", help=argparse.SUPPRESS)
    url: str | None = parser.parse_args().waiter

    async def wait_and_tell(url: str) -> None:
        async with open_store(url) as store, store.watch() as watch:
            await anyio.sleep(listens_seconds)
            sys.stdout.write("watching\n")
            sys.stdout.flush()
            while True:
                await watch.wait()
                sys.stdout.write(f"{time.monotonic_ns()}\n")
                sys.stdout.flush()

    async def measure() -> None:
        sys.stdout.write(await measured())

    anyio.run(measure) if url is None else anyio.run(wait_and_tell, url)
