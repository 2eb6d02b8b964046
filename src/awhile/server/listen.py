"""``subscriptions/listen``: what a client asked to be told of, pushed on one stream.

Source: 2026-07-28 ``basic/patterns/subscriptions`` and ext-tasks, "Task Status Notifications". The
SDK's own handler drops ``taskIds`` and ends its streams only with the process, so streams are
served here: tasks from the store, list changes and resource updates from the server's bus. What
cannot be delivered is not acknowledged; a task that is unknown, somebody else's, or expired reads
the same.
"""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, event_matches, event_to_notification
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CancelledNotification,
    CancelledNotificationParams,
    Notification,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
)

from awhile.errors import AwhileError
from awhile.server.audit import note
from awhile.server.principal import ANONYMOUS, address_of
from awhile.wire.v2026_07_28 import EXTENSION_ID, write_detailed

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.subscriptions import SubscriptionBus
    from mcp.shared.subscriptions import ServerEvent
    from mcp_types import ServerNotification

    from awhile.server.calls import Calls
    from awhile.stores.contract import Watch

logger = logging.getLogger(__name__)

METHOD = "subscriptions/listen"

TASKS_PER_STREAM = 1000
"""How many tasks one stream may follow; a longer list is refused (source: ours)."""

SHARE_OF_ONE_CALLER = 4
"""One caller gets at most one in so many of the streams: nobody can take them all. Callers without
a token are told apart by the address that the nearest proxy saw; whoever comes from this machine
itself is its one user, and has no such bound."""

FAREWELL_SECONDS = 1.0
"""How long a client that does not read may hold up the end of its stream."""

TasksNotification = Notification[dict[str, Any], Literal["notifications/tasks"]]


class Listening:
    """The listen streams of one server.

    ``bus``: where list changes and resource updates come from; None: there are none.
    """

    def __init__(self, calls: Calls, bus: SubscriptionBus | None = None) -> None:
        self._calls = calls
        self._bus = bus
        self._streams: set[_Stream] = set()
        self._open = Counter[str | None]()
        """How many streams each caller has, from before their tasks are looked up."""
        self._closed = False

    async def serve(
        self, ctx: ServerRequestContext[Any, Any], _call_next: CallNext
    ) -> HandlerResult:
        """Serve one listen request, to the end of its stream.

        Raises:
            MCPError: -32601 if nothing of what is asked for is ever published here; -32021 if tasks
                are asked for without the extension; -32602 for a list that is not one of strings;
                -32603 for one stream too many, of all or of one caller.
        """
        most = self._calls.waiting.listen_streams
        params = SubscriptionsListenRequestParams.model_validate(ctx.params or {}, by_name=False)
        wanted = _task_ids(params.notifications)
        if most == 0 or (wanted is None and self._bus is None):
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found", data=METHOD)
        if wanted is not None:
            require_client_extension(ctx, EXTENSION_ID)
        owner = self._calls.principal(ctx)
        caller = address_of(ctx) if owner == ANONYMOUS else owner
        with self._counted(caller, most):
            stream = await self._serve(ctx, owner, params.notifications, wanted or ())
        return {"resultType": "complete", "_meta": stream.meta}

    @contextmanager
    def _counted(self, caller: str | None, most: int) -> Generator[None]:
        """Count one stream more, if there may be one more."""
        share = most if caller is None else max(1, most // SHARE_OF_ONE_CALLER)
        if self._open.total() >= most:
            raise _too_many(f"There are {most} open listen streams already")
        if self._open[caller] >= share:
            raise _too_many(f"This caller has {share} open listen streams already")
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    async def _serve(
        self,
        ctx: ServerRequestContext[Any, Any],
        owner: str,
        wanted: SubscriptionFilter,
        listed: Sequence[str],
    ) -> _Stream:
        """One stream, served to its end."""
        task_ids = [one for one in listed if await _is_theirs(self._calls, ctx, one)]
        for task_id in task_ids:
            note("listened", owner=owner, how=METHOD, task_id=task_id)
        stream = _Stream(ctx, self._calls, self._bus, wanted, task_ids)
        self._streams.add(stream)
        if self._closed:
            stream.closing.set()
        try:
            with self._calls.looking.watched(task_ids):
                await stream.serve(self._calls.waiting.listen_seconds)
        finally:
            self._streams.discard(stream)
        return stream

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._streams)

    def close(self) -> None:
        """End every stream, open or still to come, with its result: this process is about to."""
        self._closed = True
        for stream in self._streams:
            stream.closing.set()


class _Stream:
    """One listen stream. Whoever publishes never waits for it: it keeps what is new, not when."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        calls: Calls,
        bus: SubscriptionBus | None,
        wanted: SubscriptionFilter,
        task_ids: list[str],
    ) -> None:
        self.closing = anyio.Event()
        self.meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        self._ctx = ctx
        self._calls = calls
        self._bus = bus
        self._task_ids = task_ids
        self._honored = _honored(wanted, task_ids, with_bus=bus is not None)
        self._uris = frozenset(self._honored.resource_subscriptions or ())
        self._pending: dict[ServerEvent, None] = {}
        """Events say "changed since you looked", so each is pending once at most."""
        self._news = anyio.Event()

    async def serve(self, seconds: float) -> None:
        """Push until the stream is closed, or has lived for ``seconds``."""
        # Subscribed first, then acknowledged: what happens in between is pending, not lost.
        unsubscribe = self._bus.subscribe(self._offer) if self._bus is not None else None
        try:
            async with self._calls.store.watch(self._task_ids) as watch:
                params = SubscriptionsAcknowledgedNotificationParams(
                    notifications=self._honored, _meta=self.meta
                )
                await self._send(SubscriptionsAcknowledgedNotification(params=params))
                async with anyio.create_task_group() as pushing:
                    pushing.start_soon(self._push_tasks, watch)
                    pushing.start_soon(self._push_events)
                    with anyio.move_on_after(seconds):
                        await self.closing.wait()
                    pushing.cancel_scope.cancel()
        finally:
            if unsubscribe is not None:
                unsubscribe()
        # "A server MUST send `notifications/cancelled` […] when it tears down that subscription
        # stream" (basic/patterns/cancellation); the result that follows says it was on purpose.
        request_id = cast("str | int", self._ctx.request_id)
        params = CancelledNotificationParams(
            request_id=request_id, reason="The server ends this stream.", _meta=self.meta
        )
        with anyio.move_on_after(FAREWELL_SECONDS):
            await self._send(CancelledNotification(params=params))

    def _offer(self, event: ServerEvent) -> None:
        if event_matches(self._honored, self._uris, event):
            self._pending[event] = None
            self._news.set()

    async def _push_events(self) -> None:
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            while self._pending:
                event = next(iter(self._pending))
                del self._pending[event]
                await self._send(event_to_notification(event, self.meta))

    async def _push_tasks(self, watch: Watch) -> None:
        # The first round tells each task as it is: between its creation and this stream it may
        # have changed, or ended.
        changed, told = dict.fromkeys(self._task_ids, 0), dict.fromkeys(self._task_ids, 0)
        try:
            while True:
                for task_id in sorted(changed):
                    await self._push_task(task_id, told)
                changed = await watch.wait()
        except AwhileError as error:
            logger.error(
                "The store failed; a listen stream ends, and its client may come back. %s", error
            )
            self.closing.set()

    async def _push_task(self, task_id: str, told: dict[str, int]) -> None:
        record = await self._calls.get(task_id)
        if record is None or record.rev == told[task_id]:
            return
        if record.owner != self._calls.principal(self._ctx):
            return
        told[task_id] = record.rev
        task = write_detailed(await self._calls.shown(record))
        params = {**task, "_meta": {**task.get("_meta", {}), **self.meta}}
        frame = TasksNotification(method="notifications/tasks", params=params)
        await self._send(cast("ServerNotification", frame))  # the SDK's union ends at the core's

    async def _send(self, notification: ServerNotification) -> None:
        await self._ctx.session.send_notification(
            notification, related_request_id=self._ctx.request_id
        )


def _too_many(what: str) -> MCPError:
    return MCPError(
        code=INTERNAL_ERROR, message=f"{what}, and no more are served. Close one, or poll."
    )


async def _is_theirs(calls: Calls, ctx: ServerRequestContext[Any, Any], task_id: str) -> bool:
    record = await calls.get(task_id)
    return record is not None and record.owner == calls.principal(ctx)


def _honored(
    wanted: SubscriptionFilter, task_ids: list[str], *, with_bus: bool
) -> SubscriptionFilter:
    """What of a filter will be delivered; the rest is left out."""
    uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
    honored = SubscriptionFilter(
        tools_list_changed=True if with_bus and wanted.tools_list_changed else None,
        prompts_list_changed=True if with_bus and wanted.prompts_list_changed else None,
        resources_list_changed=True if with_bus and wanted.resources_list_changed else None,
        resource_subscriptions=uris if with_bus and uris else None,
    )
    return honored.model_copy(update={"taskIds": task_ids}) if task_ids else honored


def _task_ids(wanted: SubscriptionFilter) -> list[str] | None:
    """The task ids of a filter, without repeats; None when it asks for none."""
    ids: Any = (wanted.model_extra or {}).get("taskIds")
    if ids is None:
        return None
    listed = cast("list[Any]", ids) if isinstance(ids, list) else []
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in listed):
        raise MCPError(code=INVALID_PARAMS, message="taskIds has to be a list of strings.")
    if len(listed) > TASKS_PER_STREAM:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"{len(listed)} taskIds are too many for one stream; open several, of at most "
            f"{TASKS_PER_STREAM} each.",
        )
    return list(dict.fromkeys(listed))
