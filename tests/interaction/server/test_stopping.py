"""`tasks/cancel`: what really stops, when the status says so, and how that is known."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from awhile import Run
from awhile.stores.contract import TaskStore
from awhile.tasks import StoppedHow, TaskRecord
from tests.interaction.server import children
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import QUESTION, Json, Peer, run_facts, until

pytestmark = pytest.mark.anyio

NOT_YET = "Stop asked; the work has not stopped yet."


async def test_a1_an_async_body_has_stopped_before_its_task_says_cancelled(app: App) -> None:
    """Ours: field case A1, shape one. The counter of side effects stands still."""
    ticks, ended = 0, anyio.Event()

    @app.tool(task_support="required")
    async def tick() -> str:
        nonlocal ticks
        try:
            while True:
                ticks += 1
                await anyio.sleep(0.001)
        finally:
            ended.set()

    async with app.serving() as peer:
        task_id = await peer.start("tick")
        await until(lambda: ticks > 3, "the work has effects")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
        assert ended.is_set()
        before = ticks
        await peer.get(task_id)
        assert ticks == before
    assert task["status"] == "cancelled"
    assert task["statusMessage"].startswith("Cancelled: the work ended ")
    assert run_facts(task)["stoppedHow"] == StoppedHow.COROUTINE_ENDED


@pytest.mark.parametrize("body", ["tick", "deaf", "until_told"])
async def test_a1_a_child_process_is_gone_before_its_task_says_cancelled(
    app: App, tmp_path: Path, body: str
) -> None:
    """Ours: field case A1, shape three: cooperative, ended by SIGTERM, killed."""
    app.tool(run_in="process", task_support="required", grace_seconds=0.1)(getattr(children, body))
    effects = tmp_path / "effects"

    async with app.serving() as peer:
        task_id = await peer.start(body, path=str(effects))
        await until(lambda: effects.exists() and "x" in effects.read_text(), "it has effects")
        pid = int(effects.read_text().splitlines()[0])
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
        assert not psutil.pid_exists(pid)
        size = effects.stat().st_size
        await peer.get(task_id)
        assert effects.stat().st_size == size
    assert task["status"] == "cancelled"
    assert task["statusMessage"].startswith("Cancelled: its process ended ")
    assert run_facts(task)["stoppedHow"] == StoppedHow.PROCESS_ENDED


async def test_a_child_that_had_its_result_when_it_was_told_has_completed(
    app: App, tmp_path: Path
) -> None:
    """Ours: a normal return is a result, whenever it comes."""
    app.tool(run_in="process", task_support="required", grace_seconds=10)(children.almost_done)
    effects = tmp_path / "effects"

    async with app.serving() as peer:
        task_id = await peer.start("almost_done", path=str(effects))
        await until(lambda: effects.exists() and "x" in effects.read_text(), "it is ready")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert task["status"] == "completed"
    assert task["statusMessage"] == "Finished. The stop that was asked for came too late."
    assert task["result"]["content"][0]["text"] == "finished anyway"


async def test_a1_a_thread_that_checks_its_run_stops(app: App) -> None:
    """Ours: field case A1, shape two; design decision 4."""

    @app.tool(run_in="thread", task_support="required")
    def work(run: Run) -> str:
        run.report(0, None, "running")
        while not run.wait(60):
            pass
        run.check()
        raise AssertionError

    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.until(task_id, lambda task: task["statusMessage"] == "running")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert task["status"] == "cancelled"
    assert task["statusMessage"].startswith("Cancelled: its thread returned ")
    assert run_facts(task)["stoppedHow"] == StoppedHow.THREAD_RETURNED


async def test_a_thread_that_ignores_its_run_stays_working_until_it_returns(app: App) -> None:
    """Ours: design decision 4: an intent is no fact, and a normal return is a result."""
    go = threading.Event()

    @app.tool(run_in="thread", task_support="required")
    def work() -> str:
        go.wait()
        return "the whole result"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.cancel(task_id)
        task = await peer.until(task_id, lambda one: one["statusMessage"] == NOT_YET)
        assert task["status"] == "working"
        assert "cancelAskedAt" in run_facts(task)
        assert "stoppedAt" not in run_facts(task)
        go.set()
        task = await peer.ended(task_id)
    assert task["status"] == "completed"
    assert task["statusMessage"] == "Finished. The stop that was asked for came too late."
    assert task["result"]["content"][0]["text"] == "the whole result"


async def test_a_thread_that_cannot_be_stopped_is_said_to_run_on(app: App) -> None:
    """Ours: after the give-up time; the later proof changes the facts in `_meta`, nothing else."""
    crowded = App(app.store, slots=1)
    go, reporting = threading.Event(), threading.Event()

    @crowded.tool(run_in="thread", task_support="required", give_up_seconds=0.1)
    def work(run: Run) -> str:
        while not go.wait(0.01):  # it even goes on reporting
            run.report(None, None, "still at it")
            reporting.set()
        return "nobody waits for this"

    async with crowded.serving() as peer:
        task_id = await peer.start("work")
        await until(reporting.is_set, "it runs")
        await peer.cancel(task_id)
        given_up = await peer.ended(task_id)
        assert given_up["status"] == "cancelled"
        assert "could not be stopped" in given_up["statusMessage"]
        assert run_facts(given_up)["stoppedHow"] == StoppedHow.NOT_STOPPED
        assert "stoppedAt" not in run_facts(given_up)
        queued = await peer.start("work")  # its place stays counted
        assert (await peer.get(queued))["statusMessage"] == "Waiting to start: 1st in line."
        await peer.cancel(queued)
        go.set()
        proven = await peer.until(task_id, lambda task: "stoppedAt" in run_facts(task))
    assert "result" not in proven
    for name in ("status", "statusMessage", "lastUpdatedAt", "ttlMs"):
        assert proven[name] == given_up[name]
    assert run_facts(proven)["stoppedHow"] == StoppedHow.THREAD_RETURNED


async def test_a_body_that_swallows_the_stop_and_returns_has_completed(app: App) -> None:
    """Ours: a result is never thrown away."""

    @app.tool(task_support="required")
    async def stubborn(run: Run) -> str:
        run.report(0, None, "running")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return "finished after all"
        raise AssertionError

    async with app.serving() as peer:
        task_id = await peer.start("stubborn")
        await peer.until(task_id, lambda task: task["statusMessage"] == "running")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert task["status"] == "completed"
    assert task["result"]["content"][0]["text"] == "finished after all"


async def test_a_hook_that_proves_the_stop_is_believed(app: App) -> None:
    """Ours: how it is known that an engine's work has stopped."""
    engine = Engine()

    @app.tool(run_in="thread", task_support="required")
    def query(run: Run) -> str:
        run.on_cancel(engine.interrupt_and_confirm)
        return engine.execute()

    async with app.serving() as peer:
        task = await _cancelled(peer, "query", engine.executing)
    assert task["status"] == "cancelled"
    assert task["statusMessage"].startswith("Cancelled: confirmed by the engine ")
    assert run_facts(task)["stoppedHow"] == StoppedHow.ENGINE_CONFIRMED


async def test_a_hook_that_only_interrupts_still_ends_as_cancelled(app: App) -> None:
    """Ours: the error of the interrupted driver is the stop, not a failure of the tool."""
    engine = Engine()

    @app.tool(run_in="thread", task_support="required")
    def query(run: Run) -> str:
        run.on_cancel(engine.interrupt)
        return engine.execute()

    async with app.serving() as peer:
        task = await _cancelled(peer, "query", engine.executing)
    assert task["status"] == "cancelled"
    assert run_facts(task)["stoppedHow"] == StoppedHow.THREAD_RETURNED


async def test_a_hook_that_raises_keeps_no_other_from_stopping_the_work(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the failure is logged; whether the work stopped is learned from the work."""
    engine = Engine()

    def broken() -> None:
        raise ConnectionError("the warehouse is not reachable")

    @app.tool(run_in="thread", task_support="required")
    def query(run: Run) -> str:
        run.on_cancel(broken)
        run.on_cancel(engine.interrupt)
        return engine.execute()

    async with app.serving() as peer:
        task = await _cancelled(peer, "query", engine.executing)
    assert task["status"] == "cancelled"
    assert "An on_cancel hook failed" in caplog.text


async def test_an_async_hook_is_awaited(app: App) -> None:
    """Ours: an external job is cancelled by its own client."""
    job, called = threading.Event(), anyio.Event()

    async def cancel_job() -> StoppedHow:
        called.set()
        job.set()
        return StoppedHow.ENGINE_CONFIRMED

    @app.tool(run_in="thread", task_support="required")
    def work(run: Run) -> str:
        run.on_cancel(cancel_job)
        run.report(0, None, "running")
        job.wait()
        run.check()
        raise AssertionError

    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.until(task_id, lambda task: task["statusMessage"] == "running")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert called.is_set()
    assert run_facts(task)["stoppedHow"] == StoppedHow.ENGINE_CONFIRMED


async def test_what_is_cancelled_while_it_waits_for_a_place_never_runs(app: App) -> None:
    """Ours: it is cancelled at once, and says that it never started."""
    crowded = App(app.store, slots=1)
    started: list[str] = []
    go = anyio.Event()

    @crowded.tool(task_support="required")
    async def work(name: str) -> str:
        started.append(name)
        await go.wait()
        return name

    async with crowded.serving() as peer:
        first = await peer.start("work", name="first")
        second = await peer.start("work", name="second")
        third = await peer.start("work", name="third")
        await peer.cancel(second)
        task = await peer.get(second)
        assert task["status"] == "cancelled"
        assert task["statusMessage"] == "Cancelled before it started."
        assert run_facts(task)["stoppedHow"] == StoppedHow.NEVER_STARTED
        go.set()
        await peer.ended(first)
        await peer.ended(third)
    assert started == ["first", "third"]


async def test_a4_a_cancel_of_an_ended_task_changes_nothing(app: App) -> None:
    """Ours: field case A4: complete, then cancel three times."""

    @app.tool(task_support="required")
    async def work(how: str) -> str:
        if how == "failed":
            raise ValueError("no")
        return how

    async with app.serving() as peer:
        for how in ("completed", "failed"):
            task_id = await peer.start("work", how=how)
            before = await peer.ended(task_id)
            for _ in range(3):
                acknowledged = await peer.cancel(task_id)
                assert acknowledged["resultType"] == "complete"
            assert await peer.get(task_id) == before
            kinds = [one.kind for one in await app.tasks.store.history(task_id)]
            assert kinds.count("CancelAsked") == 0


async def test_a_second_cancel_changes_nothing(app: App) -> None:
    """Ours: the first asking is the one that counts."""
    go = threading.Event()

    @app.tool(run_in="thread", task_support="required")
    def work() -> str:
        go.wait()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.cancel(task_id)
        before = await peer.get(task_id)
        await peer.cancel(task_id)
        assert await peer.get(task_id) == before
        go.set()
        await peer.ended(task_id)


async def test_a_task_that_waits_for_an_answer_can_be_cancelled(app: App) -> None:
    """Ours: the question goes away with it."""

    @app.tool(task_support="required")
    async def ask(run: Run) -> str:
        await run.ask(QUESTION)
        raise AssertionError

    async with app.serving() as peer:
        task_id = await peer.start("ask")
        await peer.until(task_id, lambda task: task["status"] == "input_required")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert task["status"] == "cancelled"
    assert "inputRequests" not in task


async def test_a5_a_cancel_at_the_very_end_gives_one_ending_and_no_traceback(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: field case A5: a hundred and twenty works that end in the instant of their cancel."""
    many = App(app.store, slots=200)
    ids: list[str] = []
    go = anyio.Event()

    @many.tool(task_support="required")
    async def work() -> str:
        await go.wait()
        return "done"

    async def start(peer: Peer) -> None:
        ids.append(await peer.start("work"))

    async with many.serving() as peer:
        async with anyio.create_task_group() as group:
            for _ in range(120):
                group.start_soon(start, peer)
        async with anyio.create_task_group() as group:
            for number, task_id in enumerate(ids):
                group.start_soon(peer.cancel, task_id)
                if number == len(ids) // 2:
                    group.start_soon(_set, go)
        store = many.tasks.store
        async with store.watch() as watch:
            while live := [one for one in await records(store) if not one.status.ended]:
                assert await watch.wait(10), f"still live: {len(live)}"
        statuses = {one.status for one in await records(store)}
        histories = [[one.kind for one in await store.history(task_id)] for task_id in ids]
    assert len(ids) == 120
    assert statuses <= {"completed", "cancelled"}
    for kinds in histories:
        assert sum(kind in {"Completed", "Stopped", "Failed"} for kind in kinds) == 1
        assert kinds[-1] in {"Completed", "Stopped"}
    assert "Traceback" not in caplog.text
    assert [one for one in caplog.records if one.levelname in {"ERROR", "CRITICAL"}] == []


async def records(store: TaskStore) -> Sequence[TaskRecord]:
    return await store.find(owner="anonymous", limit=1000)


class Engine:
    """Stands in for a database driver: blocks in a thread, and can be interrupted from another."""

    def __init__(self) -> None:
        self.executing = threading.Event()
        self._interrupted = threading.Event()

    def execute(self) -> str:
        self.executing.set()
        self._interrupted.wait()
        raise InterruptedError("the query was interrupted")

    def interrupt(self) -> None:
        self._interrupted.set()

    def interrupt_and_confirm(self) -> StoppedHow:
        self._interrupted.set()
        return StoppedHow.ENGINE_CONFIRMED


async def _cancelled(peer: Peer, tool: str, running: threading.Event, **arguments: Any) -> Json:
    task_id = await peer.start(tool, **arguments)
    await until(running.is_set, "it runs")
    await peer.cancel(task_id)
    return await peer.ended(task_id)


async def _set(event: anyio.Event) -> None:
    event.set()
