"""A socket to listen on, and what it is called."""

from __future__ import annotations

import errno
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def listening_on(host: str, port: int, *, or_free: bool = False) -> Generator[socket.socket]:
    """The socket, listening; closed after the block.

    Args:
        host: the address.
        port: the port; 0 takes a free one.
        or_free: whether a free one will do where that port is taken.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    try:
        try:
            listening = _listening(host, port)
        except OSError as no:
            if not or_free or no.errno != errno.EADDRINUSE:
                raise
            listening = _listening(host, 0)
    except OSError as error:
        raise SettingsError(
            f"{host}:{port} cannot be listened on: {error.strerror}. Choose another port, or "
            "stop what uses this one."
        ) from error
    with listening:
        yield listening


def _listening(host: str, port: int) -> socket.socket:
    # The protocol is named because asyncio sets TCP_NODELAY only where it sees TCP: without, every
    # small answer waited for the peer's delayed acknowledgement (50 ms instead of 2 ms, measured).
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # one of two that are bound to a port at the same moment fails only here
    except BaseException:
        listening.close()
        raise
    return listening


def url_of(listening: socket.socket) -> str:
    """Where it is reached, without a path."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
