"""A TCP proxy before a server that can lose replies and be cut."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Proxy:
    """Forwards a free port of 127.0.0.1, or the one ``at``, to ``port``; an async context
    manager."""

    def __init__(self, port: int, *, at: int = 0) -> None:
        self._to = port
        self._at = at
        self._server: asyncio.Server
        self._open: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self.silent = False
        """While this is set, what the server says goes nowhere."""
        self.lose_reply_to: bytes | None = None
        """The reply to whatever has this in it goes nowhere, nor does any later on that way."""
        self.lost_a_reply = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._at)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        if self._pumps:
            await asyncio.wait(self._pumps)

    def cut(self) -> None:
        """Break every connection."""
        for one in self._open:
            one.transport.abort()

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        server, on = await asyncio.open_connection("127.0.0.1", self._to)
        ends = {back, on}
        self._open |= ends
        task = asyncio.current_task()
        assert task
        self._pumps.add(task)
        deaf = asyncio.Event()
        asked = asyncio.ensure_future(self._ask(client, on, deaf))
        told = asyncio.ensure_future(self._tell(server, back, deaf))
        await asyncio.wait({asked, told}, return_when=asyncio.FIRST_COMPLETED)
        for one in ends:
            one.transport.abort()
        await asyncio.wait({asked, told})
        self._open -= ends
        self._pumps.discard(task)

    async def _ask(
        self, client: asyncio.StreamReader, server: asyncio.StreamWriter, deaf: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await client.read(65536):
                if self.lose_reply_to and self.lose_reply_to in data:
                    deaf.set()
                server.write(data)
                await server.drain()

    async def _tell(
        self, server: asyncio.StreamReader, client: asyncio.StreamWriter, deaf: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await server.read(65536):
                if self.silent or deaf.is_set():
                    self.lost_a_reply.set()
                    continue
                client.write(data)
                await client.drain()
