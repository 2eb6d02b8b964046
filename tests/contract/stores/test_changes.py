"""Subscriptions keep what they have not told yet in bounded memory, and lose none of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import anyio
import pytest

from awhile.stores import changes as module
from awhile.stores.changes import Change, Changes, Subscription

pytestmark = pytest.mark.anyio


class Log:
    """What a store has committed, and the subscriptions to it."""

    def __init__(self) -> None:
        self.committed: list[Change] = []
        self.reads = 0
        self.at_once = False
        """Whether a read is of all there is, as PostgreSQL's; else of so many."""
        self.changes = Changes(asyncio.get_running_loop(), self.after)
        self.reading: anyio.Event | None = None
        """Set once a read has begun; the read then goes on after ``go_on``."""
        self.go_on = anyio.Event()

    async def after(self, rev: int, limit: int) -> Sequence[Change]:
        self.reads += 1
        found = [each for each in self.committed if each.rev > rev]
        found = found if self.at_once else found[:limit]
        if self.reading is not None:
            self.reading.set()
            await self.go_on.wait()
        return found

    def commit(self, count: int) -> None:
        """Commit and publish changes of new tasks."""
        rev = len(self.committed)
        new = [Change(f"t{at}", at, at) for at in range(rev + 1, rev + count + 1)]
        self.committed += new
        self.changes.publish(new)

    def change(self, task_id: str) -> None:
        """Commit and publish one more change of a task."""
        rev = len(self.committed) + 1
        self.committed.append(Change(task_id, rev, rev))
        self.changes.publish(self.committed[-1:])

    @property
    def ids(self) -> list[str]:
        return [each.task_id for each in self.committed]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(module, "PENDING_LIMIT", 10)
    return 10


async def all_of(one: Subscription) -> list[str]:
    """Wait until nothing comes any more."""
    told: list[str] = []
    while got := await one.wait(0.01):
        assert len(got) <= 10
        told += sorted(got, key=lambda task_id: int(task_id[1:]))
    return told


async def test_a_slow_reader_of_everything_reads_on_from_the_store(limit: int) -> None:
    log = Log()
    one = log.changes.subscribe(None, 0)
    for _ in range(15):
        log.commit(5)
        await anyio.lowlevel.checkpoint()
    assert await all_of(one) == log.ids
    assert log.reads > 0
    log.commit(3)
    assert await all_of(one) == log.ids[-3:]


async def test_what_is_committed_while_it_reads_on_is_told_as_well(limit: int) -> None:
    log = Log()
    log.reading = anyio.Event()
    one = log.changes.subscribe(None, 0)
    log.commit(15)
    told: list[str] = []

    async def read() -> None:
        told.extend(await one.wait())

    async with anyio.create_task_group() as readers:
        readers.start_soon(read)
        await log.reading.wait()
        log.commit(1)
        log.go_on.set()
    while got := await one.wait(0.01):
        told += got
    assert sorted(set(told)) == sorted(log.ids)


async def test_what_is_read_late_takes_back_no_rev_that_was_told_meanwhile(limit: int) -> None:
    """Ours: else a worker that has the older one already would not read what a stop changed."""
    log = Log()
    log.reading, log.at_once = anyio.Event(), True
    one = log.changes.subscribe(None, 0)
    log.commit(15)
    told: dict[str, int] = {}

    async def read() -> None:
        told.update(await one.wait())

    async with anyio.create_task_group() as readers:
        readers.start_soon(read)
        await log.reading.wait()
        log.change("t1")
        await anyio.lowlevel.checkpoint()
        log.go_on.set()
    while got := await one.wait(0.01):
        told.update(got)
    assert told["t1"] == log.committed[-1].rev


async def test_a_reader_cancelled_while_it_reads_on_loses_nothing(limit: int) -> None:
    log = Log()
    log.reading = anyio.Event()
    one = log.changes.subscribe(None, 0)
    log.commit(15)
    async with anyio.create_task_group() as readers:
        readers.start_soon(one.wait)
        await log.reading.wait()
        readers.cancel_scope.cancel()
    log.reading = None
    assert sorted(await all_of(one)) == sorted(log.ids)


async def test_two_threads_that_publish_the_same_tell_it_once() -> None:
    log = Log()
    one = log.changes.subscribe(None, 0)
    log.commit(3)
    log.changes.publish(log.committed)
    assert sorted(await one.wait(1)) == ["t1", "t2", "t3"]
    assert not await one.wait(0.01)


async def test_nobody_is_forgotten_or_remembered_too_long() -> None:
    log = Log()
    ones = [log.changes.subscribe(wanted, 0) for wanted in (None, ["t1"], ["t1", "t2"])]
    log.commit(1)
    assert [await one.wait(1) for one in ones] == [{"t1": 1}] * 3
    for one in ones:
        log.changes.unsubscribe(one)
    assert not log.changes.active
    log.commit(1)
    assert [await one.wait(0.01) for one in ones] == [{}] * 3
