"""`mcp.run()`, which knows nothing of us: a listener does not keep its process from ending."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.interaction.server.peer import Peer, messages_of

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
STOP_SECONDS = 20.0

SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
from awhile import Tasks

store, port = sys.argv[1:]
mcp = MCPServer("plain", log_level="WARNING", **Tasks(store).install(subscriptions="store"))
mcp.run("streamable-http", port=int(port))
"""


@contextmanager
def plainly_served(folder: Path) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """The process and its URL; nothing says when it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [f"sqlite:///{folder / 'tasks.db'}", str(port)]
    process = subprocess.Popen([sys.executable, "-c", SERVER, *arguments], cwd=ROOT)
    try:
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_a_listener_does_not_keep_it_from_ending(tmp_path: Path, how: signal.Signals) -> None:
    """Spec: subscriptions, Graceful Closure: the cancellation and the result, then the stop.

    Ours: uvicorn waits for open streams, and `mcp.run()` gives it no bound.
    """
    heard: list[str] = []
    with plainly_served(tmp_path) as (process, url), anyio.fail_after(3 * STOP_SECONDS):
        async with httpx2.AsyncClient(timeout=STOP_SECONDS) as http:
            peer = Peer(url, http)
            while True:
                try:
                    listening = await http.send(
                        peer.request(
                            "subscriptions/listen", {"notifications": {"toolsListChanged": True}}
                        ),
                        stream=True,
                    )
                    break
                except httpx2.ConnectError:
                    await anyio.sleep(0.05)
            async for message in messages_of(listening):
                heard.append(message.get("method", "result"))
                if heard == ["notifications/subscriptions/acknowledged"]:
                    process.send_signal(how)
            with anyio.fail_after(STOP_SECONDS):
                await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    assert heard[1:] == ["notifications/cancelled", "result"]
