"""Our server as a client of 2025-11-25 meets it: the same URL, with the newer handshake refused."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def older(url: str) -> AsyncGenerator[tuple[Any, Any]]:
    """A transport to ``url`` on which ``server/discover`` is not found."""
    to_client, incoming = anyio.create_memory_object_stream[Any](100)
    outgoing, from_client = anyio.create_memory_object_stream[Any](100)

    async def answer(write: Any) -> None:
        async for item in from_client:
            message = item.message
            if isinstance(message, JSONRPCRequest) and message.method == "server/discover":
                error = ErrorData(code=-32601, message="Method not found")
                refusal = JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                await to_client.send(SessionMessage(refusal))
            else:
                await write.send(item)

    async def hand_on(read: Any) -> None:
        async for item in read:
            await to_client.send(item)

    async with (
        streamable_http_client(url) as (read, write),
        anyio.create_task_group() as both,
        to_client,
        incoming,
        outgoing,
        from_client,
    ):
        both.start_soon(answer, write)
        both.start_soon(hand_on, read)
        yield incoming, outgoing
        both.cancel_scope.cancel()
