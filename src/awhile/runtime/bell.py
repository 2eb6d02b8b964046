"""A bell that any thread may ring and the event loop waits for, without losing a ring."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Bell:
    """Counts its rings. ``ring`` is thread-safe and never blocks; ``wait`` belongs to the loop.

    It uses asyncio's own loop rather than anyio's ``from_thread``, because that makes the ringing
    thread wait for the loop: a loop that waits for that thread would then hang.

    Attributes:
        heard: called in the loop after each ring, before whoever waits.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        # A thread's own context says that no loop runs in it, and where sniffio is installed anyio
        # believes that also of what the thread has the loop call: no task could be started there.
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._rung = asyncio.Event()
        self.count = 0
        self.heard: Callable[[], None] | None = None

    def ring(self) -> None:
        """Count one ring and wake whoever waits."""
        with self._lock:
            self.count += 1
        if threading.get_ident() == self._thread:  # a tenth of asking which loop runs here
            self._wake()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, context=self._context)

    async def wait(self, since: int) -> int:
        """Wait until the bell was rung more than ``since`` times; returns the count."""
        while self.count <= since:
            await self._rung.wait()
        return self.count

    def _wake(self) -> None:
        if self.heard is not None:
            self.heard()
        self._rung.set()  # whoever waits goes on, also though it is cleared at once
        self._rung.clear()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
