"""Signing in and out: what the provider is told, what it is believed, what the browser holds.

Sources: OpenID Connect Core 1.0, RFC 6749, RFC 7636, RFC 8707, RFC 9207; issue 7, "Several people".
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from joserfc.jwk import ECKey
from starlette.applications import Starlette

from awhile.ask.web.people import app, signing_in
from awhile.ask.web.people.app import PeoplesPage, create_peoples_app
from awhile.ask.web.people.people import People
from awhile.identity.issuer import Issuer
from tests.interaction.issuing import Issuing, issuing
from tests.interaction.server.peer import until

pytestmark = pytest.mark.anyio

PAGE = "https://ask.example.org"
SERVER = "http://127.0.0.1:9/mcp"
"""Nobody listens there: the page goes on without its server."""

RESOURCE = "https://mcp.example.org/mcp"


@dataclass
class Browser:
    """A browser at the page: it keeps cookies and follows nothing."""

    http: httpx2.AsyncClient
    issuer: Issuing
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    flags: dict[str, str] = field(default_factory=dict[str, str])
    """Each cookie as it was set."""

    async def get(self, path: str, **headers: bytes) -> httpx2.Response:
        return await self._send("GET", path, headers=dict(headers))

    async def post(self, path: str, content: str = "{}") -> httpx2.Response:
        headers = {"origin": PAGE, "content-type": "application/json"}
        return await self._send("POST", path, headers=headers, content=content)

    async def begin(self, to: str = "/") -> dict[str, str]:
        """Go to sign in; what the provider is asked."""
        reply = await self.get(f"/sign-in?to={to}")
        assert reply.status_code == 303
        assert reply.headers["location"].startswith(f"{self.issuer.url}/authorize?")
        query = parse_qs(urlsplit(reply.headers["location"]).query)
        return {name: one[0] for name, one in query.items()}

    async def finish(
        self, asked: dict[str, str], *, id_token: str | None = None, **changed: str | None
    ) -> httpx2.Response:
        """Come back from the provider."""
        self.issuer.replies.append(self.tokens(asked, id_token=id_token))
        answer = {"code": "a-code", "state": asked["state"], "iss": self.issuer.url, **changed}
        query = {name: one for name, one in answer.items() if one is not None}
        return await self.get(f"/signed-in?{httpx2.QueryParams(query)}")

    async def sign_in(self, *, subject: str = "ada", **tokens: Any) -> None:
        """All of it."""
        asked = await self.begin()
        given = {**self.tokens(asked, subject=subject), **tokens}
        self.issuer.replies.append({name: one for name, one in given.items() if one is not None})
        query = httpx2.QueryParams(code="c", state=asked["state"], iss=self.issuer.url)
        reply = await self.get(f"/signed-in?{query}")
        assert reply.status_code == 303, reply.text

    def tokens(
        self, asked: dict[str, str], *, subject: str = "ada", id_token: str | None = None
    ) -> dict[str, Any]:
        """What the provider's token endpoint would answer."""
        nonce = asked["nonce"]
        who = self.issuer.token("page", sub=subject, nonce=nonce, name="Ada <b>Lovelace</b>")
        return {
            "access_token": f"access-of-{subject}",
            "refresh_token": f"refresh-of-{subject}",
            "id_token": id_token or who,
            "token_type": "Bearer",
            "expires_in": 300,
        }

    async def _send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        headers = options.pop("headers", {})
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={one}" for name, one in self.cookies.items())
        reply = await self.http.request(method, path, headers=headers, **options)
        for said in reply.headers.get_list("set-cookie"):
            for name, one in SimpleCookie(said).items():
                self.flags[name] = said
                self.cookies.pop(name, None)
                if one.value and one["max-age"] != "0":
                    self.cookies[name] = one.value
        return reply


class Served:
    """The page of several people, at a provider that does as one likes."""

    def __init__(self, app: Starlette, issuer: Issuing) -> None:
        self.issuer = issuer
        self._http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://ask.example.org"
        )

    def browser(self) -> Browser:
        """One that has never been here."""
        return Browser(self._http, self.issuer)


def app_of(issuer: Issuing, folder: Path, **changed: Any) -> Starlette:
    setup: dict[str, Any] = {
        "mcp_url": SERVER,
        "page_url": PAGE,
        "issuer": Issuer(issuer.url),
        "client_id": "page",
        "client_secret": "s3cret",
        "resource": RESOURCE,
        "scopes": ("profile", "ask"),
        "folder": folder / "sessions",
        "keys": ("k" * 32,),
        "session_seconds": 3600,
        **changed,
    }
    return create_peoples_app(PeoplesPage(**setup))


@asynccontextmanager
async def page_of(issuer: Issuing, folder: Path, **changed: Any) -> AsyncGenerator[Served]:
    served = app_of(issuer, folder, **changed)
    async with served.router.lifespan_context(served):
        yield Served(served, issuer)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncGenerator[Served]:
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        yield page


async def test_the_provider_is_asked_for_a_token_for_the_server_with_every_proof(
    page: Served,
) -> None:
    """MCP 2026-07-28, Authorization: PKCE, state, and the resource in both requests."""
    ada = page.browser()
    asked = await ada.begin()
    assert asked["response_type"] == "code"
    assert asked["scope"] == "openid profile ask"
    assert asked["redirect_uri"] == f"{PAGE}/signed-in"
    assert (asked["resource"], asked["code_challenge_method"]) == (RESOURCE, "S256")
    assert min(map(len, (asked["state"], asked["nonce"], asked["code_challenge"]))) >= 43
    again = await page.browser().begin()
    for proof in ("state", "nonce", "code_challenge"):
        assert again[proof] != asked[proof]
    await ada.finish(asked)
    (form,) = page.issuer.forms
    assert (form["grant_type"], form["resource"]) == ("authorization_code", RESOURCE)
    assert len(form["code_verifier"]) >= 43


async def test_it_costs_little_to_be_sent_to_the_provider(
    page: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: anybody may be. Finding out which certificates are trusted took 18 ms each time."""
    await page.browser().begin()

    def again(*_: object, **__: object) -> None:
        pytest.fail("it was found out again")

    monkeypatch.setattr(ssl, "create_default_context", again)
    await page.browser().begin()


async def test_the_browser_holds_a_name_and_no_token(page: Served) -> None:
    ada = page.browser()
    reply = await ada.finish(await ada.begin("/t/abc%3Fsort=1"))
    assert (reply.status_code, reply.headers["location"]) == (303, "/t/abc?sort=1")
    (name,) = ada.cookies
    assert name == "__Host-awhile"
    flags = ada.flags[name].lower()
    for flag in ("httponly", "secure", "samesite=lax", "path=/", "max-age=3600"):
        assert flag in flags
    assert "domain" not in flags
    session = (await ada.get("/api/session")).json()
    assert session["full"] is False
    assert session["person"]["name"] == "Ada <b>Lovelace</b>"
    (sealed,) = (one for name, one in ada.flags.items() if "sign-in" in name)
    seen = f"{ada.flags} {session} {reply.headers} {reply.text}"
    for secret in ("access-of", "refresh-of", "s3cret", "eyJ"):
        assert secret not in seen.replace(sealed, "")


async def test_a_sign_in_that_another_browser_began_is_not_taken(page: Served) -> None:
    """Login CSRF: nobody is signed in as somebody else by a link."""
    eve, ada = page.browser(), page.browser()
    of_eve = await eve.begin()
    await ada.begin()
    reply = await ada.finish(of_eve)
    assert reply.status_code == 400
    assert "was not begun in this browser" in reply.text
    assert "__Host-awhile" not in ada.cookies
    assert page.issuer.forms == []  # the code was not even passed on


async def test_an_answer_is_taken_once(page: Served) -> None:
    ada = page.browser()
    asked = await ada.begin()
    assert (await ada.finish(asked)).status_code == 303
    del ada.cookies["__Host-awhile"]
    assert (await ada.finish(asked)).status_code == 400


async def test_a_name_that_somebody_else_put_there_never_becomes_a_session(page: Served) -> None:
    """Session fixation."""
    eve, ada = page.browser(), page.browser()
    await eve.sign_in(subject="eve")
    put_there = eve.cookies["__Host-awhile"]
    await eve.post("/api/sign-out")
    ada.cookies["__Host-awhile"] = put_there
    await ada.sign_in()
    assert ada.cookies["__Host-awhile"] != put_there
    eve.cookies["__Host-awhile"] = put_there
    assert (await eve.get("/api/session")).status_code == 401


async def test_tabs_that_are_on_their_way_at_the_same_time_all_arrive_where_they_were_going(
    page: Served,
) -> None:
    """Ours: a browser that was restarted opens all of its tabs at once."""
    ada = page.browser()
    places = [f"/t/{number}" for number in range(10)]
    tabs = [await ada.begin(place) for place in places]
    arrived = [(await ada.finish(asked)).headers["location"] for asked in tabs]
    assert arrived == places
    assert len([one for one in page.issuer.forms if one["at"] == "/token"]) == 1
    assert list(ada.cookies) == ["__Host-awhile"]


async def test_what_is_held_for_sign_ins_under_way_is_bounded(page: Served) -> None:
    """Ours: a proxy takes 8 kB of a header at most."""
    ada = page.browser()
    for _ in range(20):
        await ada.begin("/t/" + "x" * 60)
    asked = await ada.begin()
    assert sum(map(len, [*ada.cookies, *ada.cookies.values()])) < 6000
    assert (await ada.finish(asked)).status_code == 303


async def test_links_however_long_do_not_outgrow_what_browsers_and_proxies_take(
    page: Served,
) -> None:
    """RFC 6265, 6.1: a browser takes cookies of 4096 bytes; a larger one is lost, and with it the
    sign-in. What is shown of the run is lost instead."""
    ada = page.browser()
    asked: dict[str, str] = {}
    for place, arrives in (
        (f"/t/abc?{'x' * 900}", f"/t/abc?{'x' * 900}"),
        (f"/t/abc?{'x' * 3900}", "/t/abc"),
    ):
        for _ in range(8):
            asked = await ada.begin(place)
            held = [f"{name}={one}" for name, one in ada.cookies.items()]
            assert max(map(len, held)) < 4000
            assert sum(map(len, held)) < 6000
        assert (await ada.finish(asked)).headers["location"] == arrives
        ada.cookies.clear()


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"code": None, "error": "access_denied"},
        {"code": None, "error": "<script>alert(1)</script>", "error_description": "<b>"},
        {"code": None},
    ],
)
async def test_an_answer_that_is_none_signs_nobody_in(
    page: Served, changed: dict[str, str | None]
) -> None:
    ada = page.browser()
    reply = await ada.finish(await ada.begin(), **changed)
    assert reply.status_code == 403
    assert "__Host-awhile" not in ada.cookies
    assert "<script>" not in reply.text
    assert page.issuer.forms == []


async def test_the_providers_word_on_who_it_is_has_to_hold(page: Served) -> None:
    issuer, now = page.issuer, int(time.time())
    stranger = ECKey.generate_key("P-256", {"kid": "first"})
    for changed in (
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["page", "another-client"]},
        {"iss": "https://other.example"},
        {"exp": now - 600},
        {"sub": None},
        {"at_hash": "x"},
    ):
        ada = page.browser()
        asked = await ada.begin()
        claims: dict[str, Any] = {"nonce": asked["nonce"], **changed}
        reply = await ada.finish(asked, id_token=issuer.token("page", **claims))
        assert (reply.status_code, list(ada.cookies)) == (403, []), changed
    ada = page.browser()
    asked = await ada.begin()
    forged = {"iss": issuer.url, "sub": "ada", "aud": "page", "exp": now + 60, "iat": now}
    token = issuer.signed({**forged, "nonce": asked["nonce"]}, stranger)
    assert (await ada.finish(asked, id_token=token)).status_code == 403


async def test_signing_out_ends_the_session_here_and_there(page: Served) -> None:
    ada = page.browser()
    await ada.sign_in()
    held = dict(ada.cookies)
    assert (await ada.get("/sign-out")).status_code == 404  # no link can do it
    reply = await ada.post("/api/sign-out")
    there = urlsplit(str(reply.json()["go"]))
    assert f"{there.scheme}://{there.netloc}{there.path}" == f"{page.issuer.url}/end"
    assert parse_qs(there.query) == {
        "client_id": ["page"],
        "post_logout_redirect_uri": [f"{PAGE}/signed-out"],
    }
    assert ada.cookies == {}
    ada.cookies = held
    assert (await ada.get("/api/session")).status_code == 401
    await until(lambda: page.issuer.forms[-1]["at"] == "/revoke", "what was given is revoked")
    assert page.issuer.forms[-1]["token"] == "refresh-of-ada"  # noqa: S105


async def test_one_person_is_signed_in_in_so_many_browsers_and_no_more(
    page: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: who signs in again and again fills no disk."""
    monkeypatch.setattr(signing_in, "MOST_SESSIONS", 2)
    browsers = [page.browser() for _ in range(4)]
    for browser, who in zip(browsers, ("ada", "eve", "ada", "ada"), strict=True):
        await browser.sign_in(subject=who)
    there = [(await one.get("/api/session")).status_code for one in browsers]
    assert there == [401, 200, 200, 200]


async def test_a_provider_without_such_an_address_is_left_alone(page: Served) -> None:
    page.issuer.more = {"end_session_endpoint": None, "revocation_endpoint": None}
    ada = page.browser()
    await ada.sign_in()
    assert (await ada.post("/api/sign-out")).json() == {"go": "/signed-out"}
    assert "You are signed out" in (await ada.get("/signed-out")).text


async def test_a_restart_of_the_page_signs_nobody_out(tmp_path: Path) -> None:
    async with issuing() as issuer:
        async with page_of(issuer, tmp_path) as page:
            ada = page.browser()
            await ada.sign_in()
        async with page_of(issuer, tmp_path) as page:
            back = page.browser()
            back.cookies = ada.cookies
            assert (await back.get("/api/session")).json()["person"]["name"].startswith("Ada")
            assert (await back.get("/api/runs")).json()["runs"] == []


async def test_another_provider_is_not_shown_what_the_one_before_gave(tmp_path: Path) -> None:
    """MCP 2026-07-28, Authorization Server Discovery: nothing of one is any other's."""
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        ada = page.browser()
        await ada.sign_in(expires_in=0)
    async with issuing() as another, page_of(another, tmp_path) as page:
        back = page.browser()
        back.cookies = ada.cookies
        assert (await back.get("/api/session")).status_code == 401
        assert another.forms == []
    assert list((tmp_path / "sessions").iterdir()) == []


async def test_a_file_that_is_broken_keeps_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "broken.session").write_bytes(b"\xff\x00")
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        await page.browser().sign_in()
    assert not (tmp_path / "sessions" / "broken.session").exists()


@pytest.mark.parametrize(
    "others", ['prefs={"a": 1}', "naked", "ä=ö", 'x="no end', "path=/", "=; ;;", "a[b]=(c)"]
)
async def test_cookies_of_neighbours_sign_nobody_out(page: Served, others: str) -> None:
    """Ours: whoever has another host of the same domain may set cookies for all of them."""
    ada = page.browser()
    await ada.sign_in()
    held = f"{others}; __Host-awhile={ada.cookies['__Host-awhile']}"
    ada.cookies = {}
    assert (await ada.get("/api/session", cookie=held.encode())).status_code == 200


async def test_what_cannot_be_read_is_refused_in_order(page: Served) -> None:
    ada = page.browser()
    await ada.sign_in()
    for body in ("[" * 100_000, '{"a":' * 40_000, f'{{"a": {"9" * 5000}}}'):
        reply = await ada.post("/api/check", content=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")
    for place in ("/t/abc/", "/api/events/", "//evil.example/"):  # a proxy's https is not known
        assert "location" not in (await ada.get(place)).headers


@pytest.mark.parametrize(
    "changed",
    [{"access_token": None}, {"expires_in": "soon"}, {"expires_in": []}, {"expires_in": {}}],
)
async def test_an_answer_without_a_token_in_it_is_said_to_be_none(
    page: Served, changed: dict[str, Any]
) -> None:
    ada = page.browser()
    asked = await ada.begin()
    tokens = {**ada.tokens(asked), **changed}
    page.issuer.replies.append({name: one for name, one in tokens.items() if one is not None})
    query = httpx2.QueryParams(code="c", state=asked["state"], iss=page.issuer.url)
    assert (await ada.get(f"/signed-in?{query}")).status_code == 503
    assert "__Host-awhile" not in ada.cookies


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
async def test_no_secret_is_sent_where_others_could_read_it(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """MCP 2026-07-28, Communication Security: a provider behind a proxy may take itself for one
    without https."""
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        issuer.more = {name: "http://login.example.org/x"}
        ada = page.browser()
        reply = await ada.get("/sign-in")
        if reply.status_code == 303:
            asked = parse_qs(urlsplit(reply.headers["location"]).query)
            reply = await ada.finish({key: one[0] for key, one in asked.items()})
        assert reply.status_code == 503
        assert "http://login.example.org/x" in caplog.text
        assert [one for one in issuer.forms if name == "token_endpoint"] == []


async def test_no_secret_takes_a_way_through_a_proxy_to_a_provider_on_this_machine(
    page: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a proxy reads what is not encrypted, the client's secret and tokens included."""
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nothing is there
    await page.browser().sign_in()


async def test_whoever_is_one_too_many_is_told_so_by_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "People", partial(People, most=0))
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        ada = page.browser()
        await ada.sign_in()
        refused = await ada.get("/api/runs")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "full")
        assert int(refused.headers["retry-after"]) > 0
        assert (await ada.get("/api/session")).json()["full"] is True


async def test_a_session_ends_by_itself(tmp_path: Path) -> None:
    async with issuing() as issuer, page_of(issuer, tmp_path, session_seconds=0.5) as page:
        ada = page.browser()
        await ada.sign_in()
        with anyio.fail_after(10):
            while (await ada.get("/api/session")).status_code != 401:  # noqa: ASYNC110
                await anyio.sleep(0.05)
        await until(lambda: issuer.forms[-1]["at"] == "/revoke", "what was given is revoked")


async def test_a_provider_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        issuer.answers = False
        reply = await page.browser().get("/sign-in?to=/sql")
        assert reply.status_code == 503
        assert "cannot be reached at the moment" in reply.text
        assert "/sign-in?to=%2Fsql" in reply.text


async def test_a_provider_that_does_not_say_it_takes_pkce_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """MCP 2026-07-28, Authorization Code Protection: a client has to refuse."""
    async with issuing() as issuer, page_of(issuer, tmp_path) as page:
        issuer.more = {"code_challenge_methods_supported": None}
        reply = await page.browser().get("/sign-in")
        assert reply.status_code == 403
        assert "PKCE" in reply.text
        assert "Tell whoever runs this page" in reply.text
        assert "name S256 in code_challenge_methods_supported" in caplog.text


async def test_no_secret_is_logged_however_much_is(
    page: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    ada = page.browser()
    await ada.sign_in()
    held = ada.cookies["__Host-awhile"]
    await ada.get("/api/runs")
    await ada.post("/api/sign-out")
    assert "has signed in" in caplog.text
    for secret in ("access-of", "refresh-of", "s3cret", held, held.partition(".")[0], "eyJ"):
        assert secret not in caplog.text
