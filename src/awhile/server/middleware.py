"""What the SDK's closed extension surface cannot do, in the one place that may use its middleware.

The SDK calls that surface provisional; every fact used here is a test in ``tests/contract/sdk``.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from awhile.server import listen
from awhile.server.audit import audited
from awhile.server.endings import server_stopped
from awhile.server.principal import can_be_told_apart
from awhile.wire.v2025_11_25 import PROTOCOL_VERSION, capability

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from awhile.server.calls import Calls
    from awhile.server.subscribers import Subscribers
    from awhile.server.tasks import Tasks

    Serve = Callable[[ServerRequestContext[Any, Any], CallNext], Awaitable[HandlerResult]]

creating: contextvars.ContextVar[list[dict[str, Any]] | None] = contextvars.ContextVar(
    "awhile_creating", default=None
)
"""Set for a call that asks to become a task; the interceptor puts the ``CreateTaskResult`` in. The
SDK would refuse that as the result of ``tools/call`` (contract test)."""


class TasksMiddleware:
    """Rewrites what of both eras only a middleware can."""

    def __init__(
        self, calls: Calls, listening: listen.Listening, subscribers: Subscribers, tasks: Tasks
    ) -> None:
        self.listening = listening
        self.tasks = tasks
        self._calls = calls
        self._subscribers = subscribers
        self._serve: Mapping[tuple[str, str], Serve] = {
            **dict.fromkeys(
                ((listen.METHOD, version) for version in MODERN_PROTOCOL_VERSIONS), listening.serve
            ),
            **dict.fromkeys(
                (("resources/subscribe", version) for version in HANDSHAKE_PROTOCOL_VERSIONS),
                subscribers.subscribe,
            ),
            **dict.fromkeys(
                (("resources/unsubscribe", version) for version in HANDSHAKE_PROTOCOL_VERSIONS),
                subscribers.unsubscribe,
            ),
            ("tools/list", PROTOCOL_VERSION): self._with_task_support,
            ("tools/call", PROTOCOL_VERSION): self._as_task,
        }

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Pass everything on that is not ours."""
        if ctx.method == "initialize":  # which version it will be, only its result says
            return await self._with_capabilities(ctx, call_next)
        serve = self._serve.get((ctx.method, ctx.protocol_version))
        answer = call_next(ctx) if serve is None else serve(ctx, call_next)
        with anyio.CancelScope() as waiting, self._calls.closing.cut.cuts(waiting):
            return await audited(ctx, self._calls.principal, answer)
        raise server_stopped()

    async def _with_capabilities(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        result = cast("dict[str, Any]", await call_next(ctx))
        capabilities = self._subscribers.promised(ctx, result["capabilities"])
        if result["protocolVersion"] == PROTOCOL_VERSION:
            lists = can_be_told_apart(ctx, self._calls.principal(ctx))
            capabilities = {**capabilities, "tasks": capability(lists=lists)}
        return {**result, "capabilities": capabilities}

    async def _with_task_support(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        result = cast("dict[str, Any]", await call_next(ctx))
        return {**result, "tools": [self._supported(tool) for tool in result["tools"]]}

    def _supported(self, tool: dict[str, Any]) -> dict[str, Any]:
        options = self._calls.options(tool["name"])
        if options is None:
            return tool
        execution = {**tool.get("execution", {}), "taskSupport": options.task_support}
        return {**tool, "execution": execution}

    async def _as_task(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if (ctx.params or {}).get("task") is None:
            return await call_next(ctx)
        made: list[dict[str, Any]] = []
        token = creating.set(made)
        try:
            result = await call_next(ctx)
        finally:
            creating.reset(token)
        return made[0] if made else result
