"""Facts of the SDK's authentication that `awhile.server.authenticating` leans on."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp

pytestmark = pytest.mark.anyio

URL = "https://mcp.example.org/mcp"


class Away(Exception):
    """What a verifier raises that cannot tell."""


class Verifier:
    """Takes no token, or cannot tell."""

    def __init__(self, *, away: bool) -> None:
        self._away = away

    async def verify_token(self, token: str) -> AccessToken | None:
        if self._away:
            raise Away
        return None


def given_later(verifier: Verifier) -> MCPServer[Any]:
    """A server that gets its verifier after it was built, as `Authentication.require` does it."""
    mcp: MCPServer[Any] = MCPServer("facts", log_level="WARNING")
    mcp.settings.auth = AuthSettings.model_validate(
        {
            "issuer_url": "https://login.example.org",
            "resource_server_url": URL,
            "validate_token_resource": False,
        }
    )
    mcp._token_verifier = verifier  # pyright: ignore[reportPrivateUsage]
    return mcp


async def get(app: ASGIApp, path: str) -> httpx2.Response:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
        return await client.get(path, headers={"authorization": "Bearer x"})


async def test_a_verifier_given_later_counts_as_one_given_at_first() -> None:
    """We give one to the server of a module (`awhile serve module:server`)."""
    app = given_later(Verifier(away=False)).streamable_http_app()
    assert (await get(app, "/mcp")).status_code == 401
    found = await get(app, "/.well-known/oauth-protected-resource/mcp")
    # As they were written, without a slash at the end, which would be another name.
    assert found.json()["authorization_servers"] == ["https://login.example.org"]
    assert found.json()["resource"] == URL


async def test_what_a_verifier_raises_reaches_whoever_is_around_the_app() -> None:
    """We answer 503 there; the SDK has only 401 for what is not verified."""
    app = given_later(Verifier(away=True)).streamable_http_app()
    with pytest.raises(Away):
        await get(app, "/mcp")
