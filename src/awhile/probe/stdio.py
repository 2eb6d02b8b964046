"""The stdio transport: a child process, a line a message, and one channel for everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from awhile.errors import Unreachable
from awhile.probe.exchanges import Clock, Exchange, Frame, Json, as_object, frame_of

STOP_SECONDS = 5.0
"""How long a child gets to end after its stdin was closed (source: stdio, "Shutdown")."""

TERM_SECONDS = 2.0
"""How long it gets after it was asked to terminate, before it is killed."""

LONGEST_BYTES = 4 * 1024 * 1024
"""A line is cut there; no message of the protocol is as long."""

ENDED = "the child has ended; run the command by itself to see what it says"
"""The ending of what was asked of a child that is no more."""

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class StdioChannel:
    """A server of one's own, as a child. It ends with the channel."""

    over_http = False

    def __init__(self, process: anyio.abc.Process, clock: Clock) -> None:
        self._process = process
        self._clock = clock
        self._open: dict[Any, tuple[Exchange, MemoryObjectSendStream[Frame]]] = {}
        self._over = False
        self.stray: list[Frame] = []
        """What came and belonged to no open request."""

    @classmethod
    @asynccontextmanager
    async def started(cls, command: Sequence[str], clock: Clock) -> AsyncGenerator[StdioChannel]:
        """Start the child, and end it with the block.

        Raises:
            Unreachable: it cannot be started.
        """
        try:
            process = await anyio.open_process(
                list(command), stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise Unreachable(
                f"{command[0]!r} cannot be started: {error.strerror}. Give the command as one "
                "would type it."
            ) from error
        channel = cls(process, clock)
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(channel._read)
                yield channel
                beside.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await channel.aclose()

    async def _read(self) -> None:
        assert self._process.stdout
        pending = b""
        try:
            async for part in self._process.stdout:
                *lines, pending = (pending[:LONGEST_BYTES] + part).split(b"\n")
                for line in lines:
                    self._sort(frame_of(line.decode(errors="replace"), self._clock.now_ms()))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        self._over = True
        for exchange, frames in self._open.values():
            exchange.ending = ENDED
            frames.close()

    def _sort(self, frame: Frame) -> None:
        """Give a frame to the request it belongs to."""
        message = frame.message or {}
        if "method" not in message:
            found = self._by_id(message.get("id"))
        else:
            tied = as_object(frame.params.get("_meta")).get(SUBSCRIPTION)
            token = frame.params.get("progressToken")
            found = self._by_id(tied) or self._by_token(token)
        if found is None:
            self.stray.append(frame)
            # Of 2025-11-25, where news belongs to no request; kept with whoever waits.
            for _, frames in self._open.values():
                frames.send_nowait(frame)
            return
        exchange, frames = found
        exchange.frames.append(frame)
        frames.send_nowait(frame)

    def _by_id(self, id_: Any) -> tuple[Exchange, MemoryObjectSendStream[Frame]] | None:
        return self._open.get(id_) if isinstance(id_, int) else None  # ours are numbers

    def _by_token(self, token: Any) -> tuple[Exchange, MemoryObjectSendStream[Frame]] | None:
        if token is None:
            return None
        for exchange, frames in self._open.values():
            meta = as_object(as_object(exchange.request.get("params")).get("_meta"))
            if meta.get("progressToken") == token:
                return exchange, frames
        return None

    @asynccontextmanager
    async def open(
        self, exchange: Exchange, headers: dict[str, str]
    ) -> AsyncGenerator[AsyncIterator[Frame]]:
        """See `Channel.open`."""
        # As many as come: `_sort` may not wait, or one quiet reader would hold up all the others.
        send, receive = anyio.create_memory_object_stream[Frame](float("inf"))
        self._open[exchange.id] = (exchange, send)
        exchange.sent_at_ms = self._clock.now_ms()
        try:
            if self._over or not await self._write(exchange.request):
                exchange.ending = ENDED
                send.close()
            async with receive:
                yield self._frames(exchange, receive)
        finally:
            del self._open[exchange.id]
            send.close()
            if exchange.ending == "open":
                exchange.ending = "answered" if exchange.answer else "left"
            if exchange.ending == "left":
                params = {"requestId": exchange.id, "reason": "left by the probe"}
                with anyio.CancelScope(shield=True):
                    await self._write(
                        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                    )

    async def _frames(
        self, exchange: Exchange, receive: MemoryObjectReceiveStream[Frame]
    ) -> AsyncGenerator[Frame]:
        async for frame in receive:
            yield frame
            if frame is exchange.answer_frame:
                exchange.ending = "answered"
                return

    async def tell(self, message: Json, headers: dict[str, str]) -> int | None:
        """See `Channel.tell`."""
        await self._write(message)
        return None

    async def _write(self, message: Json) -> bool:
        assert self._process.stdin
        try:
            await self._process.stdin.send(json.dumps(message).encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            return False
        return True

    async def aclose(self) -> None:
        """Close the child's stdin, and end it, with what it started, if that does not."""
        assert self._process.stdin
        await self._process.stdin.aclose()
        for seconds, stronger in ((STOP_SECONDS, signal.SIGTERM), (TERM_SECONDS, signal.SIGKILL)):
            with anyio.move_on_after(seconds):
                await self._process.wait()
            # A wrapper may end before the server it started, which then has its group to itself.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, stronger)
        await self._process.wait()
        await self._process.aclose()


__all__ = ["StdioChannel"]
