"""Bearer tokens of an issuer: what makes them count at a server, by the SDK's own gates.

The SDK refuses whoever shows no token that its verifier takes, says so as RFC 6750 has it, and
serves the metadata of RFC 9728 that tells clients where to get one. Whom a token stands for is the
owner of all they start (`awhile.server.principal`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from awhile.errors import SettingsError, Unreachable
from awhile.identity.access import access_of
from awhile.identity.issuer import Issuer, TokenRefused
from awhile.identity.urls import checked_url, origin_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 2


class CannotVerify(Exception):
    """Whether a token holds cannot be told now: its issuer cannot be asked for its keys."""


class IssuersTokens(TokenVerifier):
    """Takes the access tokens that an issuer made for ``audience``, and no others."""

    def __init__(self, issuer: Issuer, *, audience: str) -> None:
        self._issuer = issuer
        self._audience = audience

    async def verify_token(self, token: str) -> AccessToken | None:
        """What a token proves; None for one that does not.

        Raises:
            CannotVerify: the issuer's keys cannot be had (`Authentication.around`).
        """
        try:
            access = await access_of(token, self._issuer, audience=self._audience)
        except TokenRefused as no:
            log.info("A bearer token is refused. %s", no)
            return None
        except (Unreachable, SettingsError) as why:
            log.error("No bearer token can be verified. %s", why)
            raise CannotVerify from why
        return AccessToken(
            token=token,
            client_id=access.client_id,
            scopes=list(access.scopes),
            expires_at=access.expires_at,
            resource=self._audience,
            subject=access.subject,
            claims={**access.called, "iss": access.issuer},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """Who is let in, and as what the server is known.

    Attributes:
        issuer: whose tokens count.
        public_url: the endpoint's URL as callers know it, also behind a proxy.
        audience: what tokens have to be issued for; None for the ``public_url``.
        scopes: what they have to allow.
    """

    issuer: Issuer
    public_url: str
    audience: str | None = None
    scopes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_url("public_url", self.public_url)

    def options(self) -> dict[str, Any]:
        """What an ``MCPServer`` is built with."""
        auth = AuthSettings.model_validate(
            {
                "issuer_url": self.issuer.url,
                "resource_server_url": self.public_url,
                "required_scopes": list(self.scopes) or None,
                "validate_token_resource": False,  # the verifier does it, by `audience`
            }
        )
        verifier = IssuersTokens(self.issuer, audience=self.audience or self.public_url)
        return {"auth": auth, "token_verifier": verifier}

    def require(self, server: MCPServer[Any]) -> None:
        """Have a server that is built already let nobody else in (contract test).

        Raises:
            SettingsError: it has authentication of its own.
        """
        if server.settings.auth is not None:
            raise SettingsError(
                f"token_issuer is given, and {server.name!r} verifies tokens in its own way, which "
                "would be lost. Leave one of the two out."
            )
        options = self.options()
        server.settings.auth = options["auth"]
        server._token_verifier = options["token_verifier"]  # pyright: ignore[reportPrivateUsage]

    def transport_security(self) -> TransportSecuritySettings:
        """By which names the endpoint may be called: those of this machine, and its own."""
        parts = checked_url("public_url", self.public_url)
        origin = origin_of(parts)
        here = ("127.0.0.1", "localhost", "[::1]")
        return TransportSecuritySettings(
            allowed_hosts=[origin.partition("://")[2], *(f"{name}:*" for name in here)],
            allowed_origins=[origin, *(f"http://{name}:*" for name in here)],
        )

    def around(self, app: Starlette) -> None:
        """Have the served app say so while tokens cannot be verified."""
        app.add_middleware(_WhileIssuerIsAway)


class _WhileIssuerIsAway:
    """Answers 503 in place of 401 while tokens cannot be verified: they may well be good."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except CannotVerify:  # before anything else has seen the request
            said = {"error": "temporarily_unavailable", "error_description": AWAY}
            answer = JSONResponse(said, 503, {"retry-after": str(RETRY_AFTER_SECONDS)})
            await answer(scope, receive, send)


AWAY = "The issuer of the tokens cannot be asked for its keys. Try again soon."

__all__ = ["Authentication", "CannotVerify", "IssuersTokens"]
