"""A store that tells of what is done with it: every task of this process passes through here."""

from __future__ import annotations

import inspect
import logging
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

from awhile.stores.bounds import NO_BOUNDS
from awhile.stores.operated import OURS, TellsOfLost
from awhile.stores.sealing import Sealed
from awhile.tasks import StoppedHow
from awhile.tasks import events as ev
from awhile.telemetry import meters, traces
from awhile.telemetry.logs import about_task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Self

    from awhile.stores.bounds import Bounds
    from awhile.stores.contract import Held, Store
    from awhile.stores.operated import Lost
    from awhile.tasks import Event, TaskRecord

logger = logging.getLogger(__name__)

SYSTEMS = {"SqliteStore": "sqlite", "PostgresStore": "postgresql"}
"""The well-known names of database systems (semantic conventions, ``db.system.name``)."""


def observed(store: Store) -> Store:
    """The store, with its operations timed and what happens to tasks told."""
    return cast("Store", _Observed(store))


class _Observed:
    """Passes everything on. What a store can beside the contract is passed on with the rest."""

    def __init__(self, store: Store) -> None:
        self._store = store
        kind = type(store.inner if isinstance(store, Sealed) else store).__name__
        self._system = SYSTEMS.get(kind, kind)
        self._create = self._timed("create", store.create)
        self._append = self._timed("append", store.append)
        self._claim = self._timed("claim", store.claim)
        self._renew = self._timed("renew", store.renew)

    async def __aenter__(self) -> Self:
        await self._store.__aenter__()
        if isinstance(self._store, TellsOfLost):
            self._store.on_lost = _told_lost
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._store.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):  # a subscription, or no operation at all
            return found
        timed = self._timed(name, found)
        self.__dict__[name] = timed  # asked for once
        return timed

    def _timed(
        self, name: str, operation: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        said = {"db.system.name": self._system, "db.operation.name": name}

        async def run(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                if traces.recording():
                    with traces.store_operation(said):
                        result = await operation(*args, **kwargs)
                else:
                    result = await operation(*args, **kwargs)
            except BaseException as error:
                failed = {**said, "error.type": type(error).__qualname__}
                meters.store.record(time.perf_counter() - began, failed)
                raise
            meters.store.record(time.perf_counter() - began, said)
            return result

        return run

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        """See `TaskStore.create`."""
        if record.owner.startswith(OURS):
            return await self._create(record, bounds=bounds)
        with traces.submission(record) if traces.provided() else nullcontext():
            kept: TaskRecord = await self._create(record, bounds=bounds)
        if kept.task_id == record.task_id:
            meters.created.add(1, {traces.TOOL: kept.tool})
        return kept

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """See `TaskStore.append`."""
        after: TaskRecord = await self._append(task_id, event, at_ms)
        if not after.owner.startswith(OURS):
            _told(event, after, at_ms)
        return after

    async def claim(
        self, *, fit: Callable[[TaskRecord], bool] | None = None, **asked: Any
    ) -> Sequence[TaskRecord]:
        """See `Store.claim`."""
        lost: dict[str, str] = {}

        def noted(record: TaskRecord) -> bool:
            if record.lease is not None:  # it ran out
                lost[record.task_id] = record.lease.worker
            return fit is None or fit(record)

        claimed: Sequence[TaskRecord] = await self._claim(**asked, fit=noted)
        for record in claimed:
            if (loser := lost.get(record.task_id)) is not None:
                _log_takeover(record, loser, asked["worker"])
            if record.attempt > 1:
                meters.lost.add(1, {"awhile.lease.reason": "run_again"})
            elif not record.cancel_asked:
                waited_ms = max(0, asked["at_ms"] - record.created_at_ms)
                meters.queued.record(waited_ms / 1000, {traces.TOOL: record.tool})
                traces.past("queued", record, from_ms=record.created_at_ms, to_ms=asked["at_ms"])
        return claimed

    async def renew(self, held: Sequence[Held], *, at_ms: int, until_ms: int) -> Sequence[Held]:
        """See `Store.renew`."""
        gone: Sequence[Held] = await self._renew(held, at_ms=at_ms, until_ms=until_ms)
        if gone:
            meters.lost.add(len(gone), {"awhile.lease.reason": "fenced"})
        return gone


def _told(event: Event, after: TaskRecord, at_ms: int) -> None:
    if isinstance(event, ev.StopConfirmed):
        if after.stopped_at_ms == at_ms:  # else it had stopped before, and this said nothing new
            _told_stopped(after)
    elif after.status.ended:  # of an ended task only a StopConfirmed is legal, so it ended by this
        _told_ended(after)


def _told_ended(after: TaskRecord) -> None:
    assert after.ended_at_ms is not None
    said = {traces.TOOL: after.tool, traces.STATUS: after.status.value}
    meters.ended.add(1, said)
    meters.duration.record((after.ended_at_ms - after.created_at_ms) / 1000, said)
    if after.stopped_how is StoppedHow.NOT_STOPPED:
        meters.not_stopped.add(1, {traces.TOOL: after.tool})
    elif after.cancel_asked and after.stopped_how is not None:
        _told_stopped(after)


def _told_stopped(after: TaskRecord) -> None:
    asked, stopped = after.cancel_asked_at_ms, after.stopped_at_ms
    if asked is None or stopped is None or after.stopped_how is None:
        return
    how = after.stopped_how.value
    said = {traces.TOOL: after.tool, "awhile.stopped.how": how}
    meters.stopped.record((stopped - asked) / 1000, said)
    traces.past("stop", after, from_ms=asked, to_ms=stopped, awhile_stopped_how=how)


def _log_takeover(record: TaskRecord, loser: str, worker: str) -> None:
    what = (
        "to stop what it had started elsewhere"
        if record.cancel_asked
        else f"for attempt {record.attempt} of {record.max_attempts}"
    )
    logger.warning(
        "Worker %s was lost with a task of %r; %s takes it over %s.",
        loser,
        record.tool,
        worker,
        what,
        extra=_about(record, lost_by=loser, taken_by=worker),
    )


def _told_lost(lost: Lost) -> None:
    """A store ended this task by itself, because its worker was lost."""
    meters.lost.add(1, {"awhile.lease.reason": "ended"})
    _told_ended(lost.record)
    logger.warning(
        "Worker %s was lost with a task of %r, which nobody may run again; it ended %s.",
        lost.worker or "(none)",
        lost.record.tool,
        lost.record.status.value,
        extra=_about(lost.record, lost_by=lost.worker),
    )


def _about(record: TaskRecord, **workers: str | None) -> dict[str, object]:
    return {**about_task(record.task_id), **workers, "attempt": record.attempt}


__all__ = ["observed"]
