"""`Run.once` and ``stop``: done once for all attempts, and stopped whatever became of the body."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from awhile.errors import Fenced
from awhile.runtime.bodies import ChildRun, RunIn, perform
from awhile.runtime.ending import CannotNote, Returned, StopAsked
from awhile.runtime.journal import Entry, idempotency_key
from awhile.runtime.run import Run
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import Lease, Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.tasks.state import MAX_NOTES
from tests.machine.runtime.conftest import PATIENCE_SECONDS, Bodies, Shop, returned, row

pytestmark = pytest.mark.anyio


class Warehouse:
    """Somewhere else: it knows its jobs by idempotency key, and takes each key once."""

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}
        self.calls = 0
        self.stopped: list[str] = []
        self.done = threading.Event()
        self.submitted = threading.Event()

    def submit(self, key: str) -> str:
        self.calls += 1
        self.submitted.set()
        return self.jobs.setdefault(key, f"job-{len(self.jobs) + 1}")

    async def submit_async(self, key: str) -> str:
        return self.submit(key)

    def stop(self, journal: Mapping[str, Entry]) -> StoppedHow:
        for entry in journal.values():
            self.stopped.append(entry.outcome if entry.done else entry.idempotency_key)
        self.done.set()
        return StoppedHow.ENGINE_CONFIRMED


def in_place(function: Callable[..., Any], run_in: RunIn) -> Callable[[Run], Any]:
    """A body that runs the function as its author declared it."""

    async def body(run: Run) -> Returned:
        value = await perform(function, {"run": run}, run=run, run_in=run_in, grace_seconds=1)
        return returned(value=value)

    return body


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what a thread does, for a bounded time."""
    with anyio.fail_after(10):
        while not happened():  # noqa: ASYNC110 - no event of the loop's
            await anyio.sleep(0.01)


def lost(tool: str, **more: Any) -> TaskRecord:
    """A task whose worker has vanished just now."""
    now = wall_clock_ms()
    return row(tool, lease=Lease(worker="gone", until_ms=now), **more)()


# --- once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("run_in", ["async", "thread"])
async def test_what_was_done_once_is_there_for_the_next_attempt(shop: Shop, run_in: RunIn) -> None:
    """Ours: a re-run reattaches to the job instead of submitting it again."""
    warehouse = Warehouse()

    async def body(run: Run) -> str:
        return await run.once("job", warehouse.submit_async)

    def blocking(run: Run) -> str:
        return run.once("job", warehouse.submit)

    program = Bodies(report=in_place(body if run_in == "async" else blocking, run_in))
    one = lost("report", max_attempts=2)
    await shop.store.create(one)
    noted = ev.Noted(generation=1, key="job", outcome="job-of-the-first-attempt")
    await shop.store.append(one.task_id, noted, one.created_at_ms)
    async with shop.working(program) as worker:
        again = await shop.store.ended(one.task_id)
        fresh = await shop.store.ended(await shop.submit(worker, program, "report"))
    assert again.result == {"value": "job-of-the-first-attempt"}
    assert (fresh.result, warehouse.calls) == ({"value": "job-1"}, 1)
    assert fresh.journal["job"].outcome == "job-1"
    assert list(warehouse.jobs) == [idempotency_key(fresh.task_id, "job")]


async def test_an_outcome_is_stored_before_once_returns_and_begun_before_it_is_called(
    shop: Shop,
) -> None:
    """Ours: whatever dies at whatever moment, a stop can reach what may have come about."""
    seen: list[Any] = []

    async def body(run: Run) -> Returned:
        async def look(_key: str) -> int:
            seen.append((await shop.store.get(run.id or "")).journal["n"])  # type: ignore[union-attr]
            return 7

        await run.once("n", look)
        seen.append((await shop.store.get(run.id or "")).journal["n"])  # type: ignore[union-attr]
        return returned()

    program = Bodies(body=body)
    async with shop.working(program) as worker:
        await shop.store.ended(await shop.submit(worker, program, "body"))
    assert [(one.done, one.outcome) for one in seen] == [(False, None), (True, 7)]


async def test_what_is_left_behind_by_a_call_that_ended_hears_that_the_run_is_over(
    shop: Shop,
) -> None:
    """Ours: what a body leaves running asks for a row as the body ends."""
    heard: list[BaseException] = []

    async def left(run: Run) -> None:
        with pytest.raises(StopAsked) as late:
            await run.ask({"method": "elicitation/create", "params": {}})
        heard.append(late.value)

    async with anyio.create_task_group() as beside:

        async def leaves(run: Run) -> Returned:
            beside.start_soon(left, run)
            return returned(n=1)

        program = Bodies(leaves=leaves)
        async with shop.working(program) as worker:
            running = await worker.start(leaves, tool="leaves", owner="ada")
            await running.gone.wait()
    assert [str(one) for one in heard] == ["This run is over, and never became a task."]


async def test_what_is_left_asking_by_a_body_that_lost_its_row_waits_for_nobody(
    shop: Shop, tmp_path: Path
) -> None:
    """Ours: it waited for ever, with all that its run was."""
    over = anyio.Event()

    async def left(run: Run) -> None:
        with pytest.raises(StopAsked, match="The task ended before its question was answered"):
            await run.ask({"method": "elicitation/create", "params": {}})
        over.set()

    async with anyio.create_task_group() as beside:

        async def leaves(run: Run) -> Returned:
            beside.start_soon(left, run)
            await anyio.sleep_forever()
            return returned(n=1)

        program = Bodies(leaves=leaves)
        async with shop.working(program) as worker:
            task_id = await shop.submit(worker, program, "leaves", max_attempts=3)
            record = await shop.store.until(task_id, lambda record: bool(record.inputs))
            elsewhere = threading.Thread(target=_taken_over, args=(tmp_path, record))
            elsewhere.start()
            elsewhere.join()  # this loop stands still meanwhile, so it sees only what came of it
            with anyio.fail_after(PATIENCE_SECONDS):
                await over.wait()


def _taken_over(folder: Path, record: TaskRecord) -> None:
    """What another process does with a task whose worker stood still for too long."""

    async def take_over() -> None:
        async with SqliteStore(folder / "tasks.db") as store:
            lost = ev.Released(generation=record.generation, how=StoppedHow.COROUTINE_ENDED)
            await store.append(record.task_id, lost, wall_clock_ms())
            at_ms = wall_clock_ms()
            [taken] = await store.claim(
                worker="w2", tools=[record.tool], at_ms=at_ms, until_ms=at_ms + 60_000, limit=1
            )
            done = ev.Completed(generation=taken.generation, result={})
            await store.append(taken.task_id, done, at_ms)

    anyio.run(take_over)


async def test_an_inline_call_that_does_something_once_becomes_a_task(shop: Shop) -> None:
    """Ours: there is no other place where it could be noted."""
    warehouse = Warehouse()

    def blocking(run: Run) -> str:
        return run.once("job", warehouse.submit)

    program = Bodies(report=in_place(blocking, "thread"))
    async with shop.working(program) as worker:
        running = await worker.start(program.bodies["report"], tool="report", owner="ada")
        await running.settle(None)
        assert running.asks
        assert warehouse.calls == 0
        assert await worker.keep(running, row("report"))
        assert running.record is not None
        record = await shop.store.ended(running.record.task_id)
    assert record.result == {"value": "job-1"}


@pytest.mark.parametrize("run_in", ["async", "thread"])
async def test_one_key_is_done_once_however_many_ask_at_the_same_time(
    shop: Shop, run_in: RunIn
) -> None:
    """Ours."""
    warehouse = Warehouse()
    got: list[str] = []

    async def body(run: Run) -> None:
        async def ask() -> None:
            got.append(await run.once("job", warehouse.submit_async))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)

    def blocking(run: Run) -> None:
        def ask() -> None:
            got.append(run.once("job", warehouse.submit))

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    program = Bodies(report=in_place(body if run_in == "async" else blocking, run_in))
    async with shop.working(program) as worker:
        await shop.store.ended(await shop.submit(worker, program, "report"))
    assert (got, warehouse.calls) == (["job-1"] * 5, 1)


async def test_what_raised_is_tried_again_under_the_same_idempotency_key(shop: Shop) -> None:
    """Ours: it may have come about all the same."""
    keys: list[str] = []

    def submit(key: str) -> str:
        keys.append(key)
        if len(keys) == 1:
            raise TimeoutError("no answer")
        return "job"

    def blocking(run: Run) -> str:
        with pytest.raises(TimeoutError):
            run.once("job", submit)
        return run.once("job", submit)

    program = Bodies(report=in_place(blocking, "thread"))
    async with shop.working(program) as worker:
        record = await shop.store.ended(await shop.submit(worker, program, "report"))
    assert (record.result, len(set(keys))) == ({"value": "job"}, 1)


async def test_what_cannot_be_noted_is_said(shop: Shop) -> None:
    """Ours."""
    said: list[str] = []

    def blocking(run: Run) -> None:
        outcomes: dict[str, object] = {"set": {1}, "large": "x" * 70_000, "": 1, "k" * 201: 1}
        for key, outcome in outcomes.items():
            with pytest.raises(CannotNote) as refused:
                run.once(key, lambda _, outcome=outcome: outcome)
            said.append(str(refused.value))

        async def later(_key: str) -> None: ...

        with pytest.raises(CannotNote, match="asynchronous"):
            run.once("later", later)
        assert run.once("tuple", lambda _key: (1, 2)) == [1, 2]  # as a later attempt reads it

    program = Bodies(report=in_place(blocking, "thread"))
    async with shop.working(program) as worker:
        record = await shop.store.ended(await shop.submit(worker, program, "report"))
    assert record.status is Status.COMPLETED, record
    assert "Return the id" in said[0]
    assert "Return its id" in said[1]
    assert "1 to 200" in said[2]


async def test_a_key_too_many_is_refused_and_the_body_keeps_its_task(shop: Shop) -> None:
    """Ours: also where all begin at the same time. (The row's refusal counted as a lost lease: the
    body was dropped, run again, and in the end said to have been lost with its server.)"""
    refused: list[str] = []

    async def body(run: Run) -> Returned:
        async def note(number: int) -> None:
            async def submit(_key: str) -> int:
                return number

            try:
                await run.once(f"part {number}", submit)
            except CannotNote as error:
                refused.append(str(error))

        async with anyio.create_task_group() as parts:
            for number in range(MAX_NOTES + 5):
                parts.start_soon(note, number)
        return returned(value=len(refused))

    program = Bodies(report=body)
    async with shop.working(program) as worker:
        record = await shop.store.ended(await shop.submit(worker, program, "report"))
    assert (record.status, record.result) == (Status.COMPLETED, {"value": 5})
    assert len(record.journal) == MAX_NOTES
    assert "Note the batch" in refused[0]


async def test_a_worker_that_lost_its_task_notes_nothing_and_its_body_is_dropped(
    shop: Shop,
) -> None:
    """Ours: the other worker's attempt is the one that counts."""
    fenced: list[BaseException] = []

    def blocking(run: Run) -> None:
        def submit(_key: str) -> str:
            threading.Event().wait(0)
            anyio.from_thread.run(take_over, run.id or "")
            return "job of the late"

        try:
            run.once("job", submit)
        except (Fenced, StopAsked) as error:
            fenced.append(error)
            raise

    async def take_over(task_id: str) -> None:
        before = await shop.store.get(task_id)
        assert before is not None
        released = ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED)
        await shop.store.append(task_id, released, wall_clock_ms())
        claimed = ev.Claimed(worker="other", until_ms=wall_clock_ms() + 60_000)
        await shop.store.append(task_id, claimed, wall_clock_ms())

    warehouse = Warehouse()
    program = Bodies(report=in_place(blocking, "thread"))
    program.stops["report"] = warehouse.stop
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report", max_attempts=2)
        await until(lambda: bool(fenced))
    record = await shop.store.get(task_id)
    assert record is not None
    assert (record.generation, record.journal["job"].done) == (2, False)
    assert warehouse.stopped == []  # what the other worker goes on with is left alone
    await shop.store.append(task_id, ev.Completed(generation=2, result={}), wall_clock_ms())


# --- stop -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("run_in", ["async", "thread"])
async def test_a_stop_reaches_what_a_living_body_has_started(shop: Shop, run_in: RunIn) -> None:
    """Ours."""
    warehouse = Warehouse()

    async def body(run: Run) -> None:
        await run.once("job", warehouse.submit_async)
        await anyio.sleep_forever()

    def blocking(run: Run) -> None:
        run.once("job", warehouse.submit)
        warehouse.done.wait()
        raise ConnectionError("the job was cancelled")

    program = Bodies(report=in_place(body if run_in == "async" else blocking, run_in))
    program.stops["report"] = warehouse.stop
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report")
        await anyio.to_thread.run_sync(warehouse.submitted.wait)
        await shop.store.cancel(task_id)
        record = await shop.store.ended(task_id)
    assert (record.status, record.stopped_how) == (
        Status.CANCELLED,
        StoppedHow.ENGINE_CONFIRMED,
    )
    assert warehouse.stopped[-1] == "job-1"


async def test_nothing_is_begun_after_a_stop_was_asked(shop: Shop) -> None:
    """Ours."""
    warehouse = Warehouse()
    entered = threading.Event()

    def blocking(run: Run) -> None:
        entered.set()
        run.wait(30)
        run.once("job", warehouse.submit)

    program = Bodies(report=in_place(blocking, "thread"))
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report")
        await anyio.to_thread.run_sync(entered.wait)
        await shop.store.cancel(task_id)
        record = await shop.store.ended(task_id)
    assert (record.status, record.journal, warehouse.calls) == (Status.CANCELLED, {}, 0)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("attempts", [1, 3])
async def test_a_stop_asked_after_a_crash_reaches_what_was_started(
    shop: Shop, attempts: int, done: bool
) -> None:
    """Ours: by the job's id or, where the crash came before that was noted, by the idempotency
    key; its body is not run for that, whether it may run again or not."""
    warehouse = Warehouse()

    async def body(_run: Run) -> Returned:
        raise AssertionError("it was asked to stop")

    program = Bodies(report=body)
    program.stops["report"] = warehouse.stop
    one = lost("report", max_attempts=attempts)
    await shop.store.create(one)
    outcome = "job-9" if done else None
    noted = ev.Noted(generation=1, key="job", done=done, outcome=outcome, reachable=True)
    await shop.store.append(one.task_id, noted, one.created_at_ms)
    await shop.store.cancel(one.task_id)
    async with shop.working(program):
        record = await shop.store.ended(one.task_id)
    assert warehouse.stopped == ["job-9" if done else idempotency_key(one.task_id, "job")]
    assert (record.status, record.stopped_how) == (
        Status.CANCELLED,
        StoppedHow.ENGINE_CONFIRMED,
    )
    assert await shop.store.kinds(one.task_id) == [
        "Created", "Noted", "CancelAsked", "Claimed", "Stopped",
    ]  # fmt: skip


async def test_a_stop_that_fails_is_tried_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours."""
    monkeypatch.setattr("awhile.runtime.outside.RETRY_SECONDS", 0)
    calls: list[int] = []

    async def stop(_journal: Mapping[str, Entry]) -> StoppedHow:
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError("not now")
        return StoppedHow.ENGINE_CONFIRMED

    async def body(_run: Run) -> Returned:
        return returned()

    program = Bodies(report=body)
    program.stops["report"] = stop
    one = lost("report")
    await shop.store.create(one)
    noted = ev.Noted(generation=1, key="job", outcome="job-9", reachable=True)
    await shop.store.append(one.task_id, noted, one.created_at_ms)
    await shop.store.cancel(one.task_id)
    async with shop.working(program):
        record = await shop.store.ended(one.task_id)
    assert (len(calls), record.stopped_how) == (3, StoppedHow.ENGINE_CONFIRMED)
    assert "could not be stopped; trying again" in caplog.text


@pytest.mark.parametrize("known", [True, False])
async def test_without_a_proof_the_task_says_that_the_work_may_go_on(
    shop: Shop, known: bool
) -> None:
    """Ours: a ``stop`` that proves nothing, or a tool that has lost its ``stop`` in a deploy."""

    async def stop(_journal: Mapping[str, Entry]) -> None: ...

    async def body(_run: Run) -> Returned:
        return returned()

    program = Bodies(report=body)
    if known:
        program.stops["report"] = stop
    one = lost("report")
    await shop.store.create(one)
    noted = ev.Noted(generation=1, key="job", outcome="job-9", reachable=True)
    await shop.store.append(one.task_id, noted, one.created_at_ms)
    await shop.store.cancel(one.task_id)
    async with shop.working(program):
        record = await shop.store.ended(one.task_id)
    assert record.stopped_how is StoppedHow.NOT_STOPPED
    assert record.status_message == (
        "Cancelled, but the work could not be stopped and may still be having effects."
    )


async def test_a_process_that_stops_leaves_the_job_to_the_one_that_goes_on(shop: Shop) -> None:
    """Ours: a deploy must not cancel a warehouse's job that the next process waits for."""
    warehouse = Warehouse()

    async def body(run: Run) -> Returned:
        job = await run.once("job", warehouse.submit_async)
        if run.attempt == 1 and not warehouse.done.is_set():
            warehouse.done.set()
            await anyio.sleep_forever()
        return returned(job=job)

    program = Bodies(report=body)
    program.stops["report"] = warehouse.stop
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report", max_attempts=3)
        await until(warehouse.done.is_set)
    assert warehouse.stopped == []
    async with shop.working(program):
        record = await shop.store.ended(task_id)
    assert (record.result, warehouse.calls) == ({"job": "job-1"}, 1)


async def test_a_process_that_stops_takes_along_what_nobody_goes_on_with(shop: Shop) -> None:
    """Ours: its task fails, so nobody would ever stop the job."""
    warehouse = Warehouse()

    async def body(run: Run) -> Returned:
        await run.once("job", warehouse.submit_async)
        warehouse.done.set()
        await anyio.sleep_forever()
        return returned()

    program = Bodies(report=body)
    program.stops["report"] = warehouse.stop
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report")
        await until(warehouse.done.is_set)
    record = await shop.store.ended(task_id)
    assert (record.status, warehouse.stopped) == (Status.FAILED, ["job-1"])


# --- the race that lost a stop --------------------------------------------------------------------


async def test_a_stop_asked_while_a_report_is_being_written_is_heard(shop: Shop) -> None:
    """Ours: the report's write came back with the stop in it, and the news of the stop, a change
    not newer than that, told nothing any more."""
    saying = anyio.Event()

    async def body(run: Run) -> Returned:
        run.report(1, 2, "half")
        saying.set()
        await anyio.sleep_forever()
        return returned()

    program = Bodies(report=body)
    append = shop.store.append

    async def after_a_stop(task_id: str, event: Any, at_ms: int) -> TaskRecord:
        if isinstance(event, ev.Reported):
            await append(task_id, ev.CancelAsked(), at_ms)
        return await append(task_id, event, at_ms)

    shop.store.append = after_a_stop  # type: ignore[method-assign]
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report")
        record = await shop.store.ended(task_id)
    assert record.stopped_how is StoppedHow.COROUTINE_ENDED


# --- child processes ------------------------------------------------------------------------------


def in_a_child(folder: str, run: ChildRun) -> str:
    """Submit once, leave a line of it, and wait until told to stop or to go on."""

    def submit(key: str) -> str:
        with (Path(folder) / "submitted").open("a") as lines:
            lines.write(f"{key}\n")
        return "job-1"

    job = run.once("job", submit)
    again = run.once("job", submit)
    while not (Path(folder) / "go").exists() and not run.cancelled.wait(0.01):
        pass
    return f"{job} {again}"


async def test_a_child_process_does_something_once_and_a_stop_reaches_it(
    shop: Shop, tmp_path: Path
) -> None:
    """Ours: its journal is its task's, like any body's."""
    warehouse = Warehouse()

    async def body(run: Run) -> Returned:
        given = {"folder": str(tmp_path)}
        value = await perform(in_a_child, given, run=run, run_in="process", grace_seconds=5)
        return returned(value=value)

    program = Bodies(report=body)
    program.stops["report"] = warehouse.stop
    submitted = tmp_path / "submitted"
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "report", max_attempts=2)
        await until(lambda: submitted.exists() and bool(submitted.read_text()))
        assert submitted.read_text() == f"{idempotency_key(task_id, 'job')}\n"
        (tmp_path / "go").touch()
        record = await shop.store.ended(task_id)
        assert record.result == {"value": "job-1 job-1"}
        assert record.journal["job"].outcome == "job-1"
        (tmp_path / "go").unlink()
        submitted.unlink()
        second = await shop.submit(worker, program, "report")
        await until(submitted.exists)
        await shop.store.cancel(second)
        record = await shop.store.ended(second)
    assert warehouse.stopped[-1:] == ["job-1"]
