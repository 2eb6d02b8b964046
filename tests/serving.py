"""A server in a process of its own, for as long as a test module needs it: both sides of it."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from awhile.server.http import serve_http

ROOT = Path(__file__).parents[1]
INSTALL_SECONDS = 300
"""The first start of another project's server installs its packages."""

STOP_SECONDS = 10


class Served:
    """What one server has said so far. The first line is its URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lines: list[str] = []


@contextmanager
def serving(module: str, **environment: str) -> Generator[Served]:
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
        served: Served | None = None

        def listen() -> None:
            for line in server.stdout or ():
                if served is None:
                    said.put(line.strip())
                else:
                    served.lines.append(line.strip())
            said.put("")

        listening = threading.Thread(target=listen)
        listening.start()
        try:
            url = said.get(timeout=INSTALL_SECONDS)
            assert url, f"{module} ended before it served"
            served = Served(url)
            yield served
        finally:
            server.stdin.close()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
            listening.join(STOP_SECONDS)


def serve_until_stdin_closes(mcp: MCPServer[Any], *, port: int = 0) -> None:
    """Print the URL, and serve until whoever started this process closes its stdin, or is gone."""
    threading.Thread(target=_end_with_stdin, daemon=True).start()

    def say(url: str) -> None:
        print(url, flush=True)  # noqa: T201

    async def serve() -> None:
        await serve_http(mcp, port=port, on_ready=say)

    anyio.run(serve)


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
