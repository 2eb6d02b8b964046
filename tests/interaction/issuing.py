"""An issuer of tokens with keys of its own, to make what a real one never would.

The real one is in the browser tests (`checks.oidc_provider`).
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.lowlevel
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
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
        self.more: dict[str, Any] = {}
        """What it says of itself beside the rest; None leaves something out."""
        self.forms: list[dict[str, str]] = []
        """What was posted to it."""
        self.replies: list[dict[str, Any]] = []
        """What it answers for tokens, in order; ``error`` makes it a refusal."""
        self.slow: anyio.Event | None = None
        """Until when neither its keys nor its tokens come."""
        self.endless: str | None = None
        """The document that has no end."""

    def rotate(self, name: str) -> None:
        """Sign with another key from now on; the one before is withdrawn."""
        self.key = _key(name)

    def token(self, audience: str | list[str], **changed: Any) -> str:
        """A token like a real one, but for what is changed; None leaves a claim out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": "ada",
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

    def routes(self) -> list[Route]:
        """What it is asked by."""
        documents = ("/keys", "/.well-known/openid-configuration")
        forms = ("/token", "/revoke")
        return [
            *(Route(path, self._document) for path in documents),
            *(Route(path, self._take, methods=["POST"]) for path in forms),
        ]

    async def _document(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        if not self.answers:
            return Response(status_code=502)
        if request.url.path == self.endless:
            return StreamingResponse(_without_end(), media_type="application/json")
        if request.url.path == "/keys":
            if self.slow is not None:
                await self.slow.wait()
            return JSONResponse(KeySet([self.key]).as_dict())
        said = {
            "issuer": self.calls_itself or self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "revocation_endpoint": f"{self.url}/revoke",
            "end_session_endpoint": f"{self.url}/end",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            **self.more,
        }
        return JSONResponse({name: one for name, one in said.items() if one is not None})

    async def _take(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        self.forms.append({"at": request.url.path, **{name: one[0] for name, one in form.items()}})
        if not self.answers:
            return Response(status_code=502)
        answers = request.url.path == "/token" and bool(self.replies)
        reply = self.replies.pop(0) if answers else {}
        if self.slow is not None:
            await self.slow.wait()
        return JSONResponse(reply, 400 if "error" in reply else 200)


@asynccontextmanager
async def issuing() -> AsyncGenerator[Issuing]:
    """An issuer on this machine, for as long as the block."""
    issuer = Issuing()
    app = Starlette(routes=issuer.routes())
    async with serving_app(app, "") as peer:
        issuer.url = peer.url
        yield issuer


async def _without_end() -> AsyncGenerator[bytes]:
    while True:
        await anyio.lowlevel.checkpoint()
        yield b" " * 65536


def _key(name: str) -> ECKey:
    return ECKey.generate_key("P-256", {"kid": name, "use": "sig", "alg": "ES256"})
