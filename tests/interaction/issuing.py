"""An issuer of tokens with keys of its own, to make what a real one never would."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.interaction.server.peer import serving_app

LIFE_SECONDS = 300


class Issuing:
    """An issuer. ``answers`` False: its documents cannot be had; ``asked``: which ones were."""

    def __init__(self) -> None:
        self.url = ""
        self.answers = True
        self.calls_itself: str | None = None
        self.asked: list[str] = []
        self.key = _key("first")

    def rotate(self, name: str) -> None:
        """Sign with another key from now on; the one before is withdrawn."""
        self.key = _key(name)

    def token(self, audience: str | list[str], *, subject: str = "ada", **changed: Any) -> str:
        """A token like a real one, but for what is changed; None leaves a claim out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": subject,
            "aud": audience,
            "client_id": "app",
            "iat": now,
            "exp": now + LIFE_SECONDS,
            **changed,
        }
        return self.signed({name: one for name, one in claims.items() if one is not None})

    def signed(self, claims: dict[str, Any], key: ECKey | None = None, **header: str) -> str:
        """Claims under a signature."""
        by = key or self.key
        head: dict[str, Any] = {"alg": "ES256", "typ": "at+jwt", "kid": by.kid, **header}
        return jwt.encode(head, claims, by)

    async def _document(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        if not self.answers:
            return Response(status_code=502)
        if request.url.path == "/keys":
            return JSONResponse(KeySet([self.key]).as_dict())
        named = self.calls_itself or self.url
        return JSONResponse({"issuer": named, "jwks_uri": f"{self.url}/keys"})


@asynccontextmanager
async def issuing() -> AsyncGenerator[Issuing]:
    """An issuer on this machine, for as long as the block."""
    issuer = Issuing()
    handler = issuer._document  # pyright: ignore[reportPrivateUsage]
    paths = ("/keys", "/.well-known/openid-configuration")
    app = Starlette(routes=[Route(path, handler) for path in paths])
    async with serving_app(app, "") as peer:
        issuer.url = peer.url
        yield issuer


def _key(name: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": name, "use": "sig", "alg": "ES256"})
