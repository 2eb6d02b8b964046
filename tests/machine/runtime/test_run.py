"""`Run`, its reports and its hooks, and the bell they are heard by."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awhile.runtime import cancel
from awhile.runtime.bell import Bell
from awhile.runtime.ending import Returned, StopAsked
from awhile.runtime.outside import Outside
from awhile.runtime.progress import MAX_PENDING, MESSAGE_LENGTH, Progress, Report, sanitised
from awhile.runtime.run import Run
from awhile.tasks import Status, StoppedHow
from tests.machine.runtime.conftest import Bodies, Shop, returned

pytestmark = pytest.mark.anyio


async def test_a_bell_rung_from_other_threads_loses_no_ring() -> None:
    """Ours."""
    bell, heard = Bell(), 0
    threads = [threading.Thread(target=lambda: [bell.ring() for _ in range(500)]) for _ in range(4)]
    with anyio.fail_after(10):
        for thread in threads:
            thread.start()
        while heard < 2000:
            heard = await bell.wait(heard)
    for thread in threads:
        thread.join()
    assert bell.count == 2000


async def test_reports_that_nobody_takes_give_way_oldest_first() -> None:
    """Ours: a body that reports faster than the disk takes it loses steps, never the latest."""
    progress = Progress()
    for number in range(MAX_PENDING + 10):
        progress.put(Report(number, None, f"step {number}"))
    assert progress.latest == Report(MAX_PENDING + 9, None, f"step {MAX_PENDING + 9}")
    taken = progress.take()
    assert len(taken) == MAX_PENDING
    assert taken[0].message == "step 10"
    assert progress.take() == []


async def test_reports_of_one_message_are_one() -> None:
    """Ours: only a changed message is a step."""
    progress = Progress()
    for done in range(1000):
        progress.put(Report(done, 1000, "loading"))
    assert progress.take() == [Report(999, 1000, "loading")]


@settings(deadline=None)
@given(
    st.none() | st.floats() | st.integers(-5, 5) | st.just(10**400),
    st.none() | st.floats() | st.integers(-5, 5) | st.just(10**400),
)
def test_a_report_is_fit_to_be_shown(done: float | None, total: float | None) -> None:
    """Ours: field case B4: finite, not negative, never beyond its total."""
    report = sanitised(done, total, "m")
    assert report.message == "m"
    assert report.done is None or 0 <= report.done < float("inf")
    assert report.total is None or 0 < report.total < float("inf")
    if report.done is not None and report.total is not None:
        assert report.done <= report.total


@given(st.text(st.characters()) | st.text("a\ud800", max_size=5) | st.just("a" * 9999))
def test_a_reports_message_is_short_text_that_can_be_kept(message: str) -> None:
    """Ours: a file name read from disk may hold lone surrogates, which no store takes."""
    told = sanitised(1, 2, message).message
    assert told is not None
    assert told.encode("utf-8") is not None
    assert len(told) <= MESSAGE_LENGTH + 1


async def test_a_hook_given_after_the_stop_was_asked_is_called_at_once(shop: Shop) -> None:
    """Ours: the query may be submitted in that very moment."""
    called = anyio.Event()

    async def late(run: Run) -> Returned:
        with anyio.CancelScope(shield=True):
            while not run.stop_asked:
                await run.stop_bell.wait(run.stop_bell.count)

            async def hook() -> StoppedHow:
                called.set()
                return StoppedHow.ENGINE_CONFIRMED

            run.on_cancel(hook)
            await called.wait()
        run.check()
        return returned(n=1)

    program = Bodies(late=late)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "late")
        await shop.store.cancel(task_id)
        record = await shop.store.ended(task_id)
    assert record.status is Status.CANCELLED
    assert record.stopped_how is StoppedHow.ENGINE_CONFIRMED


async def test_a_hook_that_never_returns_holds_up_no_ending(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a hook that still confirms is waited for, for a bounded time."""
    monkeypatch.setattr(cancel, "PROOF_SECONDS", 0.05)

    async def body(run: Run) -> Returned:
        run.on_cancel(anyio.sleep_forever)
        await anyio.sleep_forever()
        return returned(n=1)

    program = Bodies(body=body)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "body")
        await shop.store.cancel(task_id)
        record = await shop.store.ended(task_id)
    assert record.stopped_how is StoppedHow.COROUTINE_ENDED


async def test_check_and_wait_tell_a_thread_to_stop(shop: Shop) -> None:
    """Ours."""
    run = Run(owner="ada", asker=_nobody, notes=Outside(row=_no_row, note=_no_row, stop=None))
    run.check()
    assert run.wait(0) is False
    assert run.stop_asked is False
    run.ask_to_stop()
    assert run.wait(60) is True
    assert run.stop_asked is True
    with pytest.raises(StopAsked):
        run.check()


async def _no_row(*_: object) -> Any:
    raise AssertionError("it has no row")


async def _nobody(request: object, key: str | None) -> None:
    raise AssertionError(request, key)
