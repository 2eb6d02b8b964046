"""A worker under what can go wrong around it: races, a failing store, the end of its process."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from awhile.errors import AwhileError, SettingsError, StoreError
from awhile.runtime import running
from awhile.runtime.bodies import perform
from awhile.runtime.ending import Returned
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.tasks import Lease, Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from tests.interaction.server.peer import until
from tests.machine.runtime.conftest import PATIENCE_SECONDS, Bodies, Shop, Store, returned, row

pytestmark = pytest.mark.anyio


async def at_once(_run: Run) -> Returned:
    return returned(n=1)


async def for_ever(_run: Run) -> Returned:
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_task_is_kept_before_submit_returns_and_ends_with_its_result(shop: Shop) -> None:
    """Ours."""
    program = Bodies(quick=at_once)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "quick")
        assert await shop.store.get(task_id) is not None
        record = await shop.store.ended(task_id)
    assert (record.status, record.result) == (Status.COMPLETED, {"n": 1})


async def test_a_task_kept_by_another_process_is_claimed(shop: Shop) -> None:
    """Ours: a replica without a work role only keeps tasks."""
    program = Bodies(quick=at_once)
    async with shop.working(program):
        created = await shop.store.create(row("quick")())
        record = await shop.store.ended(created.task_id)
    assert record.attempt == 1


async def test_a_place_taken_while_the_store_was_claiming_hands_the_task_back(shop: Shop) -> None:
    """Ours: it costs the task no attempt, and it runs once there is a place."""
    program = Bodies(quick=at_once, long=for_ever)
    claiming, go_on = anyio.Event(), anyio.Event()
    claim = shop.store.claim

    async def slowly(**how: Any) -> Any:
        claimed = await claim(**how)
        if claimed and not claiming.is_set():
            claiming.set()
            await go_on.wait()
        return claimed

    shop.store.claim = slowly  # type: ignore[method-assign]
    async with shop.working(program, slots=1) as worker:
        created = await shop.store.create(row("quick")())
        await claiming.wait()
        inline = await worker.start(program.bodies["long"], tool="long", owner="ada")
        go_on.set()
        await shop.store.until(
            created.task_id, lambda one: one.status_message == "Waiting to start again."
        )
        inline.stop()
        record = await shop.store.ended(created.task_id)
    assert record.status is Status.COMPLETED
    assert record.attempt == 1
    assert await shop.store.kinds(created.task_id) == [
        "Created", "Claimed", "Released", "Claimed", "Completed",
    ]  # fmt: skip


async def test_a_task_taken_back_from_the_only_worker_there_runs_again_at_once(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: its worker hears that it is taken while its body is still there, and nothing is told
    of it later; the place that this body gives back is what it is claimed for."""
    monkeypatch.setattr("awhile.runtime.worker.LOOK_SECONDS", 10 * PATIENCE_SECONDS)
    begun = anyio.Event()

    async def stuck_at_first(run: Run) -> Returned:
        if begun.is_set():
            return await at_once(run)
        begun.set()
        return await for_ever(run)

    program = Bodies(stuck=stuck_at_first)
    async with shop.working(program, lease_seconds=60 * PATIENCE_SECONDS):
        created = await shop.store.create(row("stuck", max_attempts=2)())
        await begun.wait()
        taken = ev.TakenBack(by="grace")
        await shop.store.append(created.task_id, taken, wall_clock_ms())
        record = await shop.store.ended(created.task_id)
    assert (record.status, record.result) == (Status.COMPLETED, {"n": 1})


async def test_a_cancel_between_the_claim_and_the_start_is_heard(shop: Shop) -> None:
    """Ours: what was written before the worker knew of its task wakes nobody."""
    program = Bodies(long=for_ever)
    claim = shop.store.claim

    async def cancelled_meanwhile(**how: Any) -> Any:
        claimed = await claim(**how)
        for one in claimed:
            await shop.store.cancel(one.task_id)
        return claimed

    shop.store.claim = cancelled_meanwhile  # type: ignore[method-assign]
    async with shop.working(program):
        created = await shop.store.create(row("long")())
        record = await shop.store.ended(created.task_id)
    assert record.status is Status.CANCELLED


async def test_a_stop_that_could_not_be_read_is_heard_once_the_store_answers(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the store failed when the worker was told of it, and nobody says it a second time."""
    monkeypatch.setattr("awhile.runtime.worker.RETRY_SECONDS", 0.01)
    program = Bodies(long=for_ever)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "long")
        read, failures = shop.store.get, [StoreError("The server is away.")] * 2
        failed = anyio.Event()

        async def get(task_id: str) -> TaskRecord | None:
            if not failures:
                return await read(task_id)
            failure = failures.pop()
            if not failures:
                failed.set()
            raise failure

        with monkeypatch.context() as away:
            away.setattr(shop.store, "get", get)
            await shop.store.cancel(task_id)
            await failed.wait()
            record = await shop.store.ended(task_id)
    assert (record.status, record.stopped_how) == (Status.CANCELLED, StoppedHow.COROUTINE_ENDED)


async def test_a_task_taken_over_before_its_create_was_answered_runs_there_alone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: PostgreSQL was away for longer than the lease, for whoever kept the task."""
    program = Bodies(long=for_ever)
    create = shop.store.create

    async def answered_late(record: TaskRecord, **more: Any) -> TaskRecord:
        made = await create(record, **more)
        late_ms = wall_clock_ms() + 60_000
        [taken] = await shop.store.claim(
            worker="another", tools=["long"], at_ms=late_ms, until_ms=late_ms + 60_000, limit=1
        )
        assert taken.task_id == made.task_id
        return taken

    async with shop.working(program) as worker:
        with monkeypatch.context() as slow:
            slow.setattr(shop.store, "create", answered_late)
            task_id = await shop.submit(worker, program, "long", max_attempts=3)
        assert worker.bodies == 0
        assert worker.free("ada")
        # The call that becomes a task runs already: it is stopped, and says nothing of the task.
        running = await worker.start(for_ever, tool="long", owner="ada")
        with monkeypatch.context() as slow:
            slow.setattr(shop.store, "create", answered_late)
            assert await worker.keep(running, row("long", max_attempts=3))
        with anyio.fail_after(PATIENCE_SECONDS):
            await running.gone.wait()
        assert running.record is not None
        for each in (task_id, running.record.task_id):
            record = await shop.store.get(each)
            assert record is not None
            assert record.lease is not None
            assert (record.lease.worker, record.status) == ("another", Status.WORKING)
            done = ev.Completed(generation=record.generation, result={})
            await shop.store.append(each, done, wall_clock_ms())


async def test_an_answer_is_not_undone_by_an_older_write_that_returns_late(shop: Shop) -> None:
    """Ours: a report is on its way while the answer is read."""
    report = anyio.Event()

    async def asks(run: Run) -> Returned:
        async with anyio.create_task_group() as beside:
            beside.start_soon(_report_once, run, report)
            return returned(answer=await run.ask({"method": "x"}, key="which"))
        raise AssertionError

    program = Bodies(asks=asks)
    let_go = shop.store.held_back[ev.Reported] = anyio.Event()
    written = shop.store.written[ev.Reported] = anyio.Event()
    get = shop.store.get

    async def get_while_the_report_returns(task_id: str) -> TaskRecord | None:
        record = await get(task_id)
        if record is not None and not record.outstanding:
            let_go.set()  # its writer goes on before anybody who waits for the answer
        return record

    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "asks")
        await shop.store.until(task_id, lambda one: one.status is Status.INPUT_REQUIRED)
        report.set()
        await written.wait()
        shop.store.get = get_while_the_report_returns  # type: ignore[method-assign]
        answer = ev.InputAnswered(responses={"which": "this one"})
        await shop.store.append(task_id, answer, wall_clock_ms())
        record = await shop.store.ended(task_id)
    assert record.result == {"answer": "this one"}


async def _report_once(run: Run, when: anyio.Event) -> None:
    await when.wait()
    run.report(1, 2, "still reporting")


async def test_a_body_whose_row_cannot_be_kept_is_still_in_its_callers_hands(shop: Shop) -> None:
    """Ours: `Calls` stops it, because nobody could ever find it."""
    program = Bodies(long=for_ever)
    async with shop.working(program) as worker:
        body = await worker.start(program.bodies["long"], tool="long", owner="ada")
        shop.store.refuses_to_create = True
        with pytest.raises(StoreError):
            await worker.keep(body, row("long"))
        body.stop()
        await body.gone.wait()
        shop.store.refuses_to_create = False
        assert await shop.store.find(owner="ada") == []


async def test_a_place_is_free_again_when_its_task_could_not_be_kept(shop: Shop) -> None:
    """Ours."""
    program = Bodies(quick=at_once)
    async with shop.working(program, slots=1) as worker:
        shop.store.refuses_to_create = True
        with pytest.raises(StoreError):
            await shop.submit(worker, program, "quick")
        shop.store.refuses_to_create = False
        assert worker.free("ada")
        await shop.store.ended(await shop.submit(worker, program, "quick"))


async def test_an_ending_the_store_refuses_is_written_once_it_can_be(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the result is all there is; meanwhile the lease is kept."""
    monkeypatch.setattr(running, "STORE_RETRY_SECONDS", 0.01)
    program = Bodies(quick=at_once)
    shop.store.refused = {ev.Completed}
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "quick")
        await until(lambda: caplog.text.count("An ending could not be written") > 2, "it tries")
        shop.store.refused = set()
        record = await shop.store.ended(task_id)
    assert record.result == {"n": 1}


async def test_a_result_without_a_json_form_ends_its_task_as_failed(shop: Shop) -> None:
    """Ours: trying again would never help, and `working` would be a lie."""

    async def odd(_run: Run) -> Returned:
        return returned(n=float("nan"))

    program = Bodies(odd=odd)
    async with shop.working(program) as worker:
        record = await shop.store.ended(await shop.submit(worker, program, "odd"))
    assert record.status is Status.FAILED
    assert record.status_message is not None
    assert "its result was lost" in record.status_message


async def test_a_body_that_breaks_ends_its_task_and_not_its_worker(shop: Shop) -> None:
    """Ours: what no room turned into a result."""

    async def breaks(_run: Run) -> Returned:
        raise ZeroDivisionError

    program = Bodies(breaks=breaks, quick=at_once)
    async with shop.working(program) as worker:
        record = await shop.store.ended(await shop.submit(worker, program, "breaks"))
        assert record.status is Status.FAILED
        await shop.store.ended(await shop.submit(worker, program, "quick"))


async def test_a_row_that_expired_under_a_body_given_up_on_harms_nobody(shop: Shop) -> None:
    """Ours: the late proof finds no row any more."""
    go = threading.Event()

    async def deaf(_run: Run) -> Returned:
        await anyio.to_thread.run_sync(go.wait)
        return returned(n=1)

    program = Bodies(deaf=deaf, quick=at_once, give_up=0.05)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "deaf", keep_ms=0)
        await shop.store.cancel(task_id)
        record = await shop.store.ended(task_id)
        assert record.stopped_how is StoppedHow.NOT_STOPPED
        assert list(await shop.store.sweep(at_ms=wall_clock_ms() + 1000)) == [task_id]
        go.set()
        await shop.store.ended(await shop.submit(worker, program, "quick"))


async def test_a_give_up_on_its_way_when_the_body_ends_is_the_ending(shop: Shop) -> None:
    """Ours: written is written, whatever the body does meanwhile."""
    go = anyio.Event()

    async def deaf(_run: Run) -> Returned:
        with anyio.CancelScope(shield=True):
            await go.wait()
        return returned(n=1)

    program = Bodies(deaf=deaf, give_up=0.05)
    shop.store.held_back[ev.GaveUp] = anyio.Event()
    shop.store.written[ev.GaveUp] = anyio.Event()
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "deaf")
        await shop.store.cancel(task_id)
        await shop.store.written[ev.GaveUp].wait()
        go.set()
        shop.store.held_back[ev.GaveUp].set()
        record = await shop.store.until(task_id, lambda one: one.stopped_at_ms is not None)
    assert record.status is Status.CANCELLED
    assert record.result is None


async def test_a_worker_that_ends_leaves_no_row_to_a_thread_that_does_not(shop: Shop) -> None:
    """Ours: after the drain time the row says so; the process may go."""
    go = threading.Event()

    def deaf() -> None:
        go.wait()

    async def in_a_thread(run: Run) -> Returned:
        await perform(deaf, {}, run=run, run_in="thread", grace_seconds=0)
        return returned(n=1)

    program = Bodies(deaf=in_a_thread)
    async with shop.working(program, drain_seconds=0.05) as worker:
        ids = [
            await shop.submit(worker, program, "deaf"),
            await shop.submit(worker, program, "deaf", max_attempts=3),
            await shop.submit(worker, program, "deaf"),
        ]
        await shop.store.cancel(ids[2])
    once, again, cancelled = [await shop.store.get(task_id) for task_id in ids]
    go.set()
    assert once is not None
    assert once.status_message == "The server was stopped while this was running."
    assert once.error == {
        "code": -32603,
        "message": once.status_message,
        "data": {"reason": "server_stopped"},
    }
    assert again is not None
    assert (again.status, again.lease) == (Status.WORKING, None)
    assert cancelled is not None
    assert (cancelled.status, cancelled.stopped_how) == (Status.CANCELLED, StoppedHow.NOT_STOPPED)


async def test_a_store_that_takes_nothing_holds_up_no_end_of_a_worker(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: then the lease runs out, and whoever comes next ends the task."""
    monkeypatch.setattr(running, "STORE_RETRY_SECONDS", 0.01)
    program = Bodies(long=for_ever)
    async with shop.working(program, drain_seconds=0.05, lease_seconds=0.3) as worker:
        task_id = await shop.submit(worker, program, "long")
        shop.store.refused = {ev.Failed, ev.Reported}
    shop.store.refused = set()
    async with shop.working(program):
        record = await shop.store.ended(task_id)
    assert record.status_message == "The server stopped while this was running."


async def test_a_worker_that_has_ended_starts_nothing(shop: Shop) -> None:
    """Ours."""
    program = Bodies(quick=at_once)
    async with shop.working(program) as worker:
        pass
    with pytest.raises(AwhileError, match="lifespan is not running"):
        await worker.start(program.bodies["quick"], tool="quick", owner="ada")
    assert worker.free("ada")


async def test_a_fenced_workers_question_is_asked_of_nobody(shop: Shop) -> None:
    """Ours: another worker has the row; the body here is on its way out."""
    go, raised = anyio.Event(), anyio.Event()

    async def asks(run: Run) -> Returned:
        with anyio.CancelScope(shield=True):
            await go.wait()
            try:
                await run.ask({"method": "x"})
            except AwhileError:
                raised.set()
        return returned(n=1)

    program = Bodies(asks=asks)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "asks")
        await _end_elsewhere(shop.store, task_id)
        go.set()
        with anyio.fail_after(5):
            await raised.wait()
    record = await shop.store.get(task_id)
    assert record is not None
    assert record.result == {"n": "elsewhere"}
    assert record.inputs == {}


async def _end_elsewhere(store: Store, task_id: str) -> None:
    """End a task as another worker would that has taken over its lease."""
    record = await store.get(task_id)
    assert record is not None
    ending = ev.Completed(generation=record.generation, result={"n": "elsewhere"})
    await store.append(task_id, ending, wall_clock_ms())


@pytest.mark.parametrize(
    ("setting", "value"), [("slots", 0), ("lease_seconds", 0), ("lease_seconds", -1)]
)
async def test_a_setting_that_cannot_work_is_refused(
    tmp_path: Path, setting: str, value: float
) -> None:
    """Ours: the message says what would happen."""
    with pytest.raises(SettingsError, match=f"{setting} is {value!r}: "):
        Worker(Store(tmp_path / "unopened.db"), Bodies(), **{setting: value})  # type: ignore[arg-type]


async def test_A10_work_longer_than_its_lease_runs_once_beside_an_idle_worker(shop: Shop) -> None:
    """Field case A10: the lease is renewed for as long as its worker lives."""
    starts: list[int] = []
    go_on = anyio.Event()

    async def long(run: Run) -> Returned:
        starts.append(run.attempt)
        await go_on.wait()
        return returned()

    program = Bodies(long=long)
    lease_seconds = 0.6
    async with (
        shop.working(program, lease_seconds=lease_seconds) as worker,
        shop.working(program, lease_seconds=lease_seconds),
    ):
        task_id = await shop.submit(worker, program, "long", max_attempts=3)
        with anyio.move_on_after(4 * lease_seconds):  # real time: leases are measured in it
            await shop.store.ended(task_id)
        go_on.set()
        record = await shop.store.ended(task_id)
    assert (starts, record.generation) == ([1], 1)
    assert await shop.store.kinds(task_id) == ["Created", "Completed"]


async def test_A6_what_was_cancelled_while_no_worker_was_there_is_not_run_by_the_next(
    shop: Shop,
) -> None:
    """Field case A6: whether it had begun or not, and although it may run again."""
    starts: list[int] = []

    async def job(_run: Run) -> Returned:
        starts.append(1)
        return returned()

    now = wall_clock_ms()
    waiting = await shop.store.create(row("job", max_attempts=3)())
    gone = row("job", max_attempts=3, lease=Lease(worker="gone", until_ms=now))()
    await shop.store.create(gone)
    for one in (waiting, gone):
        await shop.store.cancel(one.task_id)
    async with shop.working(Bodies(job=job)):
        ended = [await shop.store.ended(one.task_id) for one in (waiting, gone)]
    assert [one.stopped_how for one in ended] == [
        StoppedHow.NEVER_STARTED,
        StoppedHow.WORKER_LOST,
    ]
    assert starts == []
