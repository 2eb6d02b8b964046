"""Signals that end a process: the first in order, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

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


__all__ = ["ENDING", "Told", "told_to_end"]
