"""The page of one person on this computer, as one ASGI application with an MCP client behind it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from awhile.ask.web.built import page_routes
from awhile.ask.web.desk import Desk
from awhile.ask.web.guard import LOOPBACK_NAMES, Guard
from awhile.ask.web.serving import serve
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

SHORTEST_TOKEN = 16


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
    desk = Desk(mcp_url)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with desk.at_work():
            yield

    return Starlette(
        routes=[*page_routes(), Mount("/api", routes=desk.routes())],
        middleware=[Middleware(Guard, token=token)],
        lifespan=lifespan,
    )


async def serve_page(
    mcp_url: str,
    token: str,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    or_free: bool = False,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the page until cancelled, or until SIGINT or SIGTERM.

    Args:
        mcp_url: the MCP server; it need not be up.
        token: the secret of the start URL.
        host: a loopback address.
        port: the port; 0 takes a free one.
        or_free: whether a free one will do where that is taken.
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
    shown = f"[{host}]" if ":" in host else host
    await serve(
        create_app(mcp_url, token),
        host=host,
        port=port,
        url=f"http://{shown}:{{port}}/?token={token}",
        on_ready=on_ready,
        or_free=or_free,
    )


__all__ = ["create_app", "serve_page"]
