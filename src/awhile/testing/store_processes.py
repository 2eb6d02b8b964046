"""Surviving: real second processes, killed without warning."""

from __future__ import annotations

import anyio

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.tasks import Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.other_process import OtherProcess
from awhile.testing.store_case import AT, PATIENCE_SECONDS, StoreCase, kinds, task, wait_for


class SurvivesProcesses(StoreCase):
    """What one process confirmed, others see and keep."""

    async def test_every_create_confirmed_before_a_kill_is_there_after_it(
        self, store_url: str
    ) -> None:
        """Ours. A process writing with 32 callers is killed (SIGKILL) in the middle of it."""
        confirmed: list[str] = []
        with anyio.fail_after(PATIENCE_SECONDS):
            async with OtherProcess(store_url) as other:
                await other.tell("flood")
                while len(confirmed) < 1000:
                    confirmed.append(await other.line())
                await other.kill()
                while line := await other.line():
                    confirmed.append(line)
        async with open_store(store_url) as store:
            for task_id in confirmed:
                assert await store.get(task_id) is not None
                assert kinds(await store.history(task_id)) == ["Created"]
            assert (await store.create(task())).rev > len(confirmed)

    async def test_a_change_of_another_process_wakes_a_waiter_here(
        self, store: Store, store_url: str
    ) -> None:
        """Ours: within 50 ms, which a benchmark measures; here, that it does at all."""
        mine = await store.create(task())
        with anyio.fail_after(PATIENCE_SECONDS):
            async with OtherProcess(store_url) as other, store.watch() as watch:
                await other.tell("create")
                created = await other.line()
                assert await wait_for(watch, [created]) == {created}
                await other.tell(f"cancel {mine.task_id}")
                assert await wait_for(watch, [mine.task_id]) == {mine.task_id}
        after = await store.get(mine.task_id)
        assert after is not None
        assert after.status is Status.CANCELLED

    async def test_a_change_here_wakes_a_waiter_in_another_process(
        self, store: Store, store_url: str
    ) -> None:
        """Ours."""
        with anyio.fail_after(PATIENCE_SECONDS):
            async with OtherProcess(store_url) as other:
                await other.tell("watch")
                assert await other.line() == "watching"
                for _ in range(20):
                    created = await store.create(task())
                    assert await other.line() == created.task_id

    async def test_work_claimed_by_a_killed_process_is_lost_when_its_lease_ends(
        self, store: Store, store_url: str
    ) -> None:
        """Ours."""
        once = [await store.create(task(tool="once")) for _ in range(10)]
        again = [await store.create(task(tool="again", max_attempts=2)) for _ in range(10)]
        with anyio.fail_after(PATIENCE_SECONDS):
            async with OtherProcess(store_url) as other:
                for tool in ("once", "again"):
                    await other.tell(f"claim {tool} 10 {AT + 1000}")
                    for _ in range(10):
                        await other.line()
                await other.kill()
        claimed = await store.claim(
            worker="here", tools=["once", "again"], at_ms=AT + 999, until_ms=AT + 5000, limit=20
        )
        assert claimed == []
        claimed = await store.claim(
            worker="here", tools=["once", "again"], at_ms=AT + 1000, until_ms=AT + 5000, limit=20
        )
        assert [one.task_id for one in claimed] == [one.task_id for one in again]
        assert {one.attempt for one in claimed} == {2}
        for one in once:
            after = await store.get(one.task_id)
            assert after is not None
            assert after.status is Status.FAILED
        for one in claimed:
            done = ev.Completed(generation=one.generation, result={})
            assert (await store.append(one.task_id, done, AT + 1001)).status.ended

    async def test_A5_tasks_cancelled_by_another_process_as_they_end_have_one_ending_each(
        self, store: Store, store_url: str
    ) -> None:
        """Ours. Field cases A1 and A5: asked there, ended here, at the same instant."""
        tasks = [await store.create(task(worker="w1")) for _ in range(200)]

        async def end(one: TaskRecord) -> None:
            # As a worker does: with a result, unless it has heard of a stop before.
            known = await store.get(one.task_id)
            assert known is not None
            stopped = ev.Stopped(generation=1, how=StoppedHow.COROUTINE_ENDED)
            done = ev.Completed(generation=1, result={})
            await store.append(one.task_id, stopped if known.cancel_asked else done, AT + 1)

        with anyio.fail_after(PATIENCE_SECONDS):
            async with OtherProcess(store_url) as other, anyio.create_task_group() as workers:
                await other.tell("cancel_each " + " ".join(one.task_id for one in tasks))
                for one in reversed(tasks):
                    workers.start_soon(end, one)
                assert await other.line() == "done"
        for one in tasks:
            history = kinds(await store.history(one.task_id))
            ends = [kind for kind in history if kind in {"Completed", "Stopped"}]
            assert len(ends) == 1
            assert history[-1] == ends[0]  # nothing comes after the end
            after = await store.get(one.task_id)
            assert after is not None
            asked = "CancelAsked" in history
            assert asked is after.cancel_asked
            assert after.status == ("cancelled" if ends == ["Stopped"] else "completed")

    async def test_processes_that_write_at_once_lose_nothing(self, store_url: str) -> None:
        """Ours."""
        confirmed: list[str] = []

        async def flood() -> None:
            async with OtherProcess(store_url) as other:
                await other.tell("flood")
                for _ in range(300):
                    confirmed.append(await other.line())

        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as processes:
                for _ in range(3):
                    processes.start_soon(flood)
        async with open_store(store_url) as store:
            assert len(set(confirmed)) == 900
            for task_id in confirmed:
                assert await store.get(task_id) is not None


__all__ = ["SurvivesProcesses"]
