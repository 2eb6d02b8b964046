"""What page and server listen on: small answers leave at once, and a port has one owner."""

from __future__ import annotations

import asyncio
import socket

import pytest

from awhile.errors import SettingsError
from awhile.listening import listening_on

pytestmark = pytest.mark.anyio


async def test_a_small_answer_does_not_wait_for_its_peers_acknowledgement() -> None:
    """Ours: each answer on a kept connection came 45 ms late."""
    at_once: asyncio.Queue[int] = asyncio.Queue()

    async def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        at_once.put_nowait(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listening_on("127.0.0.1", 0) as listening:
        async with await asyncio.start_server(take, sock=listening):
            _, client = await asyncio.open_connection(*listening.getsockname()[:2])
            assert await asyncio.wait_for(at_once.get(), 10)
            client.close()


def test_of_two_that_want_a_port_at_the_same_moment_the_second_is_told_so() -> None:
    """Ours: both were bound to it, and the second failed later, with a traceback."""
    with listening_on("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with (
            pytest.raises(SettingsError, match=rf"127.0.0.1:{port} .* Choose another port"),
            listening_on("127.0.0.1", port),
        ):
            pass


def test_or_takes_another_where_a_free_one_will_do() -> None:
    """Ours."""
    with (
        listening_on("127.0.0.1", 0) as first,
        listening_on("127.0.0.1", first.getsockname()[1], or_free=True) as second,
    ):
        assert second.getsockname()[1] not in (0, first.getsockname()[1])


def test_an_address_of_another_machine_is_refused_also_where_a_free_port_will_do() -> None:
    """Ours: 192.0.2.0/24 is nobody's (RFC 5737)."""
    with (
        pytest.raises(SettingsError, match=r"192\.0\.2\.1:0 cannot be listened on"),
        listening_on("192.0.2.1", 0, or_free=True),
    ):
        pass
