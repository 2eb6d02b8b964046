"""Keeps HTTP answers alive on their way: a first byte early, and one now and then while quiet.

The SDK holds even the status of a quiet call back for 15 s, and a proxy that sees nothing for that
long gives up; its interval is private. So this wraps the served app: once a request has passed
every gate and nothing has been answered for a moment, it commits the answer to an event stream, and
writes a comment whenever nothing else was sent for a while. What the app then answers, even as one
JSON object, becomes the stream's last event.

Source: 2026-07-28 ``basic/transports/streamable-http``, "Receiving Messages" (the stream's form,
``X-Accel-Buffering``, comments); the intervals are ours.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING

import anyio
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request

from awhile.errors import SettingsError
from awhile.server.closing import Underway

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FIRST_BYTE_SECONDS = 0.5
"""How long a quiet answer is held back. Errors that have an HTTP status of their own come sooner,
and a proxy has to see the first byte within a second, also from a busy machine."""

KEEPALIVE_SECONDS = 15.0
"""The usual interval of comments: proxies cut streams that were quiet for 30 to 60 s."""

EVENT_STREAM = "text/event-stream"

COMMENT = b":\r\n\r\n"

EXCHANGE = "awhile.exchange"
"""The key in the ASGI scope under which the request's `Exchange` is."""


def check_keepalive(keepalive_seconds: float) -> None:
    """Refuse an interval that cannot work, with a `SettingsError`."""
    if not 0.1 <= keepalive_seconds <= 3600:
        raise SettingsError(
            f"keepalive_seconds is {keepalive_seconds!r}: proxies would cut quiet streams, or be "
            "flooded with comments; use 0.1 to 3600 seconds, less than your proxy's limit."
        )


class KeptAlive:
    """An ASGI app whose event streams never stay quiet.

    Args:
        app: what is served, an app of the SDK's Streamable HTTP endpoint.
        keepalive_seconds: how long a stream may be quiet before a comment is sent.
        answering: counts the requests that have no whole answer yet, but not the streams that a
            client of 2025-11-25 opens by GET, which end when they are closed.

    Raises:
        SettingsError: an interval that cannot work.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
        answering: Underway | None = None,
    ) -> None:
        check_keepalive(keepalive_seconds)
        self._app = app
        self._keepalive_seconds = keepalive_seconds
        self._answering = answering or Underway()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Spaces around a value are no part of it (RFC 9110, 5.5), and uvicorn's faster parser
        # leaves the trailing ones there: `Mcp-Name` would not match.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        exchange = Exchange(scope, receive, send, keepalive_seconds=self._keepalive_seconds)
        scope[EXCHANGE] = exchange
        # Most requests are answered before anything is due, so only a timer runs beside them: a
        # task for each took a fifth of the time that answering `tasks/get` takes (measured).
        # asyncio's own, because anyio has no timer without a task.
        keeping: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        timer = loop.call_later(
            exchange.patience, lambda: keeping.append(loop.create_task(exchange.keep_alive()))
        )
        try:
            with self._answering if scope["method"] == "POST" else nullcontext():
                await self._app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:  # before its request was whole: there is nobody to be answered
            if not exchange.gone.is_set():
                raise
        finally:
            timer.cancel()
            for task in keeping:
                task.cancel()
                await asyncio.wait(keeping)
            exchange.let_go()
        for task in keeping:
            if not task.cancelled():
                task.result()


class Exchange:
    """One request and its answer.

    Attributes:
        gone: set when the client has left before the answer was complete.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, *, keepalive_seconds: float
    ) -> None:
        self._scope: Scope = scope
        self._started = False
        self._receive = receive
        self._send = send
        self._keepalive_seconds = keepalive_seconds
        # asyncio's own, like the timer: every request has them, and most never wait for one. A
        # third of the time of anyio's to make, and no look at the task's scopes on the way in.
        self._turn = asyncio.Lock()
        self._read = asyncio.Event()
        self._quiet_since = math.inf
        self._streaming = False
        self._as_event = False
        """The app answers with one body, and the stream has been committed already."""
        self._is_json = False
        self._json = bytearray()
        self._between_events = True
        self._wrote = False
        self.gone = asyncio.Event()

    async def receive(self) -> Message:
        """The app reads; once it has read the whole request, the clock runs."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.gone.set()
        elif not message.get("more_body", False) and not self._read.is_set():
            self._quiet_since = anyio.current_time()
            self._read.set()
        return message

    async def send(self, message: Message) -> None:
        """The app answers."""
        async with self._turn:
            if message["type"] == "http.response.start":
                await self._start(message)
            elif message["type"] == "http.response.body":
                await self._body(message)
            else:
                await self._send(message)
            self._quiet_since = anyio.current_time()
        self._read.set()

    async def keep_alive(self) -> None:
        """Commit a quiet answer, and send comments on a quiet stream, until cancelled."""
        await self._read.wait()
        while True:
            await anyio.sleep_until(self._quiet_since + self.patience)
            if anyio.current_time() < self._quiet_since + self.patience:
                continue
            async with self._turn:
                if self._streaming or self._may_commit():
                    try:
                        await self._comment()
                    except OSError:  # how some servers say that the client has left
                        return
                self._quiet_since = anyio.current_time()

    def let_go(self) -> None:
        """Know nothing more of the server's side, which knows this: only the collector could take
        that circle apart."""
        self._scope, self._receive, self._send = {}, _over, _nowhere

    @property
    def patience(self) -> float:
        """How long the answer may be quiet from now on, in seconds."""
        if self._wrote:
            return self._keepalive_seconds
        return min(FIRST_BYTE_SECONDS, self._keepalive_seconds)

    def _may_commit(self) -> bool:
        # The SDK tells the eras apart by this header alone. Before 2026-07-28 it opens the stream
        # by itself, and answers that are no stream may carry a session's id in their head.
        headers = Headers(scope=self._scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        return (
            not self._started
            and self._scope["method"] == "POST"
            and version is not None
            and version not in HANDSHAKE_PROTOCOL_VERSIONS
            and check_accept_headers(Request(self._scope))[1]
        )

    async def _comment(self) -> None:
        if not self._streaming:
            head: Mapping[str, str] = {
                "content-type": EVENT_STREAM,
                "cache-control": "no-cache, no-transform",
                "x-accel-buffering": "no",
            }
            raw = [(name.encode(), value.encode()) for name, value in head.items()]
            await self._send({"type": "http.response.start", "status": 200, "headers": raw})
            self._streaming = True
        if self._between_events:  # a comment inside of an event would tear it apart
            await self._send_body(COMMENT, more=True)

    async def _start(self, message: Message) -> None:
        self._started = True
        headers = MutableHeaders(scope=message)
        is_stream = (
            headers.get("content-type", "").startswith(EVENT_STREAM)
            and "content-encoding" not in headers  # a comment would not be part of that
        )
        if self._streaming:  # committed: neither a status nor a header can follow any more
            self._as_event = not is_stream
            self._is_json = "json" in headers.get("content-type", "")
            return
        if is_stream:
            self._streaming = True
            headers.setdefault("cache-control", "no-cache, no-transform")
            headers.setdefault("x-accel-buffering", "no")
        else:
            self._wrote = True
        await self._send(message)

    async def _body(self, message: Message) -> None:
        body, more = message.get("body", b""), message.get("more_body", False)
        if self._as_event:
            self._json += body
            if more:
                return
            lines = bytes(self._json).splitlines() if self._is_json else []
            data = b"".join(b"data: " + line + b"\r\n" for line in lines)
            body = b"event: message\r\n" + data + b"\r\n" if lines else b""
        await self._send_body(body, more=more)
        if not more:
            self._streaming = False

    async def _send_body(self, body: bytes, *, more: bool) -> None:
        if body:
            self._wrote = True
            self._between_events = body.endswith((b"\r\n\r\n", b"\n\n", b"\r\r"))
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


async def _over() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(message: Message) -> None:
    pass


def exchange_of(request: Any) -> Exchange | None:
    """The exchange a handler's request came by; None off HTTP, and on an app not wrapped here."""
    scope: Mapping[str, Any] | None = getattr(request, "scope", None)
    return None if scope is None else scope.get(EXCHANGE)


def has_left(request: Any) -> bool:
    """Whether the client of a handler's request is known to have left."""
    exchange = exchange_of(request)
    return exchange is not None and exchange.gone.is_set()
