"""What a body has started elsewhere: noted before and after, and stopped without the body."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread

from awhile.errors import Fenced
from awhile.runtime.ending import CannotNote
from awhile.runtime.journal import Entry, entries_of, idempotency_key
from awhile.tasks import Note, StoppedHow
from awhile.tasks import events as ev
from awhile.tasks.state import MAX_NOTES, REACH_ATTEMPTS
from awhile.telemetry.logs import about_task, task_logger

if TYPE_CHECKING:
    from awhile.runtime.run import Run
    from awhile.stores.contract import TaskStore
    from awhile.tasks import TaskRecord

logger = task_logger(__name__)

RETRY_SECONDS = 1.0
"""How long to wait before a ``stop`` that failed is called again."""

Stop = Callable[[Mapping[str, Entry]], Awaitable[object] | object]
"""Stops what a tool's body started elsewhere, given its journal; see ``Tasks.tool(stop=…)``."""


class Outside:
    """The journal of one running body, and the way to what it names.

    Args:
        row: waits until the body has a row; the row as it is known here.
        note: writes a note to the row; False if the row is no longer this body's.
        stop: what the tool declares.
    """

    def __init__(
        self,
        *,
        row: Callable[[], Awaitable[TaskRecord]],
        note: Callable[[ev.Noted], Awaitable[bool]],
        stop: Stop | None,
    ) -> None:
        self._row = row
        self._note = note
        self._stop = stop
        self._begun: set[str] = set()
        self.unproven = False
        """Something elsewhere was to be stopped, and nothing shows that it has."""

    async def begin(self, run: Run, key: str) -> tuple[str, Note]:
        """See `Notes.begin`."""
        record = await self._row()
        own_key = idempotency_key(record.task_id, key)
        note = record.journal.get(key)
        if note is None or not note.done:
            run.check()
            if note is None:
                self._make_room(record, key)
                await self._write(record, key, done=False)
        return own_key, note or Note(at_ms=0, done=False)

    def _make_room(self, record: TaskRecord, key: str) -> None:
        """Refuse a key too many here: refused by the row, it would look like a lost lease."""
        begun = self._begun | set(record.journal)  # several may begin before the row shows one
        if len(begun) >= MAX_NOTES and key not in begun:
            raise CannotNote(
                f"The journal of this task is full: {MAX_NOTES} keys were noted before {key!r}. "
                "Note the batch instead of each of its parts."
            )
        self._begun.add(key)

    async def finish(self, run: Run, key: str, outcome: Any) -> None:
        """See `Notes.finish`."""
        await self._write(await self._row(), key, done=True, outcome=outcome)
        run.stop_bell.ring()  # a stop asked meanwhile has something new to reach

    async def reach(self, run: Run, record: Callable[[], TaskRecord | None]) -> None:
        """Have what the journal names stopped; returns when that is known, or the body has ended
        without having started anything."""
        told: Mapping[str, Entry] = {}
        seen = run.stop_bell.count
        while True:
            known = record()
            if known is not None and known.stopped_how is not None:
                return  # it was given up
            entries = entries_of(known) if known is not None else {}
            if self._stop is None:
                self.unproven = known is not None and known.reachable
                return
            if entries != told:
                if await self._tell(self._stop, entries, run):
                    told = entries
                continue
            if run.ended:
                return
            seen = await run.stop_bell.wait(seen)

    async def _tell(self, stop: Stop, entries: Mapping[str, Entry], run: Run) -> bool:
        run.told_outside = self.unproven = True
        try:
            proof = await _called(stop, entries)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException:
            logger.exception("What a task started elsewhere could not be stopped; trying again.")
            await anyio.sleep(RETRY_SECONDS)
            return False
        if isinstance(proof, StoppedHow):
            self.unproven = proof is StoppedHow.NOT_STOPPED
            run.confirm_stopped(proof)
        return True

    async def _write(
        self, record: TaskRecord, key: str, *, done: bool, outcome: Any = None
    ) -> None:
        noted = ev.Noted(
            generation=record.generation,
            key=key,
            done=done,
            outcome=outcome,
            reachable=self._stop is not None,
        )
        if not await self._note(noted):
            raise Fenced("This task is another worker's now, or has ended. Drop this work.")


async def stop_afterwards(
    store: TaskStore, task_id: str, stop: Stop, *, grace_seconds: float, now_ms: Callable[[], int]
) -> None:
    """Stop what a task started elsewhere that a cancel has ended at once (2025-11-25), unless its
    worker shows within ``grace_seconds`` that it lives and has done so.

    Tried as often as a claim would be (`REACH_ATTEMPTS`); a process that ends meanwhile leaves the
    task without the proof, which is what it says until then.
    """
    with anyio.move_on_after(grace_seconds):
        async with store.watch([task_id]) as watch:
            while _unproven(await store.get(task_id)):
                await watch.wait()
    for _ in range(REACH_ATTEMPTS):
        record = await store.get(task_id)
        if record is None or not _unproven(record):
            return
        try:
            proof = await _called(stop, entries_of(record))
        except Exception:
            about = about_task(task_id)
            logger.exception("What a task started elsewhere could not be stopped.", extra=about)
            await anyio.sleep(RETRY_SECONDS)
            continue
        if isinstance(proof, StoppedHow) and proof is not StoppedHow.NOT_STOPPED:
            confirmed = ev.StopConfirmed(generation=record.generation, how=proof)
            await store.append(task_id, confirmed, now_ms())
        return


def _unproven(record: TaskRecord | None) -> bool:
    return record is not None and record.stopped_how in (None, StoppedHow.NOT_STOPPED)


async def _called(stop: Stop, entries: Mapping[str, Entry]) -> object:
    if inspect.iscoroutinefunction(stop):
        return await stop(entries)
    alone = anyio.CapacityLimiter(1)  # the default one may be full of what is to be stopped
    proof = await anyio.to_thread.run_sync(stop, entries, abandon_on_cancel=True, limiter=alone)
    return await cast("Awaitable[object]", proof) if inspect.isawaitable(proof) else proof


__all__ = ["Outside", "Stop", "stop_afterwards"]
