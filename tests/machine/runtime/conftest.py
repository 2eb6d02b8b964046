"""A worker on a store of its own, and bodies that are plain functions of their run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.errors import StoreError
from awhile.runtime.ending import Raised, Returned
from awhile.runtime.ids import new_task_id
from awhile.runtime.limits import Limits
from awhile.runtime.outside import Stop
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.stores.bounds import NO_BOUNDS, Bounds
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import Event, Status, TaskRecord, new_record
from awhile.tasks import events as ev
from tests.machine.runtime.left_behind import nothing_left_behind

Body = Callable[[Run], Awaitable[Returned | Raised]]

PATIENCE_SECONDS = 10


class Bodies:
    """A program of named bodies; implements `awhile.runtime.program.Program`."""

    def __init__(self, *, give_up: float = 60, work: float | None = None, **bodies: Body) -> None:
        self.bodies = bodies
        self.stops: dict[str, Stop] = {}
        self._limits = Limits(give_up_seconds=give_up, work_seconds=work)

    @property
    def tools(self) -> Collection[str]:
        return list(self.bodies)

    def body(self, record: TaskRecord) -> Body:
        return self.bodies[record.tool]

    def may_ask(self, record: TaskRecord) -> bool:
        return True

    def limits(self, tool: str) -> Limits:
        return self._limits

    def stop(self, tool: str) -> Stop | None:
        return self.stops.get(tool)


class Store(SqliteStore):
    """The real store, where a test may hold a write back after it was made, or refuse one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.refused: set[type[Event]] = set()
        self.refuses_to_create = False
        self.held_back: dict[type[Event], anyio.Event] = {}
        self.written: dict[type[Event], anyio.Event] = {}

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        if self.refuses_to_create:
            raise StoreError("The disk is full.")
        return await super().create(record, bounds=bounds)

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        kind = type(event)
        if kind in self.refused:
            raise StoreError("The disk is full.")
        after = await super().append(task_id, event, at_ms)
        if kind in self.written:
            self.written[kind].set()
        if kind in self.held_back:
            await self.held_back[kind].wait()
        return after

    async def ended(self, task_id: str) -> TaskRecord:
        """Wait for the task's ending."""
        return await self.until(task_id, lambda record: record.status.ended)

    async def until(self, task_id: str, happened: Callable[[TaskRecord], bool]) -> TaskRecord:
        """Wait until ``happened``, for a bounded time."""
        async with self.watch([task_id]) as watch:
            while True:
                record = await self.get(task_id)
                assert record is not None
                if happened(record):
                    return record
                assert await watch.wait(PATIENCE_SECONDS), f"still not so: {record}"

    async def cancel(self, task_id: str, *, final: bool = False) -> TaskRecord:
        """Ask for a stop, as any process may."""
        return await self.append(task_id, ev.CancelAsked(final=final), wall_clock_ms())

    async def kinds(self, task_id: str) -> list[str]:
        """The kinds of the task's history."""
        return [one.kind for one in await self.history(task_id)]


def row(tool: str, **more: Any) -> Callable[..., TaskRecord]:
    """What makes the row of one new call."""
    return partial(
        new_record,
        task_id=new_task_id(),
        owner="ada",
        tool=tool,
        arguments={},
        at_ms=wall_clock_ms(),
        **more,
    )


def returned(**result: Any) -> Returned:
    return Returned(result=result)


class Shop:
    """A store and a way to run workers on it."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "tasks.db")

    @asynccontextmanager
    async def working(self, program: Bodies, **settings: Any) -> AsyncGenerator[Worker]:
        """One worker, on the open store."""
        with anyio.fail_after(3 * PATIENCE_SECONDS):
            async with Worker(self.store, program, **settings).running() as worker:
                yield worker

    async def submit(self, worker: Worker, program: Bodies, tool: str, **more: Any) -> str:
        """Keep a task of that tool and start it if there is a place; its id."""
        body = program.bodies[tool]
        return (await worker.submit(body, row(tool, **more), tool=tool)).task_id


@pytest.fixture
async def shop(tmp_path: Path, nothing_is_left_behind: None) -> AsyncGenerator[Shop]:
    one = Shop(tmp_path)
    async with one.store:
        yield one


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path) -> Generator[None]:
    """No live body, lease, thread or child outlives a test here."""
    with nothing_left_behind(tmp_path):
        yield


__all__ = ["Bodies", "Shop", "Status", "Store", "returned", "row"]
