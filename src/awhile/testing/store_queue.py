"""Queueing: fair between owners, bounded, and everybody can be told their place."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import anyio
import pytest

from awhile.errors import QueueFull
from awhile.stores.bounds import Bounds
from awhile.stores.contract import PLACE_LIMIT, Store
from awhile.tasks import Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, StoreCase, kinds, task

TERM = 1000
"""How long the suite's leases run (milliseconds)."""


async def take(
    store: Store,
    limit: int = 1,
    *,
    tools: tuple[str, ...] = ("report",),
    per_owner: int | None = None,
    without: tuple[str, ...] = (),
    fit: Callable[[TaskRecord], bool] | None = None,
) -> list[TaskRecord]:
    """Claim at the suite's instant."""
    claimed = await store.claim(
        worker="w",
        tools=tools,
        at_ms=AT,
        until_ms=AT + TERM,
        limit=limit,
        per_owner=per_owner,
        without=without,
        fit=fit,
    )
    return list(claimed)


def owners(records: list[TaskRecord]) -> str:
    """The owners of records, one letter each."""
    return "".join(one.owner[0] for one in records)


async def complete(store: Store, record: TaskRecord) -> None:
    """End a claimed task."""
    done = ev.Completed(generation=record.generation, result={})
    await store.append(record.task_id, done, AT + 1)


class QueuesFairly(StoreCase):
    """Who is next, who is refused, and who knows."""

    async def test_A22_an_owner_of_many_waiting_tasks_does_not_starve_one_of_a_single(
        self, store: Store
    ) -> None:
        """Ours. Field case A22."""
        for _ in range(200):
            await store.create(task(owner="ada"))
        await store.create(task(owner="eve"))
        assert owners(await take(store)) == "a"
        assert owners(await take(store)) == "e"
        assert owners(await take(store)) == "a"

    async def test_the_owner_with_the_fewest_running_is_next_and_of_those_the_oldest(
        self, store: Store
    ) -> None:
        """Ours."""
        await store.create(task(owner="ada", worker="w1", tool="other"))
        for owner in ("ada", "ada", "bob", "cyd", "bob", "ada"):
            await store.create(task(owner=owner))
        assert owners(await take(store, 10)) == "bcabaa"

    async def test_one_claim_of_many_takes_what_many_claims_of_one_would(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        order = random.Random(7)  # noqa: S311 - to be repeated, not to be guessed
        made = [await store.create(task(owner=order.choice("abc"))) for _ in range(40)]
        single: list[TaskRecord] = []
        for _ in range(15):
            single += await take(store)
        for one in single:
            released = ev.Released(generation=1, how=StoppedHow.NEVER_STARTED)
            await store.append(one.task_id, released, AT)
        again = await take(second, 15)
        assert [one.task_id for one in again] == [one.task_id for one in single]
        rest = await take(store, 40)
        assert sorted(one.task_id for one in (*again, *rest)) == sorted(one.task_id for one in made)

    async def test_who_has_ended_tasks_is_served_as_if_they_had_none(self, store: Store) -> None:
        """Ours: fair is counted by what runs, not by what ran."""
        for _ in range(4):
            await store.create(task(owner="ada"))
        for one in await take(store, 2):
            await complete(store, one)
        await store.create(task(owner="eve"))
        assert owners(await take(store, 3)) == "aea"

    async def test_an_owner_at_the_bound_of_running_tasks_waits_until_one_ends(
        self, store: Store
    ) -> None:
        """Ours."""
        for owner in ("ada", "ada", "ada", "eve"):
            await store.create(task(owner=owner))
        taken = await take(store, 10, per_owner=2)
        assert owners(taken) == "aea"
        assert await take(store, 10, per_owner=2) == []
        await complete(store, taken[0])
        assert owners(await take(store, 10, per_owner=2)) == "a"

    async def test_owners_to_leave_out_are_left_out(self, store: Store) -> None:
        """Ours."""
        for owner in ("ada", "eve", "bob"):
            await store.create(task(owner=owner))
        assert owners(await take(store, 10, without=("ada", "bob"))) == "e"
        assert owners(await take(store, 10)) == "ab"

    async def test_what_is_not_for_a_caller_is_left_to_others_and_what_comes_behind_is_taken(
        self, store: Store, second: Store
    ) -> None:
        """Ours: nothing is written of it, and it keeps its place."""
        made = [await store.create(task(owner=owner)) for owner in ("ada", "ada", "eve", "ada")]
        lost = await store.create(task(worker="gone", until_ms=AT, max_attempts=2))
        left = {made[0].task_id, made[1].task_id, lost.task_id}

        def fit(one: TaskRecord) -> bool:
            return one.task_id not in left

        taken = [*await take(store, 1, fit=fit), *await take(store, 3, fit=fit)]
        assert {one.task_id for one in taken} <= {made[2].task_id, made[3].task_id}
        taken += await take(store, 3, fit=fit)
        assert {one.task_id for one in taken} == {made[2].task_id, made[3].task_id}
        assert await take(store, 3, fit=fit) == []
        for task_id in left:
            assert kinds(await store.history(task_id)) == ["Created"]
        assert await second.place(made[0].task_id) == 0
        assert {one.task_id for one in await take(second, 5)} == left

    async def test_what_ran_before_and_is_not_for_a_caller_hides_nothing_that_is(
        self, store: Store
    ) -> None:
        """Ours: what ran before is taken first, and here others have to take it."""
        made = [
            await store.create(task(worker="gone", until_ms=AT, max_attempts=2)) for _ in range(3)
        ]
        left = {one.task_id for one in made[:2]}

        def fit(one: TaskRecord) -> bool:
            return one.task_id not in left

        taken = [*await take(store, fit=fit), *await take(store, fit=fit)]
        assert [one.task_id for one in taken] == [made[2].task_id]
        assert {one.task_id for one in await take(store, 5)} == left

    async def test_a_bound_of_running_tasks_counts_nothing_that_is_left_to_others(
        self, store: Store
    ) -> None:
        """Ours."""
        made = [await store.create(task(owner="ada")) for _ in range(5)]
        left = {one.task_id for one in made[:3]}

        def fit(one: TaskRecord) -> bool:
            return one.task_id not in left

        taken = [one for _ in range(3) for one in await take(store, 2, per_owner=1, fit=fit)]
        assert [one.task_id for one in taken] == [made[3].task_id]

    async def test_what_ran_before_goes_first_and_takes_no_other_place(self, store: Store) -> None:
        """Ours: it counted as running all the time."""
        await store.create(task(owner="eve"))
        lost = await store.create(task(owner="ada", worker="gone", until_ms=AT, max_attempts=2))
        assert [one.task_id for one in await take(store, per_owner=1)] == [lost.task_id]
        assert owners(await take(store)) == "e"

    # --- bounds -------------------------------------------------------------------------------

    async def test_a_queue_that_is_full_refuses_and_says_when_to_come_back(
        self, store: Store
    ) -> None:
        """Ours."""
        bounds = Bounds(queued_per_owner=2, queued=3)
        for owner in ("ada", "ada", "eve"):
            await store.create(task(owner=owner), bounds=bounds)
        late = task(owner="ada", at_ms=AT + 10_000)
        with pytest.raises(QueueFull) as own:
            await store.create(late, bounds=bounds)
        assert (own.value.own, own.value.waiting, own.value.retry_after_seconds) == (True, 2, 5)
        with pytest.raises(QueueFull, match="3 tasks wait to start here already") as total:
            await store.create(task(owner="bob"), bounds=bounds)
        assert (total.value.own, total.value.retry_after_seconds) == (False, 1)
        assert await store.get(late.task_id) is None
        assert await store.find(owner="bob") == []
        await take(store)
        assert (await store.create(late, bounds=bounds)).task_id == late.task_id

    async def test_what_runs_has_ended_or_is_stopped_is_not_in_the_queue(
        self, store: Store
    ) -> None:
        """Ours."""
        bounds = Bounds(queued=1)
        await store.create(task(worker="w1"), bounds=bounds)
        ended = await store.create(task(worker="w1"), bounds=bounds)
        await complete(store, ended)
        cancelled = await store.create(task(), bounds=bounds)
        await store.append(cancelled.task_id, ev.CancelAsked(), AT)
        await store.create(task(), bounds=bounds)
        with pytest.raises(QueueFull):
            await store.create(task(), bounds=bounds)
        await store.create(task(worker="w1"), bounds=bounds)  # it starts: it needs no place

    async def test_a_known_key_finds_its_task_although_the_queue_is_full(
        self, store: Store
    ) -> None:
        """Ours: a retry is no new work."""
        bounds = Bounds(queued=1)
        first = await store.create(task(request_key="k"), bounds=bounds)
        assert await store.create(task(request_key="k"), bounds=bounds) == first

    async def test_of_two_creators_one_gets_the_last_place(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        outcomes: Counter[str] = Counter()

        async def create(on: Store, owner: str, bounds: Bounds) -> None:
            try:
                await on.create(task(owner=owner), bounds=bounds)
            except QueueFull as full:
                outcomes[f"{owner} {'own' if full.own else 'all'}"] += 1
            else:
                outcomes[f"{owner} kept"] += 1

        async with anyio.create_task_group() as callers:
            for on in (store, second) * 20:
                callers.start_soon(create, on, "ada", Bounds(queued_per_owner=5))
        assert outcomes == {"ada kept": 5, "ada own": 35}
        async with anyio.create_task_group() as callers:
            for on in (store, second) * 20:
                callers.start_soon(create, on, "eve", Bounds(queued=12))
        assert (outcomes["eve kept"], outcomes["eve all"]) == (7, 33)
        assert len(await store.find(owner="ada")) == 5
        assert len(await store.find(owner="eve")) == 7

    async def test_who_runs_as_much_as_they_may_is_kept_waiting(self, store: Store) -> None:
        """Ours."""
        bounds = Bounds(running_per_owner=1, queued_per_owner=1)
        begun = await store.create(task(worker="w1"), bounds=bounds)
        assert begun.lease is not None
        kept = await store.create(task(worker="w1"), bounds=bounds)
        assert (kept.lease, kept.generation, kept.attempt) == (None, 0, 0)
        assert kept.status_message == "Waiting to start."
        assert await store.get(kept.task_id) == kept
        [first] = await store.history(kept.task_id)
        assert first.fields["worker"] is None
        with pytest.raises(QueueFull):
            await store.create(task(worker="w1"), bounds=bounds)
        other = await store.create(task(worker="w1", owner="eve"), bounds=bounds)
        assert other.lease is not None
        assert await take(store, per_owner=1) == []
        await complete(store, begun)
        assert [one.task_id for one in await take(store, per_owner=1)] == [kept.task_id]

    # --- places -------------------------------------------------------------------------------

    @pytest.mark.parametrize("seed", range(6))
    async def test_a_place_is_the_number_of_claims_before_ones_own(
        self, store: Store, seed: int
    ) -> None:
        """Ours: told by the very order in which they are taken."""
        order = random.Random(seed)  # noqa: S311
        names, tools = "abcde"[: 1 + seed], ("report", "other")
        for _ in range(order.randrange(8)):
            await store.create(task(owner=order.choice(names), worker="w1", tool="third"))
        waiting = [
            await store.create(task(owner=order.choice(names), tool=order.choice(tools)))
            for _ in range(30)
        ]
        for one in order.sample(waiting, 5):
            await store.append(one.task_id, ev.CancelAsked(), AT)
            waiting.remove(one)
        told = {one.task_id: await store.place(one.task_id) for one in waiting}
        taken: list[str] = []
        while claimed := await take(store, tools=tools):
            taken += [one.task_id for one in claimed]
        assert told == {task_id: place for place, task_id in enumerate(taken)}

    async def test_only_what_waits_has_a_place(self, store: Store) -> None:
        """Ours."""
        running = await store.create(task(worker="w1", max_attempts=2))
        ended = await store.create(task(worker="w1"))
        await complete(store, ended)
        cancelled = await store.create(task())
        await store.append(cancelled.task_id, ev.CancelAsked(), AT)
        for task_id in (running.task_id, ended.task_id, cancelled.task_id, "nobody"):
            assert await store.place(task_id) is None
        back = ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED)
        await store.append(running.task_id, back, AT)
        assert await store.place(running.task_id) == 0

    async def test_a_place_far_back_is_counted_as_far_as_the_limit(self, store: Store) -> None:
        """Ours: cheap however long the queue."""
        async with anyio.create_task_group() as callers:
            for number in range(PLACE_LIMIT + 50):
                callers.start_soon(store.create, task(owner=f"o{number % 7}"))
        last = await store.create(task(owner="o0"))
        assert await store.place(last.task_id) == PLACE_LIMIT

    # --- looking ------------------------------------------------------------------------------

    async def test_a_look_is_remembered_and_is_no_change(self, store: Store) -> None:
        """Ours."""
        one, other = [await store.create(task(worker="w1")) for _ in range(2)]
        async with store.watch() as watch:
            await store.looked([one.task_id, other.task_id, "nobody"], AT + 60_000)
            await store.looked([one.task_id], AT + 30_000)
            assert not await watch.wait(0.15)
        after = await store.get(one.task_id)
        assert after is not None
        assert (after.looked_at_ms, after.seen_at_ms) == (AT + 60_000, AT + 60_000)
        assert (after.rev, after.last_updated_at_ms) == (one.rev, one.last_updated_at_ms)
        assert kinds(await store.history(one.task_id)) == ["Created"]
        said = await store.append(one.task_id, ev.Reported(generation=1, message="half"), AT + 1)
        assert said.looked_at_ms == AT + 60_000
        assert await store.get(one.task_id) == said

    # --- the journal --------------------------------------------------------------------------

    async def test_what_was_noted_once_reads_back_and_is_nobodys_news(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task(worker="w1", max_attempts=2))
        outcome = {"id": "job-7", "text": "\ud800 ä", "n": 2**60}
        noted = ev.Noted(generation=1, key="job", outcome=outcome, reachable=True)
        begun = ev.Noted(generation=1, key="job", done=False, reachable=True)
        async with store.watch() as watch:
            half = await store.append(one.task_id, begun, AT + 1)
            assert (half.journal["job"].done, half.journal["job"].outcome) == (False, None)
            assert await store.get(one.task_id) == half
            after = await store.append(one.task_id, noted, AT + 1)
            again = ev.Noted(generation=1, key="job", outcome="other")
            assert await store.append(one.task_id, again, AT + 2) == after
            assert not await watch.wait(0.15)
        assert (after.rev, after.last_updated_at_ms) == (one.rev, one.last_updated_at_ms)
        assert after.journal["job"].outcome == outcome
        assert await store.get(one.task_id) == after
        [_, first, kept] = await store.history(one.task_id)
        assert (first.kind, first.fields["done"]) == ("Noted", False)
        assert kept.fields == {"key": "job", "done": True, "reachable": True, "generation": 1}
        [retried] = await store.claim(
            worker="w2", tools=["report"], at_ms=AT + 60_000, until_ms=AT + 61_000, limit=1
        )
        assert retried.journal == after.journal

    async def test_a_stop_asked_after_the_worker_was_lost_is_given_to_a_worker_that_can_reach_it(
        self, store: Store
    ) -> None:
        """Ours: the task ended "cancelled" while its job in the warehouse ran on."""
        one = await store.create(task(worker="gone", until_ms=AT))
        noted = ev.Noted(generation=1, key="job", outcome=7, reachable=True)
        await store.append(one.task_id, noted, AT - 1)
        await store.append(one.task_id, ev.CancelAsked(), AT)
        await take(store, tools=("other",))
        [given] = await take(store)
        assert (given.task_id, given.cancel_asked, given.generation) == (one.task_id, True, 2)
        assert await take(store) == []
        stopped = ev.Stopped(generation=2, how=StoppedHow.ENGINE_CONFIRMED)
        after = await store.append(one.task_id, stopped, AT + 1)
        assert (after.status, after.stopped_how) == (
            Status.CANCELLED,
            StoppedHow.ENGINE_CONFIRMED,
        )

    async def test_a_stop_that_nobody_can_carry_out_ends_saying_so(self, store: Store) -> None:
        """Ours: as a lost worker's task, or after ten minutes without a worker for its tool."""
        noted = ev.Noted(generation=1, key="job", outcome=7)
        unreachable = await store.create(task(worker="gone", until_ms=AT))
        await store.append(unreachable.task_id, noted, AT - 1)
        reachable = await store.create(task(worker="gone", until_ms=AT))
        reaching = ev.Noted(generation=1, key="job", outcome=7, reachable=True)
        await store.append(reachable.task_id, reaching, AT - 1)
        both = (unreachable.task_id, reachable.task_id)
        for task_id in both:
            await store.append(task_id, ev.CancelAsked(), AT)

        async def ended() -> list[bool]:
            records = [await store.get(task_id) for task_id in both]
            return [one is not None and one.status.ended for one in records]

        await take(store, tools=("other",))
        assert await ended() == [True, False]
        late = AT + 600_000
        await store.claim(worker="w", tools=["other"], at_ms=late, until_ms=late, limit=1)
        assert await ended() == [True, True]
        for task_id in both:
            after = await store.get(task_id)
            assert after is not None
            assert after.stopped_how is StoppedHow.NOT_STOPPED

    # --- lists --------------------------------------------------------------------------------

    async def test_a_list_can_be_had_without_what_may_be_long(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task(worker="w1", context={"headers": {"x": "y"}}))
        await store.append(one.task_id, ev.Reported(generation=1, message="half"), AT)
        await store.append(one.task_id, ev.Noted(generation=1, key="job", outcome=7), AT)
        done = ev.Completed(generation=1, result={"rows": list(range(1000))})
        whole = await store.append(one.task_id, done, AT)
        [brief] = await store.find(owner="ada", detail="brief")
        assert (brief.status, brief.result, brief.rev) == (Status.COMPLETED, None, whole.rev)
        assert (brief.status_message, brief.arguments) == (whole.status_message, whole.arguments)
        [outline] = await store.find(owner="ada", detail="outline")
        assert (outline.status_message, outline.rev) == (whole.status_message, whole.rev)
        for one in (outline.arguments, outline.context, outline.steps, outline.journal):
            assert not one
        assert (outline.result, outline.progress) == (None, None)
        assert list(await store.find(owner="ada")) == [whole]


__all__ = ["QueuesFairly"]
