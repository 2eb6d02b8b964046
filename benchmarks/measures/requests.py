"""What clients ask most: creating a task, looking at one, and a whole life from end to end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from benchmarks.load import Load, closed_loop
from benchmarks.results import BARE, Row, Samples, Target
from benchmarks.rounds import Bench
from benchmarks.subjects import PEER, SQLITE, Subject
from benchmarks.wire import Connection, connected, request

CALLERS = 32
LOOKERS = 16
POLL_SECONDS = 0.02

FOUR_TIMES = Target(words="≥ 4 × the peer in memory", against=PEER, least=4)
THREE_TIMES = Target(words="≥ 3 × the peer in memory", against=PEER, least=3)
THRICE_BARE = Target(words="≤ 3 × the bare route", against=BARE, most=3)

CREATES = Row(name="creates", words=f"creates, {CALLERS} callers", unit="/s", targets=(FOUR_TIMES,))
CREATE_CPU = Row(name="create_cpu", words="  CPU of one, with its body's run", unit="ms")
CREATE_ALONE = Row(name="create_alone", words="create, 1 caller, median", unit="ms")
WHOLE = Row(name="whole", words=f"whole tasks, {CALLERS} callers", unit="/s", targets=(FOUR_TIMES,))
WHOLE_CPU = Row(name="whole_cpu", words="  CPU of one", unit="ms")


def gets(status: str) -> tuple[Row, Row]:
    """The rows of looking at tasks in one status."""
    words = f"tasks/get, {status}, {LOOKERS} callers"
    return (
        Row(name=f"get_{status}", words=words, unit="/s", targets=(THREE_TIMES,)),
        Row(name=f"get_{status}_cpu", words="  CPU of one", unit="ms", targets=(THRICE_BARE,)),
    )


async def measure(bench: Bench) -> None:
    """All of them, each server kept open for its turns."""
    working, completed = gets("working"), gets("completed")
    bench.declare(CREATES, CREATE_CPU, CREATE_ALONE, *working, *completed, WHOLE, WHOLE_CPU)
    keys = bench.subjects.keys
    async with AsyncExitStack() as open_servers:
        servers = {key: open_servers.enter_context(bench.subjects.started(key)) for key in keys}
        sampling = _Sampling(bench, servers)
        async with AsyncExitStack() as sleeping:
            for key, server in servers.items():
                ids = await sleeping.enter_async_context(_sleeping(server, bench.size.tasks))
                sampling.asleep[key] = ids
            await bench.rounds("tasks/get of working tasks", [BARE, *keys], sampling.working)
        await bench.rounds("tasks/get of completed tasks", [BARE, *keys], sampling.completed)
        await bench.rounds("creates", [BARE, *keys], sampling.creates)
        await bench.rounds("creates of one caller", keys, sampling.creates_alone)
        await bench.rounds("whole tasks", keys, sampling.whole)


class _Sampling:
    def __init__(self, bench: Bench, servers: dict[str, Subject]) -> None:
        self._size = bench.size
        self._servers = servers
        self.asleep: dict[str, list[str]] = {}
        self._done: dict[str, list[str]] = {}

    async def working(self, column: str) -> Samples:
        """Looks at tasks that work, or wait for a place: they read the same."""
        rate, cpu = gets("working")
        if column == BARE:
            load = await self._bare(LOOKERS)
            return {rate.name: load.per_second, cpu.name: load.cpu_ms}
        load = await self._looks(self._servers[column], self.asleep[column])
        return {rate.name: load.per_second, cpu.name: load.cpu_ms}

    async def completed(self, column: str) -> Samples:
        """Looks at tasks with a small result."""
        rate, cpu = gets("completed")
        if column == BARE:
            load = await self._bare(LOOKERS)
            return {rate.name: load.per_second, cpu.name: load.cpu_ms}
        server = self._servers[column]
        if column not in self._done:
            async with connected(server.url) as to:
                called = [await to.call("noop", n=n) for n in range(self._size.tasks)]
                self._done[column] = ids = [one["taskId"] for one in called]
                for task_id in ids:
                    await to.ended(task_id)
        load = await self._looks(server, self._done[column])
        return {rate.name: load.per_second, cpu.name: load.cpu_ms}

    async def creates(self, column: str) -> Samples:
        """Tasks that end at once; their bodies run meanwhile."""
        if column == BARE:
            load = await self._bare(CALLERS)
            return {CREATES.name: load.per_second, CREATE_CPU.name: load.cpu_ms}
        server, last = self._servers[column], ""

        async def create(to: Connection, number: int) -> None:
            nonlocal last
            last = (await to.call("noop", n=number))["taskId"]

        load = await closed_loop(server, CALLERS, self._size.seconds, create)
        async with connected(server.url) as to:
            await to.ended(last)
        return {CREATES.name: load.per_second, CREATE_CPU.name: load.cpu_ms}

    async def creates_alone(self, column: str) -> Samples:
        """One after the other."""
        load = await closed_loop(
            self._servers[column], 1, self._size.seconds / 2, lambda to, n: to.call("noop", n=n)
        )
        return {CREATE_ALONE.name: load.p50_ms}

    async def whole(self, column: str) -> Samples:
        """Created, polled every 20 ms, ended, its result in hand."""

        async def live(to: Connection, number: int) -> None:
            task = await to.call("noop", n=number)
            await to.ended(task["taskId"], POLL_SECONDS)

        load = await closed_loop(self._servers[column], CALLERS, self._size.seconds, live)
        return {WHOLE.name: load.per_second, WHOLE_CPU.name: load.cpu_ms}

    async def _looks(self, server: Subject, ids: list[str]) -> Load:
        return await closed_loop(
            server, LOOKERS, self._size.seconds, lambda to, i: to.get(ids[i % len(ids)])
        )

    async def _bare(self, callers: int) -> Load:
        body, headers = request("tasks/get", {"taskId": "0" * 32}, "0" * 32)
        server = self._servers.get(SQLITE) or next(iter(self._servers.values()))
        return await closed_loop(
            server, callers, self._size.seconds, lambda to, _: to.post("/bare", body, headers)
        )


@asynccontextmanager
async def _sleeping(server: Subject, count: int) -> AsyncGenerator[list[str]]:
    """So many tasks that work for as long as the block; then they are stopped."""
    async with connected(server.url) as to:
        ids = [(await to.call("sleeper", tag=f"look-{n}"))["taskId"] for n in range(count)]
    yield ids
    async with connected(server.url) as to:
        for task_id in ids:
            await to.cancel(task_id)
        for task_id in ids:
            await to.ended(task_id)
