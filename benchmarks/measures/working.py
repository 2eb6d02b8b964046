"""What running work costs: progress, coming back after a crash, memory while nothing happens."""

from __future__ import annotations

import os
import signal
import time
from contextlib import AsyncExitStack

import anyio

from awhile.stores.open import open_store
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from benchmarks.results import Row, Samples
from benchmarks.rounds import Bench
from benchmarks.subjects import OURS, PEER_REDIS, PEERS, Subject
from benchmarks.wire import Connection, Refused, connected

REPORTS = Row(
    name="reports", words="reports of one body (ours: at most 10 a second kept)", unit="/s"
)
WRITES = Row(name="writes", words="progress writes kept, 32 tasks at once", unit="/s")
RECOVERY = Row(
    name="recovery", words="kill -9 to running again, server restarted at once", unit="s"
)
START = Row(name="start", words="  of that, until the server answers again", unit="s")
TASK = Row(name="task_memory", words="memory of an idle running task", unit="KiB")
LISTENER = Row(name="listener_memory", words="memory of an idle listener", unit="KiB")

KILLED_WITH = 20
"""How many tasks run when the server is killed."""


async def measure_progress(bench: Bench) -> None:
    """What a body may report, and what of it the store takes."""
    bench.declare(REPORTS, WRITES)
    keys = bench.subjects.keys
    async with AsyncExitStack() as opened:
        servers = {key: opened.enter_context(bench.subjects.started(key)) for key in keys}

        async def reports(column: str) -> Samples:
            count = 20_000 if column in OURS else 300
            async with connected(servers[column].url) as to:
                made = await to.call("reporter", reports=count)
                ended = await to.ended(made["taskId"])
            return {REPORTS.name: count / ended["result"]["structuredContent"]["result"]}

        await bench.rounds("reports", keys, reports, rounds=3)
    columns = [key for key in OURS if key in keys]
    async with AsyncExitStack() as opened:
        stores = {
            key: await opened.enter_async_context(open_store(bench.subjects.new_place(key)))
            for key in columns
        }
        running = {
            key: [(await store.create(task(worker="w"))).task_id for _ in range(32)]
            for key, store in stores.items()
        }

        async def writes(column: str) -> Samples:
            began, count = time.perf_counter(), 0

            async def write(task_id: str) -> None:
                nonlocal count
                while time.perf_counter() - began < bench.size.seconds:
                    event = ev.Reported(generation=1, done=count, message=f"step {count}")
                    await stores[column].append(task_id, event, AT)
                    count += 1

            async with anyio.create_task_group() as group:
                for task_id in running[column]:
                    group.start_soon(write, task_id)
            return {WRITES.name: count / (time.perf_counter() - began)}

        await bench.rounds("progress writes", columns, writes, rounds=3)


async def measure_recovery(bench: Bench) -> None:
    """Tasks that may run again run again, once their server is back and their lease is over."""
    bench.declare(RECOVERY, START)
    for key in bench.subjects.keys:
        await _recover(bench, key)
        bench.say(f"recovery, {key}")


async def _recover(bench: Bench, key: str) -> None:
    place = bench.subjects.new_place(key)
    with bench.subjects.started(key, place=place) as server:
        async with connected(server.url) as to:
            made = [await to.call("rerun", tag=str(number)) for number in range(KILLED_WITH)]
            if not await _began(server, 30):
                raise RuntimeError(f"{key}: the tasks that were to be killed never ran")
        killed = time.monotonic_ns()
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    with bench.subjects.started(key, place=place) as again:
        async with connected(again.url) as to:
            await to.post("/stamps/none", b"")
            bench.results.add(key, {START.name: (time.monotonic_ns() - killed) / 1e9})
            try:
                await to.get(made[0]["taskId"])
            except Refused:
                bench.results.said[RECOVERY.name, key] = "lost: its id is unknown"
                return
        last = await _began(again, bench.size.recovery_seconds)
    if last:
        bench.results.add(key, {RECOVERY.name: (last - killed) / 1e9})
    else:
        default = " (300 by default)" if key == PEER_REDIS else ""  # its redelivery_timeout
        bench.results.said[RECOVERY.name, key] = f"> {bench.size.recovery_seconds}{default}"


async def _began(server: Subject, seconds: float) -> int | None:
    """When the last of the tasks began, in ns; None: not all of them did, within that time."""
    with anyio.move_on_after(seconds):
        while True:
            lines = [line.split() for line in server.log.read_text().splitlines()]
            if len({line[0] for line in lines}) == KILLED_WITH:
                return max(int(line[1]) for line in lines)
            await anyio.sleep(0.02)
    return None


async def measure_memory(bench: Bench) -> None:
    """What a server's process grows by, with tasks that sleep and listeners that hear nothing."""
    bench.declare(TASK, LISTENER)
    count = bench.size.idle
    for key in PEERS:
        bench.results.said[LISTENER.name, key] = "none offered"
    for key in bench.subjects.keys:
        with bench.subjects.started(key, slots=2 * count) as server:
            async with connected(server.url) as to:
                first = await to.call("sleeper", tag="first")
                for number in range(50):  # what the first ones bring along is not theirs
                    await to.call("noop", n=number)
                await anyio.sleep(1)
                before = server.memory_bytes()
                for number in range(count):
                    await to.call("sleeper", tag=f"idle-{number}")
                await anyio.sleep(1)
                grown = (server.memory_bytes() - before) / count / 1024
                bench.results.add(key, {TASK.name: grown})
                if key in OURS:
                    grown = await _listener_kib(server, first["taskId"], count)
                    bench.results.add(key, {LISTENER.name: grown})
        bench.say(f"memory, {key}")


async def _listener_kib(server: Subject, task_id: str, count: int) -> float:
    before, acknowledged = server.memory_bytes(), 0
    streams = [Connection(server.url) for _ in range(count)]

    async def listen(stream: Connection) -> None:
        nonlocal acknowledged
        async for _ in stream.events([task_id]):
            acknowledged += 1

    grown = 0
    async with anyio.create_task_group() as listening:
        for stream in streams:
            listening.start_soon(listen, stream)
        with anyio.fail_after(60):
            while acknowledged < count:  # noqa: ASYNC110 - they come from another process
                await anyio.sleep(0.05)
        grown = server.memory_bytes() - before
        listening.cancel_scope.cancel()
    for stream in streams:
        stream.close()
    return grown / count / 1024
