"""Answers that last, streams and files: how many a person has at once, and until when. Ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from awhile.ask.web.people import app
from tests.interaction.ask.test_signing_in import Browser, app_of
from tests.interaction.issuing import Issuing, issuing
from tests.interaction.server.peer import PATIENCE_SECONDS, serving_app, until

pytestmark = pytest.mark.anyio

STREAM, FILE, WORKBOOK = "/api/events", "/api/runs/r1/file.csv", "/api/runs/r1/file.xlsx"


@dataclass
class Here:
    """A page that is served, and a server behind it that has nothing but files without end."""

    http: httpx2.AsyncClient
    issuer: Issuing
    asked: list[str] = field(default_factory=list[str])
    """The files that were."""
    left: int = 0
    """By how many of those who asked for one."""

    async def browser(self, subject: str = "ada") -> Browser:
        """One in which somebody is signed in."""
        browser = Browser(self.http, self.issuer)
        await browser.sign_in(subject=subject)
        return browser

    @asynccontextmanager
    async def opened(self, browser: Browser, path: str) -> AsyncGenerator[httpx2.Response]:
        """An answer as it comes."""
        cookie = "; ".join(f"{name}={one}" for name, one in browser.cookies.items())
        async with self.http.stream("GET", path, headers={"cookie": cookie}) as answer:
            yield answer

    async def file(self, request: Request) -> Response:
        """What the server answers: a text at once, a workbook never."""
        name = request.path_params["name"]
        self.asked.append(name)

        async def rows() -> AsyncGenerator[bytes]:
            try:
                yield b"1\r\n"
                await anyio.sleep_forever()
            finally:
                self.left += 1

        if name.endswith("xlsx"):
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.left += 1
            return Response()
        return StreamingResponse(rows(), media_type="text/csv")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[Here]:
    async def file(request: Request) -> Response:
        return await here.file(request)

    behind = Starlette(routes=[Route("/results/{name}", file)])
    async with (
        issuing() as issuer,
        serving_app(behind, "/mcp") as server,
        serving_app(app_of(issuer, tmp_path, mcp_url=server.url), "") as page,
        httpx2.AsyncClient(base_url=page.url, headers={"host": "ask.example.org"}) as http,
    ):
        here = Here(http, issuer)
        yield here


@pytest.mark.parametrize(("kind", "path"), [("STREAM", STREAM), ("FILE", FILE)])
async def test_a_person_has_so_many_at_once_and_is_told_what_to_do(
    here: Here, monkeypatch: pytest.MonkeyPatch, kind: str, path: str
) -> None:
    monkeypatch.setattr(app, kind, replace(getattr(app, kind), most=1))
    ada, elsewhere, eve = await here.browser(), await here.browser(), await here.browser("eve")
    async with here.opened(ada, path) as first:
        assert first.status_code == 200
        refused = await elsewhere.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many")
        assert int(refused.headers["retry-after"]) > 0
        assert refused.json()["error"]["message"].endswith("then try again.")
        async with here.opened(eve, path) as another:
            assert another.status_code == 200

    async def let_in() -> bool:
        async with here.opened(elsewhere, path) as later:
            return later.status_code == 200

    with anyio.fail_after(PATIENCE_SECONDS):
        while not await let_in():
            pass


async def test_a_stream_ends_with_its_session(here: Here) -> None:
    ada = await here.browser()
    async with here.opened(ada, STREAM) as ended:
        assert (await ada.post("/api/sign-out")).status_code == 200
        async for _ in ended.aiter_bytes():
            pass


async def test_a_file_that_its_session_ended_during_is_broken_off_and_looks_like_it(
    here: Here,
) -> None:
    """So that no half of a file is taken for the whole."""
    ada = await here.browser()
    async with here.opened(ada, FILE) as answer:
        parts = answer.aiter_bytes()
        assert await anext(parts) == b"1\r\n"
        assert (await ada.post("/api/sign-out")).status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            await anext(parts)
    await until(lambda: here.left == 1, "the server has stopped sending it")


async def test_a_file_that_has_not_begun_by_then_is_refused(here: Here) -> None:
    ada = await here.browser()
    refused: list[httpx2.Response] = []

    async def ask() -> None:
        refused.append(await replace(ada, cookies=dict(ada.cookies)).get(WORKBOOK))

    async with anyio.create_task_group() as asking:
        asking.start_soon(ask)
        await until(lambda: here.asked == ["r1.xlsx"], "the workbook is being made")
        assert (await ada.post("/api/sign-out")).status_code == 200
    assert (refused[0].status_code, refused[0].json()["error"]["code"]) == (401, "signed_out")
    await until(lambda: here.left == 1, "nobody makes it any more")
