"""The parent's end of the socket between two processes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    import socket

__all__ = ["Wire"]


class Wire:
    """Bytes to and from a child, over a connected socket that is this object's from here on.

    It is not anyio's `UNIXSocketStream`, whose callback tells the event loop of an invalid state
    when bytes arrive at the moment a receive is cancelled (4.16), which is what every stop does.
    """

    def __init__(self, socket: socket.socket) -> None:
        socket.setblocking(False)
        self._socket = socket

    async def send(self, data: bytes) -> None:
        """Send all of `data`.

        Raises OSError once nobody reads, `anyio.ClosedResourceError` where it is closed meanwhile.

        It is no checkpoint where the socket has room: what was cancelled was sent in part.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)

    async def receive(self, most: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises OSError, or `anyio.ClosedResourceError` where it is closed meanwhile.

        Cancelling a receive loses nothing. Others get their turn also while a child never pauses.
        """
        await checkpoint()
        while True:
            try:
                return self._socket.recv(most)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)

    def close(self) -> None:
        """Close this end and wake whoever waits for it, once."""
        if self._socket.fileno() < 0:
            return
        with contextlib.suppress(OSError):
            anyio.notify_closing(self._socket)
            self._socket.close()
