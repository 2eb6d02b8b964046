"""Routes of one's own beside the MCP endpoint, behind the very gates of its requests.

The SDK (`mcp` 2.3.0) has routes of one's own, and lets everybody use them: its check of the host
and the origin, of the token and its scopes stands inside of its endpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.mcpserver import MCPServer
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["add_route", "owned"]


def add_route(
    server: MCPServer[Any], path: str, handler: Callable[[Request], Awaitable[Response]]
) -> None:
    """Answer GET requests for a path of the app that the server is served as (source: ours).

    Whom the endpoint would refuse is refused in the same words; inside of the handler,
    `awhile.server.principal.caller` knows who is calling. It is cancelled when its client leaves.
    """

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        security = TransportSecurityMiddleware(server.session_manager.security_settings)
        answer = await security.validate_request(request)
        answer = answer or await _while_there(handler, request, receive)
        if answer is not None:
            await answer(scope, receive, send)

    @server.custom_route(path, methods=["GET"])
    async def gated(_: Request) -> Any:
        # Starlette calls what a handler returns as an app, which a response is.
        return _gate(server, endpoint)


async def _while_there(
    handler: Callable[[Request], Awaitable[Response]], request: Request, receive: Receive
) -> Response | None:
    """The handler's answer, or None where nobody is there to get it."""
    answer: Response | None = None
    failure: Exception | None = None
    async with anyio.create_task_group() as beside:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            beside.cancel_scope.cancel()

        beside.start_soon(watch)
        try:
            answer = await handler(request)
        except Exception as error:  # noqa: BLE001 - raised below, not as a group of one
            failure = error
        beside.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return answer


async def owned(tasks: Tasks, owner: str, task_id: str) -> TaskRecord | None:
    """The task, if it is that owner's; None otherwise."""
    record = await tasks.store.get(task_id)
    return None if record is None or record.owner != owner else record


def _gate(server: MCPServer[Any], app: ASGIApp) -> ASGIApp:
    auth = server.settings.auth
    if auth is None:
        return app
    url = auth.resource_server_url
    described = None if url is None else build_resource_metadata_url(url)
    return RequireAuthMiddleware(app, auth.required_scopes or [], described)
