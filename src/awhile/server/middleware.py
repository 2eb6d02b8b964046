"""What the SDK's closed extension surface cannot do, in the one place that may use its middleware.

The SDK calls that surface provisional; every fact used here is a test in ``tests/contract/sdk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from awhile.server import listen

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from awhile.server.calls import Calls


class TasksMiddleware:
    """Serves ``taskIds`` on listen streams, which the SDK's own handler drops."""

    def __init__(self, calls: Calls) -> None:
        self._listening = listen.Listening(calls)

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Pass everything on that is not ours."""
        if ctx.method == listen.METHOD and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await self._listening.serve(ctx, call_next)
        return await call_next(ctx)
