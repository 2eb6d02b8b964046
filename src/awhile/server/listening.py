"""A socket to listen on, and what it is called."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def listening_on(host: str, port: int) -> Generator[socket.socket]:
    """The socket, bound; 0 takes a free port. Closed after the block.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    # The protocol is named because asyncio sets TCP_NODELAY only where it sees TCP: without, every
    # small answer waited for the peer's delayed acknowledgement (50 ms instead of 2 ms, measured).
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise SettingsError(
                f"{host}:{port} cannot be listened on: {error.strerror}. Choose another port, or "
                "stop what uses this one."
            ) from error
        yield listening


def url_of(listening: socket.socket) -> str:
    """Where it is reached, without a path."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
