"""Serving the page on a port of this computer until told to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvicorn

from awhile.ask.web.ending import EndingStreams
from awhile.listening import listening_on

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 2
"""What a file that is on its way has left when serving ends; event streams end at once."""


async def serve(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    url: str,
    on_ready: Callable[[str], None] | None,
    or_free: bool = False,
) -> None:
    """Serve until cancelled, or until SIGINT or SIGTERM.

    Args:
        app: what is served.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        url: where the page is opened, with ``{port}`` for the port.
        on_ready: called with that, once it can be.
        or_free: whether a free port will do where that one is taken.

    Raises:
        SettingsError: the port is taken.
    """
    streams = EndingStreams(app)
    config = uvicorn.Config(
        streams,
        access_log=False,  # it would write down keys and codes that stand in addresses
        log_level="warning",
        proxy_headers=False,  # what a request says of its own way is not believed
        server_header=False,
        ws="none",  # the page has none; each try, by anybody, would be a traceback in the log
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with listening_on(host, port, or_free=or_free) as listening:
        shown = url.replace("{port}", str(listening.getsockname()[1]))
        await _Serving(config, streams, shown, on_ready).serve(sockets=[listening])


class _Serving(uvicorn.Server):
    """Says when the page can be opened, and ends its streams when it no longer can."""

    def __init__(
        self,
        config: uvicorn.Config,
        streams: EndingStreams,
        url: str,
        on_ready: Callable[[str], None] | None,
    ) -> None:
        super().__init__(config)
        self._streams = streams
        self._url, self._on_ready = url, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.end()
        await super().shutdown(sockets)


__all__ = ["SHUTDOWN_SECONDS", "serve"]
