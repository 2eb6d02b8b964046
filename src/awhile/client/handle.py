"""One piece of long work, seen from afar: watched, answered, stopped, collected."""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from mcp_types import INTERNAL_ERROR, CallToolResult
from pydantic import ValidationError

from awhile.client.clock import wall_clock_ms
from awhile.client.display import (
    GIVE_UP_SECONDS,
    Known,
    Now,
    State,
    failure_text,
    is_error,
    show,
)
from awhile.client.http import NotSent
from awhile.client.wait import Pace, retry_seconds
from awhile.errors import (
    Cancelled,
    Expired,
    ProtocolFailed,
    StoreError,
    ToolFailed,
    Unreachable,
    WorkerLost,
)
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from anyio.abc import TaskGroup

    from awhile.client.ledger import Ledger
    from awhile.client.link import Link, OnInput
    from awhile.wire.snapshot import Snapshot

log = logging.getLogger(__name__)

CANCEL_ATTEMPTS = 3
"""How often a stop request is sent before saying that it cannot be: it is safe to repeat."""

LEDGER_SECONDS = 1.0
"""The least time between two ledger writes of mere messages; a new status is written at once."""


class CancelOutcome(StrEnum):
    """What came of asking for a stop. The value is said as it is."""

    CANCELLED = "cancelled"
    FINISHED_ANYWAY = "finished anyway"
    FAILED = "failed after you asked"
    NOT_STOPPED_YET = "not stopped yet"
    """The server took the request, but nothing says that the work has stopped."""
    NO_LONGER_KNOWN = "no longer known"
    """Nobody can say any more: the task is gone, or the call had no task to ask about."""

    @property
    def words(self) -> str:
        """One line for a person."""
        return _OUTCOME_WORDS[self]


_OUTCOME_WORDS: Mapping[CancelOutcome, str] = {
    CancelOutcome.CANCELLED: "Cancelled.",
    CancelOutcome.FINISHED_ANYWAY: "It had finished before it could be stopped.",
    CancelOutcome.FAILED: "It failed after you asked it to stop.",
    CancelOutcome.NOT_STOPPED_YET: "Asked to stop, but not stopped yet; it may still be running.",
    CancelOutcome.NO_LONGER_KNOWN: "Asked to stop; what came of it is no longer known.",
}

_OUTCOMES: Mapping[State, CancelOutcome] = {
    State.CANCELLED: CancelOutcome.CANCELLED,
    State.FINISHED: CancelOutcome.FINISHED_ANYWAY,
    State.FINISHED_ANYWAY: CancelOutcome.FINISHED_ANYWAY,
    State.FAILED: CancelOutcome.FAILED,
    State.FAILED_AFTER_CANCEL: CancelOutcome.FAILED,
    State.EXPIRED: CancelOutcome.NO_LONGER_KNOWN,
}


class Handle:
    """Work at a server. Made by `RemoteServer.start` and `RemoteServer.resume`.

    Any number of tasks may watch one handle at once; they share its polling. Leaving a watch, or
    the whole program, leaves the work alone.
    """

    def __init__(
        self,
        link: Link,
        known: Known,
        *,
        task_id: str | None,
        pace: Pace,
        on_input: OnInput | None,
        ledger: Ledger | None,
        tasks: TaskGroup,
    ) -> None:
        self.id = task_id
        """The task's id, to resume by; None where the server has no task for this call."""
        self._link = link
        self._known = known
        self.on_input = on_input
        self._ledger = ledger
        self._tasks = tasks
        self._pace = replace(pace, due_at=None) if self.now.ended else pace
        self._polling = anyio.Lock()
        self._revision = 0
        self._changed = anyio.Event()
        self._wake = anyio.Event()
        self._handed: set[str] = set()
        self._asking: set[anyio.CancelScope] = set()
        self._broken: Exception | None = None
        self._noted_at = 0.0
        self.open_call: anyio.CancelScope | None = None
        """The call itself, while it is under way without a task; cancelling it closes the call."""

    def __repr__(self) -> str:
        return f"<Handle {self.id!r} of {self._known.tool!r}: {self.now.state.value}>"

    @property
    def tool(self) -> str | None:
        """The tool's name; None for a task resumed by an id from elsewhere."""
        return self._known.tool

    @property
    def now(self) -> Now:
        """How the work stands as far as is known here, without asking anybody."""
        return show(self._known, now_ms=wall_clock_ms())

    async def watch(self, *, on_input: OnInput | None = None) -> AsyncGenerator[Now]:
        """Yield how the work stands, at once and whenever something changed, up to the end.

        A server that does not answer is shown as such and asked again until it does; that is not
        an error. ``on_input`` is handed each question of the work once (by default, what
        `connect` was given); without either, the watch only shows that an answer is needed.

        Raises:
            ProtocolFailed: the server refuses to say how the task stands.
            TasksUnsupported: the server has no tasks, so the id means nothing there.
        """
        shown: Now | None = None
        while True:
            self._hand_out(on_input)
            revision, now = self._revision, self.now
            self._raise_broken()
            if now.differs(shown):
                shown = now
                yield now
            if now.ended:
                return
            await self._news(revision)

    async def result(self, *, timeout_seconds: float | None = None) -> CallToolResult:
        """Wait for the end, however long it takes, and return the tool's result.

        Raises:
            ToolFailed: the tool itself said no.
            ProtocolFailed: the call ended in a JSON-RPC error.
            WorkerLost: the process running it is gone, and it was not run again.
            Cancelled: it was stopped first.
            Expired: the server no longer keeps the task.
            Unreachable: the server does not answer, and ``timeout_seconds`` are over.
            TimeoutError: ``timeout_seconds`` are over. The work goes on.
        """
        with anyio.move_on_after(timeout_seconds):
            await self._until_ended()
        if not self.now.ended:
            raise self._not_in_time(timeout_seconds)
        return self._collect()

    async def cancel(self, *, give_up_seconds: float = GIVE_UP_SECONDS) -> CancelOutcome:
        """Ask for a stop, then keep watching for up to ``give_up_seconds`` what comes of it.

        Raises:
            Unreachable: the request did not get through; the message says whether it was sent.
            ProtocolFailed: the server refuses to stop the task.
        """
        if not self.now.ended:
            if self.id is None:
                return self._close_call()
            await self._ask_to_stop(self.id)
            with anyio.move_on_after(give_up_seconds):
                await self._until_ended()
        return _OUTCOMES.get(self.now.state, CancelOutcome.NOT_STOPPED_YET)

    async def answer(self, responses: Mapping[str, Any]) -> None:
        """Answer questions of the work, by the keys of `Now.inputs`. Safe to repeat.

        Raises:
            Unreachable: no answer from the server; send it again.
            Expired: the server no longer keeps the task.
            ProtocolFailed: the server refuses the answer.
        """
        if self.id is None:
            raise Expired("There is no task behind this call, so it has no questions to answer.")
        era = await self._link.era()
        try:
            await self._link.ask(era.update(self.id, responses))
        except ProtocolFailed as no:
            if no.code == era.gone:
                raise Expired("The server no longer keeps the task this answer is for.") from no
            raise
        self._handed.update(responses)
        self._hurry()

    # What is known, and telling those who wait

    async def learn(self, **changes: Any) -> None:
        """Take in something new about the work, keep it, and wake everybody who watches."""
        before, self._known = self._known, replace(self._known, **changes)
        task = self._known.task
        if task is not None and _visible(task) != _visible(before.task):
            self._known = replace(self._known, changed_at_ms=wall_clock_ms())
        self._revision += 1
        if self.now.ended:
            for asking in self._asking:
                asking.cancel()
            self._pace = replace(self._pace, due_at=None)
        self._tell()
        await self._note(before)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _hurry(self) -> None:
        self._pace = self._pace.hurried(anyio.current_time())
        self._wake.set()
        self._wake = anyio.Event()

    async def _note(self, before: Known) -> None:
        task = self._known.task
        if self._ledger is None or task is None or self.id is None:
            return
        important = (
            before.task is None
            or before.task.status is not task.status
            or before.gone is not self._known.gone
            or before.cancel_asked_at_ms != self._known.cancel_asked_at_ms
        )
        late = anyio.current_time() - self._noted_at >= LEDGER_SECONDS
        if not important and not (late and _visible(before.task) != _visible(task)):
            return
        self._noted_at = anyio.current_time()
        ledger, known = self._ledger, self._known

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
                log.warning("Task %r is not noted down: %s", self.id, broken)

    async def fail(self, broken: Exception) -> None:
        """Hand an error of this side's own (an ``on_input`` that raised) to whoever waits."""
        self._broken = broken
        await self.learn(call_lost=f"{type(broken).__name__}: {broken}")

    async def _until_ended(self) -> None:
        while True:
            self._hand_out(None)
            revision = self._revision
            self._raise_broken()
            if self.now.ended:
                return
            await self._news(revision)

    def _raise_broken(self) -> None:
        if self._broken is not None:
            broken, self._broken = self._broken, None
            raise broken

    async def _news(self, revision: int) -> None:
        """Return once more is known than at ``revision``."""
        if self.id is None:
            if self._revision == revision:
                await self._changed.wait()
            return
        # Whoever gets here first polls for all who wait; if it leaves, the next one takes over.
        async with self._polling:
            while self._revision == revision and self._broken is None:
                wait_seconds = self._pace.wait_seconds(anyio.current_time())
                if wait_seconds is None:
                    return
                if wait_seconds > 0:
                    with anyio.move_on_after(wait_seconds):
                        await self._wake.wait()
                    continue
                await self._poll(self.id)

    async def _poll(self, task_id: str) -> None:
        try:
            era = await self._link.era()
            task = era.read(await self._link.ask(era.get(task_id)))
        except Unreachable as why:
            await self._unanswered(str(why.__cause__ or why))
        except ProtocolFailed as no:
            if no.code == INTERNAL_ERROR:  # the server's trouble, not a verdict on the task
                await self._unanswered(str(no))
            elif no.code == (await self._link.era()).gone:
                await self.learn(gone=True, unreachable_since_ms=None)
            else:
                raise
        except ValueError as broken:
            raise ProtocolFailed(
                f"The server's answer to 'tasks/get' cannot be read: {broken}", code=INTERNAL_ERROR
            ) from broken
        else:
            self._pace = self._pace.answered(
                anyio.current_time(),
                poll_interval_ms=task.poll_interval_ms,
                ended=task.status.ended,
            )
            await self.learn(task=task, unreachable_since_ms=None, unreachable_why=None)

    async def _unanswered(self, why: str) -> None:
        self._pace = self._pace.failed(anyio.current_time(), chance=_chance())
        since_ms = self._known.unreachable_since_ms
        await self.learn(
            unreachable_since_ms=wall_clock_ms() if since_ms is None else since_ms,
            unreachable_why=why,
        )

    # Questions of the work

    def _hand_out(self, on_input: OnInput | None) -> None:
        ask, now = on_input or self.on_input, self.now
        if ask is None or now.state is not State.NEEDS_INPUT:
            return
        for key, request in now.inputs.items():
            if key not in self._handed:
                self._handed.add(key)
                self._tasks.start_soon(self._ask, key, request, ask)

    async def _ask(self, key: str, request: Mapping[str, Any], ask: OnInput) -> None:
        """Put one question to whoever answers, and deliver the answer until it gets through."""
        with anyio.CancelScope() as asking:
            self._asking.add(asking)
            try:
                response = await ask(request)
                failures = 0
                while not await self._delivered(key, response):
                    await anyio.sleep(retry_seconds(failures, chance=_chance()))
                    failures += 1
            except Exception as broken:  # noqa: BLE001 - raised again to whoever waits
                self._broken = broken
                self._hurry()
            finally:
                self._asking.discard(asking)

    async def _delivered(self, key: str, response: Mapping[str, Any]) -> bool:
        try:
            await self.answer({key: response})
        except Unreachable:
            return False
        except Expired:
            pass  # the next poll finds that out too, and says so
        return True

    # Stopping, and the end

    async def _ask_to_stop(self, task_id: str) -> None:
        for failures in range(CANCEL_ATTEMPTS):
            try:
                await self._link.ask((await self._link.era()).cancel(task_id))
            except NotSent as why:
                if failures + 1 == CANCEL_ATTEMPTS:
                    raise NotSent(
                        f"The server cannot be reached ({why.__cause__ or why}): the request to "
                        "stop was not sent; the work is unaffected. Try again."
                    ) from why
            except Unreachable as why:
                if failures + 1 == CANCEL_ATTEMPTS:
                    raise Unreachable(
                        f"The request to stop got no answer ({why.__cause__ or why}): it may or "
                        "may not have arrived. Try again; asking twice does no harm."
                    ) from why
            except ProtocolFailed as no:
                if no.code != (await self._link.era()).gone:
                    raise
                await self.learn(gone=True)
                return
            else:
                await self.learn(
                    cancel_asked_at_ms=self._known.cancel_asked_at_ms or wall_clock_ms()
                )
                self._hurry()
                return
            await anyio.sleep(retry_seconds(failures, chance=_chance()))

    def _close_call(self) -> CancelOutcome:
        if self.open_call is not None:
            self.open_call.cancel()
        return CancelOutcome.NO_LONGER_KNOWN

    def _not_in_time(self, timeout_seconds: float | None) -> Exception:
        since_ms = self._known.unreachable_since_ms
        later = f"Resume it later by its id, {self.id!r}." if self.id else "Call again."
        if since_ms is not None:
            return Unreachable(
                f"The server has not answered for {(wall_clock_ms() - since_ms) / 1000:.0f} s "
                f"({self._known.unreachable_why}); the work may be running on. {later}"
            )
        return TimeoutError(f"Not finished within {timeout_seconds!r} s; the work goes on. {later}")

    def _collect(self) -> CallToolResult:
        now, task = self.now, self._known.task
        if task is None or not task.status.ended:
            text = f"{now.words}. {now.detail}"
            if now.state is State.EXPIRED:
                raise Expired(text)
            raise Cancelled(text) if self._known.call_closed else Unreachable(text)
        if task.status is Status.CANCELLED:
            raise Cancelled(f"{now.words}. {now.detail or ''}".strip())
        if task.status is Status.FAILED:
            raise _failure(task)
        result = dict(task.result or {})
        if is_error(result):
            raise ToolFailed(failure_text(task), result=result)
        try:
            return CallToolResult.model_validate(result, by_name=False)
        except ValidationError as broken:
            raise ProtocolFailed(
                f"The result of {self.tool!r} is not what the protocol says: {broken}",
                code=INTERNAL_ERROR,
            ) from broken


def _failure(task: Snapshot) -> ProtocolFailed:
    error = task.error or {}
    code, data = error.get("code"), error.get("data")
    reason = cast("dict[str, Any]", data).get("reason") if isinstance(data, dict) else None
    kind = WorkerLost if reason == "worker_lost" else ProtocolFailed
    number = code if isinstance(code, int) else INTERNAL_ERROR
    return kind(failure_text(task), code=number, data=data)


def _visible(task: Snapshot | None) -> Snapshot | None:
    """A task without what some servers move on every poll, changed or not."""
    return None if task is None else replace(task, last_updated_at_ms=0)


def _chance() -> float:
    return random.random()  # noqa: S311 - spreads retries, guards nothing


__all__ = ["CancelOutcome", "Handle"]
