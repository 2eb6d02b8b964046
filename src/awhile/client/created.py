"""Lets a 2025-11-25 ``CreateTaskResult`` through the SDK's client.

The SDK (`mcp` 2.3.0) checks every answer to ``tools/call`` against ``CallToolResult`` and raises
for ``{"task": …}``, whose ``content`` is missing, although the task exists by then. So such an
answer is given an empty ``content`` on its way in. A release of the SDK that takes ``params.task``
removes the need.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp_types import JSONRPCResponse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from types import TracebackType

    from mcp.client import Transport
    from mcp.shared.message import SessionMessage


@asynccontextmanager
async def readable(transport: Transport) -> AsyncGenerator[tuple[Any, Any]]:
    """The same transport, reading results of created tasks as results of calls."""
    async with transport as (incoming, outgoing):
        yield _Reading(incoming), outgoing


class _Reading:
    """A read stream that hands on everything, mending created tasks."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # `last_context` among them

    async def receive(self) -> SessionMessage | Exception:
        return _mended(await self._inner.receive())

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _mended(await self._inner.__anext__())

    async def __aenter__(self) -> _Reading:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, traceback)


def _mended(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = item.message.result
    if isinstance(result.get("task"), dict):
        result.setdefault("content", [])
    return item


__all__ = ["readable"]
