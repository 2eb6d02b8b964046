"""Keeping: what was written is what is read, from anywhere, later."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from awhile.errors import Fenced, IllegalEvent, StoreError, TaskNotFound
from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.tasks import Status, StoppedHow, TaskRecord, apply
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, StoreCase, kinds, task

AWKWARD: dict[str, Any] = {
    "text": 'äöü \N{SNOWMAN} \N{PILE OF POO} "quoted" \\ \x00 \ud800 \u2028',
    "numbers": [2**53 + 1, -(2**63), 10**40, 0.1, 1e300, -0.0, True, None],
    "nested": {"": {"a": [[], {}]}},
}
"""Valid in a tool's result, and each of it lost by some way of storing JSON."""


class KeepsTasks(StoreCase):
    """Create, read, change one at a time."""

    async def test_a_created_task_reads_back_equal(self, store: Store) -> None:
        """Ours."""
        new = task(
            worker="w1",
            arguments=AWKWARD,
            context={"headers": AWKWARD},
            request_key="k",
            max_attempts=3,
            keep_ms=None,
        )
        said = ev.Reported(generation=1, done=1, total=2.5, message="half")
        new = apply(new, said, AT + 1)  # by a body that had begun before it was kept
        created = await store.create(new)
        assert created == replace(new, rev=created.rev)
        assert await store.get(new.task_id) == created
        [first] = await store.history(new.task_id)
        assert (first.kind, first.seq) == ("Created", 1)
        assert first.fields == {
            "tool": "report",
            "message": "half",
            "worker": "w1",
            "steps": [[1, AT + 1, "half"]],
        }

    async def test_every_fact_events_leave_reads_back_equal(self, store: Store) -> None:
        """Ours."""
        one = task(worker="w1")
        await store.create(one)
        for event in (
            ev.Reported(generation=1, done=1, total=None, message="reading"),
            ev.InputAsked(generation=1, key="which", request={"method": "elicitation/create"}),
            ev.InputAsked(generation=1, key="why", request=AWKWARD),
            ev.InputAnswered(responses={"which": AWKWARD}),
            ev.CancelAsked(reason="no longer needed"),
            ev.InputWithdrawn(generation=1, keys=frozenset({"why"})),
            ev.Stopped(generation=1, how=StoppedHow.ENGINE_CONFIRMED),
        ):
            after = await store.append(one.task_id, event, AT + 5)
            assert await store.get(one.task_id) == after
        failed = await store.create(task(worker="w1"))
        error = {"code": -32603, "message": "no such table", "data": AWKWARD}
        failed = await store.append(
            failed.task_id, ev.Failed(generation=1, error=error, message="no such table"), AT + 5
        )
        assert await store.get(failed.task_id) == failed

    async def test_A7_a_result_reads_the_same_any_number_of_times(
        self, store: Store, second: Store
    ) -> None:
        """Ext-tasks: until it expires. Field case A7."""
        one = await store.create(task(worker="w1"))
        done = await store.append(
            one.task_id, ev.Completed(generation=1, result=AWKWARD, is_error=True), AT + 9
        )
        assert (done.result, done.is_error) == (AWKWARD, True)
        assert [await of.get(one.task_id) for of in (store, second) * 5] == [done] * 10

    async def test_what_was_confirmed_is_there_when_the_store_is_opened_again(
        self, store_url: str
    ) -> None:
        """Ours."""
        async with open_store(store_url) as first:
            created = await first.create(task())
        async with open_store(store_url) as later:
            assert await later.get(created.task_id) == created
            assert kinds(await later.history(created.task_id)) == ["Created"]

    async def test_a_task_nobody_created_is_not_there(self, store: Store) -> None:
        """Ours."""
        assert await store.get("nobody") is None
        assert await store.history("nobody") == []
        with pytest.raises(TaskNotFound):
            await store.append("nobody", ev.CancelAsked(), AT)

    async def test_the_same_id_is_not_created_twice(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task())
        with pytest.raises(StoreError):
            await store.create(task(task_id=one.task_id, owner="eve"))
        assert await store.get(one.task_id) == one

    async def test_every_change_has_a_higher_rev_than_all_before(
        self, store: Store, second: Store
    ) -> None:
        """Ours."""
        revs: list[int] = []
        for of in (store, second) * 3:
            one = await of.create(task(worker="w1"))
            ended = await of.append(one.task_id, ev.Completed(generation=1, result={}), AT)
            revs += [one.rev, ended.rev]
        assert revs == sorted(set(revs))

    # --- history ------------------------------------------------------------------------------

    async def test_the_history_counts_from_created_without_gaps(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task())
        [claimed] = await store.claim(
            worker="w1", tools=["report"], at_ms=AT + 1, until_ms=AT + 99, limit=1
        )
        with pytest.raises(Fenced):
            await store.append(one.task_id, ev.Completed(generation=7, result={}), AT + 2)
        for event in (
            ev.Reported(generation=1, message="reading"),
            ev.Reported(generation=1, done=10, message="reading"),  # only a number: not kept
            ev.LeaseRenewed(generation=1, until_ms=AT + 199),  # not kept
            ev.InputWithdrawn(generation=1, keys=frozenset({"b", "a"})),  # no effect: not kept
            ev.CancelAsked(reason="late"),
            ev.CancelAsked(reason="again"),  # no effect: not kept
            ev.Completed(generation=1, result={"rows": 3}),
        ):
            await store.append(one.task_id, event, AT + 3)
        history = await store.history(one.task_id)
        assert [each.seq for each in history] == [1, 2, 3, 4, 5]
        assert kinds(history) == ["Created", "Claimed", "Reported", "CancelAsked", "Completed"]
        assert [each.at_ms for each in history] == [AT, AT + 1, AT + 3, AT + 3, AT + 3]
        assert history[1].fields == {"worker": "w1", "until_ms": AT + 99}
        assert history[3].fields == {"reason": "late", "final": False}
        assert "result" not in history[4].fields
        assert claimed.generation == 1

    async def test_the_history_can_be_read_on_from_where_one_was(self, store: Store) -> None:
        """Ours."""
        one = await store.create(task(worker="w1"))
        for number in range(9):
            said = ev.Reported(generation=1, message=f"step {number}")
            await store.append(one.task_id, said, AT + number)
        assert [each.seq for each in await store.history(one.task_id, after_seq=4, limit=3)] == [
            5,
            6,
            7,
        ]
        assert await store.history(one.task_id, after_seq=10) == []

    # --- nothing is half done -----------------------------------------------------------------

    async def test_an_event_without_effect_writes_nothing(self, store: Store) -> None:
        """Ours; unknown and answered keys are ignored (ext-tasks)."""
        one = await store.create(task(worker="w1"))
        asked = await store.append(one.task_id, ev.CancelAsked(), AT + 1)
        for event in (ev.CancelAsked(reason="again"), ev.InputAnswered(responses={"x": 1})):
            assert await store.append(one.task_id, event, AT + 2) == asked
        assert kinds(await store.history(one.task_id)) == ["Created", "CancelAsked"]

    async def test_A4_an_ended_task_never_changes_again(self, store: Store) -> None:
        """Ext-tasks: terminal states are final. Field case A4."""
        one = await store.create(task(worker="w1"))
        done = await store.append(one.task_id, ev.Completed(generation=1, result={}), AT + 1)
        history = await store.history(one.task_id)
        for event in (
            ev.CancelAsked(),
            ev.CancelAsked(),
            ev.CancelAsked(),
            ev.Completed(generation=1, result={"other": True}),
            ev.Failed(generation=1, error={}, message="no"),
            ev.Reported(generation=1, message="late"),
        ):
            with pytest.raises(IllegalEvent):
                await store.append(one.task_id, event, AT + 2)
        assert await store.get(one.task_id) == done
        assert await store.history(one.task_id) == history

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, b"bytes"])
    async def test_a_value_without_a_json_form_is_refused_and_nothing_written(
        self, store: Store, bad: object
    ) -> None:
        """Ours: no browser parses the NaN that Python would write."""
        never = task(arguments={"x": bad})
        with pytest.raises(StoreError, match="arguments"):
            await store.create(never)
        assert await store.get(never.task_id) is None
        one = await store.create(task(worker="w1"))
        with pytest.raises(StoreError, match="result"):
            await store.append(one.task_id, ev.Completed(generation=1, result={"x": bad}), AT)
        assert await store.get(one.task_id) == one
        assert kinds(await store.history(one.task_id)) == ["Created"]

    async def test_text_that_is_not_unicode_is_refused_and_nothing_written(
        self, store: Store
    ) -> None:
        """Ours: no client could be told it."""
        one = await store.create(task(worker="w1"))
        with pytest.raises(StoreError, match="status_message"):
            await store.append(one.task_id, ev.Reported(generation=1, message="caf\udce9"), AT)
        assert await store.get(one.task_id) == one

    # --- finding ------------------------------------------------------------------------------

    async def test_an_owner_finds_their_own_tasks_newest_first(self, store: Store) -> None:
        """Ours."""
        made = [await store.create(task()) for _ in range(5)]
        await store.create(task(owner="eve"))
        assert list(await store.find(owner="ada")) == made[::-1]
        assert list(await store.find(owner="ada", limit=2)) == [made[4], made[3]]
        assert list(await store.find(owner="nobody")) == []

    async def test_a_list_is_read_page_by_page_although_it_grows(self, store: Store) -> None:
        """Ours: no task is told twice or left out, whatever is created meanwhile."""
        made = [await store.create(task()) for _ in range(5)]
        first = await store.find(owner="ada", limit=2)
        await store.create(task())
        second = await store.find(owner="ada", limit=2, before=first[-1].task_id)
        third = await store.find(owner="ada", limit=2, before=second[-1].task_id)
        assert [*first, *second, *third] == made[::-1]
        assert list(await store.find(owner="ada", before=third[-1].task_id)) == []

    async def test_a_page_comes_only_behind_a_task_of_the_same_owner(self, store: Store) -> None:
        """Ours: a foreign id reads like an unknown one."""
        foreign = await store.create(task(owner="eve"))
        for one in (foreign.task_id, "nobody"):
            with pytest.raises(TaskNotFound):
                await store.find(owner="ada", before=one)

    async def test_tasks_are_found_by_status_tool_and_change(self, store: Store) -> None:
        """Ours."""
        waiting = await store.create(task())
        running = await store.create(task(worker="w1", tool="other"))
        ended = await store.create(task(worker="w1"))
        ended = await store.append(ended.task_id, ev.Completed(generation=1, result={}), AT)

        async def found(**asked: Any) -> list[TaskRecord]:
            return list(await store.find(owner="ada", **asked))

        assert await found(statuses=[Status.COMPLETED]) == [ended]
        assert await found(statuses=[Status.WORKING, Status.FAILED]) == [running, waiting]
        assert await found(statuses=[]) == []
        assert await found(tools=["other"]) == [running]
        assert await found(tools=["report"], statuses={Status.WORKING}) == [waiting]
        assert await found(after_rev=waiting.rev) == [ended, running]
        assert await found(after_rev=ended.rev) == []

    # --- expiry -------------------------------------------------------------------------------

    async def test_only_what_has_expired_is_swept_with_its_history(self, store: Store) -> None:
        """Ours; live work is never evicted (field case A3)."""
        live = await store.create(task(worker="w1", keep_ms=0))
        kept = await store.create(task(worker="w1", keep_ms=None))
        later = await store.create(task(worker="w1", keep_ms=1000))
        ended = [await store.create(task(worker="w1", keep_ms=10)) for _ in range(3)]
        for one in (kept, later, *ended):
            await store.append(one.task_id, ev.Completed(generation=1, result={}), AT + 5)
        assert await store.sweep(at_ms=AT + 14) == []
        swept = [*await store.sweep(at_ms=AT + 15, limit=2), *await store.sweep(at_ms=AT + 15)]
        assert sorted(swept) == sorted(one.task_id for one in ended)
        for one in ended:
            assert await store.get(one.task_id) is None
            assert await store.history(one.task_id) == []
        for one in (live, kept, later):
            assert await store.get(one.task_id) is not None
            assert await store.history(one.task_id) != []

    async def test_how_long_it_is_kept_may_be_chosen_later(self, store: Store) -> None:
        """Ours: what is pinned stays, what is deleted goes, and both are changes."""
        pinned, deleted = [await store.create(task(worker="w1", keep_ms=10)) for _ in range(2)]
        for one in (pinned, deleted):
            await store.append(one.task_id, ev.Completed(generation=1, result={}), AT + 5)
        for_ever = await store.append(pinned.task_id, ev.KeepChosen(keep_ms=None), AT + 6)
        at_once = await store.append(deleted.task_id, ev.KeepChosen(keep_ms=0), AT + 6)
        assert (for_ever.expires_at_ms, at_once.expires_at_ms) == (None, AT + 5)
        assert at_once.rev > for_ever.rev > deleted.rev
        assert [await store.get(one.task_id) for one in (pinned, deleted)] == [for_ever, at_once]
        assert await store.sweep(at_ms=AT + 10_000) == [deleted.task_id]

    async def test_the_number_of_a_swept_change_is_not_given_out_again(self, store: Store) -> None:
        """Ours: else somebody who reads on from there would miss the change that gets it."""
        one = await store.create(task(worker="w1", keep_ms=0))
        ended = await store.append(one.task_id, ev.Completed(generation=1, result={}), AT)
        assert await store.sweep(at_ms=AT) == [one.task_id]
        assert (await store.create(task())).rev > ended.rev


__all__ = ["KeepsTasks"]
