"""A closed loop of callers: each asks again as soon as it has been answered."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from benchmarks.subjects import Subject
from benchmarks.wire import Connection

Act = Callable[[Connection, int], Awaitable[object]]
"""One operation on a connection; its number counts up over all callers."""


@dataclass(frozen=True)
class Load:
    """What one sample of a closed loop came to."""

    per_second: float
    p50_ms: float
    cpu_ms: float
    """The server's CPU time for each operation (its children's and its store's not counted)."""


async def closed_loop(subject: Subject, callers: int, seconds: float, act: Act) -> Load:
    """So many callers for so long, each on a connection that is open already."""
    connections = [Connection(subject.url) for _ in range(callers)]
    numbers, took = itertools.count(), list[float]()
    for connection in connections:
        await act(connection, next(numbers))
    cpu_before, began = subject.cpu_seconds(), time.perf_counter()

    async def caller(connection: Connection) -> None:
        while (asked := time.perf_counter()) - began < seconds:
            await act(connection, next(numbers))
            took.append(time.perf_counter() - asked)

    async with anyio.create_task_group() as group:
        for connection in connections:
            group.start_soon(caller, connection)
    elapsed, cpu = time.perf_counter() - began, subject.cpu_seconds() - cpu_before
    for connection in connections:
        connection.close()
    return Load(
        per_second=len(took) / elapsed,
        p50_ms=statistics.median(took) * 1e3,
        cpu_ms=cpu / len(took) * 1e3,
    )
