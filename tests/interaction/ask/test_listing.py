"""What a list of runs says, and how much it reads for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.ask.mcp_server.outcomes import Outcomes
from awhile.runtime.ids import new_task_id
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import Lease, TaskRecord, new_record
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from tests.interaction.ask.conftest import PATIENCE_SECONDS, App

pytestmark = pytest.mark.anyio


async def test_a_run_that_began_again_after_its_server_was_lost_says_which_attempt_it_is(
    app: App,
) -> None:
    """Ours: else it said "Running" for ever, and never that it began again."""
    first = await app.call("run_sql", sql="SELECT 1 AS n")
    before = await app.tasks.store.get(first["run_id"])
    assert before is not None
    lost = new_record(
        task_id=new_task_id(),
        owner=before.owner,
        tool=before.tool,
        arguments=before.arguments,
        at_ms=wall_clock_ms(),
        max_attempts=before.max_attempts,
        lease=Lease(worker="gone", until_ms=wall_clock_ms()),
    )
    async with app.tasks.store.watch() as watch:
        await app.tasks.store.create(lost)
        with anyio.fail_after(PATIENCE_SECONDS):
            while (ended := await app.tasks.store.get(lost.task_id)) is None or (
                not ended.status.ended
            ):
                await watch.wait()
    again, once = (await app.call("list_runs"))["runs"]
    assert (again["run_id"], again["attempt"], again["outcome"]) == (lost.task_id, 2, "table")
    assert (once["run_id"], once["attempt"]) == (first["run_id"], 1)


class Counting(SqliteStore):
    """The real store, which remembers what was read whole."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read: list[str] = []

    async def get(self, task_id: str) -> TaskRecord | None:
        self.read.append(task_id)
        return await super().get(task_id)


async def test_a_list_of_runs_reads_each_result_once(tmp_path: Path) -> None:
    """Ours: what a run came to is in its result, which a list is without."""
    async with Counting(tmp_path / "tasks.db") as store:
        made = [await store.create(task(worker="w")) for _ in range(3)]
        for one, outcome in zip(made, ("refusal", "table"), strict=False):
            result: Any = {"structuredContent": {outcome: {}}}
            await store.append(one.task_id, ev.Completed(generation=1, result=result), AT)
        records = await store.find(owner="ada", detail="brief")
        outcomes = Outcomes()
        for _ in range(2):
            found = await outcomes.of(records, store)
            assert found == {made[0].task_id: "refusal", made[1].task_id: "table"}
        assert sorted(store.read) == sorted(one.task_id for one in made[:2])
