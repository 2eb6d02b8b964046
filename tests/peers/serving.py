"""A real peer's server in a process of its own, for as long as a test module needs it."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL_SECONDS = 300
"""The first start installs the peer's packages."""

STOP_SECONDS = 10


class Peer:
    """What one server has said so far. The first line is its URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lines: list[str] = []


@contextmanager
def serving(module: str, **environment: str) -> Generator[Peer]:
    """Run ``python -m module`` until the block is left. It ends when its stdin closes."""
    with subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        said: queue.SimpleQueue[str] = queue.SimpleQueue()
        peer: Peer | None = None

        def listen() -> None:
            for line in server.stdout or ():
                if peer is None:
                    said.put(line.strip())
                else:
                    peer.lines.append(line.strip())
            said.put("")

        listening = threading.Thread(target=listen)
        listening.start()
        try:
            url = said.get(timeout=INSTALL_SECONDS)
            assert url, f"{module} ended before it served"
            peer = Peer(url)
            yield peer
        finally:
            server.stdin.close()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
            listening.join(STOP_SECONDS)
