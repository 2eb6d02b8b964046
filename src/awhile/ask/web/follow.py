"""Keeps the board true: lists the runs, watches the live ones, outlives the server's death.

``list_runs`` is the one source of what a run *is*; a watch only adds how far live work has come.
So nothing here infers an ending: it is shown once the server lists it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types import INTERNAL_ERROR

from awhile.ask.web.board import Board
from awhile.ask.web.facts import clocks_of, read_run, structured, with_progress
from awhile.ask.web.presence import Presence
from awhile.errors import ProtocolFailed, RemoteError, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from anyio.abc import TaskStatus
    from mcp_types import CallToolResult

    from awhile.client import Handle, RemoteServer

log = logging.getLogger(__name__)

LIST_SECONDS = 1.0
"""How often the runs are listed: how soon a run started elsewhere, or a dead server, shows."""
STOPPING_LIST_SECONDS = 0.2
"""The same while a stop is asked for and not confirmed."""
RETRY_SECONDS = 0.5
"""How soon a server that did not answer is asked again."""
ANSWER_SECONDS = 4.0
"""A server that has not answered a listing by then counts as not reachable."""
START_SECONDS = 20.0
LEFT_AGAIN_SECONDS = 5.0
"""How often, while nobody is here, it is looked whether something is to be stopped."""
LISTED_RUNS = 500
WHOLE_LIST_EVERY = 60
"""Every so many listings all runs are listed, so that what the server dropped disappears here."""


class Follower:
    """The page backend's one connection to the MCP server. `run` it for as long as it is used."""

    def __init__(
        self,
        board: Board,
        connecting: AbstractAsyncContextManager[RemoteServer],
        presence: Presence | None = None,
    ) -> None:
        self._board = board
        self._connecting = connecting
        self._presence = presence or Presence()
        self._handles: dict[str, Handle] = {}
        self._watches: dict[str, anyio.CancelScope] = {}
        self._away = False
        self._rev = 0
        self._listings = 0
        self._listing = anyio.Lock()
        self._look = anyio.Event()

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Follow the server until cancelled; a server that is away is waited for."""
        async with self._connecting as self._server, anyio.create_task_group() as self._tasks:
            task_status.started()
            self._tasks.start_soon(self._mind_who_is_here)
            await self._list_for_ever()

    # What the page asks for

    async def start(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Start a run, or find the one its key already started; its id.

        Raises:
            RemoteError: the server refused or did not answer.
            TimeoutError: no answer in `START_SECONDS`.
        """
        with anyio.fail_after(START_SECONDS):
            handle = await self._server.start(tool, dict(arguments))
            run_id = handle.id or await _run_of_answer(handle)
            if handle.id is not None:
                self._handles[run_id] = handle
            await self._list_once(whole=False)
        return run_id

    async def start_script(self, arguments: Mapping[str, Any]) -> list[str]:
        """Start several statements, one after the other; the ids of their runs.

        Raises:
            RemoteError: the server refused or did not answer.
            TimeoutError: no answer in `START_SECONDS`.
        """
        with anyio.fail_after(START_SECONDS):
            answer = await self.call("run_script", arguments)
            await self._list_once(whole=False)
        return [str(one["run_id"]) for one in answer["runs"]]

    async def ask_to_stop(self, run_id: str) -> None:
        """Send the request to stop; what comes of it is told by the run.

        Raises:
            NotSent: it did not reach the server, so nothing has changed.
            RemoteError: the server refused, or its answer did not come back.
        """
        await (await self._handle(run_id)).cancel(give_up_seconds=0)
        await self._list_soon()

    async def answer(self, run_id: str, key: str, response: Mapping[str, Any]) -> None:
        """Answer a question of the work.

        Raises:
            Expired: it was answered meanwhile, or is not asked any more.
            RemoteError: the server refused the answer, or did not say that it took it.
        """
        await (await self._handle(run_id)).answer({key: response})
        await self._list_soon()

    async def label(self, run_id: str, said: Mapping[str, Any]) -> None:
        """Say what to call a run, whether it is pinned, what happens when everybody leaves.

        Raises:
            RemoteError: the server refused or did not answer.
        """
        self._take(await self.call("label_run", {"run_id": run_id, **said}))

    async def delete(self, run_id: str) -> None:
        """Delete an ended run and its result.

        Raises:
            RemoteError: the server refused or did not answer.
        """
        await self.call("delete_run", {"run_id": run_id})
        self._board.drop(run_id)

    async def result(self, run_id: str) -> CallToolResult:
        """The result of a run that has ended; raises as `Handle.result` does."""
        return await (await self._handle(run_id)).result(timeout_seconds=ANSWER_SECONDS)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured result of a tool that answers at once.

        Raises:
            RemoteError: the server refused or did not answer.
        """
        return structured(await self._server.call(tool, dict(arguments)))

    async def stop_what_was_left(self) -> None:
        """Ask those to stop that are to stop when their person leaves; what fails is let be."""
        for run in self._board.runs():
            if run.stop_when_left and run.live and run.cancel_asked_at is None:
                log.info("Nobody looks any more: stopping run %r, as was asked for.", run.id)
                with suppress(RemoteError, TimeoutError), anyio.fail_after(START_SECONDS):
                    await self.ask_to_stop(run.id)

    async def _list_soon(self) -> None:
        """List at once, so that the page sees in the reply what it has done."""
        self._look.set()
        with suppress(RemoteError, TimeoutError), anyio.fail_after(ANSWER_SECONDS):
            await self._list_once(whole=False)

    # Following

    async def _mind_who_is_here(self) -> None:
        """While nobody is here, watch nothing, and stop what is to stop then."""
        while True:
            await self._presence.left()
            # Watching counts as looking, and nobody does: the server's own bound may now count.
            self._away = True
            for watch in self._watches.values():
                watch.cancel()
            async with anyio.create_task_group() as while_away:
                while_away.start_soon(self._go_on_stopping)
                await self._presence.arrived()
                while_away.cancel_scope.cancel()
            self._away = False
            self._list_whole()  # those that run are watched again

    async def _go_on_stopping(self) -> None:
        while True:
            await self.stop_what_was_left()
            await anyio.sleep(LEFT_AGAIN_SECONDS)

    async def _list_for_ever(self) -> None:
        while True:
            self._look = anyio.Event()
            asked_at = datetime.now(UTC).isoformat()
            try:
                whole = self._listings % WHOLE_LIST_EVERY == 0
                self._listings += 1
                with anyio.fail_after(ANSWER_SECONDS):
                    await self._list_once(whole=whole)
            except (RemoteError, TimeoutError) as why:
                log.info("The server does not answer: %s", why)
                self._board.server_is(reachable=False, since=asked_at)
                self._listings = 0  # a server that comes back may have forgotten runs
                await anyio.sleep(RETRY_SECONDS)
                continue
            self._board.server_is(reachable=True, since=asked_at)
            stopping = any(run.live and run.cancel_asked_at for run in self._board.runs())
            with anyio.move_on_after(STOPPING_LIST_SECONDS if stopping else LIST_SECONDS):
                await self._look.wait()

    def _list_whole(self) -> None:
        """Have all runs listed, soon."""
        self._listings = 0
        self._look.set()

    async def _list_once(self, *, whole: bool) -> None:
        async with self._listing:
            after = {} if whole else {"after_rev": self._rev}
            answer = await self.call("list_runs", {"limit": LISTED_RUNS, **after})
            try:
                listed = answer["runs"]
                if whole:
                    self._board.keep_only(str(entry["run_id"]) for entry in listed)
                for entry in listed:
                    self._take(entry)
            except (KeyError, TypeError, ValueError) as broken:
                raise ProtocolFailed(
                    f"The server's answer to 'list_runs' cannot be read: {broken!r}",
                    code=INTERNAL_ERROR,
                ) from broken

    def _take(self, entry: Mapping[str, Any]) -> None:
        run = read_run(entry, self._board.run(str(entry["run_id"])))
        self._rev = max(self._rev, int(entry["rev"]))
        clocks = clocks_of(entry, at=anyio.current_time(), wall=datetime.now(UTC))
        self._board.put(run, clocks)
        if run.live and not self._away and run.id not in self._watches:
            self._watches[run.id] = anyio.CancelScope()
            self._tasks.start_soon(self._watch, run.id, self._watches[run.id])

    async def _watch(self, run_id: str, watching: anyio.CancelScope) -> None:
        try:
            with watching:
                await self._follow(run_id)
        except RemoteError as why:
            log.info("Run %r cannot be watched, it is listed on: %s", run_id, why)
        finally:
            del self._watches[run_id]
            self._handles.pop(run_id, None)
            if watching.cancel_called and not self._away:  # somebody came back meanwhile
                self._list_whole()

    async def _follow(self, run_id: str) -> None:
        message, asks = None, False
        async for now in (await self._handle(run_id)).watch():
            run = self._board.run(run_id)
            if run is None:
                return
            self._board.put_progress(with_progress(run, now), now=anyio.current_time())
            if now.message != message or now.ended or bool(now.inputs) != asks:
                # A new step may have brought the SQL, which only the list has.
                message, asks = now.message, bool(now.inputs)
                self._look.set()

    async def _handle(self, run_id: str) -> Handle:
        return self._handles.get(run_id) or await self._server.resume(run_id)


async def _run_of_answer(handle: Handle) -> str:
    """The run behind a call that was answered at once, well or badly."""
    try:
        answer = structured(await handle.result())
    except ToolFailed as no:
        answer = structured(no.result)
        if "run_id" not in answer:
            raise
    return str(answer["run_id"])


__all__ = ["Follower"]
