"""Work whose client was killed, found again by another process from the ledger's entry alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_types import TextContent

from awhile.client import CancelOutcome, Ledger, State, connect
from tests.interaction.client.running import RunningServer

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]

START = """
import os, signal, sys
from awhile import Ledger, connect_sync
url, path, steps = sys.argv[1:]
with connect_sync(url, ledger=Ledger(path)) as server:
    server.start("count", {"steps": int(steps), "seconds": 0.1})
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=["2026-07-28", "2025-11-25"])
def era(request: pytest.FixtureRequest) -> str:
    """The revision that the server speaks."""
    return request.param


@pytest.fixture
def server_url(era: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A server of that revision."""
    if era == "2026-07-28":
        yield request.getfixturevalue("url")
        return
    own = RunningServer(tmp_path / "tasks.db", "--older")
    own.start()
    yield own.url
    own.kill()


def start_and_be_killed(url: str, ledger: Ledger, *, steps: int) -> None:
    """In another process: begin work, and die the moment the handle is there."""
    command = [sys.executable, "-c", START, url, str(ledger.path), str(steps)]
    died = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert died.returncode == -9, died.stderr


async def test_A20_another_process_collects_the_work(
    server_url: str, ledger: Ledger, era: str
) -> None:
    """Ours: field case A20, in both eras."""
    start_and_be_killed(server_url, ledger, steps=5)
    [entry] = ledger.entries()
    assert (entry.tool, entry.era, entry.ended) == ("count", era, False)
    assert entry.arguments == {"steps": 5, "seconds": 0.1}
    async with connect(server_url, ledger=ledger) as server:
        handle = await server.resume(entry.task_id)
        assert (handle.tool, handle.now.state) == ("count", State.WORKING)
        shown = [now async for now in handle.watch()]
        block = (await handle.result(timeout_seconds=20)).content[0]
    assert isinstance(block, TextContent)
    assert block.text == "counted to 5"
    assert shown[-1].state is State.FINISHED
    assert ledger.entries()[0].ended


async def test_A20_another_process_stops_the_work(server_url: str, ledger: Ledger) -> None:
    """Ours: field case A20, in both eras: whoever finds it may also end it."""
    start_and_be_killed(server_url, ledger, steps=600)
    [entry] = ledger.entries()
    async with connect(server_url, ledger=ledger) as server:
        handle = await server.resume(entry.task_id)
        assert await handle.cancel() is CancelOutcome.CANCELLED
    [entry] = ledger.entries()
    assert (entry.ended, entry.status) == (True, "cancelled")
