"""Tasks on the official SDK, as one extension: which method each era has, and who serves it.

An era is a key in these tables. The SDK takes one handler a method, and refuses a method at every
version that its table lacks (-32601).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mcp.server.extension import Extension, MethodBinding, ToolBinding
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult, RequestParams, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from awhile.errors import StoreError
from awhile.server.companions import companions
from awhile.server.middleware import creating
from awhile.server.pace import paced
from awhile.server.params import ListParams, TaskParams, UpdateParams, refuse_unkept
from awhile.server.unwrapped import tell_once
from awhile.server.v2026 import Era2026
from awhile.wire import v2025_11_25, v2026_07_28
from awhile.wire.faults import faults

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.server.calls import Calls
    from awhile.server.pace import Pace
    from awhile.server.v2025 import Era2025

    Handler = Callable[[ServerRequestContext[Any, Any], Any], Awaitable[HandlerResult]]

logger = logging.getLogger(__name__)


class TasksExtension(Extension):
    """Adds the ``tasks/*`` methods of both eras, and decides on ``tools/call``."""

    identifier = v2026_07_28.EXTENSION_ID

    def __init__(self, calls: Calls, legacy: Era2025, pace: Pace) -> None:
        modern = Era2026(calls)
        new, old = v2026_07_28.PROTOCOL_VERSION, v2025_11_25.PROTOCOL_VERSION
        self._calls = calls
        self._legacy = legacy
        self._methods: Mapping[str, tuple[type[RequestParams], Mapping[str, Handler]]] = {
            "tasks/get": (
                TaskParams,
                {
                    new: paced(modern.get, pace, calls.principal),
                    old: paced(legacy.get, pace, calls.principal),
                },
            ),
            "tasks/update": (UpdateParams, {new: modern.update}),
            "tasks/cancel": (TaskParams, {new: modern.cancel, old: legacy.cancel}),
            "tasks/list": (ListParams, {old: legacy.list}),
            "tasks/result": (TaskParams, {old: legacy.result}),
        }
        self._tools = companions(calls) if calls.waiting.companion_tools else ()
        self._arguments = {
            one.fn.__name__: func_metadata(one.fn, skip_names=["ctx"]) for one in self._tools
        }
        self._server_decides = dict.fromkeys(MODERN_PROTOCOL_VERSIONS, modern.call)

    def tools(self) -> Sequence[ToolBinding]:
        """The companions of the task tools, for hosts without task support."""
        return self._tools

    def methods(self) -> Sequence[MethodBinding]:
        """The request methods, each at the versions that have it."""
        return [
            MethodBinding(method, RequestParams, _by_version(params, handlers), frozenset(handlers))
            for method, (params, handlers) in self._methods.items()
        ]

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """Answer ``tools/call`` inline or by a task; other tools pass through untouched."""
        options = self._calls.options(params.name)
        made = creating.get()
        if made is not None:
            with _Discreet():
                made.append(await self._legacy.create(options, params, ctx, call_next))
            return CallToolResult(content=[])  # the middleware puts the task in its place
        if options is None:
            wrong = self._wrong(params)
            return await call_next(ctx) if wrong is None else wrong
        tell_once(ctx.request)
        refuse_unkept(params.arguments)
        refuse_unkept((ctx.params or {}).get("inputResponses"))
        call = self._server_decides.get(ctx.protocol_version, self._legacy.call)
        with _Discreet():
            return await call(options, params, ctx, call_next)

    def _wrong(self, params: CallToolRequestParams) -> CallToolResult | None:
        """The answer to a companion's call whose arguments it cannot take, for a model to read.

        The SDK would say it in pydantic's lines for programmers.
        """
        takes = self._arguments.get(params.name)
        if takes is None:
            return None
        try:
            takes.validate_arguments(params.arguments or {})
        except ValidationError as broken:
            words = f"The arguments of {params.name} are wrong ({faults(broken)}). Correct them."
            return CallToolResult(content=[TextContent(text=words)], is_error=True)
        return None


def _by_version(params_type: type[RequestParams], handlers: Mapping[str, Handler]) -> Handler:
    async def handle(ctx: ServerRequestContext[Any, Any], _any: RequestParams) -> HandlerResult:
        # Read only here: the SDK would read them before it looks whether the version has the
        # method, and answer -32602 where -32601 is due.
        params = params_type.model_validate(ctx.params or {}, by_name=False)
        with _Discreet():
            return await handlers[ctx.protocol_version](ctx, params)

    return handle


class _Discreet:
    """Keeps what went wrong in here out of the answer, and in the log: in 2025-11-25 the SDK would
    send an exception's own text (contract test: a crashing legacy handler)."""

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, StoreError):  # ours, and written for whoever has to act on it
            logger.error("The store failed.", exc_info=error)
            raise MCPError(
                code=INTERNAL_ERROR, message=str(error), data={"reason": "store"}
            ) from None
        if isinstance(error, Exception) and not isinstance(error, MCPError):
            logger.error("A task method failed.", exc_info=error)
            raise MCPError(
                code=INTERNAL_ERROR, message="The server failed while answering; its log says why."
            ) from None
