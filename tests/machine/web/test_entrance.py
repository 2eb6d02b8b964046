"""Who may talk to the page of several people. Source: issue 7, "Several people"; ours."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from awhile.ask.web.people.entrance import Address, Entrance, place_in
from awhile.ask.web.people.provider import Person, Provider, Tokens
from awhile.ask.web.people.sealing import Seal
from awhile.ask.web.people.sessions import Sessions
from awhile.errors import SettingsError
from awhile.identity.issuer import Issuer

pytestmark = pytest.mark.anyio

PAGE = "https://ask.example.org"
HOST = "ask.example.org"
KEYS = ("k" * 32,)
ADA = Person(issuer="https://login.example.org", subject="ada", name="Ada")


async def _whose(request: Request) -> Response:
    session = request.state.session
    return JSONResponse({"person": None if session is None else session.person.name})


class Door:
    """The entrance of a page, with whoever has signed in behind it."""

    def __init__(self, folder: Path, page_url: str = PAGE, keys: tuple[str, ...] = KEYS) -> None:
        self.address = Address(page_url)
        provider = Provider(
            Issuer("https://login.example.org"),
            client_id="page",
            client_secret=None,
            page_url=self.address.origin,
            resource="https://mcp.example.org/mcp",
            scopes=(),
        )
        self.sessions = Sessions(folder, keys, provider, lasts_seconds=3600)
        behind = Starlette(routes=[Route("/{rest:path}", _whose, methods=["GET", "POST"])])
        self.app = Entrance(behind, self.address, self.sessions)

    async def cookie(self) -> dict[str, str]:
        """What the browser of somebody who has signed in sends."""
        now = time.time()
        tokens = Tokens(access="a-token", refresh=None, made_at=now, ends_at=now + 3600)
        held = await self.sessions.begin(ADA, tokens)
        return {"cookie": f"{self.address.cookie}={held}"}

    async def send(
        self, method: str = "GET", path: str = "/api/runs", headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """One request, as the proxy in front passes it on: by plain http."""
        url = f"http://{self.address.host}"
        transport = httpx2.ASGITransport(self.app)
        async with httpx2.AsyncClient(transport=transport, base_url=url) as client:
            return await client.request(method, path, headers=dict(headers or {}))


@pytest.fixture
async def door(tmp_path: Path) -> Door:
    door = Door(tmp_path)
    await door.sessions.load()
    return door


async def test_whoever_has_signed_in_is_let_in(door: Door) -> None:
    cookie = await door.cookie()
    assert (await door.send(headers=cookie)).json() == {"person": "Ada"}
    assert (await door.send("POST", headers={**cookie, "origin": PAGE})).status_code == 200


@pytest.mark.parametrize("held", ["", "x", "x.y", "\x01;;=;", "a" * 43 + "." + "b" * 43])
async def test_whoever_has_not_is_told_so_by_a_code(door: Door, held: str) -> None:
    await door.cookie()
    reply = await door.send(headers={"cookie": f"{door.address.cookie}={held}"})
    assert reply.status_code == 401
    assert reply.json()["error"]["code"] == "signed_out"


async def test_a_cookie_that_was_changed_or_signed_by_others_opens_nothing(
    door: Door, tmp_path: Path
) -> None:
    name, held = (await door.cookie())["cookie"].split("=", 1)
    for other in (held[:-2] + "AA", held.replace(".", "", 1), f"x{held}"):
        assert (await door.send(headers={"cookie": f"{name}={other}"})).status_code == 401
    stranger = Seal("session", ("s" * 32,)).signed(held.partition(".")[0])
    assert (await door.send(headers={"cookie": f"{name}={stranger}"})).status_code == 401
    for_something_else = Seal("sign-in", KEYS).signed(held.partition(".")[0])
    reply = await door.send(headers={"cookie": f"{name}={for_something_else}"})
    assert reply.status_code == 401


async def test_a_visitor_is_sent_to_sign_in_and_comes_back_to_where_they_went(door: Door) -> None:
    for place in ("/", "/sql", "/t/0123abc", "/t/0123abc?sort=1&desc=1", f"/s/{64 * 'f'}"):
        reply = await door.send(path=place)
        assert reply.status_code == 303
        there = urlsplit(reply.headers["location"])
        assert (there.path, parse_qs(there.query)["to"]) == ("/sign-in", [place])


@pytest.mark.parametrize(
    "place",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/t/x/../../evil",
        "/%2f%2fevil.example",
        "/t/x?\r\nset-cookie: a=b",
        "/sign-out",
        "javascript:alert(1)",
        "",
        "/sql?" + "a" * 5000,
    ],
)
def test_the_way_back_leads_nowhere_else(place: str) -> None:
    """No open redirect."""
    assert place_in(place) is None


async def test_what_anybody_may_see_is_how_to_sign_in_and_what_the_page_is_made_of(
    door: Door,
) -> None:
    for path in ("/sign-in", "/signed-in", "/signed-out", "/icon.svg", "/assets/index.js"):
        assert (await door.send(path=path)).json() == {"person": None}
    for path in ("/favicon.ico", "/assets", "/sign-in/x", "/api/sign-in"):
        assert (await door.send(path=path)).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:8765", "", f"{HOST}:8443", f"{HOST}.evil.example"]
)
async def test_another_host_is_refused_whatever_a_proxy_is_said_to_have_forwarded(
    door: Door, host: str
) -> None:
    forwarded = {"x-forwarded-host": HOST, "forwarded": f"host={HOST};proto=https"}
    reply = await door.send(headers={**await door.cookie(), "host": host, **forwarded})
    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "host"


async def test_what_a_stranger_goes_on_to_send_is_not_read(door: Door) -> None:
    """Ours: 2 GB a second of it were."""
    for headers in ({"origin": PAGE}, {"origin": "https://evil.example"}):
        reply = await door.send("POST", headers=headers)
        assert (reply.status_code in {401, 403}, reply.headers["connection"]) == (True, "close")
    assert "connection" not in (await door.send()).headers
    own = {**await door.cookie(), "origin": PAGE}
    assert "connection" not in (await door.send("POST", headers=own)).headers


async def test_of_two_hosts_neither_is_believed(door: Door) -> None:
    """RFC 9112, 3.2."""
    cookie = (await door.cookie())["cookie"]
    both = [("host", HOST), ("host", "evil.example"), ("cookie", cookie)]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(door.app)) as http:
        assert (await http.get(f"http://{HOST}/api/runs", headers=both)).status_code == 403


async def test_the_public_url_decides_what_our_own_origin_is(door: Door) -> None:
    """Behind the proxy requests come by http, and their origin is https."""
    cookie = await door.cookie()
    for origin in (f"http://{HOST}", "https://evil.example", "null", f"{PAGE}:8443"):
        for method in ("GET", "POST"):
            reply = await door.send(method, headers={**cookie, "origin": origin})
            assert reply.status_code == 403
    assert (await door.send("POST", headers=cookie)).status_code == 403


async def test_another_sites_page_cannot_read_but_a_person_may_follow_a_link(door: Door) -> None:
    cookie = await door.cookie()
    embedded = {**cookie, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    assert (await door.send(headers=embedded)).status_code == 403
    followed = {**cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await door.send(path="/t/abc", headers=followed)).status_code == 200


async def test_every_answer_has_the_policy_and_https_is_insisted_on(door: Door) -> None:
    for headers in ({}, await door.cookie(), {"host": "evil.example"}):
        reply = await door.send(headers=headers)
        assert "script-src 'self';" in reply.headers["content-security-policy"]
        assert "form-action 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["strict-transport-security"] == "max-age=31536000"


async def test_on_this_machine_http_will_do(tmp_path: Path) -> None:
    door = Door(tmp_path, "http://127.0.0.1:8765")
    await door.sessions.load()
    reply = await door.send(headers=await door.cookie())
    assert reply.json() == {"person": "Ada"}
    assert "strict-transport-security" not in reply.headers
    assert door.address.cookie == "awhile-8765"


@pytest.mark.parametrize(
    ("page_url", "why"),
    [
        ("http://ask.example.org", "anybody on the way"),
        ("https://ask.example.org/ask", "a path"),
        ("https://user:secret@ask.example.org", "has a user"),
        ("ask.example.org", "names no host"),
    ],
)
def test_an_address_that_nobody_can_safely_sign_in_at_is_refused(page_url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        Address(page_url)


async def test_a_session_outlives_its_process_and_a_change_of_keys(tmp_path: Path) -> None:
    before = Door(tmp_path)
    await before.sessions.load()
    cookie = await before.cookie()
    after = Door(tmp_path, keys=("n" * 32, *KEYS))
    await after.sessions.load()
    assert (await after.send(headers=cookie)).json() == {"person": "Ada"}
    without = Door(tmp_path, keys=("n" * 32,))
    await without.sessions.load()
    assert (await without.send(headers=cookie)).status_code == 401


async def test_what_lies_on_the_disk_is_neither_a_cookie_nor_a_token(tmp_path: Path) -> None:
    door = Door(tmp_path)
    await door.sessions.load()
    held = (await door.cookie())["cookie"].partition("=")[2]
    kept = _only_file(tmp_path)
    for secret in (held, held.partition(".")[0], "a-token", "ada", "Ada"):
        assert secret not in kept
    assert "a-token" not in repr(door.sessions.all()[0].tokens)


def _only_file(folder: Path) -> str:
    """The name and content of the one file, which only its owner may read."""
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    return file.name + file.read_text("ascii")
