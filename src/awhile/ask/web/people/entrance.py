"""Who may talk to the page of several people: whoever has signed in, from the page itself.

Behind a reverse proxy a request comes from the proxy, and says of its own way whatever its sender
likes. So the page's public URL, a setting, decides: ``Host`` must name it (else a foreign name
pointed here could read answers: DNS rebinding), and ``Origin`` and ``Sec-Fetch-Site`` must be its
own (else any page could send requests). Then the cookie says which session it is.

The cookie is ``SameSite=Lax``: a strict one is not sent on the way back from the provider, nor with
a link that somebody was given. Nothing is changed by GET, and whatever else there is needs the
page's own origin.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse

from awhile.ask.web.guard import Gate, cookie_in, cookie_name, foreign, host_in, no
from awhile.errors import SettingsError
from awhile.identity.urls import checked_url, origin_of

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from awhile.ask.web.people.sessions import Sessions

SIGN_IN, SIGNED_IN, SIGNED_OUT = "/sign-in", "/signed-in", "/signed-out"

_OPEN = frozenset({SIGN_IN, SIGNED_IN, SIGNED_OUT, "/icon.svg", "/notice.css"})
"""What anybody may see: how to sign in. What the page is made of holds nothing of anybody's."""

_PLACES = re.compile(r"/(?:sql|[st]/[A-Za-z0-9_-]{1,64})?(?:\?[!-~]{0,4000})?")
"""Where in the page one may return to."""

SIGNED_OUT_WORDS = "You are signed out. Sign in again."

HSTS = "max-age=31536000"
"""A year; without subdomains, which are not ours to decide on."""


class Address:
    """The page's public URL, and what follows from it.

    Raises:
        SettingsError: it is no origin that people can sign in at safely.
    """

    def __init__(self, page_url: str) -> None:
        parts = checked_url("page_url", page_url)
        if parts.path not in ("", "/"):
            raise SettingsError(
                f"page_url is {page_url!r}, which has a path: the page is all of its host. Give it "
                "a host of its own, such as https://ask.example.org."
            )
        self.origin = origin_of(parts)
        self.host = self.origin.partition("://")[2]
        self.secure = parts.scheme == "https"
        # Only this very host's https can set one of the first kind: no neighbour, no subdomain.
        self.cookie = "__Host-awhile" if self.secure else cookie_name(self.host)
        self.pending = f"{self.cookie}-sign-in"


class Entrance(Gate):
    """Around the page of several people.

    Puts the `Session` under ``"session"`` into the scope's state; None where anybody may be.
    """

    def __init__(self, app: ASGIApp, address: Address, sessions: Sessions) -> None:
        super().__init__(app, {"strict-transport-security": HSTS} if address.secure else None)
        self._address = address
        self._sessions = sessions

    def answer_to(self, scope: Scope) -> Response | None:
        """A refusal, or the way to the sign-in."""
        return self._refusal(scope) or self._unknown(scope)

    def _refusal(self, scope: Scope) -> Response | None:
        host = host_in(scope)
        if host.lower() != self._address.host:
            return no(
                scope,
                403,
                "host",
                f"This page is at {self._address.origin!r}, and was asked for at {host!r}. A "
                "proxy in front of it has to pass the header Host on as it is.",
            )
        return foreign(scope, own=self._address.origin)

    def _unknown(self, scope: Scope) -> Response | None:
        held = cookie_in(Headers(scope=scope).get("cookie", ""), self._address.cookie)
        session = self._sessions.of(held)
        scope.setdefault("state", {})["session"] = session
        path: str = scope["path"]
        if session is not None or path in _OPEN or path.startswith("/assets/"):
            return None
        query = scope["query_string"].decode("ascii", "replace")
        to = place_in(f"{path}?{query}" if query else path)
        if scope["method"] == "GET" and to is not None:
            return RedirectResponse(f"{SIGN_IN}?to={quote(to, safe='')}", 303)
        return no(scope, 401, "signed_out", SIGNED_OUT_WORDS)


def place_in(to: str) -> str | None:
    """The place in the page that is meant; None for anything else, such as another site."""
    return to if _PLACES.fullmatch(to) else None


__all__ = [
    "SIGNED_IN",
    "SIGNED_OUT",
    "SIGNED_OUT_WORDS",
    "SIGN_IN",
    "Address",
    "Entrance",
    "place_in",
]
