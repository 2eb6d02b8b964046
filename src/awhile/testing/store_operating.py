"""What operators ask of a store (`awhile.stores.operated`): part of the store suite."""

from __future__ import annotations

from typing import Protocol, cast

import pytest

from awhile.stores.contract import Store
from awhile.stores.operated import Count, Line, Lost, Notifies, Operated, TellsOfLost
from awhile.tasks import StoppedHow
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, StoreCase, task

DONE = {"content": [{"type": "text", "text": "done"}]}
TERM = 1000


class OperatedStore(Store, Operated, Notifies, TellsOfLost, Protocol):
    """A store that can be operated."""


class IsOperated(StoreCase):
    """Overview, what to stop, and notices of endings."""

    @pytest.fixture
    def operated(self, store: Store) -> OperatedStore:
        """The store, which has the protocols for operators."""
        assert isinstance(store, Operated)
        assert isinstance(store, Notifies)
        assert isinstance(store, TellsOfLost)
        return cast("OperatedStore", store)

    async def test_the_overview_counts_what_waits_runs_and_is_to_stop(
        self, operated: OperatedStore
    ) -> None:
        """Ours."""
        for at, owner in ((AT + 5, "ada"), (AT + 3, "bob"), (AT + 9, "ada")):
            await operated.create(task(owner=owner, at_ms=at))
        await operated.create(task(tool="other", worker="w1", until_ms=AT + 70_000))
        asked = await operated.create(task(tool="other", worker="w2", until_ms=AT + 60_000))
        await operated.append(asked.task_id, ev.InputAsked(generation=1, key="k", request={}), AT)
        stopping = await operated.create(task(tool="other", worker="w2", until_ms=AT + 65_000))
        await operated.append(stopping.task_id, ev.CancelAsked(), AT)
        seen = await operated.overview()
        assert {(one.tool, one.state): one for one in seen.counts} == {
            ("report", "queued"): Count(tool="report", state="queued", tasks=3, oldest_ms=AT + 3),
            ("other", "working"): Count(tool="other", state="working", tasks=1, oldest_ms=AT),
            ("other", "input_required"): Count(
                tool="other", state="input_required", tasks=1, oldest_ms=AT
            ),
            ("other", "stopping"): Count(tool="other", state="stopping", tasks=1, oldest_ms=AT),
        }
        assert seen.lines == [
            Line(tool="report", owner="ada", waiting=2, oldest_ms=AT + 5),
            Line(tool="report", owner="bob", waiting=1, oldest_ms=AT + 3),
        ]
        assert [one.task_id for one in seen.held][:2] == [asked.task_id, stopping.task_id]
        assert (await operated.overview(limit=1)).lines == list(seen.lines)[:1]

    async def test_the_overview_shows_recent_endings_and_none_of_their_contents(
        self, operated: OperatedStore
    ) -> None:
        """Ours: newest first; the rows our own processes leave for each other are not shown."""
        first = await operated.create(task(worker="w1", arguments={"secret": 1}))
        second = await operated.create(task(worker="w1"))
        await operated.create(task(owner="awhile:workers"))
        for one in (first, second):
            await operated.append(one.task_id, ev.Completed(generation=1, result=DONE), AT + 7)
        ours = await operated.create(task(owner="awhile:workers", worker="w1"))
        await operated.append(ours.task_id, ev.Completed(generation=1, result=DONE), AT + 7)
        endings = (await operated.overview()).endings
        assert [one.task_id for one in endings] == [second.task_id, first.task_id]
        assert endings[1].arguments == {}
        assert endings[1].result is None
        assert endings[1].ended_at_ms == AT + 7

    async def test_what_nobody_asked_to_stop_is_found_by_owner_and_tool(
        self, operated: OperatedStore
    ) -> None:
        """Ours."""
        waiting = await operated.create(task())
        running = await operated.create(task(worker="w1"))
        bobs = await operated.create(task(owner="bob", tool="other"))
        stopping = await operated.create(task(worker="w1"))
        await operated.append(stopping.task_id, ev.CancelAsked(), AT)
        ended = await operated.create(task(worker="w1"))
        await operated.append(ended.task_id, ev.Completed(generation=1, result=DONE), AT)
        every = {waiting.task_id, running.task_id, bobs.task_id}
        assert set(await operated.unstopped()) == every
        assert set(await operated.unstopped(owner="ada")) == every - {bobs.task_id}
        assert set(await operated.unstopped(tool="other")) == {bobs.task_id}
        assert await operated.unstopped(owner="ada", tool="other") == []
        assert len(await operated.unstopped(limit=2)) == 2

    async def test_no_notice_is_kept_until_somebody_wants_them(
        self, operated: OperatedStore
    ) -> None:
        """Ours."""
        early = await operated.create(task(worker="w1"))
        await operated.append(early.task_id, ev.Completed(generation=1, result=DONE), AT)
        await operated.note_endings()
        await operated.note_endings()
        assert await operated.take_notices(at_ms=AT + 1, until_ms=AT + 2) == []

    async def test_every_ending_leaves_a_notice_until_it_was_told(
        self, operated: OperatedStore, second: Store
    ) -> None:
        """Ours: also where another process, which wants no notices, ends the task."""
        await operated.note_endings()
        done = await operated.create(task(worker="w1"))
        await second.append(done.task_id, ev.Completed(generation=1, result=DONE), AT + 1)
        never = await operated.create(task())
        await operated.append(never.task_id, ev.CancelAsked(), AT + 2)
        lost = await operated.create(task(worker="w1", until_ms=AT + TERM))
        await operated.create(task(worker="w1", until_ms=AT + 9 * TERM))
        told: list[Lost] = []
        operated.on_lost = told.append
        await operated.claim(
            worker="w2", tools=["report"], at_ms=AT + TERM, until_ms=AT + 9 * TERM, limit=5
        )
        assert [(one.record.task_id, one.worker) for one in told] == [(lost.task_id, "w1")]
        taken = await operated.take_notices(at_ms=AT + 2 * TERM, until_ms=AT + 3 * TERM)
        ids = [one.record.task_id for one in taken]
        assert ids == [done.task_id, never.task_id, lost.task_id]
        assert [one.attempt for one in taken] == [1, 1, 1]
        assert taken[1].record.stopped_how is StoppedHow.NEVER_STARTED
        await operated.settle_notices(told=ids[:1], again_ms={ids[1]: AT + 5 * TERM})
        assert await operated.take_notices(at_ms=AT + 2 * TERM, until_ms=AT) == []
        again = await operated.take_notices(at_ms=AT + 4 * TERM, until_ms=AT + 6 * TERM)
        assert [(one.record.task_id, one.attempt) for one in again] == [(lost.task_id, 2)]
        later = await operated.take_notices(at_ms=AT + 7 * TERM, until_ms=AT + 8 * TERM)
        assert [one.record.task_id for one in later] == [never.task_id, lost.task_id]

    async def test_a_deleted_task_takes_its_notice_along(self, operated: OperatedStore) -> None:
        """Ours."""
        await operated.note_endings()
        short = await operated.create(task(worker="w1", keep_ms=10))
        await operated.append(short.task_id, ev.Completed(generation=1, result=DONE), AT)
        await operated.sweep(at_ms=AT + 20)
        assert await operated.take_notices(at_ms=AT + 30, until_ms=AT + 40) == []
        await operated.settle_notices(told=[short.task_id], again_ms={short.task_id: AT})


__all__ = ["IsOperated", "OperatedStore"]
