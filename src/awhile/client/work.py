"""What is known of one piece of work: looked up, pushed, kept, and told to all who wait."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp_types import INTERNAL_ERROR

from awhile.client.clock import wall_clock_ms
from awhile.client.display import show
from awhile.client.known import Known, Now
from awhile.client.steps import heard, with_step
from awhile.client.unreadable import unreadable
from awhile.client.wait import Pace
from awhile.errors import ProtocolFailed, StoreError, Unreachable
from awhile.tasks import Status
from awhile.wire.v2025_11_25 import with_result

if TYPE_CHECKING:
    from awhile.client.era import Era
    from awhile.client.ledger import Ledger
    from awhile.client.link import Link
    from awhile.wire.snapshot import Snapshot

log = logging.getLogger(__name__)

LEDGER_SECONDS = 1.0
"""The least time between two ledger writes of mere messages; a new status is written at once."""


RESULT_ATTEMPTS = 5
"""How often an ended task's result is asked for that its server refuses by an internal error: over
some seconds, in which a store that is away comes back (source: ours)."""


class _ResultRefused(ProtocolFailed):
    """The last of those refusals."""


class Work:
    """One task (or call) as this side knows it. An `Ear` for what is pushed of it."""

    def __init__(
        self,
        link: Link,
        known: Known,
        *,
        task_id: str | None,
        ledger: Ledger | None,
        on_end: Callable[[], None],
    ) -> None:
        self.task_id = task_id
        self.known = known
        self.pace = Pace(due_at=None) if self.now.ended else Pace()
        self.revision = 0
        """Counts what was learned; a wait for news is a wait for a greater one."""
        self.broken: Exception | None = None
        """An error of this side's own, for whoever waits next."""
        self._link = link
        self._ledger = ledger
        self._on_end = on_end
        self._polling = anyio.Lock()
        self._stirred = anyio.Event()
        self._watches = 0
        self._noted_at = 0.0
        self._results_refused = 0
        """How often in a row an ended task's result was asked for in vain."""

    @property
    def now(self) -> Now:
        """How it stands as far as is known here."""
        return show(self.known, now_ms=wall_clock_ms())

    @contextmanager
    def watched(self) -> Generator[None]:
        """Have changes pushed meanwhile, if the server does that."""
        self._watches += 1
        if self._watches == 1 and self.task_id is not None:
            self._link.listening.add(self.task_id, self)
        try:
            yield
        finally:
            self._watches -= 1
            if self._watches == 0 and self.task_id is not None:
                self._link.listening.remove(self.task_id, self)

    def become(self, task: Snapshot, *, cancel_proves_nothing: bool) -> None:
        """The call has become a task."""
        self.task_id = task.task_id
        self.known = replace(self.known, task=task, cancel_proves_nothing=cancel_proves_nothing)
        self.pace = Pace().answered(
            anyio.current_time(), poll_interval_ms=task.poll_interval_ms, ended=False
        )
        self.revision += 1
        if self._watches:
            self._link.listening.add(task.task_id, self)
        self._stir()

    # News

    async def news(self, revision: int) -> None:
        """Return once more is known than at ``revision``, or something broke here."""
        while self.task_id is None:
            if self.revision != revision or self.broken is not None:
                return
            await self._stirred.wait()
        # Whoever gets here first polls for all who wait; if it leaves, the next one takes over.
        async with self._polling:
            while self.revision == revision and self.broken is None:
                wait_seconds = self.pace.wait_seconds(anyio.current_time())
                if wait_seconds is None:
                    return
                if wait_seconds > 0:
                    with anyio.move_on_after(wait_seconds):
                        await self._stirred.wait()
                    continue
                await self._poll(self.task_id)

    def hurry(self) -> None:
        """Something was changed by this side, so look soon."""
        self.pace = self.pace.hurried(anyio.current_time())
        self._stir()

    def listening(self, *, on: bool) -> None:
        """The server pushes this task from now on, or no longer."""
        at = anyio.current_time()
        self.pace = self.pace.listening(at) if on else self.pace.deaf(at, chance=_chance())
        self._stir()

    async def hear(self, task: Snapshot) -> None:
        """The task as it was pushed; what was pushed late is not news."""
        known = self.known.task
        if known is not None and task.last_updated_at_ms < known.last_updated_at_ms:
            return
        era = await self._link.era()
        if _lacks_result(era, task):
            self.hurry()  # this notice says only that it has ended
            return
        await self._see(task)

    async def hear_progress(
        self, progress: float, total: float | None, message: str | None
    ) -> None:
        """Progress under a token of this side's, while a task goes on."""
        if self.now.ended:
            return
        at_ms = wall_clock_ms()
        await self.learn(
            progress=heard(progress, total, message, at_ms=at_ms),
            steps=with_step(self.known.steps, message, at_ms=at_ms),
        )

    async def look(self) -> None:
        """Ask now, whatever the rhythm."""
        if self.task_id is not None:
            async with self._polling:
                await self._poll(self.task_id)

    async def _poll(self, task_id: str) -> None:
        revision = self.revision
        try:
            era = await self._link.era()
            task = await self._look(era, task_id)
        except Unreachable as why:
            await self._untold(str(why.__cause__ or why))
        except _ResultRefused as no:
            self.pace = self.pace.failed(anyio.current_time(), chance=_chance())
            raise ProtocolFailed(str(no), code=no.code, data=no.data) from no.__cause__
        except ProtocolFailed as no:
            if no.code == INTERNAL_ERROR:  # the server's trouble, not a verdict on the task
                await self._untold(str(no), by_error=True)
            elif no.code == (await self._link.era()).gone:
                await self.learn(gone=True, unreachable_since_ms=None)
            else:
                raise
        except ValueError as broken:
            raise unreadable("The server's answer to 'tasks/get'", broken) from broken
        else:
            known = self.known.task
            late = known is not None and task.last_updated_at_ms < known.last_updated_at_ms
            if self.revision == revision or not late:  # else overtaken by a push
                await self._see(task, cancel_proves_nothing=era.cancel_proves_nothing)

    async def _look(self, era: Era, task_id: str) -> Snapshot:
        """The task, with its result where that has to be fetched apart."""
        task = era.read(await self._link.ask(era.get(task_id)))
        if task.task_id != task_id:
            raise ValueError(f"it is about another task, {task.task_id!r}")
        if era.result is None or not _lacks_result(era, task):
            return task
        try:
            return with_result(task, await self._link.ask(era.result(task_id)))
        except ProtocolFailed as no:
            if task.status is not Status.FAILED:
                raise self._refused(no) from no
            return replace(task, error={"code": no.code, "message": str(no), "data": no.data})

    async def _see(self, task: Snapshot, **changes: Any) -> None:
        if self.known.task is not None and self.known.task.status.ended:
            # An ending is final, and a late word from before it changes nothing; only the proof
            # that the work has stopped may come after it, in the era that says "cancelled" first.
            if task.status is Status.CANCELLED and self.known.task.status is Status.CANCELLED:
                await self.learn(task=task)
            return
        self.pace = self.pace.answered(
            anyio.current_time(), poll_interval_ms=task.poll_interval_ms, ended=task.status.ended
        )
        steps = self.known.steps
        if not task.steps and not task.status.ended:
            steps = with_step(steps, task.status_message, at_ms=wall_clock_ms())
        await self.learn(
            task=task, steps=steps, unreachable_since_ms=None, unreachable_why=None, **changes
        )
        self._results_refused = 0

    def _refused(self, no: ProtocolFailed) -> ProtocolFailed:
        """The error for an ended task whose result was asked for in vain.

        It may be the server's store that is away for a moment, or a result that was never kept:
        only after some attempts is it said that there is none to be had.
        """
        if no.code != INTERNAL_ERROR:
            return no
        self._results_refused += 1
        if self._results_refused < RESULT_ATTEMPTS:
            return no
        self._results_refused = 0
        return _ResultRefused(
            f"The task has finished, but its server refused {RESULT_ATTEMPTS} times to give the "
            f"result ({no}). Ask whoever runs the server, or resume the task later by its id, "
            f"{self.task_id!r}.",
            code=no.code,
            data=no.data,
        )

    async def _untold(self, why: str, *, by_error: bool = False) -> None:
        """A look that told nothing: not answered, or answered ``by_error``."""
        self.pace = self.pace.failed(anyio.current_time(), chance=_chance())
        since_ms = self.known.unreachable_since_ms
        await self.learn(
            unreachable_since_ms=wall_clock_ms() if since_ms is None else since_ms,
            unreachable_why=why,
            answers_with_errors=by_error,
        )

    # Keeping it, and telling those who wait

    async def learn(self, **changes: Any) -> None:
        """Take in something new, keep it, and wake everybody who watches."""
        before, self.known = self.known, replace(self.known, **changes)
        task = self.known.task
        if task is not None and _visible(task) != _visible(before.task):
            self.known = replace(self.known, changed_at_ms=wall_clock_ms())
        self.revision += 1
        if self.now.ended:
            self.pace = replace(self.pace, due_at=None)
            self._on_end()
        self._stir()
        await self._note(before)

    def fail(self, broken: Exception) -> None:
        """Hand an error of this side's own (an ``on_input`` that raised) to whoever waits."""
        self.broken = broken
        self._stir()

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = anyio.Event()

    async def _note(self, before: Known) -> None:
        task = self.known.task
        if self._ledger is None or task is None or self.task_id is None:
            return
        important = (
            before.task is None
            or before.task.status is not task.status
            or before.gone is not self.known.gone
            or before.cancel_asked_at_ms != self.known.cancel_asked_at_ms
        )
        late = anyio.current_time() - self._noted_at >= LEDGER_SECONDS
        if not important and not (late and _visible(before.task) != _visible(task)):
            return
        self._noted_at = anyio.current_time()
        ledger, known = self._ledger, self.known

        def note() -> None:
            ledger.note(
                self._link.name,
                task,
                cancel_asked_at_ms=known.cancel_asked_at_ms,
                gone=known.gone,
            )

        # An ending seen must reach the disk even when the one who waited for it is leaving.
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(note)
            except StoreError as broken:
                log.warning("Task %r is not noted down: %s", self.task_id, broken)


def _lacks_result(era: Era, task: Snapshot) -> bool:
    ended_itself = task.status.ended and task.status is not Status.CANCELLED
    return era.result is not None and ended_itself and task.result is None


def _visible(task: Snapshot | None) -> Snapshot | None:
    """A task without what some servers move on every poll, changed or not."""
    return None if task is None else replace(task, last_updated_at_ms=0)


def _chance() -> float:
    return random.random()  # noqa: S311 - spreads retries, guards nothing


__all__ = ["Work"]
