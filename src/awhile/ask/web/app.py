"""The page backend as one ASGI application: the built page, and an MCP client behind it."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from awhile.ask.web.api import Api
from awhile.ask.web.board import Board
from awhile.ask.web.files import Files
from awhile.ask.web.follow import Follower
from awhile.ask.web.guard import LOOPBACK_NAMES, Guard
from awhile.ask.web.presence import Presence
from awhile.client import connect
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
SHORTEST_TOKEN = 16
SHUTDOWN_SECONDS = 2
"""An open event stream would hold up a shutdown for ever (not exited after 10 s, measured)."""


def create_app(mcp_url: str, token: str) -> Starlette:
    """The page for the MCP server at ``mcp_url``, for whoever opens ``/?token=<token>``.

    The server need not be up: the page says that it is away, and goes on when it comes.

    Raises:
        SettingsError: the token could be guessed.
    """
    if len(token) < SHORTEST_TOKEN:
        raise SettingsError(
            f"The page's token has {len(token)} characters, so it could be guessed; give at least "
            f"{SHORTEST_TOKEN}, such as those of secrets.token_urlsafe()."
        )
    board = Board()
    presence = Presence()
    files = Files(mcp_url)
    follower = Follower(board, connect(mcp_url, ledger=None), presence)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with files, anyio.create_task_group() as tasks:
            await tasks.start(follower.run)
            yield
            tasks.cancel_scope.cancel()

    return Starlette(
        routes=[
            Route("/", _page, methods=["GET"]),
            Route("/sql", _page, methods=["GET"]),
            Route("/t/{run_id}", _page, methods=["GET"]),
            Mount("/api", routes=[*Api(board, follower, presence).routes(), *files.routes()]),
            Mount("/assets", _Assets(directory=STATIC / "assets", check_dir=False)),
            Route("/icon.svg", _icon, methods=["GET"]),
        ],
        middleware=[Middleware(Guard, token=token)],
        lifespan=lifespan,
    )


async def serve_page(
    mcp_url: str,
    token: str,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the page until cancelled, or until SIGINT or SIGTERM.

    Args:
        mcp_url: the MCP server; it need not be up.
        token: the secret of the start URL.
        host: a loopback address.
        port: the port; 0 takes a free one.
        on_ready: called with the start URL, token and all, once the page can be opened.

    Raises:
        SettingsError: other computers could open the page, the token could be guessed, or the
            port is taken.
    """
    if host not in LOOPBACK_NAMES:
        raise SettingsError(
            f"host={host!r} would let other computers open the page, which has one user and no "
            "sign-in; use '127.0.0.1'."
        )
    config = uvicorn.Config(
        create_app(mcp_url, token),
        access_log=False,  # it would write down the token of the start URL
        log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with _listening(host, port) as taken:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{taken.getsockname()[1]}/?token={token}"
        await _Announcing(config, url, on_ready).serve(sockets=[taken])


def _listening(host: str, port: int) -> socket.socket:
    # Named TCP, because asyncio sets TCP_NODELAY only where it sees that: answers came 45 ms late.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        raise SettingsError(
            f"{host}:{port} cannot be listened on: {error.strerror}. Choose another port, or stop "
            "what uses this one."
        ) from error
    return taken


class _Announcing(uvicorn.Server):
    """Says when the page can be opened."""

    def __init__(
        self, config: uvicorn.Config, url: str, on_ready: Callable[[str], None] | None
    ) -> None:
        super().__init__(config)
        self._url, self._on_ready = url, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self._url)


class _Assets(StaticFiles):
    """Built files carry their hash in their name, so a browser may keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "private, max-age=31536000, immutable"
        return response


async def _page(request: Request) -> Response:
    page = STATIC / "index.html"
    if not page.exists():
        return PlainTextResponse(
            f"The page is not built: {str(page)!r} is missing. Run `make page`, or install a "
            "wheel, which carries it.",
            500,
        )
    return FileResponse(page, headers={"cache-control": "no-store"})


async def _icon(request: Request) -> Response:
    return FileResponse(STATIC / "icon.svg", headers={"cache-control": "private, max-age=86400"})


__all__ = ["SHUTDOWN_SECONDS", "create_app", "serve_page"]
