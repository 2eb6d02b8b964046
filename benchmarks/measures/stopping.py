"""How long after a cancel the work has really stopped, for each kind of body."""

from __future__ import annotations

import statistics
import time
from contextlib import AsyncExitStack

import anyio

from benchmarks.results import Row, Samples, Target
from benchmarks.rounds import Bench
from benchmarks.stops import GRACE_SECONDS, SHAPES, stopping
from benchmarks.subjects import OURS, PEERS
from benchmarks.wire import connected

HERE = Target(words="< 10 ms in process", most=10)
THERE = Target(words="< 100 ms across processes", most=100)

AFTER_SECONDS = {"busy": GRACE_SECONDS, "deaf": 2 * GRACE_SECONDS}
"""When a child process is killed that does not stop by itself: its grace, once or twice."""

PEERS_SAY = {"async": "see above", "thread": "goes on", "process": "none offered"}
"""What the peer does with each kind: a thread is not told, and runs on to its end."""

BY_HTTP = Row(name="stop_http", words="tasks/cancel to coroutine stopped", unit="ms")

PATIENCE_SECONDS = 30


def row(shape: str, way: str) -> Row:
    """The row of one kind of body, stopped from this process or from another."""
    words, _, run_in = SHAPES[shape]
    place = "same process" if way == "here" else "another process"
    if shape in AFTER_SECONDS:
        most = AFTER_SECONDS[shape] * 1000 + 200
        targets = (Target(words=f"< {most:.0f} ms: the grace and 200 ms", most=most),)
    else:
        # A child is another process than the worker's, whoever asks.
        targets = (THERE,) if way == "there" or run_in == "process" else (HERE,)
    return Row(
        name=f"stop_{shape}_{way}",
        words=f"stop from the {place}: {words}".replace("the another", "another"),
        unit="ms",
        targets=targets,
    )


async def measure(bench: Bench) -> None:
    """By the store, as a replica and its worker do; and over HTTP, as the peer can, too."""
    columns = [key for key in OURS if key in bench.subjects.keys]
    rows = {(shape, way): row(shape, way) for shape in SHAPES for way in ("here", "there")}
    bench.declare(BY_HTTP, *rows.values())
    for key in PEERS:
        for (shape, _), one in rows.items():
            bench.results.said[one.name, key] = PEERS_SAY[SHAPES[shape][2]]
    async with AsyncExitStack() as opened:
        workers = {
            key: await opened.enter_async_context(stopping(bench.subjects.new_place(key)))
            for key in columns
        }
        for (shape, way), one in rows.items():
            times = max(1, bench.size.stops // (4 if SHAPES[shape][2] == "process" else 1))

            async def sample(
                column: str,
                shape: str = shape,
                way: str = way,
                name: str = one.name,
                n: int = times,
            ) -> Samples:
                took = [await workers[column].stop(shape, way) for _ in range(n)]
                return {name: statistics.median(took)}

            rounds = 1 if shape in AFTER_SECONDS else 3
            await bench.rounds(one.words, columns, sample, rounds=rounds)
    await _by_http(bench)


async def _by_http(bench: Bench) -> None:
    keys = bench.subjects.keys
    async with AsyncExitStack() as opened:
        servers = {key: opened.enter_context(bench.subjects.started(key)) for key in keys}
        tags = iter(range(10**6))

        async def sample(column: str) -> Samples:
            took: list[float] = []
            async with connected(servers[column].url) as to:
                for _ in range(bench.size.stops):
                    tag = f"stop-{next(tags)}"
                    task = await to.call("sleeper", tag=tag)
                    await anyio.sleep(0.15)  # the peer picks work up every 50 ms
                    began = time.monotonic_ns()
                    await to.cancel(task["taskId"])
                    with anyio.fail_after(PATIENCE_SECONDS):
                        stamp = b"null"
                        while stamp == b"null":
                            await anyio.sleep(0.002)
                            stamp = await to.post(f"/stamps/{tag}", b"")
                    took.append((int(stamp) - began) / 1e6)
            return {BY_HTTP.name: statistics.median(took)}

        await bench.rounds(BY_HTTP.words, keys, sample, rounds=3)
