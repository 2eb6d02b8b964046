"""Who is calling: the owner every task is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

ANONYMOUS = "anonymous"
"""The owner of every call without a token: right where there is one user (loopback, stdio)."""


def principal(_ctx: ServerRequestContext[Any, Any]) -> str:
    """The caller, by the bearer token the SDK verified for this request; else `ANONYMOUS`."""
    token = get_access_token()
    if token is None:
        return ANONYMOUS
    client_id, issuer, subject = principal_components(token)
    # Said which of both it is: a client may have registered under the name of a person.
    who = f"user:{subject}" if subject else f"client:{client_id}"
    return f"{issuer or ''}|{who}"
