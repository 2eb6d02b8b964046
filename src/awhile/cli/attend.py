"""Waiting in a terminal: how the work stands, live, and Ctrl-C as a request to stop it."""

from __future__ import annotations

import sys
import termios
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from rich.cells import cell_len
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from awhile.cli.screen import err, say, visible
from awhile.client import CancelOutcome, State
from awhile.errors import RemoteError
from awhile.tasks import StoppedHow

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from rich.console import RenderableType

    from awhile.cli.interrupts import Interrupts
    from awhile.client import Handle, Now, OnInput

GIVE_UP_SECONDS = 30.0
"""How long to wait for a stop to be confirmed before leaving it at "not stopped yet"."""

PLAIN_SECONDS = 10.0
"""Without a terminal: how often a line says that the same is still going on."""

SHORTEST_BAR = 8
LONGEST_BAR = 30

LOCAL_MODES = 3
"""Where `termios.tcgetattr` has the local modes (source: its documentation)."""


@dataclass(frozen=True, slots=True)
class Attended:
    """How the waiting ended."""

    now: Now
    """How the work stood then."""
    stop_asked: bool
    """Whether a stop was wanted."""
    left: bool
    """Whether it was left before its end was known: by a second Ctrl-C, or unconfirmed."""
    outcome: CancelOutcome | None = None
    """What came of the request to stop, as far as it was waited for."""
    not_sent: str | None = None
    """Why the request to stop could not be delivered."""


async def attend(
    handle: Handle,
    interrupts: Interrupts,
    *,
    query: bool = False,
    stop: bool = False,
    answer: OnInput | None = None,
) -> Attended:
    """Show how the work stands until it has ended, or is left.

    The first Ctrl-C asks the server to stop and goes on watching; the second one leaves. With
    ``stop`` the server is asked at once, and the first one leaves.

    Args:
        handle: the work.
        interrupts: Ctrl-C; a press from before counts.
        query: whether the work is a database query: what it counts is rows, and its percentage is
            only the engine's estimate, which is then said.
        stop: whether to ask for a stop to begin with.
        answer: puts what the work asks to somebody, at this terminal; meanwhile nothing else is
            shown there. None: it is only shown that it asks.

    Raises:
        RemoteError: the server refuses to say how the work stands.
    """
    watching = _Watching(handle, interrupts, query, stop, answer)
    return await watching.to_the_end()


class _Watching:
    def __init__(
        self,
        handle: Handle,
        interrupts: Interrupts,
        query: bool,
        stop: bool,
        answer: OnInput | None,
    ) -> None:
        self._handle = handle
        self._interrupts = interrupts
        self._query = query
        self._stop = stop
        self._answer = answer
        self._answering = anyio.Lock()
        self._live: Live | None = None
        self._note: str | None = None
        self._outcome: CancelOutcome | None = None
        self._not_sent: str | None = None
        self._scope = anyio.CancelScope()

    async def to_the_end(self) -> Attended:
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._stop_when_asked)
            beside.start_soon(self._leave_when_asked)
            with self._scope, self._shown():
                await self._watch()
            beside.cancel_scope.cancel()
        now = self._handle.now
        # A call that was closed has no task to look at: it "ended" only for this side.
        unknown = not now.ended or now.state is State.NOT_STOPPED_YET
        return Attended(
            now=now,
            stop_asked=self._stop or self._interrupts.presses > 0,
            left=unknown,
            outcome=self._outcome,
            not_sent=self._not_sent,
        )

    async def _watch(self) -> None:
        said, at = "", 0.0
        on_input = None if self._answer is None else self._put
        async for now in self._handle.watch(on_input=on_input):
            # Before the server has said a word, there is nothing to tell.
            if err().is_terminal or now.ended or now.state is State.SENDING:
                continue
            line = self._words(now)
            if line != said or time.monotonic() - at > PLAIN_SECONDS:
                said, at = line, time.monotonic()
                say(f"{line}, {_numbers(now, self._query)}")

    async def _put(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a question to whoever is here, on lines of their own."""
        assert self._answer is not None  # `_watch` looked
        async with self._answering:  # one at a time
            if self._live is not None:
                self._live.stop()
            try:
                return await self._answer(request)
            finally:
                if self._live is not None:
                    self._live.start()

    async def _stop_when_asked(self) -> None:
        if not self._stop:
            await self._interrupts.wait(1)
        self._note = "Asking the server to stop"
        try:
            self._outcome = await self._handle.cancel(give_up_seconds=GIVE_UP_SECONDS)
        except RemoteError as why:
            self._not_sent = str(why)
            self._note = "The request to stop did not get through; Ctrl-C leaves"
            return
        if self._outcome is CancelOutcome.NOT_STOPPED_YET:
            self._scope.cancel()

    async def _leave_when_asked(self) -> None:
        await self._interrupts.wait(1 if self._stop else 2)
        self._scope.cancel()

    @contextmanager
    def _shown(self) -> Generator[None]:
        screen = err()
        if not screen.is_terminal or self._handle.now.ended:
            yield
            return
        spinner = Spinner("dots")
        live = Live(
            console=screen,
            get_renderable=lambda: self._line(spinner, screen.width),
            refresh_per_second=10,
            transient=True,
        )
        with _without_echoed_controls(), live:
            self._live = live
            try:
                yield
            finally:
                self._live = None

    def _line(self, spinner: Spinner, width: int) -> RenderableType:
        """One line of the terminal; numbers are never cut, the bar has what room is left."""
        now = self._handle.now
        stopping = self._note is not None
        words = self._words(now)
        numbers = seconds_words(now.elapsed_seconds) if stopping else _numbers(now, self._query)
        room = width - cell_len(f"_ {words} {numbers} ")
        row = Table.grid(padding=(0, 1))
        row.add_column(width=1)
        row.add_column(no_wrap=True, overflow="ellipsis")
        cells: list[RenderableType] = [spinner, Text(words, style="bold")]
        if now.percent is not None and not stopping and room >= SHORTEST_BAR:
            length = min(room, LONGEST_BAR)
            row.add_column(width=length)
            cells.append(
                ProgressBar(total=100, completed=now.percent, width=length, complete_style="cyan")
            )
        row.add_column(no_wrap=True, width=cell_len(numbers))
        row.add_row(*cells, numbers)
        return row

    def _words(self, now: Now) -> str:
        if self._note is not None and now.state not in (
            State.CANCEL_REQUESTED,
            State.NOT_STOPPED_YET,
        ):
            return self._note
        return visible(now.words)


@contextmanager
def _without_echoed_controls() -> Generator[None]:
    """Keep the terminal from writing ``^C`` into the line, which would leave the line behind."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    quiet = [*before]
    quiet[LOCAL_MODES] &= ~termios.ECHOCTL
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _numbers(now: Now, query: bool) -> str:
    parts: list[str] = []
    if now.percent is not None:
        parts.append(f"{now.percent:.0f} %" + (" (the engine's estimate)" if query else ""))
    elif now.done:
        parts.append(counted(now.done, "row") if query else f"{now.done:,.0f}")
    parts.append(seconds_words(now.elapsed_seconds))
    return ", ".join(parts)


def counted(number: float, thing: str) -> str:
    """A number of things: ``1 row``, ``2,000 rows``."""
    return f"{number:,.0f} {thing}" if number == 1 else f"{number:,.0f} {thing}s"


def seconds_words(seconds: float) -> str:
    """A duration, as exact as it is worth."""
    if seconds < 10:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def stop_words(attended: Attended, run_id: str | None) -> str | None:
    """What came of the request to stop, in one sentence; None where none was made."""
    now = attended.now
    name = f"id {run_id}" if run_id else "no id: the server keeps no tasks"
    if attended.left:
        if attended.not_sent is not None:
            return f"Left; the request to stop did not get through, so it may run on ({name})."
        if attended.outcome is CancelOutcome.NOT_STOPPED_YET:
            return f"Not stopped yet; it may still be running ({name})."
        return f"Left without waiting for the stop to be confirmed; it may still run ({name})."
    if not attended.stop_asked:
        return None
    match now.state:
        case State.CANCELLED:
            return f"Cancelled: {_how(now)}."
        case State.FINISHED | State.FINISHED_ANYWAY:
            return "It had already finished before it could be stopped."
        case State.FAILED | State.FAILED_AFTER_CANCEL:
            return "It failed after you asked it to stop."
        case _:
            return f"{now.words}."


def _how(now: Now) -> str:
    how = now.how_stopped
    after = "" if now.stopped_after_seconds is None else f" after {now.stopped_after_seconds:.2f} s"
    match how:
        case StoppedHow.ENGINE_CONFIRMED:
            return f"confirmed by the engine{after}"
        case StoppedHow.NEVER_STARTED:
            return "it had not started"
        case StoppedHow.PROCESS_ENDED:
            return f"its process ended{after}"
        case StoppedHow.COROUTINE_ENDED | StoppedHow.THREAD_RETURNED:
            return f"the work ended{after}"
        case StoppedHow.WORKER_LOST:
            return "the server that ran it is gone"
        case _:
            return "the server says that it has stopped"


__all__ = ["Attended", "attend", "counted", "seconds_words", "stop_words"]
