"""One live body in this process: its run, its row once it has one, and its ending."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from awhile.errors import IllegalEvent, StoreError, TaskNotFound
from awhile.runtime.asking import Asking
from awhile.runtime.beside import Beside
from awhile.runtime.cancel import climb
from awhile.runtime.ending import (
    Halted,
    Raised,
    Returned,
    StopAsked,
    internal_error,
)
from awhile.runtime.limits import spoken, unseen, worked_for
from awhile.runtime.outside import Outside
from awhile.runtime.progress import INTERVAL_SECONDS, Report
from awhile.runtime.run import Run, current_run
from awhile.tasks import Event, Status, StoppedHow, apply
from awhile.tasks import events as ev
from awhile.telemetry.logs import about_task, task_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from awhile.runtime.ending import Ending
    from awhile.runtime.limits import Limits
    from awhile.runtime.outside import Stop
    from awhile.stores.contract import TaskStore
    from awhile.tasks import TaskRecord

logger = task_logger(__name__)

NOT_STOPPED = "It could not be stopped, and may still be having effects."

STORE_RETRY_SECONDS = 1.0
"""How long to wait before an ending that the store could not take is written again."""


class Running:
    """A body that is running here. It starts without a row; `keep` gives it one.

    Everything that concerns the row goes through here, in order: steps first, the ending last.
    """

    def __init__(
        self,
        body: Callable[[Run], Awaitable[Returned | Raised]],
        *,
        owner: str,
        store: TaskStore,
        now_ms: Callable[[], int],
        limits: Limits,
        may_ask: bool,
        stop: Stop | None = None,
    ) -> None:
        self._asking = Asking(
            self,
            patience_seconds=limits.answer_seconds,
            may_ask=may_ask,
            now_ms=now_ms,
        )
        self._outside = Outside(row=self.own_row, note=self._insist, stop=stop)
        self.run = Run(owner=owner, asker=self._asking.ask, notes=self._outside)
        self.ending: Ending | None = None
        self.record: TaskRecord | None = None
        self.gone = asyncio.Event()
        """Set when the body has ended and everything about it is written."""
        self._body = body
        self._store = store
        self._now_ms = now_ms
        self._limits = limits
        self._wants_row = False
        self._gets_row = False
        self._stopping = False
        self._row_ended = False
        """The row has ended before its body: what is left to say is when that one stopped."""
        self._fenced = False
        self._draining = False
        self._row_lock = asyncio.Lock()
        self._steps_lock = asyncio.Lock()
        self._turn = self.run.turn
        self._overdue: Raised | None = None
        """Why the body was told to stop, if it had worked for longer than it may."""
        self._beside = Beside()
        self.run.progress.bell.heard = self._write_soon

    # --- the caller's side ----------------------------------------------------------------

    async def settle(self, budget_seconds: float | None) -> None:
        """Wait for the ending, at most ``budget_seconds`` from the start of the tool's function.

        What comes before it (resolvers that ask their questions first) does not count. Returns
        early when either wants to ask something, which takes a row.
        """
        await self._until(lambda: self.run.started or self._wants_row)
        with anyio.move_on_after(budget_seconds):
            await self._until(lambda: self._wants_row)

    async def keep(self, record: TaskRecord) -> bool:
        """Give the running body a row; False if it has ended meanwhile (its ending is at hand)."""
        async with self._row_lock:
            if self.ending is not None:
                return False
            for report in self.run.progress.take():  # what it said so far is part of its row
                record = apply(record, _reported(report, record.generation), self._now_ms())
            created = await self._store.create(record)
            taken = created.generation != record.generation  # while no reply came: see `refresh`
            self._adopt(record if taken else created)
            return True

    def await_row(self) -> None:
        """Have a body that is quick, once its function has begun, wait with its ending for `keep`.

        Its call is answered with a task, however quick it is. Said before `live` can begin.
        """
        self._gets_row = True

    @property
    def asks(self) -> bool:
        """Whether the body has asked its caller, or noted, something, which takes a row."""
        return self._wants_row

    def stop(self) -> None:
        """Ask the body to stop; a running ladder climbs on by itself. Safe to call again."""
        self._stopping = True
        self._turn.ring()
        self._beside.start("stop", self._climb)

    @property
    def draining(self) -> bool:
        """Whether this process stops, and the body with it."""
        return self._draining

    def drain(self) -> None:
        """Stop the body because this process stops: its row goes back, or says so."""
        self._draining = True
        self.stop()

    async def abandon(self) -> None:
        """Leave a body behind that did not end when it was drained; its row says so now."""
        if self.record is not None and self.ending is None and not self._row_ended:
            try:
                await self.append(self._left_behind(self.record, StoppedHow.NOT_STOPPED))
            except StoreError:
                about = about_task(self.record.task_id)
                logger.exception("What was left running could not be written.", extra=about)
        self._fenced = True  # nothing it does from here on is for the row

    # --- the worker's side ----------------------------------------------------------------

    def attach(self, record: TaskRecord) -> None:
        """Say, before `live`, that the body runs for a row that is already claimed."""
        self._adopt(record)
        if record.cancel_asked:  # it was claimed only to stop what it had started elsewhere
            self.stop()

    async def live(self) -> None:
        """Run the body to its end, and write what the row has to say. Never raises."""
        ending: Ending = internal_error("The server stopped while this was running.")
        try:
            async with self._beside.open():
                if self._stopping:
                    self._beside.start("stop", self._climb)
                if self._limits.work_seconds is not None:
                    self._beside.start("time", self._keep_to_the_time)
                self._serve_the_row()
                ending = await self._perform()
                self._beside.close(but="stop" if self._stopping else None)  # to climb for proofs
            if self.run.halted:
                how = self.run.stopped_how or StoppedHow.COROUTINE_ENDED
                unproven = self._outside.unproven
                ending = self._overdue or Halted(how=StoppedHow.NOT_STOPPED if unproven else how)
            if self._gets_row and self.run.started:
                await self._until(lambda: self.record is not None or self._stopping)
            with anyio.CancelScope(shield=True):
                async with self._row_lock:
                    self.ending = ending
                    self._turn.ring()
                if self.record is not None:
                    await self._conclude(ending)
        finally:
            # What points back to this would otherwise stay, with all that its request and answer
            # were, until the collector comes by: a fifth of what a create takes (measured).
            self.run.let_go()
            self._asking.let_go()
            del self._asking, self._outside
            self.gone.set()

    def refresh(self, record: TaskRecord | None) -> None:
        """Take note of what others wrote to the row: a stop, answers, a lease that was lost."""
        if self.record is None or self.ending is not None:
            return
        if record is None or record.generation != self.record.generation:
            self._lose()
        elif record.rev > self.record.rev:
            self.record = record
            self._asking.changed.ring()
            if record.status.ended and not self._row_ended:
                self._end_before_the_body(record)
            elif record.cancel_asked:
                self.stop()

    # --- inside ---------------------------------------------------------------------------

    async def _perform(self) -> Ending:
        token = current_run.set(self.run)
        ending: Ending = internal_error("The server failed while running this.")
        with anyio.CancelScope() as scope:
            self.run.scopes.append(scope)
            try:
                ending = await self._body(self.run)
            except StopAsked as stopped:
                if self.run.stop_asked:
                    self.run.mark_halted()
                else:  # a tool's own: nobody asked, so nothing was stopped
                    ending = internal_error(f"The tool stopped by itself: {stopped}")
            except anyio.get_cancelled_exc_class():
                if anyio.current_effective_deadline() == -math.inf:
                    raise  # it comes from outside: a stop, or this process ending
                logger.warning("A body was cancelled from inside.", exc_info=True)
                ending = internal_error(
                    "Something this work was waiting for was cancelled, although nobody asked the "
                    "work to stop."
                )
            except Exception:
                logger.exception("A body ended in an error that nobody turned into a result.")
        current_run.reset(token)
        if scope.cancelled_caught:
            self.run.mark_halted()
        self.run.mark_ended()
        return ending

    async def _climb(self) -> None:
        """Stop the body, and report what cannot be stopped."""
        async with anyio.create_task_group() as patience:
            patience.start_soon(self._give_up)
            async with anyio.create_task_group() as ways:
                if not (self._fenced or self._goes_on_elsewhere()):
                    ways.start_soon(self._outside.reach, self.run, lambda: self.record)
                await climb(self.run)
            patience.cancel_scope.cancel()

    def _goes_on_elsewhere(self) -> bool:
        """Whether another worker takes over what this process leaves, jobs elsewhere included."""
        record = self.record
        return (
            self._draining
            and record is not None
            and not record.cancel_asked
            and record.max_attempts > 1
        )

    async def _keep_to_the_time(self) -> None:
        seconds = self._limits.work_seconds
        assert seconds is not None  # `live` looked
        await self._until(lambda: self.run.started)
        await worked_for(seconds, lambda: self._asking.waits, self._until)
        if not self._stopping:
            self._overdue = internal_error(
                f"This had worked for {seconds:g} s, which is as long as its tool may, and was "
                "stopped.",
                reason="work_deadline",
            )
            self.stop()

    async def _keep_to_being_seen(self) -> None:
        assert self.record is not None  # `_serve_the_row` looked
        unobserved_ms = await unseen(self.record, self._store.get, self._now_ms)
        if not self._stopping:
            self._overdue = internal_error(
                f"Stopped: nobody had looked at this for {spoken(unobserved_ms)}.",
                reason="unobserved",
            )
            self.stop()

    async def _give_up(self) -> None:
        await anyio.sleep(self._limits.give_up_seconds)
        if self.record is None or self._fenced or self._row_ended:
            return
        generation = self.record.generation
        event: ev.GaveUp | ev.Failed
        if self.record.cancel_asked:
            event = ev.GaveUp(generation=generation)
        elif self._overdue is not None:
            words = f"{self._overdue.message} {NOT_STOPPED}"
            error = {**self._overdue.error, "message": words}
            event = ev.Failed(generation=generation, error=error, message=words, stopped=False)
        else:
            return
        # Shielded: whether it was written decides what the last word may be.
        with anyio.CancelScope(shield=True):
            self._row_ended = True  # first, so that the ending it writes is not taken for a loss
            if not await self._insist(event):
                self._row_ended = False
                self._end_before_the_body(await self._store.get(self.record.task_id))

    def _serve_the_row(self) -> None:
        """Start what a row has need of, once there is one."""
        self._write_soon()
        if self.record is not None and self.record.unobserved_ms is not None:
            self._beside.start("seen", self._keep_to_being_seen)

    def _write_soon(self) -> None:
        if self.record is not None and self.run.progress.latest is not None:
            self._beside.start("steps", self._write_steps)

    async def _write_steps(self) -> None:
        seen = 0
        while True:
            seen = await self.run.progress.bell.wait(seen)
            await self.write_what_was_said()
            await anyio.sleep(INTERVAL_SECONDS)

    async def write_what_was_said(self) -> None:
        """Write the reports so far, in order: whatever is written next comes after them."""
        if self.run.progress.latest is None:  # most bodies never say a thing
            return
        # Shielded: what was taken and not written would be a step that nobody ever sees.
        with anyio.CancelScope(shield=True):
            async with self._steps_lock:
                for report in self.run.progress.take():
                    if not (self._fenced or self._row_ended):  # an ended row takes no more steps
                        await self._write(report)

    async def _write(self, report: Report) -> None:
        assert self.record is not None  # `_write_soon` looked
        try:
            await self.append(_reported(report, self.record.generation))
        except StoreError:
            logger.warning("A progress step could not be written.", exc_info=True)

    async def _conclude(self, ending: Ending) -> None:
        assert self.record is not None  # `live` looked
        await self.write_what_was_said()
        if not await self._insist(self._last_word(ending, self.record)) and self._row_ended:
            await self._insist(self._last_word(ending, self.record))  # a final cancel came first

    def _last_word(self, ending: Ending, record: TaskRecord) -> Event:
        generation = record.generation
        if self._row_ended:
            how = ending.how if isinstance(ending, Halted) else None
            return ev.StopConfirmed(
                generation=generation, how=how or self.run.stopped_how or StoppedHow.COROUTINE_ENDED
            )
        if isinstance(ending, Halted):
            unreached = record.reachable and not self.run.told_outside
            if self._draining and (unreached or not record.cancel_asked):
                return self._left_behind(record, ending.how)
            return ev.Stopped(generation=generation, how=ending.how)
        if isinstance(ending, Returned) and ending.inline_only:
            ending = internal_error(
                "The tool asked its caller by what it returned, after its call had become a task. "
                "A tool that may be slow has to ask by ctx.elicit, or by a resolver."
            )
        if isinstance(ending, Returned):
            return ev.Completed(
                generation=generation,
                result=ending.result,
                is_error=ending.is_error,
                message=ending.message,
            )
        error, words = ending.error, ending.message
        unproven = ending is self._overdue and self._outside.unproven
        if unproven:
            words = f"{words} {NOT_STOPPED}"
            error = {**error, "message": words}
        return ev.Failed(generation=generation, error=error, message=words, stopped=not unproven)

    def _left_behind(self, record: TaskRecord, how: StoppedHow) -> Event:
        """What the row of a body says whose process stops; ``how`` the body itself stopped."""
        stopped = how is not StoppedHow.NOT_STOPPED
        if record.cancel_asked and stopped and record.reachable:  # another worker reaches it
            return ev.Released(generation=record.generation, how=how)
        if record.cancel_asked:
            return ev.GaveUp(generation=record.generation)
        if record.max_attempts > 1:
            return ev.Released(generation=record.generation, how=how)
        said = internal_error(
            "The server was stopped while this was running.", reason="server_stopped"
        )
        return ev.Failed(generation=record.generation, error=said.error, message=said.message)

    async def _insist(self, event: Event) -> bool:
        """Write what has to be known of the row, until the store takes it; False: too late."""
        while not self._fenced:
            try:
                return await self.append(event)
            except StoreError as refused:
                if isinstance(event, ev.Completed) and not _has_json_form(event.result):
                    logger.exception("A result that has no JSON form was lost.")
                    said = internal_error(f"The work finished, but its result was lost. {refused}")
                    event = ev.Failed(
                        generation=event.generation, error=said.error, message=said.message
                    )
                    continue
                # The result is all there is: hold on to it while the disk is full or the file
                # locked. Once the lease is lost, the worker fences this run and the loop ends.
                logger.error("An ending could not be written; trying again. %s", refused)
                await anyio.sleep(STORE_RETRY_SECONDS)
        return False

    async def append(self, event: Event) -> bool:
        """Write an event to the row; False if it was too late for it, which is no error."""
        assert self.record is not None
        try:
            after = await self._store.append(self.record.task_id, event, self._now_ms())
        except (IllegalEvent, TaskNotFound):  # Fenced included: somebody else has, or had, the row
            latest = await self._store.get(self.record.task_id)
            if latest is not None and not latest.status.ended and self._holds(latest):
                raise  # it is this body's own mistake
            if not self._row_ended:
                self._end_before_the_body(latest)
            return False
        if after.rev > self.record.rev:  # else `refresh` has seen a later one meanwhile
            self.record = after
            self._asking.changed.ring()
            if after.cancel_asked:  # asked meanwhile: `refresh` would find nothing new any more
                self.stop()
        elif isinstance(event, ev.Noted):
            self.record = replace(self.record, journal=after.journal)
        self._turn.ring()
        return True

    async def own_row(self) -> TaskRecord:
        """The row of this body, once it has one: whatever asks for it makes the call a task.

        Raises:
            StopAsked: the body has ended without one.
        """
        self._wants_row = True
        self._turn.ring()
        await self._until(lambda: self.record is not None)
        if self.record is None:
            raise StopAsked("This run is over, and never became a task.")
        return self.record

    def _adopt(self, record: TaskRecord) -> None:
        self.record = record
        self.run.id = record.task_id
        self.run.attempt = record.attempt
        self._turn.ring()
        self._serve_the_row()

    def _end_before_the_body(self, record: TaskRecord | None) -> None:
        """The row takes nothing more of this body, but for the fact that it has stopped: after a
        cancel that was final at once (2025-11-25), and only then."""
        assert self.record is not None
        if (
            record is not None
            and record.generation == self.record.generation
            and record.status is Status.CANCELLED
            and record.stopped_how is None
        ):
            self.record = record
            self._row_ended = True
            self.stop()
        else:
            self._lose()

    def _holds(self, record: TaskRecord) -> bool:
        return (
            self.record is not None
            and record.generation == self.record.generation
            and record.lease is not None
        )

    def _lose(self) -> None:
        self._fenced = True
        self.stop()

    async def _until(self, happened: Callable[[], bool]) -> None:
        """Wait until ``happened`` or the body has ended."""
        seen = self._turn.count
        while not happened() and self.ending is None:
            seen = await self._turn.wait(seen)


def _reported(report: Report, generation: int) -> ev.Reported:
    return ev.Reported(
        generation=generation, done=report.done, total=report.total, message=report.message
    )


def _has_json_form(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
