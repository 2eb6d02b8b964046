"""Watching: woken by every change, once, and by nothing else."""

from __future__ import annotations

import anyio
import pytest

from awhile.errors import Fenced
from awhile.stores.contract import Held, Store
from awhile.tasks import StoppedHow
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, PATIENCE_SECONDS, StoreCase, task, wait_for

QUIET_SECONDS = 0.15
"""How long nothing has to be reported to count as nothing: three times what a wake may take."""


class WakesWaiters(StoreCase):
    """Waiters in the same process, and of another opening."""

    async def test_a_waiter_is_woken_by_each_kind_of_change(self, store: Store) -> None:
        """Ours."""
        async with store.watch() as watch:
            one = await store.create(task())
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == {one.task_id}
            await store.claim(worker="w", tools=["report"], at_ms=AT, until_ms=AT + 9, limit=1)
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == {one.task_id}
            await store.append(one.task_id, ev.Reported(generation=1, done=1), AT)
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == {one.task_id}
            await store.claim(worker="w", tools=[], at_ms=AT + 9, until_ms=AT + 9, limit=0)
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == {one.task_id}

    async def test_a_waiter_already_waiting_is_woken(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task())
        woken: list[str] = []

        async def wait(*, started: anyio.Event) -> None:
            async with store.watch([one.task_id]) as watch:
                started.set()
                woken.extend(await watch.wait())

        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as waiters:
                events = [anyio.Event() for _ in range(5)]
                for event in events:
                    waiters.start_soon(lambda event=event: wait(started=event))
                for event in events:
                    await event.wait()
                await store.append(one.task_id, ev.CancelAsked(), AT)
        assert woken == [one.task_id] * 5

    async def test_a_watch_of_some_tasks_reports_only_theirs(self, store: Store) -> None:
        """Ours."""
        mine, other = [await store.create(task()) for _ in range(2)]
        async with store.watch([mine.task_id]) as watch:
            await store.append(other.task_id, ev.CancelAsked(), AT)
            await store.append(mine.task_id, ev.CancelAsked(), AT)
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == {mine.task_id}
            assert not await watch.wait(QUIET_SECONDS)

    async def test_changes_between_two_waits_are_reported_together(self, store: Store) -> None:
        """Ours."""
        async with store.watch() as watch:
            made = {(await store.create(task())).task_id for _ in range(5)}
            assert (await watch.wait(PATIENCE_SECONDS)).keys() == made
            assert not await watch.wait(QUIET_SECONDS)

    async def test_each_changed_task_comes_with_the_rev_of_its_last_change(
        self, store: Store
    ) -> None:
        """Ours."""
        async with store.watch() as watch:
            one = await store.create(task())
            after = await store.append(one.task_id, ev.CancelAsked(), AT)
            told = 0
            with anyio.fail_after(PATIENCE_SECONDS):
                while told < after.rev:
                    told = (await watch.wait())[one.task_id]
            assert told == after.rev

    async def test_what_changed_before_is_not_reported(self, store: Store) -> None:
        """Ours: subscribe, then read, and nothing is missed nor told twice."""
        await store.create(task())
        async with store.watch() as watch:
            assert not await watch.wait(QUIET_SECONDS)

    async def test_a_cancelled_wait_loses_nothing(self, store: Store) -> None:
        """Ours."""
        made: set[str] = set()
        reported: set[str] = set()
        async with store.watch() as watch:
            for _ in range(30):
                with anyio.CancelScope() as scope:
                    async with anyio.create_task_group() as both:

                        async def create() -> None:
                            made.add((await store.create(task())).task_id)
                            scope.cancel()

                        both.start_soon(create)
                        reported |= (await watch.wait()).keys()
            reported |= await wait_for(watch, made - reported) if made - reported else set()
        assert reported == made

    async def test_what_changes_nothing_wakes_nobody(self, store: Store) -> None:
        """Ours: renewals, refused events, events without effect."""
        one = await store.create(task(worker="w1"))
        await store.append(one.task_id, ev.CancelAsked(), AT)
        async with store.watch() as watch:
            lease = Held(task_id=one.task_id, generation=1)
            assert await store.renew([lease], at_ms=AT, until_ms=AT + 9) == []
            await store.append(one.task_id, ev.LeaseRenewed(generation=1, until_ms=AT + 99), AT)
            await store.append(one.task_id, ev.CancelAsked(), AT)
            with pytest.raises(Fenced):
                await store.append(
                    one.task_id, ev.Released(generation=4, how=StoppedHow.COROUTINE_ENDED), AT
                )
            assert not await watch.wait(QUIET_SECONDS)

    async def test_changes_of_another_opening_are_reported(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        mine = await store.create(task())
        async with store.watch() as all_tasks, store.watch([mine.task_id]) as one_task:
            other = await second.create(task())
            await second.append(mine.task_id, ev.CancelAsked(), AT)
            both = {mine.task_id, other.task_id}
            assert await wait_for(all_tasks, both) == both
            assert await wait_for(one_task, [mine.task_id]) == {mine.task_id}
            assert not await all_tasks.wait(QUIET_SECONDS)

    async def test_changes_of_both_openings_at_once_are_all_reported_once(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        made: list[str] = []
        reported: list[str] = []

        async def create(on: Store) -> None:
            for _ in range(100):
                made.append((await on.create(task())).task_id)

        async with store.watch() as watch:
            async with anyio.create_task_group() as callers:
                for on in (store, second) * 3:
                    callers.start_soon(create, on)
                with anyio.fail_after(PATIENCE_SECONDS):
                    while len(reported) < 600:
                        reported.extend(await watch.wait())
            assert not await watch.wait(QUIET_SECONDS)
        assert sorted(reported) == sorted(made)

    async def test_a_watch_that_follows_a_watch_sees_what_other_openings_do(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        for _ in range(3):
            async with store.watch() as watch:
                one = await second.create(task())
                assert await wait_for(watch, [one.task_id]) == {one.task_id}
            await second.create(task())


__all__ = ["WakesWaiters"]
