"""Waiting in a terminal: how the work stands, live; its questions; and Ctrl-C, asked about."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from rich.live import Live

from awhile.cli.keyboard import at_a_terminal
from awhile.cli.line import Line
from awhile.cli.menu import Choice, Left, choose
from awhile.cli.screen import err, moves, say
from awhile.cli.words import WORK, StopRequest, words_for
from awhile.client import CancelOutcome, State, show
from awhile.client.clock import wall_clock_ms
from awhile.client.http import NotSent
from awhile.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

    from rich.console import Console, RenderableType

    from awhile.cli.interrupts import Interrupts
    from awhile.cli.words import Subject
    from awhile.client import Handle, Known, OnInput

GIVE_UP_SECONDS = 30.0
"""How long to wait for a stop to be confirmed before leaving it at "not stopped yet"."""

SAME_SECONDS = 10.0
"""Without a live line: how often it is said that the same is still going on."""

OTHER_SECONDS = 1.0
"""Without a live line: how soon another message of the same state may be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """How the waiting ended."""

    known: Known
    """All that is known of the work then."""
    left: bool
    """Whether it was left before its end was known: on purpose, or unconfirmed."""
    stop_asked: bool
    """Whether a stop was wanted."""
    outcome: CancelOutcome | None = None
    """What came of the request to stop, as far as it was waited for."""
    request: StopRequest = StopRequest.NONE
    """What is known of that request itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to wait."""

    of: Subject = WORK
    quiet: bool = False
    """Whether to say nothing of how the work stands."""
    stop: bool = False
    """Whether to ask for a stop to begin with."""
    answer: OnInput | None = None
    """Puts what the work asks to somebody, at this terminal; meanwhile nothing else is shown there.
    None: it is only shown that it asks."""
    left: Left = Left.RUNS_ON
    """What becomes of the work when it is left, if it has an id."""


async def attend(handle: Handle, interrupts: Interrupts, manner: Manner) -> Attended:
    """Show how the work stands until it has ended, or is left.

    At a terminal Ctrl-C asks what to do, and pressed again leaves; without one, the first asks the
    server to stop and goes on watching, and the second leaves. A press from before counts.

    Raises:
        RemoteError: the server refuses to say how the work stands.
    """
    return await Attending(handle, interrupts, manner).to_the_end()


class Attending:
    """The waiting for one piece of work."""

    def __init__(self, handle: Handle, interrupts: Interrupts, manner: Manner) -> None:
        self._handle = handle
        self._interrupts = interrupts
        self._manner = manner
        self._line = Line(manner.of)
        self._desk = anyio.Lock()
        """Held by whoever asks something at the terminal."""
        self._question: anyio.CancelScope | None = None
        self._live: Live | None = None
        self._stop_asked = manner.stop
        self._request = StopRequest.NONE
        self._outcome: CancelOutcome | None = None
        self._scope = anyio.CancelScope()

    async def to_the_end(self) -> Attended:
        """See `attend`."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._heed_interrupts)
            if self._manner.stop:
                beside.start_soon(self._ask_to_stop)
            with self._scope, self._shown():
                await self._watch()
            beside.cancel_scope.cancel()
        now = self._handle.now
        return Attended(
            known=self._handle.work.known,
            # A call that was closed has no task to look at: it "ended" only for this side.
            left=not now.ended or now.state is State.NOT_STOPPED_YET,
            stop_asked=self._stop_asked,
            outcome=self._outcome,
            request=self._request,
        )

    async def _watch(self) -> None:
        on_input = None if self._manner.answer is None else self.put
        silent = self._manner.quiet or self._live is not None
        work = self._handle.work
        if not silent and work.revision == 0 and not work.now.ended:
            # A line that stays is not for what was so when an earlier program last heard of it.
            await work.look()
        teller = _Teller(silent)
        async for now in self._handle.watch(on_input=on_input):
            self._line.hear(now)
            if not now.ended:
                words, told = self._words(), self._handle.now
                teller.tell(told.state, self._line.plain(words, told, *self._facts()), words)

    # What the work asks

    async def put(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a question to whoever is here, on lines of their own; again where Ctrl-C came
        between."""
        answer = self._manner.answer
        assert answer is not None  # `_watch` looked
        while True:
            async with self._at_the_desk():
                with anyio.CancelScope() as self._question:
                    return await answer(request)
                err().print()  # the cursor is behind the question

    @asynccontextmanager
    async def _at_the_desk(self) -> AsyncGenerator[None]:
        """One who asks at a time, and no live line meanwhile."""
        async with self._desk:
            if self._live is not None:
                self._live.stop()
            try:
                yield
            finally:
                self._question = None
                if self._live is not None:
                    self._live.start()

    # Ctrl-C

    async def _heed_interrupts(self) -> None:
        heard = 0
        while True:
            await self._interrupts.wait(heard + 1)
            if self._stop_asked and self._request in (StopRequest.NONE, StopRequest.SENDING):
                choice = Choice.KEEP
            elif at_a_terminal():
                choice = await self._choose()
            else:
                choice = Choice.STOP
            heard = self._interrupts.presses
            match choice:
                case Choice.KEEP:
                    self._scope.cancel()
                    return
                case Choice.STOP:
                    await self._stop_unless_interrupted(heard)
                case Choice.WAIT:
                    pass

    async def _choose(self) -> Choice:
        if self._question is not None:
            self._question.cancel()
        async with self._at_the_desk():
            return await choose(
                self._interrupts,
                run_id=self._handle.id,
                left=self._manner.left if self._handle.id is not None else Left.ENDS,
            )

    async def _stop_unless_interrupted(self, presses: int) -> None:
        async with anyio.create_task_group() as either:

            async def interrupted() -> None:
                await self._interrupts.wait(presses + 1)
                either.cancel_scope.cancel()

            either.start_soon(interrupted)
            await self._ask_to_stop()
            either.cancel_scope.cancel()

    async def _ask_to_stop(self) -> None:
        self._stop_asked, self._request = True, StopRequest.SENDING
        try:
            self._outcome = await self._handle.cancel(give_up_seconds=GIVE_UP_SECONDS)
        except RemoteError as why:
            self._request = (
                StopRequest.NOT_SENT if isinstance(why, NotSent) else StopRequest.UNKNOWN
            )
            return
        self._request = StopRequest.NONE
        if self._outcome is CancelOutcome.NOT_STOPPED_YET:
            self._scope.cancel()

    # The line

    @contextmanager
    def _shown(self) -> Generator[None]:
        screen = err()
        if self._manner.quiet or not moves(screen) or self._handle.now.ended:
            yield
            return
        live = Live(
            console=screen,
            get_renderable=lambda: self._rendered(screen),
            refresh_per_second=10,
            transient=True,
        )
        with live:
            self._live = live
            try:
                yield
            finally:
                self._live = None

    def _rendered(self, screen: Console) -> RenderableType:
        now = self._handle.now
        return self._line.live(self._words(), now, *self._facts(), screen.width)

    def _words(self) -> str:
        known, now_ms = self._facts()
        return self._line.words(known, self._handle.now, now_ms, self._request)

    def _facts(self) -> tuple[Known, int]:
        return self._handle.work.known, wall_clock_ms()


class _Teller:
    """Says lines where none can be written over: each new state, but not every message."""

    def __init__(self, silent: bool) -> None:
        self._silent = silent
        self._state: State | None = None
        self._words = ""
        self._at = time.monotonic()

    def tell(self, state: State, line: str, words: str) -> None:
        """Say the line, if it is due."""
        # Before the server has said a word, there is nothing to tell.
        if self._silent or state is State.SENDING:
            return
        since = time.monotonic() - self._at
        other = words != self._words and since > OTHER_SECONDS
        begun = self._state is None and words == "Running"  # which is what one expects
        if (state is not self._state and not begun) or other or since > SAME_SECONDS:
            self._state, self._words, self._at = state, words, time.monotonic()
            say(line)


def stop_words(attended: Attended, manner: Manner, run_id: str | None) -> str | None:
    """What came of leaving or of the request to stop, in a sentence; None where neither was."""
    known, now_ms = attended.known, wall_clock_ms()
    said = words_for(known, now_ms=now_ms, of=manner.of)
    if attended.left:
        name = f"id {run_id}" if run_id else "no id: the server keeps no tasks"
        return f"{_left_words(attended, manner, said.line)} ({name})."
    if not attended.stop_asked:
        return None
    finished = show(known, now_ms=now_ms).state is State.FINISHED
    return "It had already finished." if finished else f"{said.line}."


def _left_words(attended: Attended, manner: Manner, words: str) -> str:
    of = manner.of
    if attended.stop_asked:
        match attended.request:
            case StopRequest.NOT_SENT:
                return f"Left; the request to stop was not sent, so {of.work} is unaffected"
            case StopRequest.UNKNOWN:
                return "Left; it is not known whether the request to stop arrived"
            case _ if attended.outcome is None:
                return "Left without waiting for the stop to be confirmed; it may still run"
            case _:
                return words
    if attended.known.task is None or not attended.known.task.task_id:
        return "Left; the call is closed with it, which asks the server to stop"
    if manner.left is not Left.RUNS_ON:
        return "Left; its server ends with this command, and it with the server"
    away = attended.known.unreachable_since_ms is not None
    return f"Left. {words}" if away else "Left; it keeps running"


__all__ = ["Attended", "Attending", "Left", "Manner", "attend", "stop_words"]
