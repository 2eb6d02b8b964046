"""``awhile serve`` and ``awhile worker`` as processes on one store."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from tests import forking
from tests.forking import Fork
from tests.interaction.server.peer import PATIENCE_SECONDS, Peer, until

ROOT = Path(__file__).parents[3]
AWHILE = "awhile.cli.main"
START_SECONDS = 60
MODULE = "tests.interaction.fleet.module:mcp"


@dataclass
class Member:
    """One process. ``url``: the endpoint of a replica, or where a worker says how it is."""

    process: Fork
    url: str
    log: Path
    http: httpx2.AsyncClient

    @property
    def peer(self) -> Peer:
        """A client of a replica."""
        return Peer(self.url, self.http)

    async def says(self, path: str) -> tuple[int, str]:
        """Status and text of ``/healthz`` or ``/readyz``."""
        reply = await self.http.get(f"{self.url.removesuffix('/mcp')}{path}")
        return reply.status_code, reply.text

    async def ended(self) -> int:
        """The exit code, once the process has ended."""
        await until(lambda: self.process.poll() is not None, "the process has ended")
        assert self.process.returncode is not None
        return self.process.returncode


class Fleet:
    """Replicas and workers, in ``folder``; all are gone when the block ends."""

    def __init__(self, folder: Path, store_url: str, http: httpx2.AsyncClient) -> None:
        self.folder = folder
        self.store_url = store_url
        self.store: Store = open_store(store_url)
        self._http = http
        self.members: list[Member] = []

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user who runs the tests gets in."""
        config = self.folder / "config.toml"
        config.touch()
        kept = {name: value for name, value in os.environ.items() if "AWHILE" not in name}
        return {
            **kept,
            "AWHILE_CONFIG": str(config),
            "AWHILE_DATA_FOLDER": str(self.folder / "data"),
            "AWHILE_REQUEST_STATE_KEY": "k" * 32,
            "FLEET_FOLDER": str(self.folder),
        }

    async def replica(self, *more: str, module: str = MODULE) -> Member:
        """One more replica, which runs no work."""
        return await self._start("serve", module, "--port=0", "--slots=0", *more)

    async def server(self, *more: str) -> Member:
        """One that runs work itself."""
        return await self._start("serve", MODULE, "--port=0", *more)

    async def worker(self, *more: str, module: str = MODULE) -> Member:
        """One more worker."""
        return await self._start("worker", module, "--health-port=0", *more)

    async def all_four(self) -> tuple[Member, Member, Member, Member]:
        """Two replicas and two workers, started at once."""
        found: dict[int, Member] = {}

        async def start(place: int) -> None:
            found[place] = await (self.replica() if place < 2 else self.worker())

        async with anyio.create_task_group() as starting:
            for place in range(4):
                starting.start_soon(start, place)
        return found[0], found[1], found[2], found[3]

    def let_go(self, name: str) -> None:
        """Let the bodies of that name end."""
        (self.folder / name).touch()

    def effects(self, what: str) -> list[int]:
        """The processes in which this has happened, in order."""
        path = self.folder / "effects"
        lines = path.read_text().splitlines() if path.exists() else []
        return [int(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{what} ")]

    async def begun(self, name: str, times: int = 1) -> int:
        """Wait until the work has begun so often; the process that has it."""
        await until(lambda: len(self.effects(f"{name} begun")) == times, f"{name} has begun")
        return self.effects(f"{name} begun")[-1]

    async def close(self) -> None:
        """Kill what is still there."""
        for one in self.members:
            one.process.kill()
            one.process.wait(PATIENCE_SECONDS)
            one.process.stdout.close()

    async def _start(self, kind: str, module: str, *more: str) -> Member:
        log = self.folder / f"{len(self.members)}-{kind}.log"
        command = [kind, module, "--store", self.store_url, "--lease-seconds=2", *more]
        process = forking.start(AWHILE, command, log=log, environment=self.environment)
        one = Member(process, "", log, self._http)
        self.members.append(one)
        with anyio.fail_after(START_SECONDS):
            line = await anyio.to_thread.run_sync(process.stdout.readline, abandon_on_cancel=True)
        assert line.startswith("http://127.0.0.1:"), log.read_text()
        one.url = line.strip()
        return one


@asynccontextmanager
async def fleet(folder: Path, store_url: str) -> AsyncGenerator[Fleet]:
    """A store, and no process yet."""
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        one = Fleet(folder, store_url, http)
        async with one.store:
            try:
                yield one
            finally:
                await one.close()
