"""News of a task for the client that made it (2025-11-25): its status, and its progress.

The request that made the task has been answered, so its news need another way: the session's own
stream (the GET stream over HTTP, the pipe over stdio). Without a session there is none, and news
ride on the response streams of ``tasks/result`` as long as one is open.

A question goes there too, once its client had time to call ``tasks/result`` for it and has not: the
official TypeScript Tasks client (ext-tasks 0.2.2) only polls, and would wait for ever. "Clients
SHOULD expect messages to be delivered on any SSE stream" (2025-11-25, Input Required Status).
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types import Notification, ProgressNotification, ProgressNotificationParams

from awhile.server.questions import Questions, can_be_asked
from awhile.server.telling import Told
from awhile.telemetry.logs import about_task
from awhile.wire.v2025_11_25 import related, write_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    from anyio.abc import TaskGroup
    from mcp.server.context import ServerRequestContext
    from mcp_types import ServerNotification

    from awhile.runtime.running import Running
    from awhile.server.calls import Calls
    from awhile.stores.contract import TaskStore
    from awhile.tasks import TaskRecord
    from awhile.wire.snapshot import Snapshot

logger = logging.getLogger(__name__)

StatusNotification = Notification[dict[str, Any], Literal["notifications/tasks/status"]]
"""With a dictionary, because ``ttl`` has to be there also when it is null."""


def has_session(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether the connection outlives this request: a session over HTTP, or a pipe."""
    headers = getattr(ctx.request, "headers", None)
    return headers is None or MCP_SESSION_ID_HEADER in headers


ASK_AFTER_SECONDS = 1.0
"""How long after a client should have polled a question waits for its ``tasks/result``."""

LOOK_SECONDS = 0.25
"""How often it is looked whether somebody asks already, while a question is open."""


class Followers:
    """Follows tasks for the clients that made them, while the server's lifespan runs."""

    def __init__(self, calls: Calls, shown: Callable[[TaskRecord], Awaitable[Snapshot]]) -> None:
        self._calls = calls
        self._shown = shown
        self._streams: dict[str, list[ServerRequestContext[Any, Any]]] = {}
        self._open: tuple[TaskStore, TaskGroup] | None = None

    @asynccontextmanager
    async def running(self, store: TaskStore) -> AsyncGenerator[None]:
        """Follow while the block runs."""
        async with anyio.create_task_group() as group:
            self._open = store, group
            try:
                yield
            finally:
                self._open = None
                group.cancel_scope.cancel()

    def follow(self, ctx: ServerRequestContext[Any, Any], record: TaskRecord) -> None:
        """Tell the client of this request about the task from here on, until it has ended."""
        assert self._open is not None  # the task was kept, so the lifespan is running
        store, group = self._open
        may_ask = has_session(ctx) and can_be_asked(ctx)
        group.start_soon(self._follow, store, ctx, record, may_ask)

    def outlive(self, running: Running) -> None:
        """Let work run on for a while whose client has left, and then stop it. Without a session
        the SDK cancels its request at once, which in this era is none of the client's doing."""
        if self._open is None:
            running.stop()
        else:
            self._open[1].start_soon(self._stop_later, running)

    async def _stop_later(self, running: Running) -> None:
        with anyio.move_on_after(self._calls.waiting.abandoned_seconds):
            await running.gone.wait()
        running.stop()

    @contextmanager
    def riding_on(self, ctx: ServerRequestContext[Any, Any], task_id: str) -> Generator[None]:
        """Offer a waiting request's response stream: for news without a session, and questions."""
        streams = self._streams.setdefault(task_id, [])
        streams.append(ctx)
        try:
            yield
        finally:
            streams.remove(ctx)
            if not streams:
                self._streams.pop(task_id, None)

    async def _follow(
        self,
        store: TaskStore,
        ctx: ServerRequestContext[Any, Any],
        record: TaskRecord,
        may_ask: bool,
    ) -> None:
        told = Told(ctx, send=_Progress(self, ctx, record.task_id))
        seen = record.status, record.status_message
        try:
            async with store.watch([record.task_id]) as watch, anyio.create_task_group() as beside:
                asking = _Asking(
                    Questions(ctx, self._calls, beside, on_the_session=True, may_ask=may_ask)
                )
                while not record.status.ended:
                    latest = await store.get(record.task_id)
                    if latest is None:
                        break
                    record = latest
                    if not record.status.ended:  # the token's life is the task's
                        await told.tell_of(record)
                    if seen != (record.status, record.status_message):
                        seen = record.status, record.status_message
                        await self._tell_status(ctx, record)
                    if not record.status.ended:
                        patience = self._calls.poll_interval_ms(record) / 1000 + ASK_AFTER_SECONDS
                        taken_care_of = record.task_id in self._streams
                        await watch.wait(asking.look(record, patience, taken_care_of))
                beside.cancel_scope.cancel()
        except* Exception:  # one task's news must not end those of all others
            about = about_task(record.task_id)
            logger.exception(
                "A task cannot be followed any more; its client has to poll.", extra=about
            )

    async def _tell_status(self, ctx: ServerRequestContext[Any, Any], record: TaskRecord) -> None:
        params = write_task(await self._shown(record))
        frame = StatusNotification(method="notifications/tasks/status", params=params)
        await self.send(ctx, record.task_id, cast("ServerNotification", frame))

    async def send(
        self, ctx: ServerRequestContext[Any, Any], task_id: str, notification: ServerNotification
    ) -> None:
        """One notification, by the way there is."""
        if has_session(ctx):
            await ctx.session.send_notification(notification)
            return
        for stream in self._streams.get(task_id, [])[-1:]:
            await stream.session.send_notification(
                notification, related_request_id=stream.request_id
            )


class _Asking:
    """When a question is put on the session's own stream, and when it is taken back."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._open_since: float | None = None

    def look(self, record: TaskRecord, patience: float, taken_care_of: bool) -> float | None:
        """Ask if it is time; in how many seconds to look again, None for at the next change."""
        if not record.outstanding:
            self._open_since = None
            self._questions.put(record)  # takes back what was answered elsewhere
            return None
        now = anyio.current_time()
        self._open_since = now if self._open_since is None else self._open_since
        if taken_care_of:
            self._questions.take_back()
            self._open_since = now
        elif now - self._open_since >= patience and not self._questions.put(record):
            return None
        return LOOK_SECONDS


class _Progress:
    """Progress under the token of the request that made the task."""

    def __init__(
        self, followers: Followers, ctx: ServerRequestContext[Any, Any], task_id: str
    ) -> None:
        self._followers = followers
        self._ctx = ctx
        self._task_id = task_id

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        token = (self._ctx.meta or {}).get("progress_token")
        assert token is not None  # `Told` sends nothing without
        params = ProgressNotificationParams(
            progress_token=token,
            progress=progress,
            total=total,
            message=message,
            _meta=related(self._task_id),
        )
        notification = ProgressNotification(params=params)
        await self._followers.send(self._ctx, self._task_id, notification)
