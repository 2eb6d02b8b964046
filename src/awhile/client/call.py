"""A server's tools, called however long they take."""

from __future__ import annotations

import logging
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from awhile.client.clock import wall_clock_ms
from awhile.client.handle import Handle
from awhile.client.known import Known
from awhile.client.ledger import remembered
from awhile.client.open_call import OpenCall
from awhile.client.paging import Cursors, listed
from awhile.client.sending import Call, created, demands_task, refuses_tasks
from awhile.errors import ProtocolFailed, StoreError, TasksUnsupported, Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from anyio.abc import TaskGroup
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult, ReadResourceResult, Tool

    from awhile.client.era import Era
    from awhile.client.inbox import OnInput
    from awhile.client.ledger import Entry, Ledger
    from awhile.client.link import Link
    from awhile.wire.snapshot import Snapshot

log = logging.getLogger(__name__)


class RemoteServer:
    """One server's tools, and the work going on there. Made by `connect`."""

    def __init__(
        self, link: Link, *, ledger: Ledger | None, on_input: OnInput | None, tasks: TaskGroup
    ) -> None:
        self.name = link.name
        """The server's address, as the ledger has it."""
        self.ledger = ledger
        self._link = link
        self._on_input = on_input
        self._tasks = tasks

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInput | None = None,
        timeout_seconds: float | None = None,
    ) -> CallToolResult:
        """Call a tool and wait to the end, however the server chooses to run it.

        Being cancelled while waiting, or being out of time, closes a plain call (which tells the
        server to stop), and leaves a task alone.

        Raises:
            the errors of `start` and `Handle.result`.
        """
        handle: Handle | None = None
        try:
            with anyio.fail_after(timeout_seconds) as wait:
                handle = await self.start(tool, arguments, on_input=on_input)
            left = None if timeout_seconds is None else wait.deadline - anyio.current_time()
            return await handle.result(timeout_seconds=left)
        except TimeoutError:
            if timeout_seconds is None:
                raise
            if handle is not None and handle.id is not None:
                raise handle.not_in(timeout_seconds) from None
            raise TimeoutError(
                f"{tool!r} gave no answer within {timeout_seconds!r} s, and no task to come back "
                "to; the call was closed, which asks the server to stop. Call again with more time."
            ) from None
        finally:
            if handle is not None and handle.open_call is not None:
                handle.open_call.cancel()

    async def start(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInput | None = None,
        unobserved_seconds: float | None = None,
    ) -> Handle:
        """Call a tool; return as soon as there is a task to hold on to, or the result itself.

        Where there will be no task (a server without any, or a tool that forbids them) there is
        only ever the result: then this returns at once, the call goes on in the background for as
        long as the connection is open, and its progress is what `Handle.watch` shows.

        ``unobserved_seconds``, at our own servers: how long the work goes on while nobody looks at
        it (no watch, no `result` that waits); then it is stopped and fails saying so. ``math.inf``
        for as long as it takes; None leaves that to the tool. `Now.unobserved_seconds` has what is
        in force.

        Raises:
            SettingsError: ``unobserved_seconds`` is less than one; nothing was sent.
            Unreachable: no answer; the message says whether the call was sent. Where it may have
                been, work may be running that nobody holds a handle of.
            ProtocolFailed: the server refuses the call.
            LocalError: the server asks something first, and there is no ``on_input``.
        """
        ask = on_input or self._on_input
        sent = Call(self._link, tool, arguments, unobserved_seconds=unobserved_seconds)
        call = OpenCall(began_at_ms=wall_clock_ms())
        known = Known(tool=tool, started_at_ms=call.began_at_ms, changed_at_ms=call.began_at_ms)
        era = await self._link.era_or_none()
        if era is not None and era.augment is None:
            raw = await sent.settle(ask, on_progress=call.hear)
            task = created(era, raw)
            if task is None:
                return self._handle(replace(known, task=call.completed(raw)), on_input=ask)
            return await self._held(era, sent, task, self._handle(known, on_input=ask))
        handle = self._handle(known, on_input=ask)
        if era is not None and await self._link.task_support(tool) != "forbidden":
            try:
                return await self._augmented(era, sent, handle)
            except ProtocolFailed as no:
                if not refuses_tasks(no):
                    raise
        self._tasks.start_soon(self._follow, handle.opened(), handle, call, sent, era)
        return handle

    def begin(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInput | None = None,
    ) -> Handle:
        """Call a tool and return at once, before the server has said what it makes of the call.

        `Handle.watch` shows the call's progress and all that comes of it; `Handle.id` is there once
        the call has become a task, if it does. Whatever goes wrong is raised by whoever waits.
        """
        sent = Call(self._link, tool, arguments)
        call = OpenCall(began_at_ms=wall_clock_ms())
        known = Known(tool=tool, started_at_ms=call.began_at_ms, changed_at_ms=call.began_at_ms)
        handle = self._handle(known, on_input=on_input or self._on_input)
        self._tasks.start_soon(self._begin, handle.opened(), handle, call, sent)
        return handle

    async def resume(self, task_id: str, *, on_input: OnInput | None = None) -> Handle:
        """Hold on to a task again, by its id alone: in this program, or any later one.

        Nothing is asked here: an ending the ledger has is there at once, else the first `watch`
        or `result` finds out.
        """
        entry = await self._find(task_id)
        known = Known() if entry is None else remembered(entry)
        return self._handle(known, task_id=task_id, on_input=on_input or self._on_input)

    async def list_tasks(self) -> list[Handle]:
        """The tasks the server keeps for this caller, as handles.

        Only 2025-11-25 servers list them; what this side started anywhere is in `ledger`.

        Raises:
            TasksUnsupported: the server lists no tasks.
            Unreachable, ProtocolFailed: as for any request.
        """
        era = await self._link.era()
        if era.list is None:
            raise TasksUnsupported(
                f"The server at {self.name!r} lists no tasks: its protocol revision has no way to. "
                "The ledger has those that were started from here."
            )
        handles: list[Handle] = []
        cursors = Cursors("tasks/list")
        while True:
            page = await self._link.ask(era.list(cursors.latest))
            for task in listed(era, page):
                handle = await self.resume(task.task_id)
                if handle.work.known.task is None:
                    await handle.work.learn(task=task)
                handles.append(handle)
            if not cursors.go_on(page.get("nextCursor")):
                return handles

    async def list_tools(self) -> list[Tool]:
        """The server's tools, all pages of them.

        Raises:
            Unreachable, ProtocolFailed: as for any request.
        """
        return await self._link.list_tools()

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """One resource's contents.

        Raises:
            Unreachable, ProtocolFailed: as for any request.
        """
        return await self._link.read_resource(uri)

    def _handle(
        self,
        known: Known,
        *,
        on_input: OnInput | None,
        task_id: str | None = None,
    ) -> Handle:
        return Handle(
            self._link,
            known,
            task_id=task_id,
            on_input=on_input,
            ledger=self.ledger,
            tasks=self._tasks,
        )

    async def _augmented(self, era: Era, sent: Call, handle: Handle) -> Handle:
        """A call that asks to become a task, in the era where that is the caller's to say."""
        token = f"awhile-{secrets.token_hex(8)}"  # it outlives the request, so it is of our making
        handle.hear_progress(token)
        raw = await sent.settle(handle.on_input, extra=era.augment, progress_token=token)
        task = created(era, raw)
        if task is not None:
            return await self._held(era, sent, task, handle)
        ended = OpenCall(began_at_ms=handle.work.known.started_at_ms or wall_clock_ms())
        await handle.work.learn(task=ended.completed(raw))
        return handle

    async def _held(self, era: Era, sent: Call, task: Snapshot, handle: Handle) -> Handle:
        """A call that became a task: its id is on the disk before anybody hears of it."""
        ledger = self.ledger
        if ledger is not None:

            def keep() -> None:
                ledger.add(
                    self.name, task, tool=sent.tool, arguments=sent.arguments, era=era.version
                )

            # The task exists by now: whatever happens to this side, its id must reach the disk.
            with anyio.CancelScope(shield=True):
                try:
                    await anyio.to_thread.run_sync(keep)
                except StoreError as broken:
                    log.warning("Task %r is not noted down: %s", task.task_id, broken)
        handle.work.become(task, cancel_proves_nothing=era.cancel_proves_nothing)
        return handle

    async def _find(self, task_id: str) -> Entry | None:
        if self.ledger is None:
            return None
        try:
            return await anyio.to_thread.run_sync(self.ledger.find, self.name, task_id)
        except StoreError as broken:  # the id alone is enough
            log.warning("What is noted of task %r cannot be read: %s", task_id, broken)
            return None

    async def _begin(
        self, scope: anyio.CancelScope, handle: Handle, call: OpenCall, sent: Call
    ) -> None:
        """A call of which the server has still to say what it makes of it."""

        async def whole() -> None:
            era = await self._link.era_or_none()
            if (
                era is not None
                and era.augment is not None
                and await self._link.task_support(sent.tool) != "forbidden"
            ):
                try:
                    await self._augmented(era, sent, handle)
                except ProtocolFailed as no:
                    if not refuses_tasks(no):
                        raise
                else:
                    return
            await self._answered(handle, call, sent, era)

        await self._behind(scope, handle, call, whole)

    async def _follow(
        self,
        scope: anyio.CancelScope,
        handle: Handle,
        call: OpenCall,
        sent: Call,
        era: Era | None,
    ) -> None:
        """A call without a task."""

        async def whole() -> None:
            await self._answered(handle, call, sent, era)

        await self._behind(scope, handle, call, whole)

    async def _answered(self, handle: Handle, call: OpenCall, sent: Call, era: Era | None) -> None:
        """Wait for the answer to a call; the handle learns of its progress, and of its task."""
        work = handle.work

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            await call.hear(progress, total, message)
            await work.learn(task=call.working())

        await work.learn(task=call.working())
        with handle.asked_directly():
            answer = await _answer(sent, handle, hear)
        if era is not None and era.augment is not None and demands_task(answer):
            await self._augmented(era, sent, handle)
            return
        if isinstance(answer, ProtocolFailed):
            raise answer
        if era is not None and era.augment is None:
            task = created(era, answer)
            if task is not None:
                await self._held(era, sent, task, handle)
                return
        await work.learn(task=call.completed(answer))

    async def _behind(
        self,
        scope: anyio.CancelScope,
        handle: Handle,
        call: OpenCall,
        whole: Callable[[], Awaitable[None]],
    ) -> None:
        """A call in the background; the handle learns of everything that comes of it."""
        work = handle.work
        with scope:
            try:
                await whole()
            except ProtocolFailed as no:
                await work.learn(task=call.failed(no))
            except Unreachable as why:
                await work.learn(call_lost=str(why))
            # Whatever went wrong on this side belongs to whoever waits for the call.
            except Exception as broken:  # noqa: BLE001
                work.fail(broken)
                await work.learn(call_lost=f"{type(broken).__name__}: {broken}")
        handle.open_call = None
        if scope.cancelled_caught:
            await work.learn(call_closed=True, cancel_asked_at_ms=wall_clock_ms())


async def _answer(sent: Call, handle: Handle, hear: ProgressFnT) -> dict[str, Any] | ProtocolFailed:
    try:
        return await sent.settle(handle.on_input, on_progress=hear)
    except ProtocolFailed as no:
        return no


__all__ = ["RemoteServer"]
