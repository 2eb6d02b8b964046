"""What goes on beside a body, started only when there is need of it.

Most bodies are never stopped, report nothing and have no limit. A task for each of these
possibilities cost more than all else that running a body takes (``docs/speed.md``).
"""

from __future__ import annotations

import contextvars
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from anyio.abc import TaskGroup


class Beside:
    """Named things that go on beside a body, each at most once. Belongs to the event loop."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None
        self._context = contextvars.Context()
        self._scopes: dict[str, anyio.CancelScope] = {}

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Let things be started until `close`; leaving the block waits for them."""
        async with anyio.create_task_group() as group:
            self._group, self._context = group, contextvars.copy_context()
            try:
                yield
            finally:
                self._group, self._context = None, contextvars.Context()  # it knows what runs

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start it, unless it was started already, or this is not open.

        It runs in the context (the trace) of whoever opened this, not of whoever has need of it.
        """
        if self._group is not None and name not in self._scopes:
            self._scopes[name] = scope = anyio.CancelScope()
            self._context.copy().run(self._group.start_soon, _go_on, work, scope)

    def close(self, *, but: str | None = None) -> None:
        """Stop what goes on, all but one; nothing more can be started.

        Each by a scope of its own, so that it ends as if it had returned: of a task that ends
        cancelled, anyio leaves a circle of all it held to the garbage collector (4.16).
        """
        self._group = None
        for name, scope in self._scopes.items():
            if name != but:
                scope.cancel()


async def _go_on(work: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    with scope:
        await work()


__all__ = ["Beside"]
