"""The code a worker runs for a task that no request of this process started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp_types import ClientCapabilities, InputResponseRequestParams
from starlette.datastructures import Headers

from awhile.runtime.ending import Returned
from awhile.server.endings import ending_of
from awhile.server.outbound import RESOLVER_VERSION, detached_session
from awhile.telemetry import traces
from awhile.wire.v2026_07_28 import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from mcp.server.mcpserver import MCPServer

    from awhile.runtime.ending import Raised
    from awhile.runtime.limits import Limits
    from awhile.runtime.outside import Stop
    from awhile.runtime.run import Run
    from awhile.server.options import ToolOptions
    from awhile.tasks import TaskRecord


UNASKED, CAPABILITIES, HEADERS, ROUNDS = "unasked", "clientCapabilities", "headers", "rounds"

OF_ROUNDS = ("inputResponses", "requestState")
"""What a call brings of the questions that were answered before it (mrtr); the state unsealed."""


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """What is left of a task's HTTP request where only its record is known."""

    headers: Headers


def kept_of_request(
    ctx: ServerRequestContext[Any, Any],
    *,
    can: ClientCapabilities | None,
    unasked: str | None,
    headers: Collection[str],
) -> dict[str, Any]:
    """What a task keeps of its request, for a run without it: what its caller can be asked (or why
    nothing) and has answered already, and the headers its author named."""
    kept: dict[str, Any] = {
        UNASKED: unasked,
        CAPABILITIES: can.model_dump(by_alias=True, mode="json", exclude_none=True) if can else {},
    }
    sent: Mapping[str, str] = getattr(ctx.request, "headers", None) or {}
    if named := {name: sent[name] for name in headers if name in sent}:
        kept[HEADERS] = named
    params = ctx.params or {}
    kept |= traces.carried()
    if rounds := {name: params[name] for name in OF_ROUNDS if params.get(name) is not None}:
        kept[ROUNDS] = rounds
    return kept


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

    def stop(self, tool: str) -> Stop | None:
        """What stops what this tool's bodies started elsewhere."""
        return self._options[tool].stop

    def may_ask(self, record: TaskRecord) -> bool:
        """Whether the task's caller can answer questions of its body."""
        return record.context.get(UNASKED) is None

    def body(self, record: TaskRecord) -> Callable[[Run], Awaitable[Returned | Raised]]:
        """The tool's body with the task's arguments and what was kept of the original request."""

        async def run_it(run: Run) -> Returned | Raised:
            if rounds := record.context.get(ROUNDS):
                params = InputResponseRequestParams.model_validate(rounds, by_name=False)
                ending = await self._call(record, run, PROTOCOL_VERSION, params)
                if not (isinstance(ending, Returned) and ending.inline_only):
                    return ending
                # Its resolvers ask something else since a deploy: as the task, from here on.
            return await self._call(record, run, RESOLVER_VERSION, None)

        return run_it

    async def _call(
        self,
        record: TaskRecord,
        run: Run,
        protocol_version: str,
        answered: InputResponseRequestParams | None,
    ) -> Returned | Raised:
        can = ClientCapabilities.model_validate(record.context.get(CAPABILITIES, {}), by_name=False)
        named = record.context.get(HEADERS)
        headers = None if named is None else Headers(named)
        session = detached_session(
            run,
            protocol_version=protocol_version,
            request_id=record.task_id,
            client_capabilities=can,
            headers=headers,
            unasked=record.context.get(UNASKED),
        )
        request = ServerRequestContext[Any, Any](
            session=session,
            lifespan_context=self._lifespan_state,
            protocol_version=protocol_version,
            method="tools/call",
            params={"name": record.tool, "arguments": dict(record.arguments)},
            request_id=record.task_id,
            request=None if headers is None else KeptRequest(headers),
        )
        context = Context[Any, Any](
            request_context=request, mcp_server=self._server, input_params=answered
        )
        return await ending_of(self._server.call_tool(record.tool, dict(record.arguments), context))
