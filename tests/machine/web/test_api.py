"""The backend's own answers: bad requests, and a server that is away. Source: ours."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from awhile.ask.web import create_app, serve_page
from awhile.ask.web.exchange import LARGEST_BODY
from awhile.ask.web.guard import cookie_name
from awhile.errors import SettingsError

pytestmark = pytest.mark.anyio

TOKEN = "a-token-nobody-guesses"  # noqa: S105
HERE = "127.0.0.1:8765"


def nowhere() -> str:
    """The address of an MCP server that is not there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/mcp"


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    """A signed-in browser, to a backend whose server is away."""
    app: Starlette = create_app(nowhere(), TOKEN)
    headers = {"cookie": f"{cookie_name(HERE)}={TOKEN}", "origin": f"http://{HERE}"}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url=f"http://{HERE}", headers=headers
        ) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"request_key": "k"},
        {"question": "How many?"},
        {"question": "How many?", "sql": "SELECT 1", "request_key": "k"},
        {"question": "", "request_key": "k"},
        {"question": 7, "request_key": "k"},
        {"sql": "SELECT :a", "parameters": [1], "request_key": "k"},
        {"question": "And?", "follows": 7, "request_key": "k"},
        {"question": "How many?", "request_key": "k", "supersedes": ["a"]},
        {"question": "How many?", "request_key": "k" * 201},
        ["question"],
    ],
)
async def test_a_request_that_makes_no_sense_is_refused_here(
    client: httpx2.AsyncClient, body: Any
) -> None:
    reply = await client.post("/api/runs", json=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "bad_request"


async def test_only_json_is_taken_and_not_too_much_of_it(client: httpx2.AsyncClient) -> None:
    form = await client.post("/api/runs", data={"question": "How many?"})
    assert form.status_code == 415
    json = {"content-type": "application/json"}
    assert (await client.post("/api/runs", content=b"{", headers=json)).status_code == 400
    huge = await client.post("/api/runs", content=b" " * (LARGEST_BODY + 1), headers=json)
    assert huge.status_code == 413


@pytest.mark.parametrize(
    "asked",
    [{"offset": -1}, {"limit": 1001}, {"limit": "7"}, {"limit": True}, {"sort": {"column": 0.5}}],
)
async def test_a_page_of_rows_is_asked_for_in_whole_numbers(
    client: httpx2.AsyncClient, asked: dict[str, Any]
) -> None:
    body = {"offset": 0, "limit": 10, **asked}
    assert (await client.post("/api/runs/a/rows", json=body)).status_code == 400


async def test_a_file_is_refused_in_a_sentence_while_the_server_is_away(
    client: httpx2.AsyncClient,
) -> None:
    reply = await client.get("/api/runs/abc/file.csv?sort=0&filters=[]")
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "not_sent"


@pytest.mark.parametrize("path", ["answer", "label", "delete", "accept", "cancel"])
async def test_nothing_is_done_to_a_run_that_is_not_known(
    client: httpx2.AsyncClient, path: str
) -> None:
    body: dict[str, Any] = {"key": "k", "action": "accept", "content": {}, "pinned": True}
    assert (await client.post(f"/api/runs/abc/{path}", json=body)).status_code == 503
    no_origin = {"origin": "http://evil.example"}
    reply = await client.post(f"/api/runs/abc/{path}", json=body, headers=no_origin)
    assert reply.status_code == 403


async def test_what_was_not_sent_is_said_not_to_be(client: httpx2.AsyncClient) -> None:
    reply = await client.post("/api/runs", json={"question": "How many?", "request_key": "k"})
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "not_sent"


async def test_a_run_is_not_called_unknown_while_the_server_is_away(
    client: httpx2.AsyncClient,
) -> None:
    assert (await client.get("/api/runs/abc")).status_code == 503
    assert (await client.post("/api/runs/abc/cancel", json={})).status_code == 503


async def test_that_the_server_is_away_is_told_with_the_time(client: httpx2.AsyncClient) -> None:
    # A request to the server has failed by the time this one is answered, so it is known.
    await client.post("/api/runs", json={"question": "How many?", "request_key": "k"})
    server = (await client.get("/api/runs")).json()["server"]
    assert not server["reachable"]
    assert server["since"] is not None


async def test_a_page_for_other_computers_is_refused() -> None:
    with pytest.raises(SettingsError, match="other computers"):
        await serve_page(nowhere(), TOKEN, host="0.0.0.0")  # noqa: S104


async def test_a_port_that_is_taken_is_said_to_be() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SettingsError, match="cannot be listened on"):
            await serve_page(nowhere(), TOKEN, port=taken.getsockname()[1])
