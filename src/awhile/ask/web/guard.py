"""Who may talk to the page backend: this computer's browser, holding the token. Nobody else.

Loopback keeps other computers out; it does not keep out other users of this one, nor web pages
that the browser has open. So every request is checked four ways: ``Host`` must name this computer
(else a foreign name pointed at 127.0.0.1 could read answers: DNS rebinding), ``Origin`` and
``Sec-Fetch-Site`` must be our own (else any page could send requests), and the cookie must carry
the token from the start URL.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
"""The only names by which this computer is its own."""

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""No inline script, no foreign address, no frame: what data says can never become code."""

_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}

_SIGN_IN = (
    "Not signed in.\n\nOpen the address that awhile printed when it started; it carries the key "
    "to this page.\n"
)


class Gate(ABC):
    """ASGI middleware around a whole page backend: what is not let through is answered here.

    Args:
        app: what is guarded.
        more: headers of every answer, beside those that every page's have.
    """

    def __init__(self, app: ASGIApp, more: Mapping[str, str] | None = None) -> None:
        self._app = app
        self._headers = {**_HEADERS, **(more or {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            raise RuntimeError(f"The page has no {scope['type']!r} routes.")
        answer = self.answer_to(scope)
        headers = self._headers
        if answer is not None and scope["method"] not in {"GET", "HEAD"}:
            headers = {**headers, "connection": "close"}  # or its body, without end, is read on
        return await (answer or self._app)(scope, receive, _with_headers(send, headers))

    @abstractmethod
    def answer_to(self, scope: Scope) -> Response | None:
        """What is answered in the page's place; None lets the request through."""


class Guard(Gate):
    """Around the page of one person.

    Args:
        app: what is guarded.
        token: the secret of the start URL (``/?token=…``), at least 16 characters.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        super().__init__(app)
        self._token = token

    def answer_to(self, scope: Scope) -> Response | None:
        """A refusal, or the way in by the start URL."""
        return self._refusal(scope) or self._sign_in(scope)

    def _refusal(self, scope: Scope) -> Response | None:
        host = host_in(scope)
        if _hostname(host) not in LOOPBACK_NAMES:
            return no(
                scope,
                403,
                "host",
                f"This page answers only on this computer, not at {host!r}. Open it at 127.0.0.1.",
            )
        return foreign(scope, own=f"{scope['scheme']}://{host}")

    def _sign_in(self, scope: Scope) -> Response | None:
        """Trades the token for a cookie, or says that there is neither; None lets through."""
        headers = Headers(scope=scope)
        cookie = cookie_name(headers.get("host", ""))
        given = QueryParams(scope["query_string"]).get("token")
        if given is not None and scope["method"] == "GET" and self._is_token(given):
            # The token leaves the address bar, so that it is not copied, bookmarked or logged.
            reply = RedirectResponse("/" + scope["path"].lstrip("/"), status_code=303)
            reply.set_cookie(cookie, self._token, httponly=True, samesite="strict", path="/")
            return reply
        if self._is_token(cookie_in(headers.get("cookie", ""), cookie)):
            return None
        return no(scope, 401, "not_signed_in", _SIGN_IN)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def host_in(scope: Scope) -> str:
    """The ``Host`` of a request; of two, neither is believed (RFC 9112, 3.2)."""
    return ", ".join(Headers(scope=scope).getlist("host"))


def cookie_name(host: str) -> str:
    """The cookie for this ``Host``. Cookies know no ports, so the port is part of the name."""
    return f"awhile-{urlsplit(f'//{host}').port or 80}"


def _hostname(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return None
    return parts.hostname


def foreign(scope: Scope, *, own: str) -> Response | None:
    """Why a request of another site's page is refused; None for one of our own, or of nobody's.

    Args:
        scope: the request.
        own: our own origin.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin != own:
        return no(scope, 403, "origin", f"Requests from {origin!r} are refused.")
    site = headers.get("sec-fetch-site", "none")
    visiting = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if site not in {"same-origin", "none"} and not visiting:
        return no(scope, 403, "origin", f"A {site!r} request is refused.")
    if scope["method"] not in {"GET", "HEAD"} and origin is None:
        return no(scope, 403, "origin", "A request that changes something must name its Origin.")
    return None


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Sends what keeps a browser from running or framing what it should not, with every answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered = MutableHeaders(scope=message)
            for name, value in headers.items():
                answered[name] = value
        await send(message)

    return sent


def cookie_in(header: str, name: str) -> str:
    """The cookie of that name, "" if there is none.

    Read as browsers write it: of a cookie that a neighbour has set for the whole domain (such as
    ``prefs={"a":1}``) Python's own parser takes offence, and then finds none at all.
    """
    return cookie_parser(header).get(name, "")


def no(scope: Scope, status: int, code: str, message: str) -> Response:
    """A refusal, in the form of what was asked: JSON below ``/api``, else a text."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": {"code": code, "message": message.strip()}}, status)
    return PlainTextResponse(message, status)


__all__ = [
    "CONTENT_SECURITY_POLICY",
    "LOOPBACK_NAMES",
    "Gate",
    "Guard",
    "cookie_in",
    "cookie_name",
    "foreign",
    "host_in",
    "no",
]
