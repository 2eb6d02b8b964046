"""Servers for the client's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from awhile.client import Ledger
from tests.interaction.client.doorway import Doorway
from tests.interaction.client.running import RunningServer


@pytest.fixture(scope="package")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests here that leave it running; other rooms count their children."""
    server = RunningServer(tmp_path_factory.mktemp("long-work") / "tasks.db")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def url(shared_server: RunningServer) -> str:
    """The shared server's address."""
    return shared_server.url


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server that the test may kill."""
    server = RunningServer(tmp_path / "tasks.db")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger of the test's own."""
    kept = Ledger(tmp_path / "handles.sqlite3")
    yield kept
    kept.close()


@pytest.fixture
async def doorway(shared_server: RunningServer) -> AsyncIterator[Doorway]:
    """The network in front of the shared server."""
    door = Doorway(shared_server.port)
    async with anyio.create_task_group() as tasks:
        await tasks.start(door.serve)
        yield door
        tasks.cancel_scope.cancel()
