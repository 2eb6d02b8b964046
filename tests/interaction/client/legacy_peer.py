"""A 2025-11-25 server that says what a test tells it to, message by message.

For what servers of that era do in the field, and the SDK's own would not. It is a transport.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

Json = dict[str, Any]
Answer = Callable[[Json], Awaitable[Json]]

TASKS: Json = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


def legacy_task(status: str, **members: Any) -> Json:
    """A task of that era, asking to be polled quickly unless the test says otherwise."""
    return {
        "taskId": "old-1",
        "status": status,
        "createdAt": "2026-11-01T10:00:00Z",
        "lastUpdatedAt": "2026-11-01T10:00:01Z",
        "ttl": 60_000,
        "pollInterval": 50,
        **members,
    }


class LegacyPeer:
    """One connection's server. ``on`` answers requests by method; the rest is refused."""

    def __init__(
        self, *, support: str | None = "optional", tasks: Json | None = None, **on: Answer
    ) -> None:
        self.on = {method.replace("__", "/"): answer for method, answer in on.items()}
        self.requests: list[tuple[str, Json]] = []
        self.notified: list[tuple[str, Json]] = []
        self._capabilities: Json = {"tools": {}, "tasks": TASKS if tasks is None else tasks}
        tool: Json = {"name": "work", "inputSchema": {"type": "object"}}
        self._tool = tool | ({"execution": {"taskSupport": support}} if support else {})
        self._ids = itertools.count(1)
        self._replies: dict[Any, tuple[anyio.Event, list[Json]]] = {}

    def count(self, method: str) -> int:
        """How many requests of ``method`` there were."""
        return sum(one == method for one, _ in self.requests)

    async def ask(self, method: str, params: Json) -> Json:
        """A request to the client; its result."""
        number = f"asks-{next(self._ids)}"
        self._replies[number] = (anyio.Event(), [])
        await self._write(JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params))
        answered, got = self._replies[number]
        await answered.wait()
        return got[0]

    async def notify(self, method: str, params: Json) -> None:
        """A notification to the client."""
        await self._write(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))

    async def hang_up(self) -> None:
        """End the connection."""
        await self._outgoing.aclose()

    async def __aenter__(self) -> tuple[Any, Any]:
        self._streams = create_client_server_memory_streams()
        client, (self._incoming, self._outgoing) = await self._streams.__aenter__()
        self._serving = anyio.create_task_group()
        await self._serving.__aenter__()
        self._serving.start_soon(self._serve)
        return client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._serving.cancel_scope.cancel()
        await self._serving.__aexit__(None, None, None)
        await self._streams.__aexit__(None, None, None)

    async def _serve(self) -> None:
        async for item in self._incoming:
            assert not isinstance(item, Exception)
            match item.message:
                case JSONRPCRequest(method=method, params=params, id=number):
                    self.requests.append((method, params or {}))
                    self._serving.start_soon(self._answer, method, params or {}, number)
                case JSONRPCNotification(method=method, params=params):
                    self.notified.append((method, params or {}))
                case JSONRPCResponse(id=number, result=result):
                    answered, got = self._replies[number]
                    got.append(result)
                    answered.set()
                case JSONRPCError(id=number, error=error):
                    answered, got = self._replies[number]
                    got.append({"error": error.message})
                    answered.set()

    async def _answer(self, method: str, params: Json, number: Any) -> None:
        try:
            result = await self._result(method, params)
        except MCPError as no:
            error = ErrorData(code=no.code, message=no.message, data=no.data)
            await self._write(JSONRPCError(jsonrpc="2.0", id=number, error=error))
        else:
            await self._write(JSONRPCResponse(jsonrpc="2.0", id=number, result=result))

    async def _result(self, method: str, params: Json) -> Json:
        if method in self.on:
            return await self.on[method](params)
        if method == "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": self._capabilities,
                "serverInfo": {"name": "legacy", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [self._tool]}
        raise MCPError(code=-32601, message=f"Method not found: {method}")

    async def _write(self, message: Any) -> None:
        await self._outgoing.send(SessionMessage(message))
