"""What an access token proves: who calls, and that it was issued for this very server.

Sources: RFC 9068 (JWT access tokens), RFC 8707 (audience), MCP 2026-07-28, Authorization, "Token
Handling".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry

from awhile.identity.issuer import Issuer, TokenRefused

LEEWAY_SECONDS = 30
"""How far the issuer's clock may be from ours. It is also how much longer than its issuer said a
token is good for, whoever has it, at every call: so no more than clocks need that are set over the
network, and half of what a sign-in is given (`awhile.ask.web.people.provider`). Source: ours."""

_CALLED = ("name", "preferred_username", "email", "email_verified")
"""OpenID Connect Core 1.0, section 5.1; many issuers have them in access tokens, too."""

_TYPES = frozenset({"at+jwt", "jwt"})
"""``typ`` in a header; many issuers write the plain one, against RFC 9068."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a token proves."""

    issuer: str
    subject: str
    """Who calls; it means one person at this issuer."""
    client_id: str
    """The program that calls for them."""
    scopes: tuple[str, ...]
    expires_at: int
    """Unix seconds."""
    called: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The claims that say what to call them, as far as there are any."""


async def access_of(token: str, issuer: Issuer, *, audience: str) -> Access:
    """What this token proves to whoever is called ``audience``.

    Raises:
        TokenRefused: it proves nothing; the message says why.
        Unreachable: the issuer's keys cannot be had.
        SettingsError: what answers as the issuer goes by another name.
    """
    found = await issuer.read(token)
    kind = str(found.header.get("typ", "jwt")).lower().removeprefix("application/")
    if kind not in _TYPES:
        raise TokenRefused(f"It is of the type {kind!r}, so no access token.")
    claims = found.claims
    expected = JWTClaimsRegistry(
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": issuer.url},
        aud={"essential": True, "value": audience},
        sub={"essential": True},
        exp={"essential": True},
    )
    try:
        expected.validate(claims)
    except JoseError as no:
        raise TokenRefused(f"It does not hold here: {no}.") from no
    if "at_hash" in claims:
        raise TokenRefused("It says who has signed in (an ID token), and gives no access.")
    if "cnf" in claims:
        raise TokenRefused("It is bound to a key of its sender's, which is not checked here.")
    subject = str(claims["sub"])
    return Access(
        issuer=issuer.url,
        subject=subject,
        client_id=str(claims.get("client_id") or claims.get("azp") or subject),
        scopes=_scopes(claims),
        expires_at=int(claims["exp"]),
        called={name: claims[name] for name in _CALLED if name in claims},
    )


def _scopes(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """As RFC 9068 has them, or as some issuers do."""
    said = claims.get("scope") or claims.get("scp") or ()
    if isinstance(said, str):
        return tuple(said.split())
    return tuple(map(str, cast("list[object]", said))) if isinstance(said, list) else ()


__all__ = ["Access", "access_of"]
