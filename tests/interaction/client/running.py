"""A server process that tests can kill and start again on the same port and store."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

ROOT = Path(__file__).parents[3]
START_SECONDS = 30


async def wait_until(holds: Callable[[], bool], *, timeout_seconds: float = 10) -> None:
    """Return once something outside this process holds; fail if it does not in time."""
    with anyio.fail_after(timeout_seconds):
        while not holds():  # noqa: ASYNC110 - a file has no event
            await anyio.sleep(0.01)


class RunningServer:
    """`long_work_server` in its own process. It ends when its stdin closes."""

    def __init__(self, store: Path, *options: str) -> None:
        self._store = store
        self._options = options
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        """Start, and wait until it takes calls. After a kill: on the same port and store."""
        command = [sys.executable, "-m", "tests.interaction.client.long_work_server"]
        command += ["--store", str(self._store), "--port", str(self._port), *self._options]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._process = process
        assert process.stdout
        timer = threading.Timer(START_SECONDS, process.kill)
        timer.start()
        self.url = process.stdout.readline().strip()
        timer.cancel()
        assert self.url, "the server did not start"
        self._port = int(self.url.split(":")[2].partition("/")[0])

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe
            pipe.close()

    async def start_again(self) -> None:
        """`start`, without holding up the test's event loop."""
        await anyio.to_thread.run_sync(self.start)
