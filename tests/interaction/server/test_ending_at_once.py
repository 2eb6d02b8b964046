"""A thread that hears nothing keeps its process from ending in order; a second Ctrl-C does not."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from awhile.client import connect
from awhile.errors import WorkerLost
from tests.interaction.client.running import wait_until

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
STOP_SECONDS = 20.0

SERVER = """
import signal, sys, threading
import anyio
from mcp.server.mcpserver import MCPServer
from awhile import Tasks
from awhile.server.http import serve_http

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
store, begun = sys.argv[1:]
tasks = Tasks(store, lease_seconds=1)
mcp = MCPServer("deaf", log_level="WARNING", **tasks.install())

@mcp.tool()
@tasks.tool(inline_seconds=0, run_in="thread")
def deaf() -> str:
    open(begun, "w").close()
    threading.Event().wait(120)
    return "heard nothing"

async def serve() -> None:
    await serve_http(mcp, on_ready=lambda url: print(url, flush=True))

anyio.run(serve)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    """The server, on the folder's store."""
    arguments = [f"sqlite:///{folder / 'tasks.db'}", str(folder / "begun")]
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def url_of(server: subprocess.Popen[str]) -> str:
    """The first line it prints."""
    assert server.stdout
    with anyio.fail_after(STOP_SECONDS):
        return (await anyio.to_thread.run_sync(server.stdout.readline)).strip()


async def test_a_second_ctrl_c_ends_a_server_at_once_and_says_what_becomes_of_its_work(
    tmp_path: Path,
) -> None:
    """Ours: the work is then lost, or run again, as if the process had been killed."""
    with started(tmp_path) as server:
        async with connect(await url_of(server), ledger=None) as remote:
            handle = await remote.start("deaf")
        await wait_until((tmp_path / "begun").exists)
        server.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            await anyio.to_thread.run_sync(server.wait, 2)
        server.send_signal(signal.SIGINT)
        _, said = await anyio.to_thread.run_sync(server.communicate, None, STOP_SECONDS)
        assert server.returncode == -signal.SIGINT
        assert said.splitlines()[-1].startswith("Told to end a second time, so ending at once.")
        assert "Traceback" not in said
    with started(tmp_path) as server:
        async with connect(await url_of(server), ledger=None) as remote:
            with pytest.raises(WorkerLost):
                await (await remote.resume(handle.id or "")).result(timeout_seconds=STOP_SECONDS)
        server.kill()
