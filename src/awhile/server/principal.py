"""Who is calling: the owner every task is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components

from awhile.identity.urls import on_this_machine

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

ANONYMOUS = "anonymous"
"""The owner of every call without a token: right where there is one user (loopback, stdio)."""


def principal(_ctx: ServerRequestContext[Any, Any]) -> str:
    """The caller of a request; see `caller`."""
    return caller()


def caller() -> str:
    """Who calls, by the bearer token the SDK verified for this request; else `ANONYMOUS`."""
    token = get_access_token()
    if token is None:
        return ANONYMOUS
    client_id, issuer, subject = principal_components(token)
    # Said which of both it is: a client may have registered under the name of a person.
    who = f"user:{subject}" if subject else f"client:{client_id}"
    return f"{issuer or ''}|{who}"


def is_one_of_several() -> bool:
    """Whether the caller is somebody in particular, beside whom there may be others."""
    return caller() != ANONYMOUS


def name_of_caller() -> str | None:
    """What the verified token calls the person who calls, if it does (OpenID Connect Core 1.0,
    section 5.1); None for a program, and without a token."""
    token = get_access_token()
    claims = token.claims if token is not None and token.claims else {}
    name, mail = (claims.get("name") or claims.get("preferred_username")), claims.get("email")
    if mail and claims.get("email_verified") is not False:
        return f"{name} ({mail})" if name and name != mail else str(mail)
    return str(name) if name else None


def can_be_told_apart(ctx: ServerRequestContext[Any, Any], owner: str) -> bool:
    """Whether ``owner`` is one caller and not everybody: who lists tasks has to know (2025-11-25,
    Task Isolation and Access Control). Without a token that is so on stdio and loopback only."""
    if owner != ANONYMOUS or ctx.request is None:
        return True
    headers, client = ctx.request.headers, ctx.request.client
    if any(name in headers for name in _FORWARDED):  # a proxy on this machine: anybody's requests
        return False
    host = headers.get("host", "").rsplit(":", 1)[0].strip("[]")
    return client is not None and on_this_machine(client.host) and on_this_machine(host)


def address_of(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Where a request comes from, as the last proxy saw it, or this machine; None if from here.

    What proxies before that one say, the caller may have made up.
    """
    if ctx.request is None:
        return None
    headers, client = ctx.request.headers, ctx.request.client
    for name in ("x-forwarded-for", "x-real-ip", "forwarded"):
        if (said := headers.get(name, "").rsplit(",", 1)[-1].strip()) != "":
            return said
    return None if client is None or on_this_machine(client.host) else client.host


_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
