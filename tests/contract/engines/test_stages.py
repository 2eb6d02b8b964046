"""Stop means stopped, whatever stage a query is in; and one deadline covers them all.

The witness is the engine's own list of what runs: a server's, or the worker processes' own use of
the processor.
"""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import pytest

from awhile.ask.engines.contract import Budget, Engine, Progress
from awhile.ask.engines.errors import QueryInterrupted
from awhile.ask.engines.parquet import part_of
from tests.contract.engines.cases import EngineCase
from tests.contract.engines.conftest import Runner
from tests.contract.engines.workers import cpu_seconds, workers

pytestmark = pytest.mark.anyio

GRACE_SECONDS = 0.3
PATIENCE_SECONDS = 20
MANY = Budget(rows=10**12, bytes=10**12)
PAIRS = "SELECT a.order_id, b.order_id FROM orders a, orders b"


@dataclass
class Scene:
    """An engine, and what is seen of queries on it."""

    case: EngineCase
    database: str
    folder: Path
    engine: Engine = field(init=False)
    stopped: dict[str, str] = field(default_factory=dict[str, str])
    """How a query has stopped, by the stage it was in."""

    def make(self, database: str) -> Engine:
        return self.case.make(database, side_by_side=1, grace_seconds=GRACE_SECONDS)

    def runner(self, stage: str) -> Runner:
        folder = self.folder / stage.replace(" ", "_")
        folder.mkdir()
        return Runner(self.engine, folder)

    async def cancel(self, stage: str, sql: str, at: Callable[[Runner], Awaitable[object]]) -> None:
        """Cancel a query once `at` has returned; how it has stopped is kept."""
        runner = self.runner(stage)
        async with anyio.create_task_group() as group:
            group.start_soon(runner.run, sql, MANY)
            with anyio.fail_after(PATIENCE_SECONDS):
                await at(runner)
            group.cancel_scope.cancel()
        [(how, seconds)] = runner.stopped
        self.stopped[stage] = how
        assert runner.files() == [], stage
        # Twice the stated time, because this machine may be busy with other things.
        assert seconds < 2 * self.engine.capabilities.stop_within_seconds, stage

    async def nothing_runs(self) -> None:
        """By the server's list, at once; or once the workers' processor time stands still."""
        if self.case.server is not None:
            running = self.case.server.running
            assert await anyio.to_thread.run_sync(running, self.database) == []
            return
        with anyio.fail_after(PATIENCE_SECONDS):
            used = -1.0
            while used != (used := cpu_seconds()):  # noqa: ASYNC110 - bounded
                await anyio.sleep(0.1)


@pytest.fixture
async def scene(case: EngineCase, database: str, tmp_path: Path) -> AsyncGenerator[Scene]:
    folder = tmp_path / "results"
    folder.mkdir()
    scene = Scene(case, database, folder)
    scene.engine = scene.make(database)
    await scene.engine.open()
    yield scene
    await scene.engine.close()


def ready(stage: str, rows: int = 0, seconds: float = 0.0) -> Callable[[Runner], Awaitable[None]]:
    """Until there is a report of that stage, with so many rows, after so long."""

    def seen(at: Progress) -> bool:
        return at.stage == stage and at.rows >= rows and at.elapsed_seconds >= seconds

    return lambda runner: runner.until(seen)


@contextmanager
def frozen() -> Generator[None]:
    """The workers that are there now do nothing, whatever they were doing."""
    there = workers()
    for worker in there:
        worker.suspend()
    try:
        yield
    finally:
        for worker in there:
            with suppress(psutil.NoSuchProcess):
                worker.resume()


@asynccontextmanager
async def nobody_answers(scene: Scene) -> AsyncGenerator[Callable[[Runner], Awaitable[object]]]:
    """What is connected to says nothing: a server's port, or a worker that was just started."""
    if scene.case.server is None:
        with frozen():
            yield ready("waiting")
        return
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_SECONDS)
        here = f"@127.0.0.1:{silent.getsockname()[1]}/"
        opened, scene.engine = scene.engine, scene.make(re.sub("@[^/]+/", here, scene.database))
        kept: list[socket.socket] = []

        async def connected(_: Runner) -> None:
            kept.append((await anyio.to_thread.run_sync(silent.accept))[0])

        try:
            yield connected
        finally:
            await scene.engine.close()
            scene.engine = opened
            for each in kept:
                each.close()


async def test_d1_a_cancel_at_every_stage_stops_the_query_by_the_engines_own_list(
    scene: Scene,
) -> None:
    case = scene.case
    async with anyio.create_task_group() as group:
        occupied = scene.runner("occupying")
        group.start_soon(occupied.run, case.endless["scan"])
        await occupied.until(lambda at: at.stage == "running")
        await scene.cancel("waiting for a place", "SELECT 1", ready("waiting"))
        group.cancel_scope.cancel()
    await scene.nothing_runs()
    async with nobody_answers(scene) as connected:
        await scene.cancel("connecting", "SELECT 1", connected)
    await scene.nothing_runs()
    await scene.runner("between").run("SELECT 1")  # so that it is connected
    with case.held(scene.database):
        await scene.cancel("parsing", case.slow_to_begin, ready("running", seconds=0.2))
        await scene.nothing_runs()
    await scene.cancel("just before execute", case.endless["join"], ready("running"))
    await scene.nothing_runs()
    await scene.cancel("running", case.endless["sort"], ready("running", seconds=0.3))
    await scene.nothing_runs()
    await scene.cancel("fetching", PAIRS, ready("fetching", rows=1))
    await scene.nothing_runs()
    with ExitStack() as stack:

        async def stuck(runner: Runner) -> None:
            """Some of it is on the disk, and then nothing moves."""
            file = anyio.Path(part_of(runner.destination))
            while not await file.exists() or (await file.stat()).st_size < 10_000:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            stack.enter_context(frozen())

        await scene.cancel("writing the result", PAIRS, stuck)
    await scene.nothing_runs()

    stopped = ("engine_confirmed", "process_ended")
    assert scene.stopped.pop("waiting for a place") == "never_started"
    assert [how for how in scene.stopped.values() if how not in stopped] == []
    assert (await scene.runner("afterwards").run("SELECT count(*) FROM orders")).row_count == 1


async def test_d6_the_time_of_a_query_counts_while_it_connects(scene: Scene) -> None:
    """Field case D6; `test_run` has the same of a slow first row, and of slow fetching."""
    runner = scene.runner("connecting")
    async with nobody_answers(scene):
        runner.engine = scene.engine
        with anyio.fail_after(PATIENCE_SECONDS), pytest.raises(QueryInterrupted) as error:
            await runner.run("SELECT 1", Budget(seconds=0.4))
    assert error.value.how == "process_ended"
