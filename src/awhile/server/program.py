"""The code a worker runs for a task that no request of this process started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import ClientCapabilities

from awhile.server.endings import ending_of
from awhile.server.outbound import RESOLVER_VERSION, detached_session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.mcpserver import MCPServer

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.limits import Limits
    from awhile.runtime.run import Run
    from awhile.server.options import ToolOptions
    from awhile.tasks import TaskRecord


MAY_ASK, CAPABILITIES = "mayAsk", "clientCapabilities"


def kept_of_request(ctx: ServerRequestContext[Any, Any], *, may_ask: bool) -> dict[str, Any]:
    """What a task keeps of its request, for a run without it: what its caller can be asked."""
    can = ctx.session.client_capabilities
    return {
        MAY_ASK: may_ask,
        CAPABILITIES: can.model_dump(by_alias=True, mode="json", exclude_none=True) if can else {},
    }


class ServerProgram:
    """The task tools of one MCPServer, as a worker runs them."""

    def __init__(
        self, server: MCPServer[Any], tools: Mapping[str, ToolOptions], lifespan_state: Any
    ) -> None:
        self._server = server
        self._options = tools
        self._lifespan_state = lifespan_state

    @property
    def tools(self) -> frozenset[str]:
        """The names of the task tools."""
        return frozenset(self._options)

    def limits(self, tool: str) -> Limits:
        """How long this tool's work may take."""
        return self._options[tool].limits

    def may_ask(self, record: TaskRecord) -> bool:
        """Whether the task's caller can answer questions of its body."""
        return record.context.get(MAY_ASK) is True

    def body(self, record: TaskRecord) -> Callable[[Run], Awaitable[Returned | Raised]]:
        """The tool's body with the task's arguments and nothing of the original request."""

        async def run_it(run: Run) -> Returned | Raised:
            can = ClientCapabilities.model_validate(
                record.context.get(CAPABILITIES, {}), by_name=False
            )
            session = detached_session(
                run,
                protocol_version=RESOLVER_VERSION,
                request_id=record.task_id,
                client_capabilities=can,
            )
            params = {"name": record.tool, "arguments": dict(record.arguments)}
            request = ServerRequestContext[Any, Any](
                session=session,
                lifespan_context=self._lifespan_state,
                protocol_version=RESOLVER_VERSION,
                method="tools/call",
                params=params,
                request_id=record.task_id,
            )
            context = Context[Any, Any](request_context=request, mcp_server=self._server)
            return await ending_of(
                self._server.call_tool(record.tool, dict(record.arguments), context)
            )

        return run_it
