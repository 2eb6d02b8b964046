"""A server after a server, in one process and one event loop: the second hears its clients."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from awhile import connect
from awhile.server.http import serve_http
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS

pytestmark = pytest.mark.anyio

LONGER_THAN_A_LOOK = 0.8
"""sse_starlette looks every half a second whether its process stops, and ends all streams then."""


@asynccontextmanager
async def served(app: App, stop: str) -> AsyncGenerator[str]:
    """The URL of a server, which is stopped by a signal, or by cancelling it."""
    url = asyncio.get_running_loop().create_future()
    # uvicorn passes a signal on once it has stopped; here it is to end nothing more.
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    serving = asyncio.create_task(serve_http(app.mcp, on_ready=url.set_result))
    try:
        with anyio.fail_after(3 * PATIENCE_SECONDS):
            yield await url
            if stop == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
                await serving
            else:
                serving.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await serving
    finally:
        signal.signal(signal.SIGTERM, before)


def build(tmp_path: Path) -> App:
    """A server whose one tool keeps its caller waiting."""
    app = App(tmp_path / "tasks.db")

    @app.tool(inline_seconds=30)
    async def work() -> str:
        await anyio.sleep(LONGER_THAN_A_LOOK)
        return "done"

    return app


async def ours(url: str) -> None:
    """Our client gets its result."""
    async with connect(url) as server:
        assert not (await (await server.start("work")).result()).is_error


async def the_sdks(url: str) -> None:
    """The SDK's client gets its result."""
    async with Client(url) as client:
        assert not (await client.call_tool("work", {})).is_error


async def of_2025(url: str) -> None:
    """A client of the earlier era gets its result, its own stream open beside it."""
    async with httpx2.AsyncClient() as http:
        old = await Legacy(url, http).opened()
        async with old.listening():
            assert (await old.call("work")).text == "done"


@pytest.mark.parametrize("stop", ["cancel", "signal"])
async def test_a_second_server_in_one_loop_serves_every_kind_of_client(
    tmp_path: Path, stop: str
) -> None:
    """Ours: as in a notebook or in a suite of tests: the very same server again, then another."""
    first = build(tmp_path)
    for app in (first, first, build(tmp_path)):
        async with served(app, stop) as url, anyio.create_task_group() as clients:
            for client in (ours, the_sdks, of_2025):
                clients.start_soon(client, url)
