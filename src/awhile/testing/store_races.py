"""Racing: many callers at once, two openings of the store, exactly one winner."""

from __future__ import annotations

from collections import Counter

import anyio

from awhile.errors import IllegalEvent, StoreError
from awhile.stores.contract import Store
from awhile.tasks import Event, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, StoreCase, kinds, task


class EndsOnce(StoreCase):
    """First terminal write wins; the loser is told so and changes nothing."""

    async def test_A5_five_hundred_tasks_cancelled_as_they_end_each_have_one_ending(
        self, store: Store, second: Store
    ) -> None:
        """Ours. Field cases A4 and A5: one terminal record, one terminal history event, each."""
        tasks = [await store.create(task(worker="w1")) for _ in range(500)]
        refused: Counter[str] = Counter()
        ends: Counter[str] = Counter()

        async def send(to: Store, one: TaskRecord, event: Event) -> None:
            try:
                after = await to.append(one.task_id, event, AT + 1)
            except IllegalEvent:
                refused[one.task_id] += 1
            else:
                ends[one.task_id] += after.status.ended

        async with anyio.create_task_group() as callers:
            for number, one in enumerate(tasks):
                completed = ev.Completed(generation=1, result={"n": number})
                stopped = ev.Stopped(generation=1, how=StoppedHow.COROUTINE_ENDED)
                # The order of arrival differs from task to task, and between the two openings.
                near, far = (store, second) if number % 2 else (second, store)
                callers.start_soon(send, near, one, ev.CancelAsked())
                callers.start_soon(send, far, one, completed)
                callers.start_soon(send, near, one, stopped)
        endings: Counter[str] = Counter()
        for number, one in enumerate(tasks):
            after = await second.get(one.task_id)
            assert after is not None
            assert after.status.ended
            assert ends[one.task_id] == 1
            assert (after.result == {"n": number}) is (after.status == "completed")
            terminal = {"Completed", "Stopped"} & set(kinds(await store.history(one.task_id)))
            assert len(terminal) == 1
            endings[after.status] += 1
        assert sum(endings.values()) == 500
        assert sum(refused.values()) >= 500  # of three events, at least one came after the end

    async def test_a_refused_event_does_not_spoil_its_neighbours(self, store: Store) -> None:
        """Ours: what happens to be written together is independent all the same."""
        tasks = [await store.create(task(worker="w1")) for _ in range(100)]
        refused: list[str] = []

        async def complete(one: TaskRecord, generation: int) -> None:
            try:
                event = ev.Completed(generation=generation, result={})
                await store.append(one.task_id, event, AT + 1)
            except IllegalEvent:
                refused.append(one.task_id)

        async with anyio.create_task_group() as callers:
            for number, one in enumerate(tasks):
                callers.start_soon(complete, one, 1 + number % 2)
        assert sorted(refused) == sorted(one.task_id for one in tasks[1::2])
        for number, one in enumerate(tasks):
            after = await store.get(one.task_id)
            assert after == one if number % 2 else after and after.status.ended

    async def test_a_refused_create_does_not_spoil_its_neighbours(self, store: Store) -> None:
        """Ours."""
        tasks = [task() for _ in range(50)]
        tasks += [task(task_id=tasks[0].task_id, owner="eve") for _ in range(3)]
        refused: list[str] = []

        async def create(one: TaskRecord) -> None:
            try:
                await store.create(one)
            except StoreError:
                refused.append(one.task_id)

        async with anyio.create_task_group() as callers:
            for one in tasks:
                callers.start_soon(create, one)
        assert refused == [tasks[0].task_id] * 3
        assert len(await store.find(owner="ada")) == 50

    async def test_a_key_used_at_the_same_time_creates_one_task(
        self, store: Store, second: Store
    ) -> None:
        """Ours: one task per (owner, tool, key)."""
        got: list[str] = []

        async def create(to: Store) -> None:
            got.append((await to.create(task(request_key="once"))).task_id)

        async with anyio.create_task_group() as callers:
            for to in (store, second) * 25:
                callers.start_soon(create, to)
        assert len(got) == 50
        assert len(set(got)) == 1
        assert [one.task_id for one in await store.find(owner="ada")] == got[:1]
        assert kinds(await store.history(got[0])) == ["Created"]

    async def test_a_key_is_one_owners_for_one_tool_and_outlives_the_end(
        self, store: Store
    ) -> None:
        """Ours: a retry after a lost reply finds the run, ended or not."""
        first = await store.create(task(worker="w1", request_key="k"))
        done = await store.append(first.task_id, ev.Completed(generation=1, result={}), AT)
        assert await store.create(task(request_key="k")) == done
        others = [task(request_key="k", owner="eve"), task(request_key="k", tool="other"), task()]
        for other in others:
            assert (await store.create(other)).task_id == other.task_id

    async def test_a_caller_cancelled_while_it_waits_leaves_a_whole_write_or_none(
        self, store: Store
    ) -> None:
        """Ours."""
        tasks = [task() for _ in range(50)]
        async with anyio.create_task_group() as callers:
            for one in tasks:
                callers.start_soon(store.create, one)
            await anyio.lowlevel.checkpoint()
            callers.cancel_scope.cancel()
        await store.create(task(owner="eve"))  # behind all of them
        for one in tasks:
            kept = await store.get(one.task_id)
            assert kinds(await store.history(one.task_id)) == ([] if kept is None else ["Created"])


__all__ = ["EndsOnce"]
