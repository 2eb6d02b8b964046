"""A server that is served by the SDK's own app: what of ours can be there all the same, and a word.

``MCPServer.run("streamable-http")`` and ``streamable_http_app()`` know nothing of us. Their session
manager does, once the server's lifespan runs: so streams are kept alive there, and clients that
leave are noticed. How the process ends, and who may call it, is decided outside of that.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from awhile.server.direct import Direct
from awhile.server.stream import KeptAlive

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

logger = logging.getLogger(__name__)

_UNWRAPPED = "awhile.unwrapped"
"""The key in the ASGI scope of what came by the SDK's own app."""

_said = False


class _Unwrapped:
    def __init__(self, app: ASGIApp) -> None:
        self._app = KeptAlive(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_UNWRAPPED] = True
        await self._app(scope, receive, send)


def keep_alive(server: MCPServer[Any]) -> None:
    """Wrap the endpoint of a server that `awhile.server.http.http_app` has not wrapped."""
    try:
        manager: Any = server.session_manager
    except RuntimeError:  # served over another transport
        return
    if not isinstance(manager.asgi_app, Direct):
        manager.asgi_app = _Unwrapped(manager.asgi_app)


def tell_once(request: Any) -> None:
    """Warn, once in a process, if a task tool was called by the SDK's own app."""
    global _said
    if _said or not getattr(request, "scope", {}).get(_UNWRAPPED):
        return
    _said = True
    logger.warning(
        "This server is served by the SDK's own app, which lacks what Awhile's has: when the "
        "process ends, calls are cut off (no drain); callers from other machines are not refused; "
        "polls are not answered on the short way. "
        'Instead of mcp.run("streamable-http", port=…), write awhile.serve(mcp, port=…); instead '
        "of mcp.streamable_http_app(), mount awhile.http_app(mcp)."
    )
