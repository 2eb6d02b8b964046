"""The checker finds each kind of violation, and nothing wrong where nothing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from awhile.stores.contract import Kept, Store
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import Event, Lease, StoppedHow, TaskRecord, new_record
from awhile.tasks import events as ev
from tests.faults.checker import (
    AT_WORK,
    BEGUN,
    DONE,
    INVARIANTS,
    Death,
    Effect,
    Story,
    nothing_promised_is_missing,
    one_key_is_one_task,
    story_of,
    wrong,
)

T0 = 1_000_000
RESULT = {"content": [{"type": "text", "text": "done"}]}


@dataclass
class Told:
    """A story told event by event, as a store keeps it."""

    store: Store
    task_id: str = ""
    at_ms: int = T0
    effects: list[Effect] = field(default_factory=list[Effect])

    async def create(self, *, safe: bool = True, worker: str | None = None) -> None:
        self.task_id = f"task-{self.at_ms}"
        record = new_record(
            task_id=self.task_id,
            owner="ada",
            tool="report",
            arguments={},
            at_ms=self.at_ms,
            max_attempts=3 if safe else 1,
            lease=Lease(worker=worker, until_ms=self.at_ms + 1000) if worker else None,
        )
        await self.store.create(record)

    async def claim(self, pid: int, *, after_ms: int = 10) -> None:
        self.at_ms += after_ms
        [_] = await self.store.claim(
            worker=f"host:{pid}:abc",
            tools=["report"],
            at_ms=self.at_ms,
            until_ms=self.at_ms + 1000,
            limit=1,
        )

    async def happened(self, event: Event) -> None:
        self.at_ms += 10
        await self.store.append(self.task_id, event, self.at_ms)

    def did(self, what: str, attempt: int = 1, pid: int = 1) -> None:
        self.at_ms += 1
        self.effects.append(Effect(self.at_ms, what, "a", attempt, pid))

    async def story(self, **known: Any) -> Story:
        found = await story_of(self.store, self.task_id, effects=tuple(self.effects), **known)
        assert found is not None
        return found


async def completed(told: Told) -> Story:
    """Ran once to its end."""
    await told.create(safe=False)
    await told.claim(1)
    told.did(BEGUN)
    await told.happened(ev.Reported(generation=1, message="half"))
    told.did(DONE)
    await told.happened(ev.Completed(generation=1, result=RESULT))
    shown = {"status": "completed", "result": RESULT}
    return await told.story(
        heard=[["working", "completed"], ["completed"]], answers=[shown, {**shown}]
    )


async def run_again(told: Told) -> Story:
    """Ran again after its worker was lost."""
    await told.create()
    await told.claim(1)
    told.did(BEGUN)
    await told.claim(2, after_ms=1500)
    told.did(BEGUN, attempt=2, pid=2)
    told.did(DONE, attempt=2, pid=2)
    await told.happened(ev.Completed(generation=2, result=RESULT))
    return await told.story()


async def stopped(told: Told) -> Story:
    """Stopped while it ran."""
    await told.create(worker="host:1:abc")
    told.did(BEGUN)
    await told.happened(ev.CancelAsked())
    told.did(AT_WORK)
    await told.happened(ev.Stopped(generation=1, how=StoppedHow.COROUTINE_ENDED))
    return await told.story(heard=[["working", "cancelled"]])


async def asked(told: Told) -> Story:
    """Asked twice, and was answered once."""
    await told.create(worker="host:1:abc")
    await told.happened(ev.InputAsked(generation=1, key="a", request={"method": "x"}))
    await told.happened(ev.InputAnswered(responses={"a": 1}))
    await told.happened(ev.Noted(generation=1, key="job", outcome=1))
    await told.happened(ev.InputAsked(generation=1, key="b", request={"method": "x"}))
    await told.happened(ev.InputWithdrawn(generation=1, keys=frozenset("b")))
    await told.happened(ev.Failed(generation=1, error={"code": 1, "message": "no"}, message="no"))
    return await told.story(heard=[["input_required", "working", "failed"]])


async def handed_back(told: Told) -> Story:
    """Handed back by a drain; then its last worker was lost after it was asked to stop."""
    await told.create()
    await told.claim(1)
    told.did(BEGUN)
    await told.happened(ev.Released(generation=1, how=StoppedHow.COROUTINE_ENDED))
    await told.claim(2)
    told.did(BEGUN, pid=2)
    await told.happened(ev.CancelAsked())
    told.at_ms += 2000
    await told.happened(ev.WorkerLost())
    return await told.story()


async def never_started(told: Told) -> Story:
    """Cancelled while it waited."""
    await told.create()
    await told.happened(ev.CancelAsked())
    return await told.story(heard=[["cancelled"]])


HONEST = (completed, run_again, stopped, asked, handed_back, never_started)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """A story to be told in a store of its own."""
    return Told(SqliteStore(tmp_path / "tasks.db"))


@pytest.mark.anyio
@pytest.mark.parametrize("tell", HONEST)
async def test_an_honest_story_has_nothing_wrong(told: Told, tell: Callable[[Told], Any]) -> None:
    """Ours."""
    async with told.store:
        assert wrong([await tell(told)]) == []


def entry(story: Story, kind: str, **fields: Any) -> Kept:
    """One more entry of a story's history."""
    last = story.history[-1]
    return Kept(
        task_id=last.task_id, seq=last.seq + 1, at_ms=last.at_ms + 1, kind=kind, fields=fields
    )


def numbered(history: Sequence[Kept]) -> tuple[Kept, ...]:
    return tuple(replace(one, seq=number) for number, one in enumerate(history, start=1))


def but(story: Story, **record: Any) -> Story:
    return replace(story, record=replace(story.record, **record))


def more(story: Story, *entries: Kept) -> Story:
    return replace(story, history=numbered([*story.history, *entries]))


def did(story: Story, what: str, *, attempt: int = 1, pid: int = 9, late: int = 100) -> Story:
    at_ms = story.history[-1].at_ms + late
    return replace(story, effects=[*story.effects, Effect(at_ms, what, "a", attempt, pid)])


def _unfinished(record: TaskRecord) -> dict[str, Any]:
    return {"status": type(record.status).WORKING, "ended_at_ms": None}


Break = Callable[[Story], Story]

BROKEN: Sequence[tuple[Callable[[Told], Any], Break, str]] = (
    (completed, lambda one: replace(one, history=one.history[1:]), "the_history_is_whole"),
    (
        completed,
        lambda one: replace(one, history=[*one.history[:2], *one.history[3:]]),
        "the_history_is_whole",
    ),
    (completed, lambda one: more(one, entry(one, "Exploded")), "the_history_is_whole"),
    (completed, lambda one: replace(one, history=()), "the_history_is_whole"),
    (  # a second writer's ending
        completed,
        lambda one: more(one, entry(one, "Completed", generation=1, message="", is_error=False)),
        "it_has_ended_once",
    ),
    (
        completed,
        lambda one: more(one, entry(one, "WorkerLost", error={"code": 1, "message": ""})),
        "the_history_leads_to_the_record",
    ),
    (  # a fenced worker's late ending was taken
        run_again,
        lambda one: replace(
            one,
            history=[
                *one.history[:-1],
                replace(one.history[-1], fields={**one.history[-1].fields, "generation": 1}),
            ],
        ),
        "the_history_leads_to_the_record",
    ),
    (  # taken while somebody else held it
        run_again,
        lambda one: replace(
            one,
            history=[
                replace(each, at_ms=T0 + 500) if place == 2 else each
                for place, each in enumerate(one.history)
            ],
        ),
        "the_history_leads_to_the_record",
    ),
    (  # an ending that nobody wrote down
        run_again,
        lambda one: replace(one, history=one.history[:-1]),
        "the_history_leads_to_the_record",
    ),
    (stopped, lambda one: but(one, attempt=2), "the_history_leads_to_the_record"),
    (completed, lambda one: but(one, **_unfinished(one.record)), "it_has_ended_once"),
    (
        completed,
        lambda one: but(one, lease=Lease(worker="host:1:abc", until_ms=T0)),
        "it_has_ended_once",
    ),
    (
        completed,
        lambda one: replace(one, heard=[["completed", "completed"]]),
        "its_end_is_told_once",
    ),
    (completed, lambda one: replace(one, heard=[["failed"]]), "its_end_is_told_once"),
    (
        completed,
        lambda one: replace(one, heard=[["completed", "working"]]),
        "its_end_is_told_once",
    ),
    (completed, lambda one: replace(one, heard=[["working"], []]), "its_end_is_told_once"),
    (
        completed,
        lambda one: replace(one, answers=[*one.answers, {"status": "failed"}]),
        "every_answer_is_the_same",
    ),
    (
        completed,
        lambda one: replace(one, answers=[{"status": "completed", "result": {"content": []}}]),
        "every_answer_is_the_same",
    ),
    (completed, lambda one: did(one, BEGUN), "it_ran_twice_only_if_that_is_safe"),
    (run_again, lambda one: did(one, BEGUN), "it_ran_twice_only_if_that_is_safe"),
    (
        run_again,
        lambda one: replace(one, effects=[one.effects[0], replace(one.effects[2], attempt=1)]),
        "its_result_is_of_its_last_attempt",
    ),
    (stopped, lambda one: did(one, AT_WORK), "nothing_happened_after_it_had_stopped"),
    (never_started, lambda one: did(one, BEGUN), "nothing_happened_after_it_had_stopped"),
)


@pytest.mark.anyio
@pytest.mark.parametrize(("tell", "spoil", "name"), BROKEN)
async def test_a_broken_story_is_found(
    told: Told, tell: Callable[[Told], Any], spoil: Break, name: str
) -> None:
    """Ours: by the invariant that is about it."""
    [invariant] = [one for one in INVARIANTS if one.__name__ == name]
    async with told.store:
        story = spoil(await tell(told))
    found = list(invariant(story))
    assert found
    assert all(any(words in one for one in wrong([story])) for words in found)


def test_every_invariant_is_broken_by_some_story() -> None:
    """Ours."""
    assert {name for _, _, name in BROKEN} == {one.__name__ for one in INVARIANTS}


@pytest.mark.anyio
async def test_a_dead_worker_that_was_noticed_too_late_is_found(told: Told) -> None:
    """Ours: or never."""
    async with told.store:
        story = await run_again(told)
        taken_again_ms = story.history[2].at_ms
        in_time = Death(pid=1, at_ms=T0, noticed_by_ms=taken_again_ms)
        assert wrong([story], [in_time]) == []
        [late] = wrong([story], [replace(in_time, noticed_by_ms=taken_again_ms - 1)])
        assert "process 1 was dead, and Claimed came 1 ms too late" in late
        late_and_back = replace(in_time, noticed_by_ms=T0, back_at_ms=T0)
        assert wrong([story], [late_and_back]) == []
        await told.create()
        await told.claim(7)
        never = wrong([await told.story()], [Death(pid=7, at_ms=T0, noticed_by_ms=T0)])
        assert any("it is held by the dead process 7" in one for one in never)


@pytest.mark.anyio
async def test_a_promised_task_that_is_missing_is_found(told: Told) -> None:
    """Ours."""
    async with told.store:
        story = await completed(told)
        assert await story_of(told.store, "nobody") is None
    assert list(nothing_promised_is_missing([story.record.task_id], [story])) == []
    assert list(nothing_promised_is_missing(["x"], [story])) == [
        "task x was promised, and is not there"
    ]


def test_a_key_that_became_two_tasks_is_found() -> None:
    """Ours."""
    assert list(one_key_is_one_task({"a": ["1", "1"], "b": ["2"]})) == []
    assert list(one_key_is_one_task({"a": ["1", "2"]})) == [
        "the key 'a' has become 2 tasks: ['1', '2']"
    ]


def test_an_effect_is_read_as_it_was_written() -> None:
    """Ours."""
    effect = Effect(12, BEGUN, "a-1", 2, 77)
    assert Effect.read(str(effect)) == effect
