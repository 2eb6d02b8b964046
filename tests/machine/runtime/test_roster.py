"""Tasks whose tool is gone after a deploy: they wait, and then end saying so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from awhile.runtime.roster import OWNER, Roster
from awhile.stores.contract import Store
from awhile.tasks import Status
from awhile.testing.clock import HandClock
from tests.machine.runtime.conftest import Shop, row

pytestmark = pytest.mark.anyio

GONE_SECONDS = 300


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def roster(store: Store, clock: HandClock, *tools: str) -> Roster:
    return Roster(store, tools, gone_seconds=GONE_SECONDS, now_ms=clock)


async def waiting(shop: Shop, clock: HandClock, tool: str) -> str:
    """A task of that tool that nobody has taken; its id."""
    record = row(tool)()
    made = clock()
    kept = await shop.store.create(replace(record, created_at_ms=made, last_updated_at_ms=made))
    return kept.task_id


async def status(shop: Shop, task_id: str) -> Status:
    record = await shop.store.get(task_id)
    assert record is not None
    return record.status


async def test_a_task_whose_tool_nobody_knows_waits_and_then_ends_saying_so(
    shop: Shop, clock: HandClock
) -> None:
    """Ours: also the one behind it in the line."""
    tasks = [await waiting(shop, clock, "renamed") for _ in range(2)]
    worker = roster(shop.store, clock, "report")
    await worker.look()
    clock.move(seconds=GONE_SECONDS - 1)
    await worker.look()
    assert [await status(shop, one) for one in tasks] == [Status.WORKING] * 2
    clock.move(seconds=1)
    await worker.look()
    for task_id in tasks:
        record = await shop.store.get(task_id)
        assert record is not None
        assert record.status is Status.FAILED
        assert "'renamed'" in (record.status_message or "")
        assert (record.error or {})["data"] == {"reason": "tool_gone"}


async def test_a_tool_that_another_worker_knows_is_not_gone(shop: Shop, clock: HandClock) -> None:
    """Ours: however long its tasks wait; its worker may be busy."""
    task_id = await waiting(shop, clock, "slow")
    busy, other = roster(shop.store, clock, "slow"), roster(shop.store, clock, "report")
    for _ in range(5):
        await busy.look()
        await other.look()
        clock.move(seconds=GONE_SECONDS - 1)
    assert await status(shop, task_id) is Status.WORKING


async def test_a_worker_that_comes_first_after_a_long_stop_ends_nothing(
    shop: Shop, clock: HandClock
) -> None:
    """Ours: who knows the tool may be starting; it counts from what this worker has seen."""
    task_id = await waiting(shop, clock, "slow")
    clock.move(seconds=100 * GONE_SECONDS)
    await roster(shop.store, clock, "report").look()
    assert await status(shop, task_id) is Status.WORKING


async def test_many_workers_of_one_module_say_it_once(shop: Shop, clock: HandClock) -> None:
    """Ours: the roster grows with the modules, not with the workers."""
    for _ in range(20):
        await roster(shop.store, clock, "a", "b").look(fresh_for_ms=60_000)
    assert len(await shop.store.find(owner=OWNER)) == 1
    clock.move(seconds=GONE_SECONDS)
    assert len(await shop.store.sweep(at_ms=clock())) == 1
