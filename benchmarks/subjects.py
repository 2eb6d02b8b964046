"""What is measured: servers in processes of their own, and where they keep their tasks."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from benchmarks.redis import Redis
from checks.fastmcp_server import PINS
from checks.postgres import Cluster, binaries
from checks.python import interpreter

HERE = Path(__file__).parent

SQLITE, POSTGRES, PEER, PEER_REDIS = "sqlite", "postgres", "peer", "peer_redis"

COLUMNS = {
    SQLITE: "ours, SQLite",
    POSTGRES: "ours, PostgreSQL",
    PEER: "fastmcp-tasks, in memory",
    PEER_REDIS: "fastmcp-tasks, Redis",
}
OURS = (SQLITE, POSTGRES)
PEERS = (PEER, PEER_REDIS)

HTTP_SERVER = "uvicorn[standard]==0.54.0"
"""With the faster HTTP parser, as ours has: what differs shall not be that."""

SLOTS = 500
"""How many bodies run at once in each of them: so many that none waits for a place."""


@dataclass(frozen=True)
class Subject:
    """A running server."""

    key: str
    url: str
    process: subprocess.Popen[str]
    log: Path
    """Where its bodies note that they began."""

    def cpu_seconds(self) -> float:
        """What its process has used of a processor so far."""
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def memory_bytes(self) -> int:
        """What its process holds in memory."""
        return psutil.Process(self.process.pid).memory_info().rss


class Subjects:
    """Starts servers of every kind there is on this machine."""

    def __init__(self, folder: Path) -> None:
        self.missing: dict[str, str] = {}
        """Why a column is not measured."""
        self._folder = folder
        self._opened = ExitStack()
        self._names = itertools.count()
        self._cluster: Cluster | None = None
        self._redis: Redis | None = None
        self._peer: Path | None = None

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            if binaries() is None:
                self.missing[POSTGRES] = "PostgreSQL is not installed"
            else:
                self._cluster = opening.enter_context(Cluster())
            try:
                self._peer = interpreter(*PINS, HTTP_SERVER)
            except RuntimeError as error:
                said = str(error).strip().splitlines()
                self.missing |= dict.fromkeys(PEERS, f"fastmcp cannot be installed: {said[0]}")
            if Redis.program() is None:
                self.missing[PEER_REDIS] = "no redis-server"
            elif self._peer:
                self._redis = opening.enter_context(Redis(self._folder))
            self._opened = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def keys(self) -> list[str]:
        """The columns that can be measured."""
        return [key for key in COLUMNS if key not in self.missing]

    def new_place(self, key: str) -> str:
        """A URL where nothing is kept yet."""
        number = next(self._names)
        if key == SQLITE:
            return f"sqlite:///{self._folder / f'tasks-{number}.db'}"
        if key == POSTGRES:
            assert self._cluster
            return self._cluster.url()
        if key == PEER:
            return "memory://"
        assert self._redis
        return self._redis.new_database()

    @contextmanager
    def started(
        self, key: str, *, slots: int = SLOTS, place: str | None = None
    ) -> Generator[Subject]:
        """A server until the block is left; on a new place, or on one that another left behind."""
        place = place or self.new_place(key)
        log = self._folder / f"began-{next(self._names)}.log"
        log.touch()
        environment = dict(os.environ)
        if key in OURS:
            command = [sys.executable, "-m", "benchmarks.servers.ours", place, str(slots), str(log)]
        else:
            command = [str(self._peer), str(HERE / "servers" / "peer.py"), str(log)]
            environment |= {
                "FASTMCP_DOCKET_URL": place,
                "FASTMCP_DOCKET_CONCURRENCY": str(slots),
            }
        with subprocess.Popen(
            command,
            cwd=HERE.parent,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin
            assert process.stdout
            try:
                url = process.stdout.readline().strip()
                if not url:
                    raise RuntimeError(f"The server of {COLUMNS[key]} did not start.")
                yield Subject(key, url, process, log)
            finally:
                process.stdin.close()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
