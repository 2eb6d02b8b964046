"""A bell that any thread may ring and the event loop waits for, without losing a ring."""

from __future__ import annotations

import asyncio
import threading

import anyio


class Bell:
    """Counts its rings. ``ring`` is thread-safe and never blocks; ``wait`` belongs to the loop.

    It uses asyncio's own loop rather than anyio's ``from_thread``, because that makes the ringing
    thread wait for the loop: a loop that waits for that thread would then hang.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._rung = anyio.Event()
        self.count = 0

    def ring(self) -> None:
        """Count one ring and wake whoever waits."""
        with self._lock:
            self.count += 1
        if running_loop() is self._loop:
            self._wake()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    async def wait(self, since: int) -> int:
        """Wait until the bell was rung more than ``since`` times; returns the count."""
        while self.count <= since:
            await self._rung.wait()
        return self.count

    def _wake(self) -> None:
        self._rung.set()
        self._rung = anyio.Event()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
