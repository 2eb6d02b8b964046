"""The ways in and out: to the provider and back, and what the browser holds meanwhile."""

from __future__ import annotations

import hmac
import logging
import math
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2
from starlette.responses import RedirectResponse
from starlette.routing import Route

from awhile.ask.web.exchange import answered, read_body
from awhile.ask.web.people.entrance import SIGN_IN, SIGNED_IN, SIGNED_OUT, Address, place_in
from awhile.ask.web.people.notices import notice, style
from awhile.ask.web.people.provider import Begun, SignInFailed
from awhile.client.http import way_to
from awhile.errors import AwhileError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from awhile.ask.web.people.people import People
    from awhile.ask.web.people.provider import Provider
    from awhile.ask.web.people.sealing import Seal
    from awhile.ask.web.people.sessions import Session, Sessions

log = logging.getLogger(__name__)

PENDING_SECONDS = 600
"""How long somebody may take to sign in."""

MOST_PENDING = 10
"""How many sign-ins may be under way in one browser."""

LARGEST_PENDING = 5000
"""How large their cookies may be together, in bytes: many a proxy takes 8 kB of a header."""

LONGEST_PLACE = 1000
"""Of a place to come back to that is longer, the view is not kept: it would be no cookie."""

STATE_LETTERS = 12
"""What tells them apart in the names of their cookies."""

MOST_SESSIONS = 50
"""In how many browsers one person may be signed in; in the one not used for longest it ends."""

CHECK_SECONDS = 5.0
"""How long the server may take to say whether it takes a token."""


class SigningIn:
    """The handlers.

    Args:
        address: where the page is.
        provider: where people sign in.
        sessions: where it is kept that they have.
        people: their desks.
        seal: seals what a browser holds while it is at the provider.
        mcp_url: the server that tokens are for.
    """

    def __init__(
        self,
        address: Address,
        provider: Provider,
        sessions: Sessions,
        people: People,
        seal: Seal,
        mcp_url: str,
    ) -> None:
        self._address = address
        self._provider = provider
        self._sessions = sessions
        self._people = people
        self._seal = seal
        self._mcp_url = mcp_url

    def routes(self) -> list[Route]:
        """Every route, with its handler."""
        return [
            Route(SIGN_IN, self.sign_in, methods=["GET"]),
            Route(SIGNED_IN, self.signed_in, methods=["GET"]),
            Route(SIGNED_OUT, self.signed_out, methods=["GET"]),
            Route("/notice.css", style, methods=["GET"]),
            Route("/api/session", answered(self.session), methods=["GET"]),
            Route("/api/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Send the browser to the provider; ``to`` is where in the page it comes back to."""
        to = place_in(request.query_params.get("to", "/")) or "/"
        if _session(request) is not None:
            return RedirectResponse(to, 303)
        if len(to) > LONGEST_PLACE:
            to = to.partition("?")[0]
        try:
            url, begun = await self._provider.begin()
        except AwhileError as why:
            return _failed(why, to)
        reply = RedirectResponse(url, 303, {"cache-control": "no-store"})
        pending = {"secret": begun.secret, "to": to, "until": time.time() + PENDING_SECONDS}
        name, sealed = self._pending(begun.state), self._seal.sealed(pending)
        self._give(reply, name, sealed, PENDING_SECONDS)
        for before in self._too_many(request, more=len(name) + len(sealed)):
            self._take(reply, before)
        return reply

    async def signed_in(self, request: Request) -> Response:
        """Take the browser back from the provider. It has to be the one that was sent there."""
        state = request.query_params.get("state", "")
        under_way = self._under_way(request, state)
        if under_way is None:
            return notice(
                "Not signed in",
                "This sign-in was not begun in this browser, took too long, or has been completed "
                "already.",
                status=400,
            )
        begun, to = under_way
        if _session(request) is not None:  # signed in meanwhile, in another tab
            reply: Response = RedirectResponse(to, 303)
        else:
            reply = await self._finished(request, begun, to)
        self._take(reply, self._pending(state))
        return reply

    def _under_way(self, request: Request, state: str) -> tuple[Begun, str] | None:
        """The sign-in that this browser began with this state, and where it was going."""
        held = request.cookies.get(self._pending(state))
        pending = self._seal.opened(held) if held else None
        if pending is None or pending["until"] < time.time():
            return None
        begun = Begun(pending["secret"])
        same = hmac.compare_digest(begun.state.encode(), state.encode())
        return (begun, str(pending["to"])) if same else None

    async def _finished(self, request: Request, begun: Begun, to: str) -> Response:
        try:
            person, tokens = await self._provider.finish(begun, dict(request.query_params))
            await self._check(tokens.access)
        except AwhileError as why:
            return _failed(why, to)
        # Always a name that nobody has held before: a session is never handed on.
        held = await self._sessions.begin(person, tokens)
        log.info("%r has signed in.", person.subject)
        for one in self._sessions.of_person(person.key)[MOST_SESSIONS:]:
            await self._people.sign_out(one)
        reply = RedirectResponse(to, 303, {"cache-control": "no-store"})
        lasts = math.ceil(self._sessions.lasts_seconds)
        self._give(reply, self._address.cookie, held, lasts)
        return reply

    async def signed_out(self, _: Request) -> Response:
        """What is shown after signing out."""
        return notice(
            "You are signed out",
            "Your runs go on without you, unless they were to stop when you leave.",
        )

    async def session(self, request: Request) -> dict[str, Any]:
        """Who is signed in here, and whether there are too many people for them to go on."""
        session = _session(request)
        assert session is not None  # the entrance lets nobody else in
        return {
            "signed_in": True,
            "full": not self._people.has_room(session),
            "person": {"id": session.person.digest, "name": session.person.name},
        }

    async def sign_out(self, request: Request) -> Response:
        """End the session; where the browser is to go then, to be signed out there as well."""

        async def ended(request: Request) -> dict[str, Any]:
            await read_body(request)
            session = _session(request)
            assert session is not None
            await self._people.sign_out(session)
            log.info("%r has signed out.", session.person.subject)
            return {"go": await self._provider.sign_out_url() or SIGNED_OUT}

        reply = await answered(ended)(request)
        if reply.status_code == HTTPStatus.OK:
            self._take(reply, self._address.cookie)
            reply.headers["clear-site-data"] = '"cache"'
        return reply

    async def _check(self, token: str) -> None:
        """Whether the server takes it: it is found out now, and not when everything fails."""
        try:
            async with (
                httpx2.AsyncClient(timeout=CHECK_SECONDS, **way_to(self._mcp_url)) as client,
                client.stream(
                    "GET", self._mcp_url, headers={"authorization": f"Bearer {token}"}
                ) as answer,
            ):
                status, why = answer.status_code, answer.headers.get("www-authenticate")
        except httpx2.HTTPError:
            return  # it is away; the page says so, and waits for it
        if status in {401, 403}:
            log.error(
                "The MCP server does not take what the provider issues (HTTP %d, %s). Its log "
                "says why; most often --token-audience or --token-scopes differ.",
                status,
                why,
            )
            raise SignInFailed(
                "You were signed in, but the server does not accept it. Tell whoever runs it."
            )

    def _pending(self, state: str) -> str:
        """The cookie of one sign-in: several tabs may be on their way at the same time."""
        return f"{self._address.pending}-{state[:STATE_LETTERS]}"

    def _too_many(self, request: Request, *, more: int) -> list[str]:
        """Cookies of the first sign-ins, where they would outgrow their bounds with ``more``."""
        names = [name for name in request.cookies if name.startswith(f"{self._address.pending}-")]
        sizes = [len(name) + len(request.cookies[name]) for name in names]
        first = max(0, len(names) - MOST_PENDING + 1)
        while first < len(names) and sum(sizes[first:]) + more > LARGEST_PENDING:
            first += 1
        return names[:first]

    def _give(self, reply: Response, name: str, value: str, seconds: int) -> None:
        reply.set_cookie(
            name,
            value,
            max_age=seconds,
            path="/",
            secure=self._address.secure,
            httponly=True,
            samesite="lax",
        )

    def _take(self, reply: Response, name: str) -> None:
        reply.delete_cookie(
            name, path="/", secure=self._address.secure, httponly=True, samesite="lax"
        )


def _failed(why: AwhileError, to: str) -> Response:
    known = isinstance(why, SignInFailed)
    if not known:
        log.error("Nobody can sign in: %s", why)
    return notice(
        "Not signed in",
        str(why) if known else "The sign-in service cannot be reached at the moment.",
        to=f"{SIGN_IN}?to={quote(to, safe='')}",
        link="Try again",
        status=403 if known else 503,
    )


def _session(request: Request) -> Session | None:
    return request.state.session


__all__ = ["SigningIn"]
