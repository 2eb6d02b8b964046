"""Leasing: one worker at a time, and none after it was lost."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from awhile.errors import Fenced
from awhile.stores.contract import Held, Store
from awhile.tasks import Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, StoreCase, kinds, task

TERM = 1000
"""How long the suite's leases run (milliseconds)."""


async def claim(
    store: Store, at_ms: int = AT, *, worker: str = "w1", tool: str = "report", limit: int = 10
) -> Sequence[TaskRecord]:
    """Claim tasks of one tool for `TERM`."""
    return await store.claim(
        worker=worker, tools=[tool], at_ms=at_ms, until_ms=at_ms + TERM, limit=limit
    )


def ids(records: Sequence[TaskRecord]) -> list[str]:
    """The ids of records, in their order."""
    return [one.task_id for one in records]


def held(record: TaskRecord) -> Held:
    """The lease of a record just claimed."""
    return Held(task_id=record.task_id, generation=record.generation)


class GivesLeases(StoreCase):
    """Claim, renew, lose."""

    async def test_the_oldest_of_the_wanted_tools_are_claimed_first(self, store: Store) -> None:
        """Ours."""
        tools = ["a", "b", "c", "a", "b", "c", "a"]
        made = [await store.create(task(tool=tool)) for tool in tools]
        got = await store.claim(
            worker="w1", tools=["a", "b"], at_ms=AT, until_ms=AT + TERM, limit=4
        )
        assert ids(got) == ids([made[0], made[1], made[3], made[4]])
        for one in got:
            assert (one.status, one.generation, one.attempt) == (Status.WORKING, 1, 1)
            assert one.lease is not None
            assert (one.lease.worker, one.lease.until_ms) == ("w1", AT + TERM)
            assert await store.get(one.task_id) == one
        rest = await store.claim(worker="w1", tools=["a"], at_ms=AT, until_ms=AT + TERM, limit=4)
        assert ids(rest) == ids([made[6]])

    async def test_a_task_is_claimed_by_one_worker_only(self, store: Store, second: Store) -> None:
        """Ours."""
        made = [await store.create(task()) for _ in range(60)]
        got: list[str] = []

        async def work(on: Store, worker: str) -> None:
            while claimed := await claim(on, worker=worker, limit=3):
                got.extend(ids(claimed))

        async with anyio.create_task_group() as workers:
            for number in range(4):
                workers.start_soon(work, store, f"near {number}")
                workers.start_soon(work, second, f"far {number}")
        assert sorted(got) == sorted(ids(made))

    async def test_what_nobody_of_some_tools_takes_is_found(self, store: Store) -> None:
        """Ours: of each tool and owner in line the first, and all that ran before."""
        mine = await store.create(task(tool="mine"))
        first = await store.create(task(tool="other"))
        await store.create(task(tool="other"))
        of_bob = await store.create(task(tool="other", owner="bob"))
        lapsed = await store.create(
            task(tool="third", worker="w1", until_ms=AT + TERM, max_attempts=2)
        )
        await store.create(task(tool="third", worker="w1", until_ms=AT + TERM))
        stopped = await store.create(task(tool="other", owner="eve"))
        await store.append(stopped.task_id, ev.CancelAsked(), AT)
        found = await store.unclaimed(besides=["mine"], at_ms=AT)
        assert ids(found) == ids([first, of_bob])
        found = await store.unclaimed(besides=["mine"], at_ms=AT + TERM)
        assert ids(found) == ids([first, of_bob, lapsed])
        found = await store.unclaimed(besides=[], at_ms=AT, limit=1)
        assert ids(found) == ids([mine])

    async def test_what_is_held_ended_or_to_be_stopped_is_not_claimed(self, store: Store) -> None:
        """Ours; work nobody has started yet must not start after its cancel (field case A6)."""
        await store.create(task(worker="w1"))
        ended = await store.create(task(worker="w1"))
        await store.append(ended.task_id, ev.Completed(generation=1, result={}), AT)
        cancelled = await store.create(task())
        await store.append(cancelled.task_id, ev.CancelAsked(), AT)
        assert await claim(store) == []

    async def test_a_released_task_is_claimed_again_at_no_cost(self, store: Store) -> None:
        """Ours: a drain is not a crash."""
        one = await store.create(task())
        for generation in (1, 2, 3):
            [claimed] = await claim(store)
            assert (claimed.generation, claimed.attempt) == (generation, 1)
            await store.append(
                one.task_id, ev.Released(generation=generation, how=StoppedHow.COROUTINE_ENDED), AT
            )

    # --- fencing ------------------------------------------------------------------------------

    async def test_A10_a_late_result_of_a_worker_that_lost_its_lease_changes_nothing(
        self, store: Store, second: Store
    ) -> None:
        """Ours. Field case A10; elsewhere it replaced the new worker's result."""
        await store.create(task(max_attempts=2))
        [late] = await claim(store)
        [now] = await claim(second, AT + TERM, worker="w2")
        assert (now.task_id, now.generation, now.attempt) == (late.task_id, 2, 2)
        for event in (
            ev.Completed(generation=late.generation, result={"late": True}),
            ev.Failed(generation=late.generation, error={}, message="late"),
            ev.Reported(generation=late.generation, message="late"),
            ev.LeaseRenewed(generation=late.generation, until_ms=AT + 9 * TERM),
            ev.Released(generation=late.generation, how=StoppedHow.COROUTINE_ENDED),
        ):
            with pytest.raises(Fenced):
                await store.append(late.task_id, event, AT + TERM + 1)
        assert await store.renew([held(late)], at_ms=AT, until_ms=AT + 9 * TERM) == [held(late)]
        assert await store.get(now.task_id) == now
        done = await second.append(
            now.task_id, ev.Completed(generation=2, result={"now": True}), AT + TERM + 2
        )
        assert done.result == {"now": True}

    # --- lost workers -------------------------------------------------------------------------

    async def test_a_lost_task_that_may_run_again_is_claimed_until_its_attempts_are_used_up(
        self, store: Store
    ) -> None:
        """Ours."""
        one = await store.create(task(max_attempts=3))
        for attempt in (1, 2, 3):
            at_ms = AT + (attempt - 1) * TERM
            assert [each.attempt for each in await claim(store, at_ms)] == [attempt]
            assert await claim(store, at_ms + TERM - 1) == []
        assert await claim(store, AT + 3 * TERM) == []
        after = await store.get(one.task_id)
        assert after is not None
        assert after.status is Status.FAILED
        assert after.error is not None
        assert after.error["data"] == {"reason": "worker_lost"}
        assert kinds(await store.history(one.task_id)) == [
            "Created",
            "Claimed",
            "Claimed",
            "Claimed",
            "WorkerLost",
        ]

    async def test_a_lost_task_that_may_not_run_again_ends_whatever_its_tool(
        self, store: Store
    ) -> None:
        """Ours: none stays ``working`` for longer than its lease."""
        one = await store.create(task(tool="once", worker="gone", until_ms=AT + TERM))
        await store.claim(worker="w", tools=["other"], at_ms=AT + TERM - 1, until_ms=AT, limit=1)
        assert await store.get(one.task_id) == one
        await store.claim(worker="w", tools=[], at_ms=AT + TERM, until_ms=AT, limit=0)
        after = await store.get(one.task_id)
        assert after is not None
        assert after.status is Status.FAILED
        assert after.status_message == "The server stopped while this was running."

    async def test_a_lost_task_that_was_to_be_stopped_ends_cancelled(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task(worker="gone", until_ms=AT + TERM, max_attempts=3))
        await store.append(one.task_id, ev.CancelAsked(), AT)
        assert await claim(store, AT + TERM) == []
        after = await store.get(one.task_id)
        assert after is not None
        assert (after.status, after.stopped_how) == (Status.CANCELLED, StoppedHow.WORKER_LOST)

    async def test_one_claim_ends_any_number_of_lost_tasks(self, store: Store) -> None:
        """Ours."""
        async with anyio.create_task_group() as callers:
            for _ in range(1100):
                callers.start_soon(store.create, task(worker="gone", until_ms=AT + TERM))
        await claim(store, AT + TERM)
        assert await store.find(owner="ada", statuses=[Status.WORKING]) == []
        assert len(await store.find(owner="ada", statuses=[Status.FAILED], limit=2000)) == 1100

    # --- renewing -----------------------------------------------------------------------------

    async def test_a_renewed_lease_is_not_lost(self, store: Store) -> None:
        """Ours."""
        made = [await store.create(task(max_attempts=2)) for _ in range(3)]
        got = await claim(store)
        assert await store.renew([held(one) for one in got], at_ms=AT, until_ms=AT + 5 * TERM) == []
        assert await claim(store, AT + 5 * TERM - 1) == []
        assert ids(await claim(store, AT + 5 * TERM)) == ids(made)

    async def test_renewing_names_the_leases_that_are_gone(self, store: Store) -> None:
        """Ours."""
        kept, ended, released, taken, unknown = [
            await store.create(task(worker="w1", max_attempts=2, until_ms=AT + TERM * (n != 3)))
            for n in range(5)
        ]
        await store.append(ended.task_id, ev.Completed(generation=1, result={}), AT)
        await store.append(
            released.task_id, ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED), AT
        )
        assert set(ids(await claim(store, worker="w2"))) == {released.task_id, taken.task_id}
        gone = [held(ended), held(released), held(taken), Held(task_id="nobody", generation=1)]
        assert (
            await store.renew(
                [held(kept), held(unknown), *gone], at_ms=AT + 1, until_ms=AT + 2 * TERM
            )
            == gone
        )

    async def test_a_renewal_is_what_the_event_would_be_without_history_or_a_new_rev(
        self, store: Store
    ) -> None:
        """Ours: the store may write it in one statement, but it means ``LeaseRenewed``."""
        one, other = [await store.create(task(worker="w1")) for _ in range(2)]
        before = await store.history(one.task_id)
        await store.renew([held(one)], at_ms=AT + 1, until_ms=AT + 2 * TERM)
        event = ev.LeaseRenewed(generation=1, until_ms=AT + 2 * TERM)
        renewed = await store.append(other.task_id, event, AT + 1)
        assert (renewed.rev, await store.history(one.task_id)) == (other.rev, before)
        after = await store.get(one.task_id)
        assert after is not None
        assert (after.lease, after.rev) == (renewed.lease, one.rev)
        assert after.last_updated_at_ms == renewed.last_updated_at_ms == AT


__all__ = ["GivesLeases"]
