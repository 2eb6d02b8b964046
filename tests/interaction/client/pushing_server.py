"""How a scripted server serves ``subscriptions/listen``: well, badly, or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    Notification,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
)

from tests.interaction.client.scripted_server import Script, add_tool

TaskPushed = Notification[dict[str, Any], Literal["notifications/tasks"]]


class Stream:
    """One open listen stream, from the server's side."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self.meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        self.asked: list[str] = (ctx.params or {})["notifications"]["taskIds"]

    async def acknowledge(self, task_ids: list[str], *, meta: dict[str, Any] | None = None) -> None:
        """Say what will be pushed."""
        honored = SubscriptionFilter.model_validate({"taskIds": task_ids})
        params = SubscriptionsAcknowledgedNotificationParams.model_validate(
            {"notifications": honored, "_meta": self.meta if meta is None else meta}
        )
        await self._send(SubscriptionsAcknowledgedNotification(params=params))

    async def push(self, task: dict[str, Any], *, meta: dict[str, Any] | None = None) -> None:
        """A whole task, stamped as on this stream unless ``meta`` says otherwise."""
        stamped = {**task, "_meta": self.meta if meta is None else meta}
        await self._send(TaskPushed(method="notifications/tasks", params=stamped))

    async def _send(self, notification: Any) -> None:
        await self._ctx.session.send_notification(
            notification, related_request_id=self._ctx.request_id
        )


Serve = Callable[[Stream], Awaitable[None]]


class Pushes:
    """Serves each stream as the test says; when that returns, the stream ends gracefully."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.opened: list[float] = []
        self.asked: list[list[str]] = []

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """The middleware."""
        if ctx.method != "subscriptions/listen":
            return await call_next(ctx)
        stream = Stream(ctx)
        self.opened.append(anyio.current_time())
        self.asked.append(stream.asked)
        await self._serve(stream)
        return {"resultType": "complete", "_meta": {SUBSCRIPTION_ID_META_KEY: ctx.request_id}}


def pushing(script: Script, pushes: Pushes) -> MCPServer[Any]:
    """The scripted server, with streams."""
    return add_tool(MCPServer("pushing", extensions=[script], middleware=[pushes]))
