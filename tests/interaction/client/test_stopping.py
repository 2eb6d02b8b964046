"""Asking for a stop: two phases, and the truth about what came of it."""

from __future__ import annotations

import pytest

from awhile.client import CancelOutcome, Handle, Ledger, State, connect
from awhile.errors import Cancelled, ToolFailed, Unreachable
from awhile.tasks import StoppedHow
from tests.interaction.client.running import RunningServer

pytestmark = pytest.mark.anyio


async def until_working(handle: Handle) -> None:
    """Watch until the body has said something."""
    async for now in handle.watch():
        if now.steps:
            return


async def test_stopped_work_is_cancelled_and_says_how_that_is_known(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        await until_working(handle)
        assert await handle.cancel() is CancelOutcome.CANCELLED
        assert handle.now.state is State.CANCELLED
        assert handle.now.how_stopped is StoppedHow.COROUTINE_ENDED
        assert handle.now.message is None
        with pytest.raises(Cancelled, match="The work has ended"):
            await handle.result()


async def test_work_that_ignores_the_stop_is_not_stopped_yet_and_then_finished_anyway(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("stubborn", {"seconds": 2.0})
        outcome = await handle.cancel(give_up_seconds=0.3)
        assert outcome is CancelOutcome.NOT_STOPPED_YET
        assert handle.now.state is State.CANCEL_REQUESTED
        assert await handle.cancel() is CancelOutcome.FINISHED_ANYWAY
        assert handle.now.state is State.FINISHED_ANYWAY
        result = await handle.result()
        assert result.is_error is False


async def test_work_that_breaks_instead_of_stopping_failed_after_you_asked(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("fail_when_stopped")
        outcome = await handle.cancel()
        # Which of the two depends on whether the body or its cancellation is first.
        assert outcome in (CancelOutcome.FAILED, CancelOutcome.CANCELLED)


async def test_a_stop_after_the_end_changes_nothing(url: str, ledger: Ledger) -> None:
    """A4, as the client sees it."""
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 1, "seconds": 0.05})
        assert handle.id
        await handle.result()
        assert await handle.cancel() is CancelOutcome.FINISHED_ANYWAY
        other = await server.resume(handle.id)
        assert await other.cancel() is CancelOutcome.FINISHED_ANYWAY
        assert (await other.result()).content == (await handle.result()).content


async def test_a_failed_task_cannot_be_stopped_any_more(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("fail")
        with pytest.raises(ToolFailed):
            await handle.result()
        assert await handle.cancel() is CancelOutcome.FAILED


async def test_a_watch_elsewhere_sees_the_stop(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("stubborn", {"seconds": 1.0})
        assert handle.id
        elsewhere = await server.resume(handle.id)
        await handle.cancel(give_up_seconds=0)
        states = [now.state async for now in elsewhere.watch()]
        assert State.CANCEL_REQUESTED in states
        assert states[-1] is State.FINISHED_ANYWAY


async def test_that_a_stop_was_asked_for_outlives_the_program(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("stubborn", {"seconds": 1.0})
        await handle.cancel(give_up_seconds=0)
    assert handle.id
    entry = ledger.find(url, handle.id)
    assert entry
    assert entry.cancel_asked_at_ms


async def test_a_stop_that_cannot_be_sent_says_the_work_is_unaffected(
    own_server: RunningServer, ledger: Ledger
) -> None:
    async with connect(own_server.url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        own_server.kill()
        with pytest.raises(Unreachable, match="was not sent; the work is unaffected"):
            await handle.cancel()
        assert handle.now.state is not State.CANCEL_REQUESTED


async def test_a_stop_of_a_task_the_server_forgot_is_no_longer_known(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.resume("f" * 32)
        assert await handle.cancel() is CancelOutcome.NO_LONGER_KNOWN
        assert handle.now.state is State.EXPIRED
