"""Whether a process lives, and whether it is ready: for those who start, stop and route to it.

The paths are those Kubernetes itself uses. They need no token, because a probe has none, and so
they say nothing else. Source: ours.
"""

from __future__ import annotations

import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from awhile.listening import listening_on, url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from starlette.requests import Request

LIVE, READY = "/healthz", "/readyz"


def health_routes(ready: Callable[[], Awaitable[bool]]) -> list[Route]:
    """``/healthz``: the process answers. ``/readyz``: 200 while it does its work, else 503."""

    async def healthz(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("ok")

    async def readyz(_request: Request) -> PlainTextResponse:
        if await ready():
            return PlainTextResponse("ok")
        return PlainTextResponse("not ready", status_code=503)

    return [Route(LIVE, healthz), Route(READY, readyz)]


@asynccontextmanager
async def health_served(
    ready: Callable[[], Awaitable[bool]], *, host: str, port: int
) -> AsyncGenerator[str]:
    """Serve nothing but these two while the block runs; yields the URL before their paths.

    Raises:
        SettingsError: the port cannot be listened on.
    """
    with listening_on(host, port) as listening:
        http = _Quiet(
            uvicorn.Config(
                Starlette(routes=health_routes(ready)), log_level="warning", log_config=None
            )
        )
        async with anyio.create_task_group() as beside:
            beside.start_soon(http.serve_in_order, listening)
            try:
                yield url_of(listening)
            finally:
                http.should_exit = True


class _Quiet(uvicorn.Server):
    """A uvicorn server that leaves the process's signals alone."""

    async def serve_in_order(self, listening: socket.socket) -> None:
        with anyio.CancelScope(shield=True):  # it ends by `should_exit`, and closes its socket
            await self.serve(sockets=[listening])

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


__all__ = ["LIVE", "READY", "health_routes", "health_served"]
