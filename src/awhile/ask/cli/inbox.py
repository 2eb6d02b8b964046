"""What ``awhile tasks`` and ``awhile cancel`` do: the runs there are, live, and stopping one."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from rich.console import Group
from rich.live import Live
from rich.text import Text

from awhile.ask.cli.listing import RunFacts, as_table, is_live, merged, of_entry
from awhile.ask.cli.reach import found, none_of_our_runs, of_another_kind, reached
from awhile.cli.coming_back import all_noted, stop, stop_and_tell
from awhile.cli.interrupts import Interrupts
from awhile.cli.screen import as_json, moves, out, say, visible
from awhile.cli.settings import Effective
from awhile.cli.words import QUERY
from awhile.errors import RemoteError, Unreachable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from awhile.ask.cli.reach import Reached
    from awhile.client import Handle

WIDTH_WITHOUT_A_TERMINAL = 10_000
"""What reads it has no width, and gets every line whole."""

LOOK_SECONDS = 1.0
"""How often the live list asks which runs there are; how far each is comes by itself."""


def stop_run(effective: Effective, run_id: str) -> int:
    """Ask for a run, or any work that this terminal began, to be stopped; the exit code.

    Raises:
        SettingsError: nothing has such an id, or several have.
        RemoteError: the server cannot be reached, or refuses.
    """
    entry = of_another_kind(effective, run_id)
    return anyio.run(_stop, effective, run_id) if entry is None else stop(effective, entry)


async def _stop(effective: Effective, run_id: str) -> int:
    async with (
        Interrupts.listening() as interrupts,
        found(effective, run_id) as (_, handle),
    ):
        return await stop_and_tell(handle, interrupts, of=QUERY)


def show_runs(effective: Effective, limit: int, *, as_json_array: bool, once: bool) -> None:
    """Print the runs there are; at a terminal, while any of them runs, live.

    Raises:
        RemoteError: no server answers, and nothing is noted of any work.
    """
    anyio.run(_show_runs, effective, limit, as_json_array, once)


async def _show_runs(effective: Effective, limit: int, as_json_array: bool, once: bool) -> None:
    noted = await anyio.to_thread.run_sync(all_noted, effective)
    others = await anyio.to_thread.run_sync(none_of_our_runs, effective, noted)
    async with AsyncExitStack() as stack:
        try:
            there = await stack.enter_async_context(reached(effective, start=False))
            elsewhere = [of_entry(one, elsewhere=True) for one in others]
            list_ = _List(there, elsewhere, limit)
            await list_.look()
        except Unreachable as why:
            if effective.settings.server_url is not None or not noted:
                raise
            say(f"{why} Below: the runs of this terminal, as last seen.", aside=True)
            entries = [of_entry(one, elsewhere=one in others) for one in noted]
            _print(merged([], entries, limit), as_json_array)
            return
        if as_json_array or once or not moves(out()) or not any(map(is_live, list_.runs)):
            _print(list_.runs, as_json_array)
        else:
            await list_.show()


def _print(runs: list[RunFacts], as_json_array: bool) -> None:
    if as_json_array:
        out().print(as_json(runs), soft_wrap=True)
    elif runs:
        screen = out()
        width = screen.width if screen.is_terminal else None
        screen.width = width or WIDTH_WITHOUT_A_TERMINAL
        screen.print(as_table(runs, width))
    else:
        say('No runs yet. Ask something: awhile ask "how many orders are there?"')


class _List:
    """The runs of one server, and how far those are that run."""

    def __init__(self, there: Reached, elsewhere: list[dict[str, Any]], limit: int) -> None:
        self.runs: list[RunFacts] = []
        self._there = there
        self._elsewhere = elsewhere
        self._limit = limit
        self._handles: dict[str, Handle] = {}
        self._away: str | None = None

    async def look(self) -> None:
        """Ask which runs there are.

        Raises:
            RemoteError: the server does not tell.
        """
        listed = (await self._there.call("list_runs", {"limit": self._limit}))["runs"]
        self.runs = merged(listed, self._elsewhere, self._limit)

    async def show(self) -> None:
        """Show them live, until nothing runs any more or Ctrl-C."""
        screen = out()
        with Live(
            console=screen,
            get_renderable=lambda: self._rendered(screen.width),
            refresh_per_second=4,
            transient=True,
        ):
            async with (
                Interrupts.listening() as interrupts,
                anyio.create_task_group() as beside,
            ):

                async def leave() -> None:
                    await interrupts.wait(1)
                    beside.cancel_scope.cancel()

                beside.start_soon(leave)
                while any(map(is_live, self.runs)):
                    for run_id in self._unwatched():
                        beside.start_soon(self._watch, run_id)
                    await anyio.sleep(LOOK_SECONDS)
                    await self._look_again()
                beside.cancel_scope.cancel()
        screen.print(self._table(screen.width))

    def _unwatched(self) -> list[str]:
        ids = [str(run["run_id"]) for run in self.runs if is_live(run)]
        return [one for one in ids if one not in self._handles]

    async def _watch(self, run_id: str) -> None:
        self._handles[run_id] = handle = await self._there.server.resume(run_id)
        try:
            async for _ in handle.watch():
                pass
        except RemoteError:  # the list says how it stands
            del self._handles[run_id]

    async def _look_again(self) -> None:
        try:
            await self.look()
        except RemoteError as why:
            self._away = str(why)
        else:
            self._away = None

    def _rendered(self, width: int) -> RenderableType:
        foot = "Live. Ctrl-C leaves; nothing is stopped by that."
        if self._away is not None:
            foot = f"What you see may be out of date. {visible(self._away)}"
        return Group(
            self._table(width), Text(foot, style="dim" if self._away is None else "yellow")
        )

    def _table(self, width: int) -> RenderableType:
        watched = {run_id: handle.work.known for run_id, handle in self._handles.items()}
        known = {run_id: one for run_id, one in watched.items() if one.task}
        return as_table(self.runs, width, known)


__all__ = ["show_runs", "stop_run"]
