"""Serving an MCPServer over Streamable HTTP: an app to mount, or a port until told to stop."""

from __future__ import annotations

import logging
from functools import partial
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from sse_starlette.sse import AppStatus

from awhile.errors import SettingsError
from awhile.identity.urls import on_this_machine
from awhile.listening import listening_on, url_of
from awhile.server import collector, event_loop
from awhile.server.health import health_routes
from awhile.server.signals import Told
from awhile.server.stream import KEEPALIVE_SECONDS, KeptAlive, check_keepalive
from awhile.server.tasks import Tasks

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType

    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette

    from awhile.server.authenticating import Authentication

logger = logging.getLogger(__name__)

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
    tasks = Tasks.of(server)
    if tasks is not None:
        # The manager calls this for each request, inside of the authentication (`test_direct.py`).
        manager: Any = server.session_manager
        manager.asgi_app = tasks.direct(manager.asgi_app, server)
    app.add_middleware(
        KeptAlive,
        keepalive_seconds=keepalive_seconds,
        answering=None if tasks is None else tasks.answering,
    )
    return app


def close_streams(server: MCPServer[Any]) -> None:
    """End every open listen stream with its result, because the process is about to end.

    An open stream keeps an HTTP server from stopping. `serve_http` does this by itself; where you
    run your own, call it when the stop is asked: the lifespan's end comes too late.
    """
    tasks = Tasks.of(server)
    if tasks is not None:
        tasks.close_streams()


async def serve_http(
    server: MCPServer[Any],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    or_free: bool = False,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
    drains: bool = True,
    authentication: Authentication | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM, or cancelled; ``on_ready`` gets the URL once it takes calls.

    Each of the three ends it in order: what runs is stopped and handed back, open streams and calls
    get their answers, and then the socket is closed. A second signal ends the process at once.
    Beside the endpoint, ``/healthz`` and ``/readyz`` say whether the process lives and is ready
    (200), or not (503).

    Args:
        server: what to serve.
        host: the address to listen on. Callers are anonymous without authentication, so it has to
            be a loopback address unless the server verifies tokens.
        port: the port; 0 takes a free one.
        or_free: whether a free one will do where that is taken.
        keepalive_seconds: how long a stream may be quiet before a comment is sent; less than the
            idle limit of any proxy in between.
        drains: whether SIGTERM lets what runs end first, for ``drain_seconds`` (`Tasks.drain`).
        authentication: by whose tokens ``server`` lets callers in, if it was built with its options
            (`awhile.server.authenticating`): it is then known by its public name, too.
        on_ready: called with the endpoint's URL.

    Raises:
        SettingsError: anonymous callers would come from other machines, or the port is taken.
    """
    options: dict[str, Any] = {}
    if authentication is not None:
        options["transport_security"] = authentication.transport_security()
    app = http_app(server, host=host, keepalive_seconds=keepalive_seconds, **options)
    if authentication is not None:
        authentication.around(app)
    tasks = Tasks.of(server)
    app.router.routes.extend(health_routes(_always if tasks is None else tasks.ready))
    with listening_on(host, port, or_free=or_free) as listening:
        config = uvicorn.Config(
            app, log_level="warning", log_config=None, timeout_graceful_shutdown=GRACEFUL_SECONDS
        )
        serving = _Serving(config, server, on_ready, f"{url_of(listening)}{PATH}", drains=drains)
        try:
            await serving.serve_in_order(listening)
        finally:
            # After a signal sse_starlette ends every later stream of the process at once (3.x).
            AppStatus.should_exit = False


def serve(
    server: MCPServer[Any],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
) -> None:
    """Serve until SIGINT or SIGTERM: `serve_http` for a program that does nothing else.

    In place of ``server.run("streamable-http", port=8000)``, with the same URL.

    Args:
        server: what to serve.
        host: the address to listen on; see `serve_http`.
        port: the port; 0 takes a free one.
        keepalive_seconds: how long a stream may be quiet before a comment is sent.

    Raises:
        SettingsError: anonymous callers would come from other machines, or the port is taken.
    """

    def ready(url: str) -> None:
        collector.settle()
        logger.info("Serving %r at %s", server.name, url)

    serving = partial(
        serve_http,
        server,
        host=host,
        port=port,
        keepalive_seconds=keepalive_seconds,
        on_ready=ready,
    )
    try:
        event_loop.run(serving)
    except KeyboardInterrupt:  # it has ended in order by then
        pass
    except SettingsError as refused:
        # Its words are for whoever starts the program; the way here, for nobody.
        raise refused.with_traceback(None) from None


async def _always() -> bool:
    return True


class _Serving(uvicorn.Server):
    """A uvicorn server that says when it is ready, and ends listen streams before it waits."""

    def __init__(
        self,
        config: uvicorn.Config,
        server: MCPServer[Any],
        on_ready: Callable[[str], None] | None,
        url: str,
        *,
        drains: bool,
    ) -> None:
        super().__init__(config)
        self._told = Told()
        self._drains = drains
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
            beside.start_soon(self._end_when_told)
            try:
                await anyio.sleep_forever()
            finally:
                self.should_exit = True
        if failure is not None:
            raise failure

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._told.take(sig, frame)

    async def _end_when_told(self) -> None:
        sig = await self._told.wait()
        tasks = Tasks.of(self._server)
        try:
            if tasks is not None:
                if self._drains and sig == SIGTERM:
                    await tasks.drain()
                await tasks.conclude()
        finally:
            # Only now: once this is called, sse_starlette ends every stream within half a second.
            super().handle_exit(sig, None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        tasks = Tasks.of(self._server)
        if tasks is not None:  # after a signal, it has been done
            await tasks.conclude()
        await super().shutdown(sockets)


def refuse_strangers(host: str, *, authenticated: bool) -> None:
    """Refuse to listen where anonymous callers could come from other machines.

    Raises:
        SettingsError: ``host`` is no loopback address and callers are not authenticated.
    """
    if not authenticated and not on_this_machine(host):
        raise SettingsError(
            f"host is {host!r} and the server has no authentication: anybody who reaches that "
            "address could read and stop every task. Listen on 127.0.0.1, or configure a token "
            "verifier."
        )
