"""Facts of the SDK that several processes of one module lean on (`awhile.server`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp.shared.exceptions import MCPError

from tests.interaction.server.peer import serving

pytestmark = pytest.mark.anyio


def test_the_boundary_of_request_states_is_one_of_the_middleware() -> None:
    """`share_request_states` puts one with the shared keys in its place."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")
    assert sum(isinstance(one, RequestStateBoundary) for one in mcp.middleware) == 1


async def test_the_lifespan_can_be_run_without_a_transport() -> None:
    """`work` does: a worker serves nothing."""
    ran: list[str] = []

    @asynccontextmanager
    async def lifespan(server: MCPServer[Any]) -> AsyncGenerator[None]:
        ran.append(server.name)
        yield

    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING", lifespan=lifespan)
    assert mcp.settings.lifespan is not None
    async with mcp.settings.lifespan(mcp):
        assert ran == ["facts"]


async def test_a_protocol_error_of_a_tool_reaches_the_middleware_as_it_is() -> None:
    """`HandedOver` is one: it says, through all of the SDK, that the function would begin now."""

    class Mine(MCPError):
        pass

    caught: list[type[MCPError]] = []

    async def watching(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except MCPError as error:
            caught.append(type(error))
            raise

    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING", middleware=[watching])

    @mcp.tool()
    async def raises() -> str:
        raise Mine(code=-32603, message="begun")

    async with serving(mcp) as peer:
        assert (await peer.call("raises")).error["message"] == "begun"
    assert caught == [Mine]
