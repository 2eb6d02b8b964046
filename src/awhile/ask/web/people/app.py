"""The page of several people, as one ASGI application."""

from __future__ import annotations

import logging
import re
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from awhile.ask.web.built import page_routes
from awhile.ask.web.desk import Desk
from awhile.ask.web.exchange import Refused
from awhile.ask.web.guard import no
from awhile.ask.web.people.entrance import SIGNED_OUT_WORDS, Address, Entrance
from awhile.ask.web.people.people import FILE, RETRY_AFTER_SECONDS, STREAM, Lasting, People
from awhile.ask.web.people.provider import Provider
from awhile.ask.web.people.sealing import Seal
from awhile.ask.web.people.sessions import Sessions
from awhile.ask.web.people.signing_in import SigningIn
from awhile.ask.web.serving import serve
from awhile.identity.urls import checked_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from awhile.ask.web.people.sessions import Session
    from awhile.identity.issuer import Issuer

log = logging.getLogger(__name__)

EVENTS = "/events"

_FILE = re.compile(r"/runs/[^/]+/file\.[^/]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplesPage:
    """How the page of several people is set up.

    Attributes:
        mcp_url: the MCP server; it need not be up.
        page_url: where people open the page: an origin, https unless it is on this machine.
        issuer: the OpenID Connect provider where they sign in.
        client_id: as what the page is registered there.
        client_secret: None for a client without one.
        resource: what access tokens are for: the server's public URL, or its audience.
        scopes: what is asked for, beside ``openid``.
        folder: where it is kept who is signed in.
        keys: secrets that this is sealed by (`Seal`).
        session_seconds: how long after signing in one has to do so again.
    """

    mcp_url: str
    page_url: str
    issuer: Issuer
    client_id: str
    client_secret: str | None = field(repr=False)
    resource: str
    scopes: tuple[str, ...]
    folder: Path
    keys: tuple[str, ...] = field(repr=False)
    session_seconds: float


def create_peoples_app(setup: PeoplesPage) -> Starlette:
    """The page for whoever signs in at the provider; each sees what is theirs alone.

    Raises:
        SettingsError: an address cannot be used.
    """
    checked_url("server_url", setup.mcp_url)
    address = Address(setup.page_url)
    provider = Provider(
        setup.issuer,
        client_id=setup.client_id,
        client_secret=setup.client_secret,
        page_url=address.origin,
        resource=setup.resource,
        scopes=setup.scopes,
    )
    sessions = Sessions(setup.folder, setup.keys, provider, lasts_seconds=setup.session_seconds)
    people = People(sessions, lambda auth: Desk(setup.mcp_url, auth))
    seal = Seal("sign-in", setup.keys)
    signing_in = SigningIn(address, provider, sessions, people, seal, setup.mcp_url)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(people.run)
            yield
            tasks.cancel_scope.cancel()

    app = Starlette(
        routes=[
            *signing_in.routes(),
            Mount("/api", app=_desks_of(people)),
            *page_routes(),
        ],
        middleware=[Middleware(Entrance, address=address, sessions=sessions)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # behind a proxy it would lead from https to http
    return app


def _desks_of(people: People) -> ASGIApp:
    """Each request is answered by the desk of whoever sends it."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        session: Session = scope["state"]["session"]
        lasting = _lasting(scope["path"])
        with ExitStack() as use:
            try:
                seat = await people.seat_of(session)
                use.enter_context(seat.used(session, lasting))
            except Refused as why:
                refusal = no(scope, why.status, why.code, str(why))
                refusal.headers["retry-after"] = str(RETRY_AFTER_SECONDS)
                return await refusal(scope, receive, send)
            if lasting is not None:
                return await _until_signed_out(seat.app, session, lasting, scope, receive, send)
            return await seat.app(scope, receive, send)

    return answer


def _lasting(path: str) -> Lasting | None:
    if path.endswith(EVENTS):
        return STREAM
    return FILE if _FILE.search(path) else None


async def _until_signed_out(
    app: ASGIApp,
    session: Session,
    lasting: Lasting,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """An answer that ends with the session it was asked for in."""
    begun = False

    async def passed(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    async with anyio.create_task_group() as tasks:

        async def end() -> None:
            await session.ended.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(end)
        await app(scope, receive, passed)
        tasks.cancel_scope.cancel()
        return
    if not begun:
        await no(scope, 401, "signed_out", SIGNED_OUT_WORDS)(scope, receive, send)
    elif lasting.whole:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    else:
        # Without its end uvicorn cuts the connection, so that no part is taken for the whole; it
        # logs that as an error.
        log.warning("A file was broken off: its session has ended.")


async def serve_peoples_page(
    setup: PeoplesPage,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the page until cancelled, or until SIGINT or SIGTERM.

    Args:
        setup: what is served.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        on_ready: called with the page's URL, once it can be opened.

    Raises:
        SettingsError: an address cannot be used, the provider goes by another name, or the port is
            taken.
    """
    app = create_peoples_app(setup)
    await setup.issuer.check()
    await serve(app, host=host, port=port, url=setup.page_url, on_ready=on_ready)


__all__ = ["PeoplesPage", "create_peoples_app", "serve_peoples_page"]
