"""Streamable HTTP, byte for byte: one request each, and what its stream says as it says it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from awhile.probe.exchanges import Clock, Exchange, Frame, Json, frame_of

KEPT_HEADERS = (
    "content-type",
    "mcp-session-id",
    "mcp-protocol-version",
    "date",
    "retry-after",
    "x-accel-buffering",
    "cache-control",
    "allow",
    "www-authenticate",
    "location",
)
"""The headers of an answer that say something about waiting, or about why it was refused."""

LONGEST_BYTES = 4 * 1024 * 1024
"""More of one stream is not read."""

LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""Of an event stream; at the end of what has come, a CR may be the half of a CR LF."""


class HttpChannel:
    """A connection pool of its own: closing it drops every stream."""

    over_http = True

    def __init__(
        self, url: str, clock: Clock, *, connect_seconds: float, through_proxies: bool
    ) -> None:
        self._url = url
        self._clock = clock
        # No time-out for reading: whoever asks bounds the whole.
        timeout = httpx2.Timeout(None, connect=connect_seconds)
        self._http = httpx2.AsyncClient(timeout=timeout, trust_env=through_proxies)

    @asynccontextmanager
    async def open(
        self, exchange: Exchange, headers: dict[str, str]
    ) -> AsyncGenerator[AsyncIterator[Frame]]:
        """See `Channel.open`."""
        content = json.dumps(exchange.request) if exchange.verb == "POST" else None
        request = self._http.build_request(
            exchange.verb, self._url, headers=headers, content=content
        )
        exchange.sent_at_ms = self._clock.now_ms()
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as broken:
            exchange.ending = f"{type(broken).__name__}: {broken}"
            yield _nothing()
            return
        exchange.status = response.status_code
        exchange.reply_headers = {
            name: response.headers[name] for name in KEPT_HEADERS if name in response.headers
        }
        try:
            yield self._frames(exchange, response)
        finally:
            if exchange.ending == "open":
                exchange.ending = "left"
            await response.aclose()

    async def _frames(self, exchange: Exchange, response: httpx2.Response) -> AsyncGenerator[Frame]:
        streamed = "event-stream" in response.headers.get("content-type", "")
        read = self._events(response) if streamed else self._body(response)
        try:
            async for frame in read:
                exchange.frames.append(frame)
                yield frame
        except httpx2.HTTPError as broken:
            exchange.ending = f"{type(broken).__name__}: {broken}"
        else:
            exchange.ending = "closed" if streamed else "answered"

    async def _body(self, response: httpx2.Response) -> AsyncGenerator[Frame]:
        read = bytearray()
        async for part in response.aiter_bytes():
            read += part
            if len(read) > LONGEST_BYTES:
                break
        if read:
            yield frame_of(read.decode(errors="replace"), self._clock.now_ms())

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[Frame]:
        """Source: the HTML standard, "server-sent events"."""
        data: list[str] = []
        pending = b""
        total = 0
        async for part in response.aiter_bytes():
            total += len(part)
            if total > LONGEST_BYTES:
                return
            now = self._clock.now_ms()
            *lines, pending = LINE_END.split(pending + part)
            for raw in lines:
                line = raw.decode(errors="replace")
                if line.startswith(":"):
                    yield Frame(now, "comment", line)
                elif line.startswith("data:"):
                    data.append(line[5:].removeprefix(" "))
                elif not line and data:
                    yield frame_of("\n".join(data), now)
                    data = []

    async def tell(self, message: Json, headers: dict[str, str]) -> int | None:
        """See `Channel.tell`."""
        try:
            # The body is not read: nothing is awaited in it, and it need not end.
            async with self._http.stream(
                "POST", self._url, content=json.dumps(message), headers=headers
            ) as response:
                return response.status_code
        except httpx2.HTTPError:
            return None

    async def delete(self, headers: dict[str, str]) -> None:
        """End a session of 2025-11-25, as its page asks of clients."""
        try:
            async with self._http.stream("DELETE", self._url, headers=headers):
                return
        except httpx2.HTTPError:
            return

    async def aclose(self) -> None:
        """See `Channel.aclose`."""
        await self._http.aclose()


async def _nothing() -> AsyncGenerator[Frame]:
    for frame in ():
        yield frame


__all__ = ["HttpChannel"]
