"""What is true now: of this process, and of the store as a whole.

An SDK collects from a thread of its own, and a store is read in the event loop. So the numbers of
the store are those of the last look, and it is looked at only while somebody collects them: a
program without an SDK never reads a thing for this.
"""

from __future__ import annotations

import logging
import weakref
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from opentelemetry.metrics import Observation

from awhile.errors import AwhileError
from awhile.stores.operated import QUEUED, Operated
from awhile.telemetry.meters import meter
from awhile.telemetry.traces import TOOL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from opentelemetry.metrics import CallbackOptions

    from awhile.stores.contract import Store
    from awhile.stores.operated import Overview

    Read = Callable[["Gauges"], Iterable[Observation]]

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
"""How old the store's numbers may be, while they are collected."""

WANTED_LOOKS = 150
"""How many looks after the last collection the store is still looked at: five minutes."""

_shown: weakref.WeakSet[Gauges] = weakref.WeakSet()


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """What this process can say of itself, from any thread."""

    worker: str
    slots: int
    bodies: Callable[[], int]
    listeners: Callable[[], int]


class Gauges:
    """The gauges of one served program, while `shown`."""

    def __init__(self, store: Store, process: Process, now_ms: Callable[[], int]) -> None:
        self.process = process
        self._store = store
        self._now_ms = now_ms
        self._collected = False
        self._seen: tuple[Overview, int] | None = None

    @asynccontextmanager
    async def shown(self) -> AsyncGenerator[None]:
        """Show them while the block runs."""
        async with anyio.create_task_group() as beside:
            _shown.add(self)
            beside.start_soon(self._look)
            try:
                yield
            finally:
                _shown.discard(self)
                beside.cancel_scope.cancel()

    def overview(self) -> tuple[Overview, int] | None:
        """The store at the last look, and when that was; None before the first one."""
        self._collected = True
        return self._seen

    async def _look(self) -> None:
        left = 0
        while isinstance(self._store, Operated):
            if self._collected:
                left, self._collected = WANTED_LOOKS, False
            if left > 0:
                left -= 1
                try:
                    self._seen = (await self._store.overview(limit=0), self._now_ms())
                except AwhileError as error:
                    self._seen = None  # no number is better than an old one
                    logger.error("The store could not be looked over for its metrics. %s", error)
            await anyio.sleep(LOOK_SECONDS)


def _tasks(gauges: Gauges) -> Iterable[Observation]:
    overview, _ = gauges.overview() or (None, 0)
    for one in overview.counts if overview else ():
        yield Observation(one.tasks, {TOOL: one.tool, "awhile.task.state": one.state})


def _queue_age(gauges: Gauges) -> Iterable[Observation]:
    overview, at_ms = gauges.overview() or (None, 0)
    for one in overview.counts if overview else ():
        if one.state == QUEUED:
            yield Observation(max(0, at_ms - one.oldest_ms) / 1000, {TOOL: one.tool})


def _bodies(gauges: Gauges) -> Iterable[Observation]:
    yield Observation(gauges.process.bodies(), {"awhile.worker": gauges.process.worker})


def _slots(gauges: Gauges) -> Iterable[Observation]:
    yield Observation(gauges.process.slots, {"awhile.worker": gauges.process.worker})


def _listeners(gauges: Gauges) -> Iterable[Observation]:
    yield Observation(gauges.process.listeners(), {"awhile.worker": gauges.process.worker})


def _all_of(read: Read) -> Callable[[CallbackOptions], list[Observation]]:
    return lambda _options: [one for gauges in list(_shown) for one in read(gauges)]


_GAUGES: tuple[tuple[str, str, str, Read], ...] = (
    (
        "awhile.tasks",
        "{task}",
        "Living tasks of the whole store by tool and state (queued, working, input_required, "
        "stopping). Every process says the same: take the greatest, not the sum.",
        _tasks,
    ),
    (
        "awhile.queue.age",
        "s",
        "How long the oldest queued task of the whole store has waited, by tool.",
        _queue_age,
    ),
    ("awhile.worker.bodies", "{body}", "Bodies running in this process.", _bodies),
    ("awhile.worker.slots", "{body}", "Bodies that may run at once in this process.", _slots),
    ("awhile.listeners", "{stream}", "Open listen streams of this process.", _listeners),
)

for _name, _unit, _words, _read in _GAUGES:
    meter.create_observable_gauge(_name, [_all_of(_read)], unit=_unit, description=_words)

__all__ = ["LOOK_SECONDS", "Gauges", "Process"]
