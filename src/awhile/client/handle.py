"""One piece of long work, seen from afar: watched, answered, stopped, collected."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio

from awhile.client import link
from awhile.client.clock import wall_clock_ms
from awhile.client.display import GIVE_UP_SECONDS
from awhile.client.http import NotSent
from awhile.client.outcome import (
    CancelOutcome,
    collect,
    not_in_time,
    outcome_of,
    unanswered_stop,
)
from awhile.client.questions import Questions
from awhile.client.wait import SOON_SECONDS, later_seconds, retry_seconds
from awhile.client.words import unproven
from awhile.client.work import Work
from awhile.errors import ProtocolFailed, Unreachable
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

    from anyio.abc import TaskGroup
    from mcp_types import CallToolResult

    from awhile.client.era import Era
    from awhile.client.inbox import OnInput
    from awhile.client.known import Known, Now
    from awhile.client.ledger import Ledger
    from awhile.client.link import Link
    from awhile.errors import AwhileError
    from awhile.wire.snapshot import Snapshot

CANCEL_ATTEMPTS = 3
"""How often a stop request is sent before saying that it cannot be: it is safe to repeat."""


LONGEST_PROOF_SECONDS = 1.0
"""How often at least it is looked for the proof that cancelled work has stopped."""


class Handle:
    """Work at a server. Made by `RemoteServer.start` and `RemoteServer.resume`.

    Any number of tasks may watch one handle at once; they share its pushes and polls. Leaving a
    watch, or the whole program, leaves the work alone.
    """

    def __init__(
        self,
        link: Link,
        known: Known,
        *,
        task_id: str | None,
        on_input: OnInput | None,
        ledger: Ledger | None,
        tasks: TaskGroup,
    ) -> None:
        self.on_input = on_input
        self.open_call: anyio.CancelScope | None = None
        """The call itself, while it is under way without a task; cancelling it closes the call."""
        self.work = Work(link, known, task_id=task_id, ledger=ledger, on_end=self._ended)
        """What is known of it; for `RemoteServer`."""
        self._link = link
        self._questions = Questions(link, tasks)
        self._progress_token: str | None = None

    def __repr__(self) -> str:
        return f"<Handle {self.id!r} of {self.tool!r}: {self.now.state.value}>"

    @property
    def id(self) -> str | None:
        """The task's id, to resume by; None where the server has no task for this call."""
        return self.work.task_id

    @property
    def tool(self) -> str | None:
        """The tool's name; None for a task resumed by an id from elsewhere."""
        return self.work.known.tool

    @property
    def now(self) -> Now:
        """How the work stands as far as is known here, without asking anybody."""
        return self.work.now

    async def watch(self, *, on_input: OnInput | None = None) -> AsyncGenerator[Now]:
        """Yield how the work stands, at once and whenever something changed, up to the end.

        The server is listened to if it pushes changes, else asked in its own rhythm. One that does
        not answer is shown as such and asked again until it does; that is not an error.
        ``on_input`` is handed each question of the work once (by default, what `connect` was
        given); without either, the watch only shows that an answer is needed.

        Raises:
            ProtocolFailed: the server refuses to say how the task stands.
            TasksUnsupported: the server has no tasks, so the id means nothing there.
        """
        shown: Now | None = None
        work = self.work
        with work.watched():
            while True:
                self._questions.hand_out(work, on_input or self.on_input)
                revision, now = work.revision, work.now
                self._raise_broken()
                if now.differs(shown):
                    shown = now
                    yield now
                if now.ended:
                    return
                await work.news(revision)

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
            raise self.not_in(timeout_seconds)
        return collect(self.work.known, now_ms=wall_clock_ms())

    async def cancel(self, *, give_up_seconds: float = GIVE_UP_SECONDS) -> CancelOutcome:
        """Ask for a stop, then keep watching for up to ``give_up_seconds`` what comes of it.

        The request itself, repeated where it gets no answer, has as long, or 15 s if that is more.

        Raises:
            Unreachable: the request did not get through; the message says whether it was sent.
            ProtocolFailed: the server refuses to stop the task.
        """
        if not self.now.ended:
            if self.id is None:
                return self._close_call()
            said: Snapshot | None = None
            patience = max(give_up_seconds, link.ANSWER_SECONDS)
            with anyio.move_on_after(patience) as asking:
                said = await self._ask_to_stop(self.id)
            if asking.cancelled_caught:
                raise unanswered_stop(f"none within {patience:g} s")
            with anyio.move_on_after(give_up_seconds):
                await self._until_ended()
                if said is not None and not self._tells():
                    await self.work.look()  # the news of an ending may come without its facts
            if said is not None and (self.work.known.gone or not self.now.ended):
                # In this era the reply was final; a server may drop the task right after it.
                await self.work.learn(task=said, gone=False, cancel_proves_nothing=True)
            with anyio.move_on_after(give_up_seconds):
                await self._until_proven()
        return outcome_of(self.work.known, now_ms=wall_clock_ms())

    async def _until_proven(self) -> None:
        """Look on for the proof that cancelled work has stopped, where the server gives any."""
        wait_seconds = SOON_SECONDS
        while True:
            known = self.work.known
            if known.gone or not self._tells() or not self.now.ended or not unproven(known):
                return
            await anyio.sleep(wait_seconds)
            await self.work.look()
            wait_seconds = min(later_seconds(wait_seconds), LONGEST_PROOF_SECONDS)

    def _tells(self) -> bool:
        """Whether the server gives facts about the stop beside the task's status."""
        task = self.work.known.task
        return task is not None and task.cancel_asked_at_ms is not None

    async def answer(self, responses: Mapping[str, Any]) -> None:
        """Answer questions of the work, by the keys of `Now.inputs`. Safe to repeat.

        Raises:
            Unreachable: no answer from the server; send it again.
            Expired: the server no longer keeps the task, or the question.
            ProtocolFailed: the server refuses the answer.
        """
        await self._questions.answer(self.work, responses)

    async def _until_ended(self) -> None:
        work = self.work
        with work.watched():
            while True:
                self._questions.hand_out(work, self.on_input)
                revision = work.revision
                self._raise_broken()
                if work.now.ended:
                    return
                await work.news(revision)

    def _raise_broken(self) -> None:
        broken, self.work.broken = self.work.broken, None
        if broken is not None:
            raise broken

    # For `RemoteServer`

    def not_in(self, timeout_seconds: float | None) -> AwhileError | TimeoutError:
        """The error for a wait of so long that is over before the work is."""
        return not_in_time(
            self.work.known,
            now_ms=wall_clock_ms(),
            task_id=self.id,
            timeout_seconds=timeout_seconds,
        )

    def opened(self) -> anyio.CancelScope:
        """The call is under way without a task: the scope that closes it."""
        self.open_call = scope = anyio.CancelScope()
        return scope

    def hear_progress(self, token: str) -> None:
        """Take in progress under ``token``, which may come as long as the work goes on."""
        self._progress_token = token
        self._link.inbox.progress[token] = self.work.hear_progress

    @contextmanager
    def asked_directly(self) -> Generator[None]:
        """Take in what the server asks during a call without a task, if there is who answers."""
        if self.on_input is None:
            yield
            return

        async def ask(request: Mapping[str, Any]) -> Mapping[str, Any]:
            return await self._questions.asked(self.work, request)

        with self._link.inbox.asking(f"call {id(self)}", ask):
            yield

    def _ended(self) -> None:
        self._questions.drop()
        if self._progress_token is not None:
            self._link.inbox.progress.pop(self._progress_token, None)

    # Stopping

    async def _ask_to_stop(self, task_id: str) -> Snapshot | None:
        """Have the request taken; the task as the reply has it, in an era that puts it there."""
        for failures in range(CANCEL_ATTEMPTS):
            last = failures + 1 == CANCEL_ATTEMPTS
            try:
                era = await self._link.era()
                reply = await self._link.ask(era.cancel(task_id))
            except NotSent as why:
                if last:
                    raise NotSent(
                        f"The server at {self._link.name!r} cannot be reached "
                        f"({why.__cause__ or why}): the request to stop was not sent; the work is "
                        "unaffected. Try again."
                    ) from why
            except Unreachable as why:
                if last:
                    raise unanswered_stop(str(why.__cause__ or why)) from why
            except ProtocolFailed as no:
                if no.code != (await self._link.era()).gone:
                    raise
                # Gone, or (in the older era) ended already: one look tells which.
                self.work.hurry()
                return None
            else:
                known = self.work.known
                asked_at_ms = known.cancel_asked_at_ms or wall_clock_ms()
                await self.work.learn(cancel_asked_at_ms=asked_at_ms)
                self.work.hurry()
                return _said(era, reply)
            await anyio.sleep(retry_seconds(failures, chance=random.random()))  # noqa: S311
        raise AssertionError("every attempt returns, or the last one raises")

    def _close_call(self) -> CancelOutcome:
        if self.open_call is not None:
            self.open_call.cancel()
        return CancelOutcome.NO_LONGER_KNOWN


def _said(era: Era, reply: Mapping[str, Any]) -> Snapshot | None:
    """The task in the reply to a cancel, if it is there and called cancelled."""
    if not era.cancel_proves_nothing:
        return None
    try:
        task = era.read(reply)
    except ValueError:
        return None
    return task if task.status is Status.CANCELLED else None


__all__ = ["CancelOutcome", "Handle"]
