"""How a server's open calls are answered when its process ends, each before its stream is closed.

In three moments, some of which cut off what waits for them: `handing_over` (a body that may become
a task becomes one now, and its caller gets the handle), `over` (nothing runs any more: whoever
waits for a task is told how it stands), `cut` (whatever has no answer yet gets an error). Source:
ours; otherwise a proxy would show its callers a response that is cut off.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Generator

DECIDING_SECONDS = 1.0
"""How long the store may take to keep what becomes a task."""

ANSWERING_SECONDS = 1.0
"""How long answers may take to leave, once everything about them is known."""

HALTING_SECONDS = 1.5
"""How long bodies get to stop before their callers are told that the server has."""


class Moment:
    """Something that happens once, and ends the waiting of those who are cut off by it."""

    def __init__(self) -> None:
        self.has_come = False
        self._scopes: set[anyio.CancelScope] = set()

    def come(self) -> None:
        """It is now."""
        self.has_come = True
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def cuts(self, scope: anyio.CancelScope) -> Generator[None]:
        """Cancel the scope when it comes; at once if it has."""
        if self.has_come:
            scope.cancel()
        self._scopes.add(scope)
        try:
            yield
        finally:
            self._scopes.discard(scope)


class Underway:
    """A context manager that counts what is inside of it."""

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()
        self._since = time.monotonic()

    @property
    def still_seconds(self) -> float:
        """How long nothing has been inside; 0 while something is."""
        return 0.0 if self._count else time.monotonic() - self._since

    def __enter__(self) -> None:
        self._count += 1
        self._none.clear()

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        self._since = time.monotonic()
        if self._count == 0:
            self._none.set()

    async def none(self, seconds: float) -> None:
        """Wait until nothing is, so many seconds at most."""
        with anyio.move_on_after(seconds):
            await self._none.wait()


class Closing:
    """The end of one serving; see the module.

    Attributes:
        deciding: the calls whose bodies become tasks when `handing_over` comes.
    """

    def __init__(self) -> None:
        self.handing_over = Moment()
        self.over = Moment()
        self.cut = Moment()
        self.deciding = Underway()
