"""A lease that ran out while nobody could renew it says nothing about its worker."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from awhile.errors import StoreError
from awhile.runtime.lull import OWNER, RETURN_SECONDS, Lull
from tests.machine.runtime.conftest import Store

pytestmark = pytest.mark.anyio

LEASE_MS = 60


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


class Renewal:
    """What a worker does with its own leases."""

    def __init__(self, store: Store) -> None:
        self.works = True
        self.written_before: list[int] = []
        self._store = store

    async def __call__(self) -> bool:
        self.written_before.append(len(await self._store.find(owner=OWNER)))
        return self.works


async def test_where_the_store_answers_nothing_is_sat_out(tmp_path: Path) -> None:
    """Ours: nor written."""
    clock = Clock()
    async with Store(tmp_path / "tasks.db") as store:
        lull, renew = Lull(store, lease_ms=LEASE_MS, now_ms=clock), Renewal(store)
        for _ in range(5):
            clock.now_ms += LEASE_MS // 2
            await lull.sit_out(renew)
            lull.answered(clock())
        assert renew.written_before == []
        assert await store.find(owner=OWNER) == []


@pytest.mark.parametrize("how", ["failed", "answered nothing for half a lease", "answered late"])
async def test_after_a_lull_our_own_leases_come_first_then_those_of_others(
    tmp_path: Path, how: str
) -> None:
    """Ours: what shows that it is over is a row that is really written, and expires at once."""
    clock = Clock()
    async with Store(tmp_path / "tasks.db") as store:
        lull, renew = Lull(store, lease_ms=LEASE_MS, now_ms=clock), Renewal(store)
        asked_ms = clock()
        if how == "failed":
            lull.failed()
        else:
            clock.now_ms += LEASE_MS // 2 + 1
        if how == "answered late":
            lull.answered(asked_ms)
        assert lull.suspected
        await lull.sit_out(renew)
        assert not lull.suspected
        assert renew.written_before == [0]
        [row] = await store.find(owner=OWNER)
        assert list(await store.sweep(at_ms=clock())) == [row.task_id]


async def test_a_lull_that_is_not_over_is_still_suspected(tmp_path: Path) -> None:
    """Ours: leases cannot be renewed, or nothing can be written (a full disk can be read)."""
    async with Store(tmp_path / "tasks.db") as store:
        lull, renew = Lull(store, lease_ms=LEASE_MS, now_ms=Clock()), Renewal(store)
        lull.failed()
        renew.works = False
        with pytest.raises(StoreError, match="while leases cannot be renewed"):
            await lull.sit_out(renew)
        renew.works, store.refuses_to_create = True, True
        with pytest.raises(StoreError, match="The disk is full"):
            await lull.sit_out(renew)
        assert lull.suspected
        store.refuses_to_create = False
        await lull.sit_out(renew)
        assert not lull.suspected


@pytest.mark.parametrize("failed", [True, False])
async def test_after_a_store_was_away_others_have_time_to_connect_however_short_leases_are(
    tmp_path: Path, failed: bool
) -> None:
    """Ours: also where the first try was made only after it had come back."""
    clock = Clock()
    async with Store(tmp_path / "tasks.db") as store:
        lull, renew = Lull(store, lease_ms=10, now_ms=clock), Renewal(store)
        if failed:
            lull.failed()
        else:
            clock.now_ms += round(RETURN_SECONDS * 1000) + 1
        began = anyio.current_time()
        await lull.sit_out(renew)
        assert anyio.current_time() - began >= RETURN_SECONDS
