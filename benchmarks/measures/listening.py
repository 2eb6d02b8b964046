"""How soon a listener knows: from the body's end to the notification in hand.

The body itself says when it ended, on the clock that all processes of a machine share; so its
result's way to the disk is part of the time.
"""

from __future__ import annotations

import statistics
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio

from benchmarks.results import Row, Samples, Target
from benchmarks.rounds import Bench
from benchmarks.subjects import OURS, PEERS
from benchmarks.wire import Connection

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from benchmarks.subjects import Subject

CHANGES = 10
"""How many tasks end, one after the other, for one sample."""

PATIENCE_SECONDS = 60

TEN_MS = Target(words="< 10 ms at the median", most=10)


def one_of(streams: int) -> Row:
    """One of so many streams is told."""
    words = f"change to listener, {streams:,} {'stream' if streams == 1 else 'streams'} open"
    return Row(name=f"push_{streams}", words=words, unit="ms", targets=(TEN_MS,))


def all_of(streams: int) -> Row:
    """All of so many streams follow one task; the last of them is told."""
    words = f"  the last of {streams:,} that follow one task"
    return Row(name=f"push_all_{streams}", words=words, unit="ms")


async def measure(bench: Bench) -> None:
    """With more and more streams, each on a connection of its own."""
    columns = [key for key in OURS if key in bench.subjects.keys]
    for streams in bench.size.streams:
        bench.declare(one_of(streams), *((all_of(streams),) if streams > 1 else ()))
        for key in PEERS:
            bench.results.said[one_of(streams).name, key] = "none offered"
        async with AsyncExitStack() as servers, anyio.create_task_group() as reading:
            listeners = {
                key: _Listeners(
                    servers.enter_context(bench.subjects.started(key, slots=4000)), streams
                )
                for key in columns
            }
            for one in listeners.values():
                await one.open(reading, bench.size.rounds)

            async def sample(column: str, listeners: dict[str, _Listeners] = listeners) -> Samples:
                return await listeners[column].sample()

            await bench.rounds(f"changes told to {streams:,} streams", columns, sample)
            reading.cancel_scope.cancel()


class _Listeners:
    """So many open streams at one server, and what came by them."""

    def __init__(self, server: Subject, streams: int) -> None:
        self._control = Connection(server.url)
        self._streams = [Connection(server.url) for _ in range(streams)]
        self._own: list[str] = []
        """Of each sample and change a task that one stream follows, by tag."""
        self._shared: list[str] = []
        """Of each sample a task that all follow."""
        self._took: list[float] = []
        self._expected = 0
        self._all_told = anyio.Event()
        self._open = 0
        self._all_open = anyio.Event()

    async def open(self, reading: TaskGroup, samples: int) -> None:
        """Start the tasks and the streams that follow them."""
        follows: list[list[str]] = [[] for _ in self._streams]
        for number in range(samples):
            if len(self._streams) > 1:
                tag = f"shared-{number}"
                self._shared.append(tag)
                task = await self._control.call("teller", tag=tag)
                for one in follows:
                    one.append(task["taskId"])
            for change in range(CHANGES):
                tag = f"own-{number}-{change}"
                self._own.append(tag)
                task = await self._control.call("teller", tag=tag)
                follows[(number * CHANGES + change) % len(follows)].append(task["taskId"])
        idle = await self._control.call("sleeper", tag="idle")
        for stream, task_ids in zip(self._streams, follows, strict=True):
            reading.start_soon(self._read, stream, task_ids or [idle["taskId"]])
        with anyio.fail_after(PATIENCE_SECONDS):
            await self._all_open.wait()

    async def sample(self) -> Samples:
        """Some tasks end that one stream follows, and one that all follow."""
        took = [(await self._end(self._own.pop(), 1))[0] for _ in range(CHANGES)]
        streams = len(self._streams)
        found = {one_of(streams).name: statistics.median(took)}
        if streams > 1:
            found[all_of(streams).name] = max(await self._end(self._shared.pop(), streams))
        return found

    async def _end(self, tag: str, listeners: int) -> list[float]:
        """Let a body end; how many ms later each listener knew."""
        self._took, self._expected, self._all_told = [], listeners, anyio.Event()
        await self._control.post(f"/release/{tag}", b"")
        with anyio.fail_after(PATIENCE_SECONDS):
            await self._all_told.wait()
        return self._took

    async def _read(self, stream: Connection, task_ids: list[str]) -> None:
        try:
            async for message in stream.events(task_ids):
                now = time.monotonic_ns()
                if message["method"] == "notifications/subscriptions/acknowledged":
                    self._open += 1
                    if self._open == len(self._streams):
                        self._all_open.set()
                elif result := message["params"].get("result"):
                    self._took.append((now - result["structuredContent"]["result"]) / 1e6)
                    if len(self._took) == self._expected:
                        self._all_told.set()
        finally:
            stream.close()
