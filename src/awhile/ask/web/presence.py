"""Whether anybody is here: counted by the open event streams, one for each browser."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LEFT_SECONDS = 6.0
"""How long no page has to be open before the person counts as having left: a reload, a tab that
takes over the stream and a connection that is made anew take a second or two (source: ours)."""


class Presence:
    """Counts who listens. Lives on one event loop."""

    def __init__(self, left_seconds: float = LEFT_SECONDS) -> None:
        self._left_seconds = left_seconds
        self._open = 0
        self._changed = anyio.Event()

    async def while_open(self, events: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """The events, with a person counted as here until the stream ends."""
        self._count(1)
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self._count(-1)

    async def left(self) -> None:
        """Return once nobody has been here for `LEFT_SECONDS`."""
        while True:
            with anyio.move_on_after(None if self._open else self._left_seconds) as absence:
                await self._changed.wait()
            if absence.cancelled_caught:
                return

    async def arrived(self) -> None:
        """Return once somebody is here."""
        while not self._open:
            await self._changed.wait()

    def _count(self, change: int) -> None:
        self._open += change
        self._changed.set()
        self._changed = anyio.Event()


__all__ = ["LEFT_SECONDS", "Presence"]
