"""What the SDK's client (`mcp` 2.3.0) does not do, done on the transport under it.

It checks every answer to ``tools/call`` against ``CallToolResult`` and raises for a 2025-11-25
``{"task": …}``, whose ``content`` is missing, although the task exists by then: so such an answer
is given an empty ``content`` on its way in. And it does not say under which id a request goes out,
although all that comes on a ``subscriptions/listen`` stream bears the id of its request: so that is
told here. A release of the SDK that takes ``params.task`` and listens for tasks removes the need.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp_types import JSONRPCRequest, JSONRPCResponse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from types import TracebackType

    from mcp.client import Transport
    from mcp.shared.message import SessionMessage
    from mcp_types import RequestId

Told = tuple[str, "Callable[[RequestId], None]"]

_TOLD: ContextVar[Told | None] = ContextVar("awhile_told", default=None)
"""Who wants to know the id of a request of which method. Set in the task that sends it, and a write
is awaited by that task; what is sent meanwhile to connect is told apart by the method."""


@contextmanager
def telling_id(method: str, tell: Callable[[RequestId], None]) -> Generator[None]:
    """Call ``tell`` with the id of the request of ``method`` sent in here, before it is on its way.

    A server in this very process has no transport, so of a request to it nothing is told.
    """
    before = _TOLD.set((method, tell))
    try:
        yield
    finally:
        _TOLD.reset(before)


@asynccontextmanager
async def mended(transport: Transport) -> AsyncGenerator[tuple[Any, Any]]:
    """The same transport, with both done on it."""
    async with transport as (incoming, outgoing):
        yield _Reading(incoming), _Writing(outgoing)


class _Stream:
    """One of a transport's two streams, handed on as it is."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # `last_context` among them

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, traceback)


class _Reading(_Stream):
    """Mends created tasks."""

    async def receive(self) -> SessionMessage | Exception:
        return _with_content(await self._inner.receive())

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _with_content(await self._inner.__anext__())


class _Writing(_Stream):
    """Tells the ids of requests."""

    async def send(self, item: SessionMessage) -> None:
        message, told = item.message, _TOLD.get()
        if told is not None and isinstance(message, JSONRPCRequest) and message.method == told[0]:
            told[1](message.id)
        await self._inner.send(item)


def _with_content(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = item.message.result
    if isinstance(result.get("task"), dict):
        result.setdefault("content", [])
    return item


__all__ = ["mended", "telling_id"]
