"""What a store that has kept tasks for long costs: from a thousand tasks to a million.

The tasks are put there by SQL, as copies of two that the store itself wrote: one that has ended,
and, for each hundred of those, one that waits in line.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Awaitable, Callable

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from benchmarks.filling import fill, owner
from benchmarks.results import Row
from benchmarks.rounds import Bench
from benchmarks.subjects import OURS

TRIES = 100
WAITING_EACH = 100
"""One in so many waits."""

OPERATIONS = {
    "create": "create",
    "get": "read one task",
    "list": "list the newest 50 of one owner",
    "claim": "claim 8",
}


def row(operation: str, kept: int) -> Row:
    """The row of one operation among so many tasks."""
    words = f"{OPERATIONS[operation]}, {kept:,} tasks kept".replace(",000,000", " million")
    return Row(name=f"{operation}_{kept}", words=words, unit="ms")


async def measure(bench: Bench) -> None:
    """Both stores, each filled further and further."""
    bench.declare(*(row(one, kept) for one in OPERATIONS for kept in bench.size.kept))
    for column in OURS:
        if column in bench.subjects.missing:
            continue
        url = bench.subjects.new_place(column)
        async with open_store(url) as store:
            ended = await store.create(task(worker="w"))
            done = ev.Completed(generation=1, result={"content": [{"type": "text", "text": "x"}]})
            await store.append(ended.task_id, done, AT)
            waiting = await store.create(task(tool="waits"))
        there = 0
        for kept in bench.size.kept:
            began = time.monotonic()
            more = kept - there
            fill(url, ended.task_id, more - more // WAITING_EACH)
            fill(url, waiting.task_id, more // WAITING_EACH)
            there = kept
            async with open_store(url) as store:
                for operation, seconds in (await _timed(store)).items():
                    for each in seconds:
                        bench.results.add(column, {row(operation, kept).name: each * 1e3})
            bench.say(f"{column} with {kept:,} tasks ({time.monotonic() - began:.0f} s)")


async def _timed(store: Store) -> dict[str, list[float]]:
    """Some batches of each; the medians of each batch, in seconds."""
    numbers = itertools.count()
    newest: list[str] = []

    async def create() -> None:
        newest.append((await store.create(task(owner=owner(next(numbers))))).task_id)

    async def get() -> None:
        await store.get(newest[next(numbers) % len(newest)])

    async def find() -> None:
        await store.find(owner=owner(next(numbers)), limit=50)

    async def claim() -> None:
        await store.claim(worker="w", tools=["waits"], at_ms=AT, until_ms=AT + 10**9, limit=8)

    operations: dict[str, Callable[[], Awaitable[None]]] = {
        "create": create,
        "get": get,
        "list": find,
        "claim": claim,
    }
    return {
        name: [await _median(act, TRIES if name != "claim" else 1) for _ in range(3)]
        for name, act in operations.items()
    }


async def _median(act: Callable[[], Awaitable[None]], tries: int) -> float:
    took: list[float] = []
    for _ in range(tries):
        began = time.perf_counter()
        await act()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
