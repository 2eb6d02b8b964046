"""Work whose contents are sealed, and workers without the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.runtime.ending import Returned
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker
from awhile.stores.aes import AesGcm
from awhile.stores.sealing import sealed
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import Status
from tests.machine.runtime.conftest import Bodies, Shop, returned, row

pytestmark = pytest.mark.anyio


async def at_once(_run: Run) -> Returned:
    return returned(n=1)


async def test_a_worker_without_the_key_leaves_sealed_tasks_to_one_that_has_it(
    shop: Shop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: it runs what comes behind, writes nothing of them, and says so once for each."""
    program = Bodies(quick=at_once)
    async with sealed(SqliteStore(tmp_path / "tasks.db"), AesGcm({"k": b"k" * 32})) as keyed:
        sealed_ones = [row("quick", context={"unasked": "no"})() for _ in range(2)]
        left = [(await keyed.create(one)).task_id for one in sealed_ones]
        async with shop.working(program, slots=1):
            for _ in range(3):  # each ending makes it look again
                behind = await shop.store.create(row("quick")())
                await shop.store.ended(behind.task_id)
            for task_id in left:
                assert await shop.store.kinds(task_id) == ["Created"]
            said = [one for one in caplog.records if "AWHILE_SEAL_KEYS" in one.getMessage()]
            assert [vars(one)["task_id"] for one in said] == left
            async with Worker(keyed, program).running():
                for task_id in left:
                    ended = await shop.store.ended(task_id)
                    assert (ended.status, ended.attempt) == (Status.COMPLETED, 1)
