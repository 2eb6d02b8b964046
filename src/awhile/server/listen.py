"""``subscriptions/listen`` with ``taskIds``: changes of tasks, pushed.

Source: 2026-07-28 ``basic/patterns/subscriptions`` and ext-tasks, "Task Status Notifications". The
SDK serves the stream and everything else one may subscribe to, but drops ``taskIds``; so this wraps
its handler: the acknowledgement gains the ids that will be served, and a second writer puts
``notifications/tasks`` on the same stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INVALID_PARAMS,
    Notification,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequestParams,
)

from awhile.wire.snapshot import snapshot_of
from awhile.wire.v2026_07_28 import EXTENSION_ID, write_detailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import ServerNotification

    from awhile.server.calls import Calls

METHOD = "subscriptions/listen"

TASKS_PER_STREAM = 1000
"""How many tasks one stream may follow; a longer list is refused (source: ours)."""

TasksNotification = Notification[dict[str, Any], Literal["notifications/tasks"]]


class Listening:
    """Adds tasks to listen streams."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def serve(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Serve one listen request.

        Raises:
            MCPError: -32021 if tasks are asked for without the extension; -32602 for a list that
                is not one of strings.
        """
        wanted = _task_ids(ctx)
        if wanted is None:
            return await call_next(ctx)
        require_client_extension(ctx, EXTENSION_ID)
        served = [task_id for task_id in wanted if await self._is_theirs(ctx, task_id)]
        acknowledged = anyio.Event()
        session = cast("ServerSession", _Acknowledging(ctx.session, served, acknowledged))
        result: HandlerResult = None
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._push, ctx, frozenset(served), acknowledged)
            result = await call_next(replace(ctx, session=session))
            beside.cancel_scope.cancel()
        return result

    async def _push(
        self,
        ctx: ServerRequestContext[Any, Any],
        task_ids: frozenset[str],
        acknowledged: anyio.Event,
    ) -> None:
        meta = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        async with self._calls.store.watch(task_ids) as watch:
            await acknowledged.wait()
            changed, told = task_ids, dict.fromkeys(task_ids, 0)
            while True:
                # The first round tells each task as it is: between its creation and this stream
                # it may have changed, or ended.
                for task_id in sorted(changed):
                    record = await self._calls.get(task_id)
                    if record is None or record.rev == told[task_id]:
                        continue
                    if record.owner != self._calls.principal(ctx):
                        continue
                    told[task_id] = record.rev
                    poll_ms = self._calls.poll_interval_ms(record)
                    task = write_detailed(snapshot_of(record, poll_interval_ms=poll_ms))
                    params = {**task, "_meta": {**task.get("_meta", {}), **meta}}
                    frame = TasksNotification(method="notifications/tasks", params=params)
                    await ctx.session.send_notification(
                        cast("ServerNotification", frame),  # the SDK's union ends at the core's
                        related_request_id=ctx.request_id,
                    )
                changed = await watch.wait()

    async def _is_theirs(self, ctx: ServerRequestContext[Any, Any], task_id: str) -> bool:
        record = await self._calls.get(task_id)
        return record is not None and record.owner == self._calls.principal(ctx)


class _Acknowledging:
    """A session whose acknowledgement names the tasks that will be served."""

    def __init__(
        self, inner: ServerSession, task_ids: Sequence[str], acknowledged: anyio.Event
    ) -> None:
        self._inner = inner
        self._task_ids = list(task_ids)
        self._acknowledged = acknowledged

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send_notification(self, notification: Any, related_request_id: Any = None) -> None:
        is_first = isinstance(notification, SubscriptionsAcknowledgedNotification)
        if is_first and self._task_ids:
            honored = notification.params.notifications
            honored = honored.model_copy(update={"taskIds": self._task_ids})
            params = notification.params.model_copy(update={"notifications": honored})
            notification = notification.model_copy(update={"params": params})
        await self._inner.send_notification(notification, related_request_id=related_request_id)
        if is_first:
            self._acknowledged.set()


def _task_ids(ctx: ServerRequestContext[Any, Any]) -> list[str] | None:
    """The task ids of a listen request, without repeats; None when it asks for none."""
    params = SubscriptionsListenRequestParams.model_validate(ctx.params or {}, by_name=False)
    ids: Any = (params.notifications.model_extra or {}).get("taskIds")
    if ids is None:
        return None
    if not isinstance(ids, list):
        raise MCPError(code=INVALID_PARAMS, message="taskIds has to be a list of strings.")
    listed = cast("list[Any]", ids)
    if not all(isinstance(one, str) for one in listed):
        raise MCPError(code=INVALID_PARAMS, message="taskIds has to be a list of strings.")
    if len(listed) > TASKS_PER_STREAM:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"{len(listed)} taskIds are too many for one stream; open several, of at most "
            f"{TASKS_PER_STREAM} each.",
        )
    return list(dict.fromkeys(listed))
