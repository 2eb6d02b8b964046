"""Which bearer tokens a server takes, and what it says to whoever has none.

Sources: MCP 2026-07-28, Authorization; RFC 6750; RFC 8725; RFC 9068; RFC 9728.
"""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from joserfc.jwk import ECKey
from mcp.server.mcpserver import MCPServer
from starlette.responses import PlainTextResponse

from awhile import Tasks, connect
from awhile.errors import SettingsError
from awhile.identity.issuer import AGAIN_SECONDS, ANEW_SECONDS, KEPT_SECONDS, Issuer
from awhile.server.authenticating import Authentication
from awhile.server.beside import add_route
from awhile.server.http import http_app
from awhile.server.principal import caller, name_of_caller
from tests.interaction.issuing import Issuing, issuing
from tests.interaction.server.peer import Peer, serving_app, until

pytestmark = pytest.mark.anyio

PUBLIC = "https://mcp.example.org/mcp"
METADATA = "https://mcp.example.org/.well-known/oauth-protected-resource/mcp"


@dataclass
class Clock:
    """A clock moved by hand."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Guarded:
    """A server that takes an issuer's tokens, and the issuer."""

    peer: Peer
    http: httpx2.AsyncClient
    issuer: Issuing
    clock: Clock

    async def status(self, token: str | None, path: str = "/mcp") -> int:
        """How a request with that token is answered; by GET, which the endpoint has no use for."""
        return (await self.answer(token, path)).status_code

    async def answer(self, token: str | None, path: str = "/mine") -> httpx2.Response:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        url = self.peer.url.removesuffix("/mcp") + path
        return await self.http.get(url, headers=headers)


@asynccontextmanager
async def guarded(
    folder: Path, *, audience: str | None = None, scopes: tuple[str, ...] = ()
) -> AsyncGenerator[Guarded]:
    clock = Clock()
    async with issuing() as issuer:
        authentication = Authentication(
            issuer=Issuer(issuer.url, clock=clock),
            public_url=PUBLIC,
            audience=audience,
            scopes=scopes,
        )
        tasks = Tasks(f"sqlite:///{folder / 'tasks.db'}")
        mcp: MCPServer[Any] = MCPServer("guarded", log_level="WARNING", **tasks.install())
        authentication.require(mcp)

        async def mine(_: Any) -> Any:
            return PlainTextResponse(caller())

        async def called(_: Any) -> Any:
            return PlainTextResponse(name_of_caller() or "")

        add_route(mcp, "/mine", mine)
        add_route(mcp, "/called", called)
        app = http_app(mcp, transport_security=authentication.transport_security())
        authentication.around(app)
        async with serving_app(app, "/mcp") as peer, httpx2.AsyncClient() as http:
            yield Guarded(peer, http, issuer, clock)


async def test_whoever_shows_a_token_of_the_issuer_is_its_subject_there(tmp_path: Path) -> None:
    """Ours: the owner of all they start is issuer and subject, whatever program calls for them."""
    async with guarded(tmp_path) as server:
        answer = await server.answer(server.issuer.token(PUBLIC))
        assert (answer.status_code, answer.text) == (200, f"{server.issuer.url}|user:ada")
        several = server.issuer.token(["https://else.example", PUBLIC], client_id=None, azp="cli")
        assert (await server.answer(several)).text == answer.text
        headers = {"authorization": f"Bearer {several}"}
        listed = await server.peer.ask("tools/list", {}, headers=headers)
        assert listed.result["tools"]


async def test_a_person_is_called_what_their_token_says_if_it_says_so(tmp_path: Path) -> None:
    """Source: OpenID Connect Core 1.0, section 5.1. It is shown to others, and decides nothing."""
    ada, mail = {"name": "Ada"}, {"email": "ada@example.org"}
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        (ada, "Ada"),
        ({"preferred_username": "ada"}, "ada"),
        (mail, "ada@example.org"),
        ({**ada, **mail}, "Ada (ada@example.org)"),
        ({**ada, **mail, "email_verified": False}, "Ada"),
    ]
    async with guarded(tmp_path) as server:
        for claims, name in cases:
            token = server.issuer.token(PUBLIC, **claims)
            assert (await server.answer(token, "/called")).text == name


async def test_whoever_shows_none_is_told_where_to_get_one(tmp_path: Path) -> None:
    """Spec: MCP 2026-07-28, Authorization: 401, and metadata as RFC 9728 has it."""
    async with guarded(tmp_path, scopes=("ask",)) as server:
        for path in ("/mcp", "/mine"):
            refused = await server.answer(None, path)
            assert refused.status_code == 401
            assert f'resource_metadata="{METADATA}"' in refused.headers["www-authenticate"]
        found = await server.answer(None, "/.well-known/oauth-protected-resource/mcp")
        assert found.json()["resource"] == PUBLIC
        assert found.json()["authorization_servers"] == [server.issuer.url]
        assert found.json()["scopes_supported"] == ["ask"]
        # Its own query is no place for a token: it would be written into every log.
        assert await server.status(None, f"/mine?access_token={server.issuer.token(PUBLIC)}") == 401


async def test_a_token_that_proves_nothing_here_is_refused(tmp_path: Path) -> None:
    """Spec: MCP 2026-07-28, Authorization, Token Handling: 401 for each of them."""
    async with guarded(tmp_path) as server:
        issuer, now = server.issuer, int(time.time())
        good = issuer.token(PUBLIC)
        header, claims, signature = good.split(".")
        read: dict[str, Any] = json.loads(base64.urlsafe_b64decode(claims + "=="))
        eve = _encoded({**read, "sub": "eve"})
        unsigned = _encoded({"alg": "none", "typ": "at+jwt", "kid": "first"})
        hs256 = _encoded({"alg": "HS256", "typ": "at+jwt", "kid": "first"})
        public = issuer.key.as_pem(private=False)
        by_public = hmac.digest(public, f"{hs256}.{claims}".encode(), "sha256")
        stranger = ECKey.generate_key("P-256", {"kid": "first"})
        refused = {
            "for another audience": issuer.token("https://else.example/mcp"),
            "for one whose name begins alike": issuer.token(f"{PUBLIC}/more"),
            "for nobody": issuer.token(PUBLIC, aud=None),
            "of another issuer": issuer.token(PUBLIC, iss="https://other.example"),
            "expired": issuer.token(PUBLIC, exp=now - 60),
            "without an end": issuer.token(PUBLIC, exp=None),
            "not valid yet": issuer.token(PUBLIC, nbf=now + 120),
            "of nobody": issuer.token(PUBLIC, sub=None),
            "an ID token": issuer.token(PUBLIC, at_hash="x"),
            "bound to a key": issuer.token(PUBLIC, cnf={"jkt": "x"}),
            "a logout token": issuer.signed(read, typ="logout+jwt"),
            "unsigned": f"{unsigned}.{claims}.",
            "unsigned, under a signature": f"{unsigned}.{claims}.{signature}",
            "of other claims": f"{header}.{eve}.{signature}",
            "signed by the public key as a secret": f"{hs256}.{claims}.{_base64(by_public)}",
            "signed by a stranger": issuer.signed(read, stranger),
            "that says nonsense of what is critical": (
                f"{_encoded({'alg': 'ES256', 'kid': 'first', 'crit': 5})}.{claims}.{signature}"
            ),
            "that brings a key of its own": issuer.signed(
                read, stranger, jku="https://evil.example/keys", x5u="https://evil.example/x"
            ),
            "no token": "abc",
            "no token either": "a.b.c",
            "too long": good + "A" * 20_000,
        }
        answers = {why: await server.status(token, "/mine") for why, token in refused.items()}
        assert answers == dict.fromkeys(refused, 401)
        assert await server.status(good, "/mine") == 200


async def test_an_audience_that_is_no_url_is_taken_where_it_is_named(tmp_path: Path) -> None:
    """Ours: some issuers name their APIs otherwise."""
    async with guarded(tmp_path, audience="api://ask") as server:
        assert await server.status(server.issuer.token("api://ask"), "/mine") == 200
        assert await server.status(server.issuer.token(PUBLIC), "/mine") == 401


async def test_a_token_that_does_not_allow_enough_is_forbidden(tmp_path: Path) -> None:
    """Spec: MCP 2026-07-28, Authorization, Error Handling: 403."""
    async with guarded(tmp_path, scopes=("ask", "files")) as server:
        token = server.issuer.token
        assert await server.status(token(PUBLIC, scope="ask"), "/mine") == 403
        assert await server.status(token(PUBLIC, scope="files ask"), "/mine") == 200
        assert await server.status(token(PUBLIC, scp=["ask", "files"]), "/mine") == 200


async def test_a_key_that_was_changed_is_fetched_and_the_one_before_refused(tmp_path: Path) -> None:
    """Ours: at once for a new key, and after `KEPT_SECONDS` for one that was withdrawn."""
    async with guarded(tmp_path) as server:
        old = server.issuer.token(PUBLIC)
        assert await server.status(old, "/mine") == 200
        server.issuer.rotate("second")
        server.clock.now += ANEW_SECONDS
        assert await server.status(server.issuer.token(PUBLIC), "/mine") == 200
        assert await server.status(old, "/mine") == 401
        withdrawn = server.issuer.token(PUBLIC)
        server.issuer.rotate("third")
        assert await server.status(withdrawn, "/mine") == 200
        server.clock.now += KEPT_SECONDS
        assert await server.status(withdrawn, "/mine") == 401


async def test_strangers_cannot_have_the_issuer_asked_again_and_again(tmp_path: Path) -> None:
    """Ours."""
    async with guarded(tmp_path) as server:
        assert await server.status(server.issuer.token(PUBLIC), "/mine") == 200
        asked = len(server.issuer.asked)
        stranger = ECKey.generate_key("P-256", {"kid": "nobody-knows"})
        for _ in range(5):
            assert await server.status(server.issuer.signed({"sub": "eve"}, stranger)) == 401
        assert len(server.issuer.asked) == asked


async def test_while_the_issuer_is_away_known_keys_hold_and_unknown_ones_wait(
    tmp_path: Path,
) -> None:
    """Ours: 503 and not 401, for a good token would be thrown away."""
    async with guarded(tmp_path) as server:
        server.issuer.answers = False
        await Issuer(server.issuer.url).check()  # which is no reason not to start
        server.issuer.asked.clear()
        token = server.issuer.token(PUBLIC)
        away = await server.answer(token)
        assert (away.status_code, away.headers["retry-after"]) == (503, "2")
        assert (await server.answer(token)).status_code == 503
        assert len(server.issuer.asked) == 1
        server.issuer.answers = True
        server.clock.now += AGAIN_SECONDS
        assert await server.status(token, "/mine") == 200
        server.issuer.answers = False
        server.clock.now += KEPT_SECONDS
        assert await server.status(token, "/mine") == 200


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
async def test_an_issuer_on_this_machine_is_not_asked_through_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Ours: a proxy would look for it on its own machine, and could answer with keys of its own."""
    for name in ("http_proxy", "all_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with guarded(tmp_path) as server:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nothing is there
        assert await server.status(server.issuer.token(PUBLIC), "/mine") == 200


async def test_nobody_waits_for_keys_that_a_stranger_has_fetched(tmp_path: Path) -> None:
    """Ours: else one request every ten seconds, by anybody, holds up all others while the issuer
    is slow."""
    async with guarded(tmp_path) as server:
        token = server.issuer.token(PUBLIC)
        assert await server.status(token, "/mine") == 200
        stranger = ECKey.generate_key("P-256", {"kid": "nobody-knows"})
        for age in (ANEW_SECONDS, KEPT_SECONDS):
            server.clock.now += age
            server.issuer.slow = anyio.Event()
            server.issuer.asked.clear()
            async with anyio.create_task_group() as asking:
                asking.start_soon(server.status, server.issuer.signed({"sub": "eve"}, stranger))
                with anyio.fail_after(2):
                    await until(lambda: "/keys" in server.issuer.asked, "the keys are fetched")
                    assert await server.status(token, "/mine") == 200
                server.issuer.slow.set()


@pytest.mark.parametrize("document", ["/keys", "/.well-known/openid-configuration"])
async def test_a_document_without_end_is_not_read(tmp_path: Path, document: str) -> None:
    """Ours."""
    async with guarded(tmp_path) as server:
        server.issuer.endless = document
        with anyio.fail_after(4):
            assert await server.status(server.issuer.token(PUBLIC), "/mine") == 503


async def test_an_issuer_that_goes_by_another_name_is_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours, after RFC 8414, 3.3."""
    async with guarded(tmp_path) as server:
        server.issuer.calls_itself = f"{server.issuer.url}/"
        with pytest.raises(SettingsError, match="Write it exactly so"):
            await Issuer(server.issuer.url).check()
        assert await server.status(server.issuer.token(PUBLIC), "/mine") == 503
        assert "Write it exactly so" in caplog.text


async def test_a_client_can_be_asked_with_every_request_what_shows_who_calls(
    tmp_path: Path,
) -> None:
    """Ours: `connect(auth=…)`, for tokens that are renewed meanwhile."""
    async with guarded(tmp_path) as server:
        auth = _Fresh(server.issuer)
        async with connect(server.peer.url, ledger=None, auth=auth) as client:
            await client.list_tools()
            shown = auth.shown
            await client.list_tools()
        assert auth.shown > shown > 0
        with pytest.raises(SettingsError, match="auth only mean something with a URL"):
            async with connect(MCPServer("here"), ledger=None, auth=auth):
                pass


class _Fresh(httpx2.Auth):
    """Another token for each request."""

    def __init__(self, issuer: Issuing) -> None:
        self._issuer = issuer
        self.shown = 0

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        self.shown += 1
        token = self._issuer.token(PUBLIC, jti=str(self.shown))
        request.headers["authorization"] = f"Bearer {token}"
        yield request


async def test_it_is_called_by_its_public_name_and_by_no_other(tmp_path: Path) -> None:
    """Ours: behind a proxy, and against names that were pointed here (DNS rebinding)."""
    async with guarded(tmp_path) as server:
        sent = {"authorization": f"Bearer {server.issuer.token(PUBLIC)}"}
        url = server.peer.url.replace("/mcp", "/mine")
        named = await server.http.get(url, headers={**sent, "host": "mcp.example.org"})
        assert named.status_code == 200
        foreign = await server.http.get(url, headers={**sent, "host": "evil.example"})
        assert foreign.status_code == 421


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://mcp.example.org/mcp", "anybody on the way"),
        ("https://user@mcp.example.org/mcp", "has a user"),
        ("mcp.example.org", "names no host"),
        ("https://[", "no URL.*Write https://host/path"),
    ],
)
def test_an_address_that_tokens_are_not_safe_at_is_refused(url: str, why: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match=why):
        Authentication(issuer=Issuer("https://issuer.example"), public_url=url)


def test_a_server_with_authentication_of_its_own_keeps_it() -> None:
    """Ours."""
    authentication = Authentication(issuer=Issuer("https://issuer.example"), public_url=PUBLIC)
    mcp: MCPServer[Any] = MCPServer("own", **authentication.options())
    with pytest.raises(SettingsError, match="in its own way"):
        authentication.require(mcp)


def _encoded(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value).encode())


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
