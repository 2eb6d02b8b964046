"""A cancel that ends the task at once: the row first, the body after it, the proof last."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from awhile.runtime.ending import Returned
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker
from awhile.tasks import Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from tests.machine.runtime.conftest import Bodies, Shop, returned

pytestmark = pytest.mark.anyio


def as_it_was(ended: TaskRecord, told: TaskRecord) -> bool:
    """Whether the proof changed nothing that the ending said."""
    return (told.status, told.status_message, told.last_updated_at_ms, told.result) == (
        ended.status,
        ended.status_message,
        ended.last_updated_at_ms,
        None,
    )


async def proven(shop: Shop, task_id: str) -> TaskRecord:
    """The record once it is known how its work stopped."""
    return await shop.store.until(task_id, lambda one: one.stopped_how is not None)


async def started(shop: Shop, worker: Worker, program: Bodies, tool: str) -> str:
    """A task whose body has reported."""
    task_id = await shop.submit(worker, program, tool)
    await shop.store.until(task_id, lambda one: one.progress is not None)
    return task_id


async def test_a_body_is_stopped_and_its_proof_is_added_to_the_ending(shop: Shop) -> None:
    """Ours: decision 4, an ending that is final for both eras."""

    async def waits(run: Run) -> Returned:
        run.report(1)
        await anyio.sleep_forever()
        raise AssertionError

    program = Bodies(waits=waits)
    async with shop.working(program) as worker:
        task_id = await started(shop, worker, program, "waits")
        ended = await shop.store.cancel(task_id, final=True)
        assert (ended.status, ended.stopped_how) == (Status.CANCELLED, None)
        told = await proven(shop, task_id)
    assert as_it_was(ended, told)
    assert told.stopped_how is StoppedHow.COROUTINE_ENDED
    assert await shop.store.kinds(task_id) == ["Created", "CancelAsked", "StopConfirmed"]


@pytest.mark.parametrize("reports", [False, True])
async def test_a_result_that_comes_after_it_is_dropped_and_the_end_of_the_work_told(
    shop: Shop, reports: bool
) -> None:
    """Spec: 2025-11-25: remains `cancelled` even if execution continues to completion."""
    go = anyio.Event()

    async def deaf(run: Run) -> Returned:
        run.report(1)
        with anyio.CancelScope(shield=True):
            await go.wait()
        if reports:
            run.report(2, message="still at it")
        return returned(n=1)

    program = Bodies(deaf=deaf)
    async with shop.working(program) as worker:
        task_id = await started(shop, worker, program, "deaf")
        ended = await shop.store.cancel(task_id, final=True)
        go.set()
        assert as_it_was(ended, await proven(shop, task_id))


async def test_an_ending_on_its_way_comes_too_late_and_is_told_as_a_fact(shop: Shop) -> None:
    """Ours: the worker learns of the cancel by its own refused write, not by the watch."""
    before_the_write = anyio.Event()
    append = shop.store.append

    async def overtaken(task_id: str, event: ev.Event, at_ms: int) -> TaskRecord:
        if isinstance(event, ev.Completed):
            before_the_write.set()
            await append(task_id, ev.CancelAsked(final=True), at_ms)
        return await append(task_id, event, at_ms)

    async def quick(_run: Run) -> Returned:
        return returned(n=1)

    program = Bodies(quick=quick)
    shop.store.append = overtaken  # type: ignore[method-assign]
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "quick")
        told = await proven(shop, task_id)
    assert before_the_write.is_set()
    assert (told.status, told.result) == (Status.CANCELLED, None)


@pytest.mark.parametrize("first", ["give up", "final cancel"])
async def test_giving_up_and_a_final_cancel_leave_one_ending_and_one_proof(
    shop: Shop, first: str
) -> None:
    """Ours: whichever of the two comes first is the ending; the fact is told in both cases."""
    go = anyio.Event()

    async def deaf(run: Run) -> Returned:
        run.report(1)
        with anyio.CancelScope(shield=True):
            await go.wait()
        return returned(n=1)

    append = shop.store.append

    async def overtaken(task_id: str, event: ev.Event, at_ms: int) -> TaskRecord:
        if isinstance(event, ev.GaveUp) and first == "final cancel":
            await append(task_id, ev.CancelAsked(final=True), at_ms)
        return await append(task_id, event, at_ms)

    program = Bodies(deaf=deaf, give_up=0.05)
    shop.store.append = overtaken  # type: ignore[method-assign]
    async with shop.working(program) as worker:
        task_id = await started(shop, worker, program, "deaf")
        await shop.store.cancel(task_id)
        ended = await shop.store.ended(task_id)
        wanted = StoppedHow.NOT_STOPPED if first == "give up" else None
        assert ended.stopped_how is wanted
        go.set()
        stopped: Callable[[TaskRecord], bool] = lambda one: one.stopped_at_ms is not None  # noqa: E731
        assert as_it_was(ended, await shop.store.until(task_id, stopped))


async def test_a_question_ends_with_its_task(shop: Shop) -> None:
    """Ours: the body is not told an answer that nobody gave."""
    told: list[object] = []

    async def asks(run: Run) -> Returned:
        try:
            told.append(await run.ask({"method": "elicitation/create"}))
        except BaseException as ending:
            told.append(type(ending).__name__)
            raise
        return returned(n=1)

    program = Bodies(asks=asks)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "asks")
        await shop.store.until(task_id, lambda one: one.status is Status.INPUT_REQUIRED)
        ended = await shop.store.cancel(task_id, final=True)
        assert as_it_was(ended, await proven(shop, task_id))
    assert told in (["StopAsked"], ["CancelledError"])
