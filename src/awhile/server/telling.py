"""Progress notifications on one request's own response stream.

Source: MCP ``basic/patterns/progress``: the caller's own token, strictly increasing, never after
the answer. About ten a second, the first one at once and the last one always: ours.
"""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from awhile.runtime.progress import INTERVAL_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from mcp.server.context import ServerRequestContext

    from awhile.runtime.run import Run
    from awhile.tasks import TaskRecord

    Send = Callable[[float, float | None, str | None], Awaitable[None]]


class Told:
    """What one request's caller was told of progress. Without a token it is told nothing.

    ``send`` puts one notification out; without it, it goes on the request's own response stream.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any], *, send: Send | None = None) -> None:
        self._send = send or ctx.session.report_progress
        self._last: tuple[float, float | None, str | None] | None = None
        self._turn = anyio.Lock()
        self._wanted = bool(ctx.meta) and ctx.meta.get("progress_token") is not None

    @asynccontextmanager
    async def telling_of(self, run: Run) -> AsyncGenerator[None]:
        """Tell what the run reports while the block runs; after it, what it reported last."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._tell_on, run)
            yield
            async with self._turn:  # cut off while sending, it could not know whether it was sent
                beside.cancel_scope.cancel()
        await self._tell_latest(run)

    async def tell_of(self, record: TaskRecord) -> None:
        """Tell what a task's record says of its progress, if that is new."""
        at = record.progress
        if at is not None:
            await self._tell(at.done, at.total, at.message)

    async def _tell_on(self, run: Run) -> None:
        seen = 0
        while self._wanted:
            seen = await run.progress.bell.wait(seen)
            await self._tell_latest(run)
            await anyio.sleep(INTERVAL_SECONDS)

    async def _tell_latest(self, run: Run) -> None:
        report = run.progress.latest
        if report is not None:
            async with self._turn:
                await self._tell(report.done, report.total, report.message)

    async def _tell(self, done: float | None, total: float | None, message: str | None) -> None:
        """Send what is new. Without a number, the count of notifications is the progress."""
        if not self._wanted:
            return
        before = self._last
        value = done if done is not None else (before[0] + 1 if before else 0)
        if done is None:
            total = None  # a count of notifications is no part of it: hosts would show a percentage
        if before is not None and value <= before[0]:
            if (total, message) == before[1:]:
                return
            value, total = math.nextafter(before[0], math.inf), None
        await self._send(value, total, message)
        self._last = value, total, message
