"""Who may talk to the page backend. Source: issue "The first real question", the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from awhile.ask.web import create_app
from awhile.ask.web.guard import Guard, cookie_name
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

TOKEN = "a-token-nobody-guesses"  # noqa: S105
HERE = "127.0.0.1:8765"
COOKIE = {"cookie": f"{cookie_name(HERE)}={TOKEN}"}

pytestmark = pytest.mark.anyio


async def _hello(request: Request) -> Response:
    return JSONResponse({"hello": request.url.path})


GUARDED = Guard(
    Starlette(routes=[Route("/{rest:path}", _hello, methods=["GET", "POST"])]),
    TOKEN,
)


async def send(
    method: str = "GET", path: str = "/api/runs", headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    transport = httpx2.ASGITransport(GUARDED)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HERE}") as client:
        return await client.request(method, f"http://{HERE}{path}", headers=dict(headers or {}))


async def test_the_start_url_trades_its_token_for_a_cookie_and_drops_it_from_the_address() -> None:
    reply = await send(path=f"/?token={TOKEN}")
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(HERE)}={TOKEN};")
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()


async def test_the_start_url_never_leads_to_another_site() -> None:
    reply = await send(path=f"//evil.example/?token={TOKEN}")
    assert reply.headers["location"] == "/evil.example/"


async def test_the_cookie_opens_the_page_and_its_interface() -> None:
    assert (await send(headers=COOKIE)).status_code == 200
    assert (await send("POST", headers={**COOKIE, "origin": f"http://{HERE}"})).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"cookie": f"{cookie_name(HERE)}=wrong"},
        {"cookie": f"awhile-1={TOKEN}"},
        {"cookie": "\x01;;=;"},
    ],
)
async def test_without_the_cookie_nothing_is_told(headers: dict[str, str]) -> None:
    reply = await send(headers=headers)
    assert reply.status_code == 401
    assert reply.json()["error"]["code"] == "not_signed_in"


async def test_a_wrong_token_opens_nothing() -> None:
    reply = await send(path="/?token=wrong")
    assert reply.status_code == 401
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1:x"])
async def test_a_foreign_host_name_is_refused(host: str) -> None:
    """DNS rebinding: a page's own name pointed at 127.0.0.1."""
    reply = await send(headers={**COOKIE, "host": host})
    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "host"


async def test_of_two_hosts_neither_is_believed() -> None:
    """RFC 9112, 3.2."""
    both = [("host", HERE), ("host", "evil.example"), *COOKIE.items()]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(GUARDED)) as http:
        assert (await http.get(f"http://{HERE}/api/runs", headers=both)).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8765", "[::1]:8765", "127.0.0.1:8765"])
async def test_this_computer_goes_by_three_names(host: str) -> None:
    assert (await send(headers={**COOKIE, "host": host})).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:3000", "null"])
async def test_a_foreign_origin_is_refused(origin: str) -> None:
    for method in ("GET", "POST"):
        reply = await send(method, headers={**COOKIE, "origin": origin})
        assert reply.status_code == 403
        assert reply.json()["error"]["code"] == "origin"


async def test_a_change_without_an_origin_is_refused() -> None:
    assert (await send("POST", headers=COOKIE)).status_code == 403


async def test_what_a_stranger_goes_on_to_send_is_not_read() -> None:
    """Ours: a body may be without end."""
    origin = {"origin": f"http://{HERE}"}
    for stranger in (origin, {**COOKIE, "origin": "http://evil.example"}):
        reply = await send("POST", headers=stranger)
        assert (reply.status_code in {401, 403}, reply.headers.get("connection")) == (True, "close")
    assert "connection" not in (await send("POST", headers={**COOKIE, **origin})).headers


async def test_another_sites_page_cannot_read_but_a_person_may_follow_a_link() -> None:
    embedded = {**COOKIE, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}
    assert (await send(headers=embedded)).status_code == 403
    followed = {**COOKIE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await send(path="/", headers=followed)).status_code == 200


async def test_every_answer_forbids_inline_script_and_frames() -> None:
    for headers in ({}, COOKIE):
        policy = (await send(headers=headers)).headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


async def test_a_token_that_could_be_guessed_is_refused_at_construction() -> None:
    with pytest.raises(SettingsError, match="could be guessed"):
        create_app("http://127.0.0.1:1/mcp", "1234")
