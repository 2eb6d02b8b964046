"""Questions that work asks while it runs: put to whoever answers, once each, and delivered.

Two eras, two ways. In 2026-07-28 a task lists its questions and takes answers by ``tasks/update``.
In 2025-11-25 the server asks this side directly, on the stream of a ``tasks/result`` (or of the
call itself) that has to be open for it; such a question waits here until it is answered.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio

from awhile.client.inbox import OnInput
from awhile.client.known import State
from awhile.client.wait import retry_seconds
from awhile.errors import AwhileError, Expired, ProtocolFailed, Unreachable

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from awhile.client.link import Link
    from awhile.client.work import Work

log = logging.getLogger(__name__)

_UNANSWERED: Mapping[str, Any] = {"action": "cancel"}
"""What a server that still waits is told once its work has ended without an answer."""


class _Asked:
    """A question asked of this side directly, until it has its answer."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.request = request
        self.answered = anyio.Event()
        self.response: Mapping[str, Any] = _UNANSWERED


class Questions:
    """The questions of one piece of work."""

    def __init__(self, link: Link, tasks: TaskGroup) -> None:
        self._link = link
        self._tasks = tasks
        self._handed: set[str] = set()
        self._asking: set[anyio.CancelScope] = set()
        self._asked: dict[str, _Asked] = {}
        self._numbers = count(1)
        self._collecting = False

    def hand_out(self, work: Work, ask: OnInput | None) -> None:
        """Put each question that waits to ``ask``, once; None only has them shown."""
        now = work.now
        if now.state is not State.NEEDS_INPUT:
            return
        if not now.inputs and not self._collecting and work.task_id is not None:
            self._collecting = True
            self._tasks.start_soon(self._collect, work, work.task_id)
        if ask is None:
            return
        for key, request in now.inputs.items():
            if key not in self._handed:
                self._handed.add(key)
                self._tasks.start_soon(self._ask, work, key, request, ask)

    async def answer(self, work: Work, responses: Mapping[str, Any]) -> None:
        """Deliver answers, by key.

        Raises:
            Expired, Unreachable, ProtocolFailed: see `Handle.answer`.
        """
        rest = {key: one for key, one in responses.items() if key not in self._asked}
        for key in responses.keys() - rest.keys():
            asked = self._asked.pop(key)
            asked.response = responses[key]
            asked.answered.set()
            self._handed.add(key)
        if len(rest) < len(responses):
            await self._show(work)
        if not rest:
            return
        if work.task_id is None:
            raise Expired("There is no task behind this call, so it has no questions to answer.")
        era = await self._link.era()
        if era.update is None:
            raise Expired(
                f"The work asks nothing under {', '.join(map(repr, rest))} any more; look at its "
                "questions again."
            )
        try:
            await self._link.ask(era.update(work.task_id, rest))
        except ProtocolFailed as no:
            if no.code == era.gone:
                await work.look()  # the code of an answer that does not fit its form, too
                if work.known.gone:
                    raise Expired("The server no longer keeps the task this answer is for.") from no
            raise
        self._handed.update(rest)
        work.hurry()

    async def asked(self, work: Work, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """A question the server asks directly; returns with the answer."""
        key, asked = f"asked-{next(self._numbers)}", _Asked(request)
        self._asked[key] = asked
        await self._show(work)
        try:
            await asked.answered.wait()
        finally:
            self._asked.pop(key, None)
        return asked.response

    def drop(self) -> None:
        """The work has ended, so nobody needs an answer any more."""
        for scope in self._asking:
            scope.cancel()
        for asked in self._asked.values():
            asked.answered.set()
        self._asked.clear()

    async def _show(self, work: Work) -> None:
        await work.learn(questions={key: one.request for key, one in self._asked.items()})

    async def _collect(self, work: Work, task_id: str) -> None:
        """Hold the stream open on which an older server asks, until the task has ended."""
        try:
            era = await self._link.era()
            if era.result is None:
                return

            async def ask(request: Mapping[str, Any]) -> Mapping[str, Any]:
                return await self.asked(work, request)

            with self._link.inbox.asking(task_id, ask), anyio.CancelScope() as scope:
                self._asking.add(scope)
                try:
                    await self._link.request(era.result(task_id))
                finally:
                    self._asking.discard(scope)
        except AwhileError as broken:  # the next look says what that means
            log.debug("Task %r cannot ask at the moment: %s", task_id, broken)
        finally:
            self._collecting = False
            work.hurry()

    async def _ask(self, work: Work, key: str, request: Mapping[str, Any], ask: OnInput) -> None:
        """Put one question to whoever answers, and deliver the answer until it gets through."""
        with anyio.CancelScope() as asking:
            self._asking.add(asking)
            try:
                response = await ask(request)
                failures = 0
                while not await self._delivered(work, key, response):
                    pause = retry_seconds(failures, chance=random.random())  # noqa: S311
                    await anyio.sleep(pause)
                    failures += 1
            except Exception as broken:  # noqa: BLE001 - raised again to whoever waits
                work.fail(broken)
            finally:
                self._asking.discard(asking)

    async def _delivered(self, work: Work, key: str, response: Mapping[str, Any]) -> bool:
        try:
            await self.answer(work, {key: response})
        except Unreachable:
            return False
        except Expired:
            pass  # the next poll finds that out too, and says so
        return True


__all__ = ["Questions"]
