"""Who looks at which tasks: remembered sparingly, and at all times for whoever waits for one."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.errors import AwhileError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Generator

    from awhile.stores.contract import TaskStore
    from awhile.tasks import TaskRecord

logger = logging.getLogger(__name__)

NOTED_EVERY_MS = 60_000
"""How often at most a look at one task is written, however often it is polled (source: ours)."""

BY_POLICY = 4
"""A task that is stopped when nobody looks: how many times within that time, at least."""


LOOK_MS = 1000
"""How often a process looks whom it has to write down."""


def due_ms(record: TaskRecord) -> int:
    """From when on (Unix milliseconds) another look at this task is written."""
    every_ms = NOTED_EVERY_MS
    if record.unobserved_ms is not None:
        every_ms = min(every_ms, record.unobserved_ms // BY_POLICY)
    return record.seen_at_ms + every_ms


class Looking:
    """The looks of one server's callers."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._watched: Counter[str] = Counter()
        self._due: dict[str, int] = {}

    async def at(self, store: TaskStore, record: TaskRecord) -> None:
        """Its caller looks at this task now. Never fails: the look itself matters more."""
        now = self._now_ms()
        if now < due_ms(record):
            return
        try:
            await store.looked([record.task_id], now)
        except AwhileError as error:
            logger.error("That a task was looked at could not be written down. %s", error)

    @contextmanager
    def watched(self, task_ids: Collection[str]) -> Generator[None]:
        """Their caller looks at these for as long as the block runs (a stream, a waiting call)."""
        self._watched.update(task_ids)
        try:
            yield
        finally:
            self._watched.subtract(task_ids)
            for task_id in task_ids:
                if not self._watched[task_id]:
                    del self._watched[task_id]
                    self._due.pop(task_id, None)

    @asynccontextmanager
    async def running(self, store: TaskStore) -> AsyncGenerator[None]:
        """Write down, in time, what is watched, while the block runs."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._note_watched, store)
            yield
            beside.cancel_scope.cancel()

    async def _note_watched(self, store: TaskStore) -> None:
        while True:
            await anyio.sleep(LOOK_MS / 1000)
            try:
                await self._note_due(store)
            except AwhileError as error:
                logger.error("Who is watched could not be written down; trying again. %s", error)

    async def _note_due(self, store: TaskStore) -> None:
        soon = self._now_ms() + LOOK_MS
        looked: list[str] = []
        for task_id in [one for one in self._watched if self._due.get(one, 0) <= soon]:
            record = await store.get(task_id)
            if record is None or record.status.ended:
                self._due[task_id] = soon + NOTED_EVERY_MS
                continue
            self._due[task_id] = due = due_ms(record)
            if due <= soon:
                looked.append(task_id)
                self._due[task_id] = self._now_ms() + due - record.seen_at_ms
        if looked:
            await store.looked(looked, self._now_ms())


__all__ = ["Looking", "due_ms"]
