"""Server processes on one store, to be stopped in every way a machine stops them."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2

from awhile.stores.sqlite import SqliteStore
from awhile.tasks import TaskRecord
from tests import forking
from tests.forking import Fork
from tests.interaction.server.peer import PATIENCE_SECONDS, Peer, until

START_SECONDS = 60
OWNER = "anonymous"


@dataclass
class Server:
    """One server process and a client of it."""

    process: Fork
    peer: Peer
    log: Path

    def signal(self, number: int) -> float:
        """Send a signal; when (`time.monotonic`)."""
        self.process.send_signal(number)
        return time.monotonic()

    async def ended(self) -> float:
        """Wait until the process has ended; when."""
        await until(lambda: self.process.poll() is not None, "the server process has ended")
        return time.monotonic()

    async def kill(self) -> float:
        """SIGKILL; when it was sent."""
        at = self.signal(signal.SIGKILL)
        await self.ended()
        return at


class Fleet:
    """Server processes on one store in ``folder``; all are gone when the block ends."""

    def __init__(self, folder: Path, http: httpx2.AsyncClient) -> None:
        self.folder = folder
        self.store = SqliteStore(folder / "tasks.db")
        self._http = http
        self._servers: list[Server] = []

    async def start(self, *, lease: float = 1) -> Server:
        """Start one more server; returns once it takes calls."""
        log = self.folder / f"server-{len(self._servers)}.log"
        command = [f"sqlite:///{self.folder}/tasks.db", str(self.folder), "--lease", str(lease)]
        process = forking.start("tests.faults.server", command, log=log)
        server = Server(process, Peer("", self._http), log)
        self._servers.append(server)
        with anyio.fail_after(START_SECONDS):
            line = await anyio.to_thread.run_sync(process.stdout.readline, abandon_on_cancel=True)
        assert line.startswith("http://127.0.0.1:"), log.read_text()
        server.peer.url = line.strip()
        return server

    def let_go(self, name: str = "go") -> None:
        """Let the bodies that wait for this file end."""
        (self.folder / name).touch()

    @property
    def effects(self) -> list[str]:
        """What the bodies did, in order."""
        path = self.folder / "effects"
        return path.read_text().splitlines() if path.exists() else []

    async def record(self, task_id: str) -> TaskRecord:
        """The task's record, read from the store and not from a server."""
        record = await self.store.get(task_id)
        assert record is not None
        return record

    async def endings(self, task_id: str) -> list[str]:
        """The endings in the task's history."""
        ends = {"Completed", "Failed", "Stopped", "GaveUp", "WorkerLost"}
        return [one.kind for one in await self.store.history(task_id) if one.kind in ends]

    async def close(self) -> None:
        """Kill what is still there."""
        for server in self._servers:
            server.process.kill()
            server.process.wait(PATIENCE_SECONDS)
            server.process.stdout.close()


@asynccontextmanager
async def fleet(folder: Path) -> AsyncGenerator[Fleet]:
    """A store and no server yet."""
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        one = Fleet(folder, http)
        async with one.store:
            try:
                yield one
            finally:
                await one.close()
