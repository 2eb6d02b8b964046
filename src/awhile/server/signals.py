"""Signals that end a process: the first in order, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]

ENDING = (signal.SIGINT, signal.SIGTERM)

AT_ONCE = (
    b"Told to end a second time, so ending at once. What still ran is run again by the next process"
    b" on its store, where its tool says that it may be; otherwise it ends as lost.\n"
)


class Told:
    """That this process was told to end, and by what."""

    def __init__(self) -> None:
        self.by: int | None = None
        self._loop = asyncio.get_running_loop()
        self._told = anyio.Event()

    async def wait(self) -> int:
        """Wait for the first signal."""
        await self._told.wait()
        assert self.by is not None
        return self.by

    def take(self, number: int, _frame: FrameType | None = None) -> None:
        """A signal has come. A second one ends the process here and now, as the signal itself does,
        whatever the event loop is busy with; what ran is found by its lease."""
        if self.by is not None:
            with suppress(OSError):  # nobody is left to read it
                os.write(2, AT_ONCE)  # not through sys.stderr, whose lock may be held right here
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.by = number
        self._loop.call_soon_threadsafe(self._told.set)


@contextmanager
def told_to_end() -> Generator[Told]:
    """Take SIGINT and SIGTERM over while the block runs, in the main thread."""
    told = Told()
    before = {number: signal.signal(number, told.take) for number in ENDING}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def before_ending(do: Callable[[], object]) -> Generator[None]:
    """Call ``do`` in the event loop whenever this process is told to end, while the block runs.

    For what serves and is none of ours, as ``mcp.run()`` is: uvicorn then waits for open streams,
    for as long as they like. Its own handler is called all the same. A signal that nobody handles
    keeps its default, and threads other than the main one get none.
    """
    mine: dict[signal.Signals, tuple[Handler, Handler]] = {}
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in ENDING:
            theirs = signal.getsignal(number)
            if callable(theirs) and theirs is not signal.default_int_handler:
                mine[number] = _first(partial(loop.call_soon_threadsafe, do), theirs), theirs
                signal.signal(number, mine[number][0])
    try:
        yield
    finally:
        for number, (handler, theirs) in mine.items():
            if signal.getsignal(number) is handler:  # else somebody has taken it over since
                signal.signal(number, theirs)


def _first(do: Callable[[], object], then: Handler) -> Handler:
    def handle(number: int, frame: FrameType | None) -> None:
        with suppress(RuntimeError):  # the loop has ended
            do()
        then(number, frame)

    return handle


__all__ = ["ENDING", "Told", "before_ending", "told_to_end"]
