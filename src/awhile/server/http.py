"""Serving an MCPServer over Streamable HTTP: an app to mount, or a port until told to stop."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from sse_starlette.sse import AppStatus

from awhile.errors import SettingsError
from awhile.server.middleware import TasksMiddleware
from awhile.server.principal import is_loopback
from awhile.server.stream import KEEPALIVE_SECONDS, KeptAlive, check_keepalive

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette

PATH = "/mcp"
"""Where the endpoint is."""

GRACEFUL_SECONDS = 2
"""How long open streams may hold up a stop: uvicorn would wait for them for ever otherwise."""


def http_app(
    server: MCPServer[Any],
    *,
    path: str = PATH,
    host: str = "127.0.0.1",
    keepalive_seconds: float = KEEPALIVE_SECONDS,
    **options: Any,
) -> Starlette:
    """The server as an app, to be served by any ASGI server or mounted in Starlette or FastAPI.

    It differs from ``server.streamable_http_app()`` in that no stream of it stays quiet (see
    `awhile.server.stream`). A mounted app's lifespan is run by nobody, so run the server's own in
    that of the app around it::

        tools = http_app(mcp, path="/")

        @asynccontextmanager
        async def lifespan(app):
            async with mcp.session_manager.run():
                yield

        app = Starlette(routes=[Mount("/mcp", tools)], lifespan=lifespan)

    Args:
        server: what to serve.
        path: where the endpoint is, inside of what the app is mounted under.
        host: the address that is listened on. Callers are anonymous without authentication, so it
            has to be a loopback address unless the server verifies tokens.
        keepalive_seconds: how long a stream may be quiet before a comment is sent; less than the
            idle limit of any proxy in between.
        options: further ones of ``MCPServer.streamable_http_app``.

    Raises:
        SettingsError: anonymous callers would come from other machines, or an option cannot work.
    """
    refuse_strangers(host, authenticated=server.settings.auth is not None)
    check_keepalive(keepalive_seconds)
    app = server.streamable_http_app(streamable_http_path=path, host=host, **options)
    app.add_middleware(KeptAlive, keepalive_seconds=keepalive_seconds)
    return app


def close_streams(server: MCPServer[Any]) -> None:
    """End every open listen stream with its result, because the process is about to end.

    An open stream keeps an HTTP server from stopping. `serve_http` does this by itself; where you
    run your own, call it when the stop is asked: the lifespan's end comes too late.
    """
    for one in server.middleware:
        if isinstance(one, TasksMiddleware):
            one.listening.close()


async def serve_http(
    server: MCPServer[Any],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM, or cancelled; ``on_ready`` gets the URL once it takes calls.

    Each of the three ends it in order: open streams with their results, then the socket.

    Args:
        server: what to serve.
        host: the address to listen on. Callers are anonymous without authentication, so it has to
            be a loopback address unless the server verifies tokens.
        port: the port; 0 takes a free one.
        keepalive_seconds: how long a stream may be quiet before a comment is sent; less than the
            idle limit of any proxy in between.
        on_ready: called with the endpoint's URL.

    Raises:
        SettingsError: anonymous callers would come from other machines, or the port is taken.
    """
    app = http_app(server, host=host, keepalive_seconds=keepalive_seconds)
    # The protocol is named because asyncio sets TCP_NODELAY only where it sees TCP: without, every
    # small answer waited for the peer's delayed acknowledgement (50 ms instead of 2 ms, measured).
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"{host}:{port} cannot be listened on: {error.strerror}. Choose another port, or stop "
            "what uses this one."
        ) from error
    bound = listening.getsockname()[1]
    config = uvicorn.Config(
        app,
        log_level="warning",
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    shown = f"[{host}]" if ":" in host else host
    serving = _Serving(config, server, on_ready, f"http://{shown}:{bound}{PATH}")
    try:
        await serving.serve_in_order(listening)
    finally:
        listening.close()
        # After a signal sse_starlette ends every later stream of the process at once (3.x).
        AppStatus.should_exit = False


class _Serving(uvicorn.Server):
    """A uvicorn server that says when it is ready, and ends listen streams before it waits."""

    def __init__(
        self,
        config: uvicorn.Config,
        server: MCPServer[Any],
        on_ready: Callable[[str], None] | None,
        url: str,
    ) -> None:
        super().__init__(config)
        self._server = server
        self._on_ready = on_ready
        self._url = url

    async def serve_in_order(self, listening: socket.socket) -> None:
        """Serve until a signal comes or this is cancelled, and stop in order either way.

        Cancelled itself, uvicorn (0.54) leaves its socket in the event loop: the next server to get
        the same descriptor hears nothing (measured).
        """
        failure: BaseException | None = None

        async def serve() -> None:
            nonlocal failure
            try:
                with anyio.CancelScope(shield=True):
                    await self.serve(sockets=[listening])
            except BaseException as error:  # noqa: BLE001 - raised below, not as a group of one
                failure = error
            beside.cancel_scope.cancel()

        async with anyio.create_task_group() as beside:
            beside.start_soon(serve)
            try:
                await anyio.sleep_forever()
            finally:
                self.should_exit = True
        if failure is not None:
            raise failure

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        close_streams(self._server)
        await super().shutdown(sockets)


def refuse_strangers(host: str, *, authenticated: bool) -> None:
    """Refuse to listen where anonymous callers could come from other machines.

    Raises:
        SettingsError: ``host`` is no loopback address and callers are not authenticated.
    """
    if not authenticated and not is_loopback(host):
        raise SettingsError(
            f"host is {host!r} and the server has no authentication: anybody who reaches that "
            "address could read and stop every task. Listen on 127.0.0.1, or configure a token "
            "verifier."
        )
