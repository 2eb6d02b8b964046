"""Connecting to a server and calling its tools, however long they take."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread
from mcp_types import HEADER_MISMATCH, INTERNAL_ERROR

from awhile.client.clock import wall_clock_ms
from awhile.client.display import Known
from awhile.client.era import CallTool
from awhile.client.handle import Handle
from awhile.client.ledger import Ledger
from awhile.client.link import Link, OnInput
from awhile.client.open_call import OpenCall
from awhile.client.wait import Pace
from awhile.errors import LocalError, ProtocolFailed, StoreError, Unreachable
from awhile.tasks import Status
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from anyio.abc import TaskGroup
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult, ReadResourceResult, Tool

    from awhile.client.era import Era
    from awhile.client.ledger import Entry

log = logging.getLogger(__name__)

MOST_ROUNDS = 10
"""How often a server may ask something before it takes a call (the SDK's own bound)."""

_EMPTY_ROUND_SECONDS = 0.1
"""The pause before a round in which the server asked nothing but to be called again."""


@asynccontextmanager
async def connect(
    target: Any,
    *,
    ledger: Ledger | Literal["default"] | None = "default",
    on_input: OnInput | None = None,
    headers: Mapping[str, str] | None = None,
) -> AsyncGenerator[RemoteServer]:
    """A server to call tools at. Nothing is sent before the first call.

    So a server that is down is no error here: it is reached for when it is needed, and again
    after it was away.

    Args:
        target: the URL of a server (Streamable HTTP), the SDK's ``StdioServerParameters``, one of
            its transports, or an ``MCPServer`` in this process.
        ledger: where handles are kept; by default the user's own ledger, for a URL or a command
            (a server in this process has no name to be found by). None keeps no handles.
        on_input: answers the questions that work asks: the request (``method``, ``params``) in,
            the response (for an elicitation ``{"action": "accept", "content": {…}}``) out.
        headers: sent with every HTTP request, such as ``{"Authorization": "Bearer …"}``.

    Raises:
        SettingsError: ``target`` is not an address, or has no use for ``headers``.
        StoreError: the ledger cannot be opened.
    """
    own: Ledger | None = None
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            link = Link(target, headers=headers, on_input=on_input, tasks=tasks)
            if ledger == "default" and link.findable:
                own = await anyio.to_thread.run_sync(Ledger.default)
            kept = own if ledger == "default" else ledger
            yield RemoteServer(link, ledger=kept, on_input=on_input, tasks=tasks)
        # Raised again outside the task group, which would wrap it in a group of its own.
        except Exception as broken:  # noqa: BLE001
            failure = broken
        finally:
            tasks.cancel_scope.cancel()
    if own is not None:
        own.close()
    if failure is not None:
        raise failure


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
    ) -> CallToolResult:
        """Call a tool and wait to the end, however the server chooses to run it.

        Being cancelled while waiting closes a plain call, and leaves a task alone.

        Raises:
            the errors of `start` and `Handle.result`.
        """
        handle = await self.start(tool, arguments, on_input=on_input)
        try:
            return await handle.result()
        finally:
            if handle.open_call is not None:
                handle.open_call.cancel()

    async def start(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_input: OnInput | None = None,
    ) -> Handle:
        """Call a tool; return as soon as there is a task to hold on to, or the result itself.

        A server without tasks only ever has the result: then this returns at once, the call goes
        on in the background for as long as the connection is open, and its progress is what
        `Handle.watch` shows.

        Raises:
            Unreachable: no answer; the message says whether the call was sent. Where it may have
                been, work may be running that nobody holds a handle of.
            ProtocolFailed: the server refuses the call.
            LocalError: the server asks something first, and there is no ``on_input``.
        """
        call = OpenCall(began_at_ms=wall_clock_ms())
        known = Known(tool=tool, started_at_ms=call.began_at_ms, changed_at_ms=call.began_at_ms)
        ask = on_input or self._on_input
        era = await self._link.era_or_none()
        if era is None:
            handle = self._handle(known, on_input=ask)
            handle.open_call = anyio.CancelScope()
            self._tasks.start_soon(self._follow, handle.open_call, handle, call, tool, arguments)
            return handle
        raw = await self._settle(tool, arguments, ask, on_progress=call.hear)
        if raw.get("resultType") != era.created:
            return self._handle(replace(known, task=call.completed(raw)), on_input=ask)
        task = _read_created(era, raw)
        await self._keep(task, tool=tool, arguments=arguments or {})
        pace = Pace().answered(
            anyio.current_time(), poll_interval_ms=task.poll_interval_ms, ended=False
        )
        return self._handle(
            replace(known, task=task), task_id=task.task_id, on_input=ask, pace=pace
        )

    async def resume(self, task_id: str, *, on_input: OnInput | None = None) -> Handle:
        """Hold on to a task again, by its id alone: in this program, or any later one.

        Nothing is asked here: an ending the ledger has is there at once, else the first `watch`
        or `result` finds out.
        """
        entry = await self._find(task_id)
        known = Known() if entry is None else _remembered(entry)
        return self._handle(known, task_id=task_id, on_input=on_input or self._on_input)

    async def list_tools(self) -> list[Tool]:
        """The server's tools, all pages of them.

        Raises:
            Unreachable, ProtocolFailed: as for any request.
        """
        client = await self._link.client()
        tools: list[Tool] = []
        cursor: str | None = None
        while True:
            with self._link.translating("tools/list"):
                page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return tools

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """One resource's contents.

        Raises:
            Unreachable, ProtocolFailed: as for any request.
        """
        client = await self._link.client()
        with self._link.translating("resources/read"):
            return await client.read_resource(uri)

    def _handle(
        self,
        known: Known,
        *,
        on_input: OnInput | None,
        task_id: str | None = None,
        pace: Pace | None = None,
    ) -> Handle:
        return Handle(
            self._link,
            known,
            task_id=task_id,
            pace=pace or Pace(),
            on_input=on_input,
            ledger=self.ledger,
            tasks=self._tasks,
        )

    async def _keep(self, task: Snapshot, *, tool: str, arguments: Mapping[str, Any]) -> None:
        ledger = self.ledger
        if ledger is None:
            return

        def keep() -> None:
            ledger.add(self.name, task, tool=tool, arguments=arguments)

        # The task exists by now: whatever happens to this side, its id must reach the disk.
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(keep)
            except StoreError as broken:
                log.warning("Task %r is not noted down: %s", task.task_id, broken)

    async def _find(self, task_id: str) -> Entry | None:
        if self.ledger is None:
            return None
        try:
            return await anyio.to_thread.run_sync(self.ledger.find, self.name, task_id)
        except StoreError as broken:  # the id alone is enough
            log.warning("What is noted of task %r cannot be read: %s", task_id, broken)
            return None

    async def _follow(
        self,
        scope: anyio.CancelScope,
        handle: Handle,
        call: OpenCall,
        tool: str,
        arguments: Mapping[str, Any] | None,
    ) -> None:
        """A call to a server without tasks; the handle learns of everything that comes of it."""

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            await call.hear(progress, total, message)
            await handle.learn(task=call.working())

        with scope:
            try:
                await handle.learn(task=call.working())
                raw = await self._settle(tool, arguments, handle.on_input, on_progress=hear)
                await handle.learn(task=call.completed(raw))
            except ProtocolFailed as no:
                await handle.learn(task=call.failed(no))
            except Unreachable as why:
                await handle.learn(call_lost=str(why))
            # Whatever went wrong on this side belongs to whoever waits for the call.
            except Exception as broken:  # noqa: BLE001
                await handle.fail(broken)
        handle.open_call = None
        if scope.cancelled_caught:
            await handle.learn(call_closed=True, cancel_asked_at_ms=wall_clock_ms())

    async def _settle(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        ask: OnInput | None,
        *,
        on_progress: ProgressFnT,
    ) -> dict[str, Any]:
        """Send a call, answering what the server asks first, until it says what became of it."""
        call: dict[str, Any] = {"name": tool, "arguments": dict(arguments or {})}
        params = call
        for _ in range(MOST_ROUNDS):
            raw = await self._send(params, on_progress=on_progress)
            if raw.get("resultType") != "input_required":
                return raw
            params = dict(call)
            if "requestState" in raw:
                params["requestState"] = raw["requestState"]
            if questions := raw.get("inputRequests"):
                if ask is None:
                    raise LocalError(
                        f"{tool!r} asks something before it starts ({', '.join(questions)}), and "
                        "nobody is here to answer. Pass on_input to connect() or to this call."
                    )
                params["inputResponses"] = {
                    key: dict(await ask(question)) for key, question in questions.items()
                }
            else:
                await anyio.sleep(_EMPTY_ROUND_SECONDS)
        raise ProtocolFailed(
            f"The server asked something {MOST_ROUNDS} times over before {tool!r} started; it "
            "does not seem to take the answers.",
            code=INTERNAL_ERROR,
        )

    async def _send(self, params: dict[str, Any], *, on_progress: ProgressFnT) -> dict[str, Any]:
        request = CallTool(params=params)
        try:
            return await self._link.request(request, on_progress=on_progress)
        except ProtocolFailed as no:
            if no.code != HEADER_MISMATCH:
                raise
        # The server wants arguments repeated in headers; only its listing says which.
        await self.list_tools()
        return await self._link.request(request, on_progress=on_progress)


def _read_created(era: Era, raw: Mapping[str, Any]) -> Snapshot:
    try:
        task = era.read(raw)
    except ValueError as broken:
        raise ProtocolFailed(
            f"The server made a task of the call, but describes it wrongly: {broken}",
            code=INTERNAL_ERROR,
        ) from broken
    # A result never comes with the creation, so even an ended task has to be asked for once.
    return replace(task, status=Status.WORKING, result=None) if task.status.ended else task


def _remembered(entry: Entry) -> Known:
    task = entry.ending or Snapshot(
        task_id=entry.task_id,
        status=Status(entry.status),
        status_message=entry.message,
        created_at_ms=entry.created_at_ms,
        last_updated_at_ms=entry.updated_at_ms,
    )
    return Known(
        tool=entry.tool,
        task=task,
        started_at_ms=entry.created_at_ms,
        changed_at_ms=entry.updated_at_ms,
        cancel_asked_at_ms=entry.cancel_asked_at_ms,
        gone=entry.gone,
    )


__all__ = ["RemoteServer", "connect"]
