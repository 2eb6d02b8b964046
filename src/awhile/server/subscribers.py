"""What a server's author publishes, for clients of the eras with a handshake.

Source: 2025-11-25 ``server/resources``, ``server/tools`` and ``server/prompts``: a list that has
changed is told to every session that was promised it, and a resource to those that subscribed. In
2026-07-28 both are for listen streams alone (`awhile.server.listen`). The SDK serves neither here,
and shows a connection's end to whoever has the connection.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from anyio.abc import TaskGroup
    from mcp.server.connection import Connection
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.subscriptions import SubscriptionBus

RESOURCES_PER_SESSION = 1000
"""How many resources one session may subscribe to (source: ours)."""

TELL_SECONDS = 10.0
"""How long a client that does not read may hold up its own news; the news is dropped then."""

LISTS: Mapping[type[ServerEvent], str] = {
    ToolsListChanged: "tools",
    PromptsListChanged: "prompts",
    ResourcesListChanged: "resources",
}


@dataclass(eq=False)
class _Session:
    connection: Connection
    lists: frozenset[str]
    """Of what the handshake promised news."""
    uris: set[str] = field(default_factory=set[str])
    pending: dict[ServerEvent, None] = field(default_factory=dict[ServerEvent, None])
    """Events say "changed since you looked", so each is pending once at most."""
    is_told: bool = False

    def wants(self, event: ServerEvent) -> bool:
        if isinstance(event, ResourceUpdated):
            return event.uri in self.uris
        return LISTS[type(event)] in self.lists


class Subscribers:
    """The sessions of one server that are told what is published.

    ``bus``: where events come from; None: nothing is promised and nothing told.
    """

    def __init__(self, bus: SubscriptionBus | None) -> None:
        self._bus = bus
        self._sessions: dict[Connection, _Session] = {}
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Tell sessions while the block runs."""
        if self._bus is None:
            yield
            return
        async with anyio.create_task_group() as self._group:
            unsubscribe = self._bus.subscribe(self._offer)
            try:
                yield
            finally:
                unsubscribe()
                self._group.cancel_scope.cancel()

    def promised(
        self, ctx: ServerRequestContext[Any, Any], capabilities: dict[str, Any]
    ) -> dict[str, Any]:
        """The capabilities of a handshake, with the news that will come on its connection."""
        connection = _connection(ctx)
        if self._bus is None or not connection.has_standalone_channel:
            return capabilities
        lists = frozenset(name for name in LISTS.values() if name in capabilities)
        self._sessions[connection] = _Session(connection, lists)
        connection.exit_stack.callback(self._sessions.pop, connection, None)
        told = {name: {**capabilities[name], "listChanged": True} for name in lists}
        if "resources" in told:
            told["resources"]["subscribe"] = True
        return {**capabilities, **told}

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """``resources/subscribe``. A resource that is not there may come to be.

        Raises:
            MCPError: -32602 without a URI, or for one too many.
        """
        session = self._sessions.get(_connection(ctx))
        if session is None:
            return await call_next(ctx)  # which says that there is no such method
        uri = _uri(ctx)
        if len(session.uris) >= RESOURCES_PER_SESSION and uri not in session.uris:
            raise MCPError(
                code=INVALID_PARAMS,
                message=(
                    f"{RESOURCES_PER_SESSION} resources are subscribed to here already, which is "
                    "as many as may be. Send resources/unsubscribe for one first."
                ),
            )
        session.uris.add(uri)
        return {}

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """``resources/unsubscribe``."""
        session = self._sessions.get(_connection(ctx))
        if session is None:
            return await call_next(ctx)
        session.uris.discard(_uri(ctx))
        return {}

    def _offer(self, event: ServerEvent) -> None:
        for session in self._sessions.values():
            if self._group is None or not session.wants(event):
                continue
            if not session.connection.initialized.is_set():
                continue  # it has not looked at anything yet
            session.pending[event] = None
            if not session.is_told:
                session.is_told = True
                self._group.start_soon(self._tell, session)

    async def _tell(self, session: _Session) -> None:
        while session.pending:
            event = next(iter(session.pending))
            del session.pending[event]
            with anyio.move_on_after(TELL_SECONDS):
                await session.connection.notify(*_written(event))
        session.is_told = False


def _written(event: ServerEvent) -> tuple[str, dict[str, Any] | None]:
    if isinstance(event, ResourceUpdated):
        return "notifications/resources/updated", {"uri": event.uri}
    return f"notifications/{LISTS[type(event)]}/list_changed", None


def _uri(ctx: ServerRequestContext[Any, Any]) -> str:
    uri: object = (ctx.params or {}).get("uri")
    if not isinstance(uri, str) or not uri:
        raise MCPError(code=INVALID_PARAMS, message="uri has to be the URI of a resource.")
    return uri


def _connection(ctx: ServerRequestContext[Any, Any]) -> Connection:
    # The SDK (`mcp` 2.3.0) gives a handler no other way to its connection (contract test).
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]
