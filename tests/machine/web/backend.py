"""A page backend's inside beside a real MCP server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio

from awhile import connect
from awhile.ask.web.board import Board
from awhile.ask.web.follow import Follower
from awhile.ask.web.presence import Presence
from awhile.server.http import serve_http
from tests.machine.web.questions import build


@asynccontextmanager
async def served(store: str, go: anyio.Event) -> AsyncGenerator[str]:
    """The server, at the URL that is yielded."""
    ready = anyio.Event()
    urls: list[str] = []

    def on_ready(url: str) -> None:
        urls.append(url)
        ready.set()

    async def serve() -> None:
        await serve_http(build(store, go), on_ready=on_ready)

    async with anyio.create_task_group() as serving:
        serving.start_soon(serve)
        with anyio.fail_after(20):
            await ready.wait()
        yield urls[0]
        serving.cancel_scope.cancel()


@asynccontextmanager
async def followed(
    url: str, presence: Presence | None = None
) -> AsyncGenerator[tuple[Board, Follower]]:
    """A page backend's inside, freshly started."""
    board = Board()
    follower = Follower(board, connect(url, ledger=None), presence)
    async with anyio.create_task_group() as tasks:
        await tasks.start(follower.run)
        yield board, follower
        tasks.cancel_scope.cancel()


async def until(board: Board, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first state of the only run for which that is true."""
    with anyio.fail_after(20):
        while True:
            runs = cast("list[dict[str, Any]]", board.sync(None, 0, now=0)["runs"])
            if runs and true(runs[0]):
                return runs[0]
            await board.changed()
