"""What must be true of every task, whatever was killed, frozen, cut off or filled up meanwhile.

A test, or the soak, collects the `Story` of each task: its record and append-only history as the
store has them, what its body did, and what clients were told. Every function of `INVARIANTS` reads
one and yields what is wrong with it, in words; `wrong` asks them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from awhile.errors import IllegalEvent
from awhile.stores.contract import Kept, TaskStore
from awhile.tasks import Event, Lease, Status, StoppedHow, TaskRecord, apply, new_record
from awhile.tasks import events as ev

Json = Mapping[str, Any]

EVENTS: Mapping[str, type[Event]] = {
    one.__name__: one
    for one in (
        ev.Claimed,
        ev.Released,
        ev.Reported,
        ev.Noted,
        ev.InputAsked,
        ev.InputAnswered,
        ev.InputWithdrawn,
        ev.CancelAsked,
        ev.Completed,
        ev.Failed,
        ev.Stopped,
        ev.GaveUp,
        ev.StopConfirmed,
        ev.WorkerLost,
        ev.ToolGone,
        ev.KeepChosen,
    )
}

BEGUN, AT_WORK, DONE = "begun", "at-work", "done"
"""What bodies write down of themselves."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing a body did. ``name``: of the call, since a body may have no task yet."""

    at_ms: int
    what: str
    name: str
    attempt: int
    pid: int

    @classmethod
    def read(cls, line: str) -> Effect:
        """From a line of the file they are kept in."""
        at_ms, what, name, attempt, pid = line.split()
        return cls(int(at_ms), what, name, int(attempt), int(pid))

    def __str__(self) -> str:
        return f"{self.at_ms} {self.what} {self.name} {self.attempt} {self.pid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that is known of one task at the end."""

    record: TaskRecord
    history: Sequence[Kept]
    effects: Sequence[Effect] = ()
    """What its body did, in order; of every attempt."""
    heard: Sequence[Sequence[str]] = ()
    """The statuses each listen stream told of it, stream by stream, in order; a stream that was
    opened after the end tells it, too."""
    answers: Sequence[Json] = field(default_factory=list[Json])
    """The ended task as clients were shown it, each time."""

    @property
    def safe(self) -> bool:
        """Whether its tool is declared safe to run again."""
        return self.record.max_attempts > 1

    @property
    def leases(self) -> int:
        """How often somebody was given the task to run."""
        kinds = Counter(one.kind for one in self.history)
        at_once = bool(self.history) and self.history[0].fields.get("worker") is not None
        return kinds["Claimed"] + at_once


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A worker that was killed or cut off for longer than its lease."""

    pid: int
    at_ms: int
    noticed_by_ms: int
    """When at the latest no task of its may say ``working`` any more: its lease and some slack, and
    whatever time nobody was there to notice, or no store to write it to."""
    back_at_ms: int | None = None
    """From when on it may take tasks again, having been cut off."""


async def story_of(store: TaskStore, task_id: str, **known: Any) -> Story | None:
    """What the store has of a task; None: nothing."""
    record = await store.get(task_id)
    if record is None:
        return None
    history: list[Kept] = []
    while more := await store.history(task_id, after_seq=len(history)):
        history += more
    return Story(record=record, history=history, **known)


# --- invariants ---------------------------------------------------------------------------------


def the_history_is_whole(story: Story) -> Iterator[str]:
    """It begins with the creation, counts without gaps, and every kind in it is known."""
    if [one.seq for one in story.history] != list(range(1, len(story.history) + 1)):
        yield f"its history counts {[one.seq for one in story.history]}"
    kinds = [one.kind for one in story.history]
    if kinds[:1] != ["Created"] or "Created" in kinds[1:]:
        yield f"its history does not begin with its one creation: {kinds}"
    if unknown := set(kinds) - {"Created", *EVENTS}:
        yield f"its history has what no task can have: {unknown}"


def the_history_leads_to_the_record(story: Story) -> Iterator[str]:
    """Each event was legal when it came, by the one transition table, and the record is what comes
    of them all. So nothing was taken twice, by two at a time, or after the end."""
    record = story.record
    if not story.history:
        return
    first = story.history[0]
    worker = first.fields.get("worker")
    replayed = new_record(
        task_id=record.task_id,
        owner=record.owner,
        tool=record.tool,
        arguments=record.arguments,
        at_ms=first.at_ms,
        max_attempts=record.max_attempts,
        # Its renewals are not in the history: what ran out at once forbids nothing to others.
        lease=Lease(worker=worker, until_ms=first.at_ms) if worker else None,
    )
    for one in story.history[1:]:
        if one.kind not in EVENTS:
            return
        try:
            replayed = apply(replayed, event_of(one), one.at_ms)
        except IllegalEvent as why:
            yield f"entry {one.seq} of its history could not happen: {why}"
            return
    for name in ("status", "generation", "attempt", "stopped_how"):
        if getattr(replayed, name) != getattr(record, name):
            yield (
                f"its {name} is {getattr(record, name)!r}, but its history comes to "
                f"{getattr(replayed, name)!r}"
            )


def it_has_ended_once(story: Story) -> Iterator[str]:
    """One ending is in its history, and nothing comes after it but that the work stopped."""
    ended = 0
    for one in story.history:
        if ended and one.kind not in ("StopConfirmed", "KeepChosen"):
            yield f"{one.kind} came after its ending"
        if one.kind in ENDINGS or (one.kind == "CancelAsked" and one.fields.get("final")):
            ended += 1
    status = story.record.status
    if not status.ended:
        yield f"it is still {status.value!r} ({story.record.status_message!r})"
    elif story.record.lease is not None:
        yield f"it has ended, and is held by {story.record.lease.worker!r}"
    if ended > 1:
        yield f"it has {ended} endings: {[one.kind for one in story.history]}"


def its_end_is_told_once(story: Story) -> Iterator[str]:
    """A stream tells one ending, as its last word, and that one is the record's."""
    for number, statuses in enumerate(story.heard, start=1):
        endings = [one for one in statuses if Status(one).ended]
        if len(endings) > 1:
            yield f"stream {number} told {len(endings)} endings: {statuses}"
        elif endings and endings[-1] != story.record.status.value:
            yield f"stream {number} told {endings[-1]!r}, but it is {story.record.status.value!r}"
        if endings and not Status(statuses[-1]).ended:
            yield f"stream {number} told of it after its end: {statuses}"
    if story.record.status.ended and story.heard and not any(_has_end(one) for one in story.heard):
        yield f"none of {len(story.heard)} streams told its end"


def every_answer_is_the_same(story: Story) -> Iterator[str]:
    """A result that somebody was shown is shown to everybody, unchanged."""
    shown = [{**one, "pollIntervalMs": None} for one in story.answers]
    for one in shown[1:]:
        if one != shown[0]:
            yield f"it was shown as {shown[0]} and as {one}"
    for one in shown[:1]:
        if one["status"] != story.record.status.value:
            yield f"it was shown as {one['status']!r}, and is {story.record.status.value!r} now"
        result, was = story.record.result, _result_of(one)
        if result is not None and was.get("content") != result.get("content"):
            yield f"it was shown with the result {was}, and has {result} now"


def it_ran_twice_only_if_that_is_safe(story: Story) -> Iterator[str]:
    """A body begins once; where it may run again, not more often than somebody took the task."""
    begun = [one for one in story.effects if one.what == BEGUN]
    if len(begun) > 1 and not story.safe:
        yield f"it may not run again, and began {len(begun)} times: {_listed(begun)}"
    if len(begun) > story.leases:
        yield f"it began {len(begun)} times, and was taken {story.leases} times: {_listed(begun)}"


def its_result_is_of_its_last_attempt(story: Story) -> Iterator[str]:
    """What is kept as its result comes from the process that held it last."""
    if story.record.status is not Status.COMPLETED or story.record.is_error:
        return
    done = [one for one in story.effects if one.what == DONE]
    if story.effects and not any(one.attempt == story.record.attempt for one in done):
        yield f"it is completed, and attempt {story.record.attempt} never was done: {_listed(done)}"


def nothing_happened_after_it_had_stopped(story: Story) -> Iterator[str]:
    """Whoever reads that the work has stopped can rely on it."""
    record = story.record
    if record.status is not Status.CANCELLED or record.stopped_at_ms is None:
        return
    if record.stopped_how is StoppedHow.NEVER_STARTED and story.effects:
        yield f"it was never started, and did: {_listed(story.effects)}"
    if record.stopped_how is StoppedHow.WORKER_LOST:  # what a killed process did, it did before
        return
    late = [one for one in story.effects if one.at_ms > record.stopped_at_ms]
    if late and record.stopped_how is not StoppedHow.NEVER_STARTED:
        yield f"it had stopped at {record.stopped_at_ms} ({record.stopped_how}): {_listed(late)}"


INVARIANTS = (
    the_history_is_whole,
    the_history_leads_to_the_record,
    it_has_ended_once,
    its_end_is_told_once,
    every_answer_is_the_same,
    it_ran_twice_only_if_that_is_safe,
    its_result_is_of_its_last_attempt,
    nothing_happened_after_it_had_stopped,
)
"""Of each task."""


def a_dead_worker_holds_nothing(story: Story, deaths: Iterable[Death]) -> Iterator[str]:
    """No task says ``working`` without a live owner for longer than the lease."""
    for place, one in enumerate(story.history):
        worker = one.fields.get("worker")
        if worker is None:
            continue
        for death in deaths:
            if _pid(worker) != death.pid:
                continue
            if death.back_at_ms is not None and one.at_ms >= death.back_at_ms:
                continue
            after = [other for other in story.history[place + 1 :] if other.kind in LEAVING]
            if not after:
                if not story.record.status.ended:
                    yield f"it is held by the dead process {death.pid}"
            elif after[0].at_ms > death.noticed_by_ms:
                late = after[0].at_ms - death.noticed_by_ms
                yield f"process {death.pid} was dead, and {after[0].kind} came {late} ms too late"


def nothing_promised_is_missing(
    promised: Collection[str], stories: Collection[Story]
) -> Iterator[str]:
    """Whoever was given a handle finds the task."""
    for task_id in set(promised) - {one.record.task_id for one in stories}:
        yield f"task {task_id} was promised, and is not there"


def one_key_is_one_task(ids: Mapping[str, Collection[str]]) -> Iterator[str]:
    """A call that was repeated with its key found the task of the first."""
    for key, found in ids.items():
        if len(set(found)) > 1:
            yield f"the key {key!r} has become {len(set(found))} tasks: {sorted(set(found))}"


def wrong(stories: Iterable[Story], deaths: Collection[Death] = ()) -> list[str]:
    """What is wrong with these tasks; empty: nothing."""
    found: list[str] = []
    for story in stories:
        for words in (
            *(words for invariant in INVARIANTS for words in invariant(story)),
            *a_dead_worker_holds_nothing(story, deaths),
        ):
            found.append(f"{story.record.tool} {story.record.task_id}: {words}")
    return found


# --- inside -------------------------------------------------------------------------------------

ENDINGS = frozenset({"Completed", "Failed", "Stopped", "GaveUp", "WorkerLost", "ToolGone"})
"""Events that are always an ending."""

LEAVING = frozenset({*ENDINGS, "Claimed", "Released"})
"""After one of them, whoever held the task holds it no longer."""


def event_of(one: Kept) -> Event:
    """The event of a history entry, but for results and outcomes, which are the record's."""
    kind = EVENTS[one.kind]
    given: dict[str, Any] = {
        name.name: one.fields[name.name] for name in fields(kind) if name.name in one.fields
    }
    if kind is ev.Completed:
        given["result"] = {}
    if "keys" in given:
        given["keys"] = frozenset(given["keys"])
    if "how" in given:
        given["how"] = StoppedHow(given["how"])
    return kind(**given)


def _has_end(statuses: Sequence[str]) -> bool:
    return any(Status(one).ended for one in statuses)


def _pid(worker: str) -> int:
    return int(worker.split(":")[1])


def _listed(effects: Sequence[Effect]) -> str:
    return "; ".join(map(str, effects))


def _result_of(answer: Json) -> Json:
    return answer.get("result") or {}
