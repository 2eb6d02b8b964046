"""A program for the browser tests of sharing: one server, and a page for each of two people who
are told apart by their tokens. Says the start URLs in one line: Ada's, and Eve's."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, suppress
from datetime import date
from functools import partial
from pathlib import Path

import anyio
import duckdb
import httpx2
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from awhile import Tasks
from awhile.ask.engines.contract import Budget
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.mcp_server.build import build_server
from awhile.ask.results import Results
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.web.built import page_routes
from awhile.ask.web.desk import Desk
from awhile.ask.web.guard import Guard
from awhile.ask.web.serving import serve
from awhile.server.http import serve_http
from tests.interaction.server.test_owners import ISSUER, SERVER_URL, Verifier

TOKENS = ("ada-at-home", "eve")
KEY = "a-key-that-nobody-guesses"


class Named(Verifier):
    """Its tokens say what to call a person."""

    async def verify_token(self, token: str) -> AccessToken | None:
        known = await super().verify_token(token)
        if known is not None and known.claims is not None and known.subject is not None:
            mail = f"{known.subject}@example.org"
            known.claims |= {"name": f"{known.subject.title()} Lovelace", "email": mail}
        return known


class Bearer(httpx2.Auth):
    """Shows a token with every request."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        request.headers["authorization"] = f"Bearer {self._token}"
        yield request


async def page(mcp_url: str, token: str, on_ready: Callable[[str], None]) -> None:
    """The page of whoever has that token, on this computer."""
    desk = Desk(mcp_url, Bearer(token))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with desk.at_work():
            yield

    app = Starlette(
        routes=[*page_routes(), Mount("/api", routes=desk.routes())],
        middleware=[Middleware(Guard, token=KEY)],
        lifespan=lifespan,
    )
    url = f"http://127.0.0.1:{{port}}/?token={KEY}"
    await serve(app, host="127.0.0.1", port=0, url=url, on_ready=on_ready)


async def main(folder: Path) -> None:
    """Serve until told to stop."""
    database = folder / "shop.duckdb"
    with duckdb.connect(str(database)) as made:
        made.execute(
            "CREATE TABLE customers AS SELECT range AS customer_id, "
            "['Iceland', 'Norway', 'Spain'][1 + range % 7 % 3] AS country FROM range(70)"
        )
    mcp = build_server(
        tasks=Tasks(f"sqlite:///{folder / 'tasks.db'}"),
        engine=DuckDBEngine(database, spill_folder=folder),
        translator=BuiltInTranslator(),
        results=Results.in_folder(folder / "results"),
        budget=Budget(),
        database_name="the shop",
        today=lambda: date(2026, 11, 28),
        log_level="WARNING",
        token_verifier=Named(),
        auth=AuthSettings.model_validate(
            {
                "issuer_url": ISSUER,
                "resource_server_url": SERVER_URL,
                "validate_token_resource": False,
            }
        ),
    )
    async with anyio.create_task_group() as all_three:

        def ready(mcp_url: str) -> None:
            at: dict[str, str] = {}

            def say(who: str, url: str) -> None:
                at[who] = url
                if len(at) == len(TOKENS):
                    print(*(at[one] for one in TOKENS), flush=True)  # noqa: T201

            for who in TOKENS:
                all_three.start_soon(page, mcp_url, who, partial(say, who))

        await serve_http(mcp, on_ready=ready)
        all_three.cancel_scope.cancel()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        anyio.run(main, Path(sys.argv[1]))
