"""The client without ``await``, for scripts and notebooks.

The asynchronous client runs in a thread of its own; everything here waits for it. A question
(``on_input``) is asked in the thread that waits, so it may use ``input()``; Ctrl-C ends the wait,
closes a plain call, and leaves a task alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager, suppress
from threading import Condition
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from awhile.client.connect import connect
from awhile.client.display import GIVE_UP_SECONDS
from awhile.errors import LocalError

if TYPE_CHECKING:
    from collections.abc import Generator

    from anyio.from_thread import BlockingPortal
    from mcp_types import CallToolResult, ReadResourceResult, Tool

    from awhile.client.call import RemoteServer
    from awhile.client.handle import Handle
    from awhile.client.inbox import OnInput
    from awhile.client.known import Now
    from awhile.client.ledger import Ledger
    from awhile.client.outcome import CancelOutcome

T = TypeVar("T")

LEAVE_SECONDS = 5.0
"""How long Ctrl-C waits for the client to leave what it was doing."""

OnInputSync = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers one question: the request (``{"method": …, "params": …}``) in, the response out."""


@contextmanager
def connect_sync(
    target: Any,
    *,
    ledger: Ledger | Literal["default"] | None = "default",
    on_input: OnInputSync | None = None,
    answers_forms: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Generator[SyncServer]:
    """`connect`, for code without ``await``: the same arguments, with a plain ``on_input``.

    Raises:
        SettingsError, StoreError: as `connect`.
    """
    with start_blocking_portal() as portal:
        waits = _Waits(portal)
        opened = connect(
            target,
            ledger=ledger,
            on_input=waits.asker(on_input),
            answers_forms=answers_forms,
            headers=headers,
        )
        with portal.wrap_async_context_manager(opened) as server:
            yield SyncServer(server, waits)


class SyncServer:
    """`RemoteServer`, waiting. Made by `connect_sync`; threads may share it."""

    def __init__(self, server: RemoteServer, waits: _Waits) -> None:
        self.name = server.name
        self.ledger = server.ledger
        self._server = server
        self._waits = waits

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInputSync | None = None,
        timeout_seconds: float | None = None,
    ) -> CallToolResult:
        """`RemoteServer.call`."""
        ask = self._waits.asker(on_input)
        return self._waits.until(
            lambda: self._server.call(
                tool, arguments, on_input=ask, timeout_seconds=timeout_seconds
            )
        )

    def start(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInputSync | None = None,
        unobserved_seconds: float | None = None,
    ) -> SyncHandle:
        """`RemoteServer.start`."""
        ask = self._waits.asker(on_input)
        handle = self._waits.until(
            lambda: self._server.start(
                tool, arguments, on_input=ask, unobserved_seconds=unobserved_seconds
            )
        )
        return SyncHandle(handle, self._waits)

    def resume(self, task_id: str, *, on_input: OnInputSync | None = None) -> SyncHandle:
        """`RemoteServer.resume`."""
        ask = self._waits.asker(on_input)
        handle = self._waits.until(lambda: self._server.resume(task_id, on_input=ask))
        return SyncHandle(handle, self._waits)

    def list_tasks(self) -> list[SyncHandle]:
        """`RemoteServer.list_tasks`."""
        return [SyncHandle(one, self._waits) for one in self._waits.until(self._server.list_tasks)]

    def list_tools(self) -> list[Tool]:
        """`RemoteServer.list_tools`."""
        return self._waits.until(self._server.list_tools)

    def read_resource(self, uri: str) -> ReadResourceResult:
        """`RemoteServer.read_resource`."""
        return self._waits.until(lambda: self._server.read_resource(uri))


class SyncHandle:
    """`Handle`, waiting. Made by `SyncServer.start` and `SyncServer.resume`."""

    def __init__(self, handle: Handle, waits: _Waits) -> None:
        self._handle = handle
        self._waits = waits

    def __repr__(self) -> str:
        return repr(self._handle)

    @property
    def id(self) -> str | None:
        """`Handle.id`."""
        return self._handle.id

    @property
    def tool(self) -> str | None:
        """`Handle.tool`."""
        return self._handle.tool

    @property
    def now(self) -> Now:
        """`Handle.now`."""
        return self._handle.now

    def watch(self, *, on_input: OnInputSync | None = None) -> Generator[Now]:
        """`Handle.watch`. Leaving the loop early ends the watching, and leaves the work alone."""
        watch = self._handle.watch(on_input=self._waits.asker(on_input))
        try:
            while now := self._waits.until(lambda: anext(watch, None)):
                yield now
        finally:
            self._waits.until(watch.aclose)

    def result(self, *, timeout_seconds: float | None = None) -> CallToolResult:
        """`Handle.result`."""
        return self._waits.until(lambda: self._handle.result(timeout_seconds=timeout_seconds))

    def cancel(self, *, give_up_seconds: float = GIVE_UP_SECONDS) -> CancelOutcome:
        """`Handle.cancel`."""
        return self._waits.until(lambda: self._handle.cancel(give_up_seconds=give_up_seconds))

    def answer(self, responses: Mapping[str, Any]) -> None:
        """`Handle.answer`."""
        self._waits.until(lambda: self._handle.answer(responses))


class _Leaving:
    """Ends one wait in the client's thread, where alone it is known whether it has begun.

    The thread that waits may be interrupted anywhere, also before it was handed the wait's future
    (seen under load: what ran on then was in the way of the next thing asked of the client).
    """

    def __init__(self) -> None:
        self._left = False
        self._open: tuple[anyio.CancelScope, anyio.Event] | None = None

    @contextmanager
    def left_open(self) -> Generator[None]:
        """The wait: cancelled by `leave`, and not begun after it."""
        if self._left:
            raise LocalError("The wait was left before it began. Nothing was asked of the server.")
        over = anyio.Event()
        try:
            with anyio.CancelScope() as scope:
                self._open = scope, over
                yield
        finally:
            self._open = None
            over.set()

    async def leave(self) -> None:
        """Have it cancelled, and return once it is over; after `LEAVE_SECONDS` in any case."""
        self._left = True
        if self._open is not None:
            scope, over = self._open
            scope.cancel()
            with anyio.move_on_after(LEAVE_SECONDS):
                await over.wait()


class _Waits:
    """Threads that wait for the client's thread, and meanwhile answer what it asks."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._stirred = Condition()
        self._questions: deque[Callable[[], None]] = deque()

    def until(self, begin: Callable[[], Awaitable[T]]) -> T:
        """What ``begin`` comes to, in the client's thread."""
        leaving = _Leaving()

        async def run() -> T:
            with leaving.left_open():
                return await begin()

        try:
            future = self._portal.start_task_soon(run)
            future.add_done_callback(self._stir)
            while True:
                with self._stirred:
                    self._stirred.wait_for(lambda: future.done() or self._questions)
                    if future.done():
                        return future.result()
                    question = self._questions.popleft()
                question()
        except BaseException:  # Ctrl-C ends the wait there too, before anything else is asked of it
            with suppress(RuntimeError):  # the client's thread has ended, and all that ran there
                self._portal.call(leaving.leave)
            raise

    def asker(self, ask: OnInputSync | None) -> OnInput | None:
        """``ask``, callable from the client's thread, and run in one that waits."""
        if ask is None:
            return None

        async def asked(request: Mapping[str, Any]) -> Mapping[str, Any]:
            answered = anyio.Event()
            answers: list[Mapping[str, Any] | Exception] = []

            def question() -> None:
                try:
                    answers.append(ask(request))
                except Exception as broken:  # noqa: BLE001 - raised again where it is awaited
                    answers.append(broken)
                finally:
                    self._portal.start_task_soon(answered.set)

            self._questions.append(question)
            self._stir()
            await answered.wait()
            if not answers:
                raise LocalError(
                    "The question was left without an answer. Answer it with the handle's answer()."
                )
            if isinstance(answers[0], Exception):
                raise answers[0]
            return answers[0]

        return asked

    def _stir(self, _done: object = None) -> None:
        with self._stirred:
            self._stirred.notify_all()


__all__ = ["OnInputSync", "SyncHandle", "SyncServer", "connect_sync"]
