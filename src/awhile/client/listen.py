"""Changes of tasks, pushed: one ``subscriptions/listen`` stream for all tasks somebody waits for.

Source: 2026-07-28 ``basic/patterns/subscriptions`` and ext-tasks, "Task Status Notifications". What
is pushed is a whole task, so nothing has to be replayed after a gap: the next push, or one look,
says everything. Nobody depends on this: whoever is told nothing polls.

While one stream takes over from another there are two, on stdio on one channel; everything on a
stream bears the id of the request that opened it, and what bears another is not for us.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import anyio
from mcp_types import INTERNAL_ERROR

from awhile.client.transport import telling_id
from awhile.client.wait import Connects, retry_seconds
from awhile.errors import AwhileError, ProtocolFailed, Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from anyio.abc import TaskGroup
    from mcp_types import RequestId

    from awhile.client.era import AnyRequest, Era
    from awhile.wire.snapshot import Snapshot

log = logging.getLogger(__name__)

ACKNOWLEDGE_SECONDS = 5.0
"""How long a server may take to say what it will push, before the stream is given up."""

GATHER_SECONDS = 0.05
"""How long the set of tasks has to rest before a stream is opened for it: starts come in bursts."""

LINGER_SECONDS = 2.0
"""How long a stream that nobody needs any more stays open, in case the next wait is at hand."""

STEADY_SECONDS = 10.0
"""A stream that held this long was a good one: the next failure is again the first."""

LONGEST_PAUSE_SECONDS = 60.0
"""The longest pause before another stream, at a server that keeps closing them."""

CONNECTS, CONNECTS_SECONDS = 10, 10.0
"""Never more than so many streams opened in so many seconds, for any reason (field case C6)."""

TASKS_PER_STREAM = 500
"""How many tasks one stream follows; whoever comes later polls until an earlier one has ended."""


class Ear(Protocol):
    """Somebody who waits for news of one task."""

    def listening(self, *, on: bool) -> None:
        """Whether the server will push this task's changes from now on."""
        ...

    async def hear(self, task: Snapshot) -> None:
        """The task as it now is, pushed."""
        ...


@dataclass(eq=False, kw_only=True)
class _Stream:
    asked: frozenset[str]
    acknowledged: frozenset[str] = frozenset()
    subscription: RequestId | None = None
    """The id of the request that opened it; None until that is sent."""
    opened_at: float = field(default_factory=anyio.current_time)
    settled: anyio.Event = field(default_factory=anyio.Event)
    """Set once the stream is acknowledged, or has ended."""
    ended: bool = False
    useless: bool = False
    """The server will push none of what was asked for, so the stream was closed again."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def sent(self, request_id: RequestId) -> None:
        """The request is on its way."""
        self.subscription = request_id


class Listening:
    """Who waits for which task of one server, and the stream that tells them.

    Args:
        era: how the server speaks of tasks; None if it has none.
        send: sends a request and waits for its answer, however long that takes.
        tasks: where the stream is held.
    """

    def __init__(
        self,
        *,
        era: Callable[[], Awaitable[Era | None]],
        send: Callable[[AnyRequest], Awaitable[Mapping[str, Any]]],
        tasks: TaskGroup,
    ) -> None:
        self._era = era
        self._send = send
        self._tasks = tasks
        self._ears: dict[str, list[Ear]] = {}
        self._stream: _Stream | None = None
        self._opening: _Stream | None = None
        self._connects = Connects(most=CONNECTS, within_seconds=CONNECTS_SECONDS)
        self._failures = 0
        self._served = True
        self._running = False
        self._changed = anyio.Event()

    def add(self, task_id: str, ear: Ear) -> None:
        """Tell ``ear`` of this task from now on."""
        self._ears.setdefault(task_id, []).append(ear)
        stream = self._stream
        if stream is not None and not stream.ended and task_id in stream.acknowledged:
            ear.listening(on=True)
        if not self._running and self._served:
            self._running = True
            self._tasks.start_soon(self._run)
        self._stir()

    def remove(self, task_id: str, ear: Ear) -> None:
        """``ear`` waits no longer."""
        ears = self._ears.get(task_id, [])
        if ear in ears:
            ears.remove(ear)
        if not ears:
            self._ears.pop(task_id, None)
        ear.listening(on=False)
        self._stir()

    def acknowledge(self, subscription: Any, task_ids: Sequence[str]) -> None:
        """The server has said which tasks it will push on a stream."""
        stream = self._opening
        if stream is None or stream.settled.is_set():
            return
        if stream.subscription is None:  # at a server in this process: see `telling_id`
            stream.subscription = subscription
        if stream.subscription != subscription:
            return  # of a stream that was given up
        stream.acknowledged = stream.asked.intersection(task_ids)
        for one in stream.acknowledged:
            for ear in self._ears.get(one, ()):
                ear.listening(on=True)
        stream.settled.set()

    async def hear(self, task: Snapshot, subscription: Any) -> None:
        """A task was pushed on a stream."""
        ours = [one.subscription for one in (self._stream, self._opening) if one is not None]
        if subscription is not None and subscription in ours:
            await self.notice(task)

    async def notice(self, task: Snapshot) -> None:
        """A task was told of without a stream, as in the era that has none."""
        for ear in list(self._ears.get(task.task_id, ())):
            await ear.hear(task)

    # The stream

    async def _run(self) -> None:
        try:
            while self._ears:
                try:
                    era = await self._era()
                except Unreachable:
                    self._failures += 1
                    await anyio.sleep(self._again_seconds())
                    continue
                if era is not None and era.listen is not None:
                    await self._keep_open(era.listen)
                return
        except AwhileError:  # whoever polls is told the same, and hands it on
            log.debug("No stream can be opened.", exc_info=True)
        finally:
            self._running = False

    async def _keep_open(self, request: Callable[[Sequence[str]], AnyRequest]) -> None:
        while self._served:
            changed = self._changed
            wanted = frozenset(islice(self._ears, TASKS_PER_STREAM))
            stream = self._stream
            if not wanted:
                with anyio.move_on_after(LINGER_SECONDS):
                    await changed.wait()
                    continue
                if stream is not None:
                    stream.scope.cancel()
                self._stream = None
                return
            held = stream is not None and (stream.useless or not stream.ended)
            if stream is not None and held and wanted <= stream.asked:
                await changed.wait()
                continue
            await anyio.sleep(max(GATHER_SECONDS, self._pause_seconds()))
            await self._open(request)

    async def _open(self, request: Callable[[Sequence[str]], AnyRequest]) -> None:
        """Open a stream for everybody who waits now, and only then close the one before it."""
        wanted = list(islice(self._ears, TASKS_PER_STREAM))
        if not wanted:
            return
        before = self._stream
        stream = self._opening = _Stream(asked=frozenset(wanted))
        self._connects.made(stream.opened_at)
        self._tasks.start_soon(self._hold, stream, request(wanted))
        with anyio.move_on_after(ACKNOWLEDGE_SECONDS):
            await stream.settled.wait()
        if not stream.settled.is_set():
            self._failures += 1
            stream.scope.cancel()
        elif not stream.ended and not stream.acknowledged:
            stream.useless = True
            stream.scope.cancel()
        self._opening, self._stream = None, stream
        if before is not None:
            self._tell_deaf(before.acknowledged - stream.acknowledged)
            before.scope.cancel()

    async def _hold(self, stream: _Stream, request: AnyRequest) -> None:
        try:
            with stream.scope, telling_id(request.method, stream.sent):
                await self._send(request)  # the graceful closing result, or
        except Unreachable as why:  # the stream broke off, or
            log.debug("The stream broke off: %s", why)
        except ProtocolFailed as no:  # the server does not serve it: then never again
            log.debug("The server pushes no tasks: %s", no)
            self._served = no.code == INTERNAL_ERROR
        finally:
            stream.ended = True
            if not stream.scope.cancel_called:
                steady = anyio.current_time() - stream.opened_at >= STEADY_SECONDS
                self._failures = 0 if steady else self._failures + 1
            if stream is self._stream or stream is self._opening:
                self._tell_deaf(stream.acknowledged)
            stream.settled.set()
            self._stir()

    def _pause_seconds(self) -> float:
        """How long the next stream has to wait: a while, after a close that was not ours."""
        wait = self._connects.wait_seconds(anyio.current_time())
        broken = self._stream is not None and self._stream.ended and not self._stream.useless
        return max(wait, self._again_seconds()) if broken else wait

    def _again_seconds(self) -> float:
        failures, chance = max(0, self._failures - 1), random.random()  # noqa: S311
        return retry_seconds(failures, chance=chance, longest_seconds=LONGEST_PAUSE_SECONDS)

    def _tell_deaf(self, task_ids: Collection[str]) -> None:
        for one in task_ids:
            for ear in self._ears.get(one, ()):
                ear.listening(on=False)

    def _stir(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


__all__ = ["Ear", "Listening"]
