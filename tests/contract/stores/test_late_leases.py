"""A lease counts from when it is written: also where a write had to wait for seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from awhile.stores.asked import AT_ONCE_MS
from awhile.stores.contract import Held, Store
from awhile.stores.open import open_store
from awhile.testing.store_case import AT, task
from checks.postgres import Cluster
from tests.faults.locking import stopped_process

pytestmark = pytest.mark.anyio

HELD_UP_SECONDS = AT_ONCE_MS / 1000 * 1.5

HoldUp = Callable[[Callable[[], None]], Awaitable[None]]


async def test_a_lease_that_waited_for_a_lock_counts_from_when_it_is_written(
    tmp_path: Path,
) -> None:
    """Ours, for SQLite: somebody else held the lock."""
    file = tmp_path / "tasks.db"

    async def hold_up(during: Callable[[], None]) -> None:
        with stopped_process(file):
            during()
            await anyio.sleep(HELD_UP_SECONDS)

    async with open_store(f"sqlite:///{file}") as store:
        await _each_kind_of_lease(store, hold_up)


@pytest.mark.postgres
async def test_a_lease_that_waited_for_the_server_counts_from_when_it_is_written(
    own_cluster: Cluster,
) -> None:
    """Ours, for PostgreSQL: the server was killed, and came back."""

    async def hold_up(during: Callable[[], None]) -> None:
        await anyio.to_thread.run_sync(own_cluster.kill)
        during()
        await anyio.sleep(HELD_UP_SECONDS)
        await anyio.to_thread.run_sync(own_cluster.start)

    async with open_store(own_cluster.url()) as store:
        await _each_kind_of_lease(store, hold_up)


async def _each_kind_of_lease(store: Store, hold_up: HoldUp) -> None:
    waiting = await store.create(task(tool="waiting"))
    held = await store.create(task(tool="held", worker="w1"))
    created = task(tool="created", worker="w1")
    assert created.lease
    until_ms = AT + 1000

    async def create() -> None:
        await store.create(created)

    async def claim() -> None:
        tools = ["waiting"]
        await store.claim(worker="w1", tools=tools, at_ms=AT, until_ms=until_ms, limit=1)

    async def renew() -> None:
        one = Held(task_id=held.task_id, generation=1)
        assert await store.renew([one], at_ms=AT, until_ms=until_ms) == []

    async with anyio.create_task_group() as writers:

        def during() -> None:
            for write in (create, claim, renew):
                writers.start_soon(write)

        await hold_up(during)
    for task_id, given_ms in (
        (created.task_id, created.lease.until_ms),
        (waiting.task_id, until_ms),
        (held.task_id, until_ms),
    ):
        record = await store.get(task_id)
        assert record is not None
        assert record.lease is not None
        assert record.lease.until_ms - given_ms > AT_ONCE_MS
