"""The socket between two processes."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import anyio
import pytest
from anyio.lowlevel import checkpoint

from awhile.processes.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 10


@pytest.fixture
async def ends() -> AsyncIterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    wire = Wire(ours)
    with theirs:
        yield wire, theirs
    wire.close()


async def test_bytes_that_arrive_as_a_receive_is_cancelled_are_there_for_the_next(
    ends: tuple[Wire, socket.socket],
) -> None:
    """Ours. An error in the event loop's callback would fail this test as well."""
    wire, theirs = ends
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.receive, 10)
        await checkpoint()
        await checkpoint()  # it waits for the socket now
        theirs.sendall(b"late")
        await checkpoint()  # the loop has seen the bytes; its callback comes after this
        tasks.cancel_scope.cancel()
    with anyio.fail_after(PATIENCE_SECONDS):
        assert await wire.receive(10) == b"late"


async def test_a_wire_that_is_closed_wakes_its_receiver(ends: tuple[Wire, socket.socket]) -> None:
    """Ours."""
    wire, _ = ends

    async def receive() -> None:
        with pytest.raises((OSError, anyio.ClosedResourceError)):
            await wire.receive(10)

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            await checkpoint()
            await checkpoint()
            wire.close()
            wire.close()


async def test_more_than_the_socket_holds_arrives_whole(ends: tuple[Wire, socket.socket]) -> None:
    """Ours."""
    wire, theirs = ends
    data = bytes(range(256)) * 20_000
    other, got = Wire(theirs), bytearray()
    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wire.send, data)
            while len(got) < len(data):
                got += await other.receive(1 << 20)
    assert got == data
