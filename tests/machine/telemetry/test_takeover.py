"""What the log says when a worker is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.stores.sqlite import SqliteStore
from awhile.tasks import StoppedHow
from awhile.tasks import events as ev
from awhile.telemetry.observed import observed
from awhile.testing.store_case import AT, task

pytestmark = pytest.mark.anyio

LATE = AT + 10


async def test_the_log_says_who_lost_a_task_who_took_it_over_and_for_which_attempt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: what is handed back is no loss."""
    async with observed(SqliteStore(tmp_path / "tasks.db")) as store:
        lost = {
            name: await store.create(
                task(tool=name, worker="w1", until_ms=AT + 1, max_attempts=most)
            )
            for name, most in {"again": 3, "once": 1, "reached": 2, "back": 2}.items()
        }
        ids = {name: one.task_id for name, one in lost.items()}
        job = ev.Noted(generation=1, key="job", outcome=7, reachable=True)
        await store.append(ids["reached"], job, AT)
        await store.append(ids["reached"], ev.CancelAsked(), AT)
        back = ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED)
        await store.append(ids["back"], back, AT)
        await store.claim(worker="w2", tools=list(ids), at_ms=LATE, until_ms=LATE + 9, limit=9)
    said = {vars(one)["task_id"]: one for one in caplog.records}
    assert len(said) == len(caplog.records) == 3
    again, once, reached = (said[ids[name]] for name in ("again", "once", "reached"))
    assert again.getMessage() == (
        "Worker w1 was lost with a task of 'again'; w2 takes it over for attempt 2 of 3."
    )
    members = vars(again)
    assert (members["lost_by"], members["taken_by"], members["attempt"]) == ("w1", "w2", 2)
    assert once.getMessage().endswith("which nobody may run again; it ended failed.")
    assert vars(once)["lost_by"] == "w1"
    assert reached.getMessage().endswith("takes it over to stop what it had started elsewhere.")
