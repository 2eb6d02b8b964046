"""Memory of the server and its workers while large results are read, paged and sent as files.

Run ``python -m benchmarks.studies.memory [duckdb sqlite postgres]``. Each case runs on an `awhile
serve` of its own, as a process with its children; what is measured is the resident memory of the
server and of its largest child, sampled every 20 ms, above what they had before the case began.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import anyio
import apsw
import duckdb
import httpx2
import psutil
import psycopg

from awhile import connect
from checks.postgres import Cluster

MEGABYTE = 1024 * 1024
SAMPLE_SECONDS = 0.02

RECURSIVE = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < {}) "

ROWS = {
    "duckdb": "SELECT range AS n, range * 1.5 AS x, 'row ' || range AS t FROM range({})",
    "sqlite": RECURSIVE + "SELECT n, n * 1.5 AS x, 'row ' || n AS t FROM r",
    "postgres": "SELECT n, n * 1.5 AS x, 'row ' || n AS t FROM generate_series(0, {}) AS n",
}
CELL = {
    "duckdb": "SELECT repeat('x', {}) AS t",
    "sqlite": "SELECT printf('%.*c', {}, 'x') AS t",
    "postgres": "SELECT repeat('x', {}) AS t",
}


@dataclass
class Peaks:
    """Most megabytes above the beginning, of the server and of its largest child."""

    server: int = 0
    worker: int = 0
    _before: dict[int, int] = field(default_factory=dict[int, int])

    def look(self, server: psutil.Process) -> None:
        """Take a sample."""
        self.server = max(self.server, self._more(server))
        for child in server.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                self.worker = max(self.worker, self._more(child))

    def begin(self, server: psutil.Process) -> None:
        """What is there now does not count."""
        for process in (server, *server.children(recursive=True)):
            self._before[process.pid] = process.memory_info().rss

    def _more(self, process: psutil.Process) -> int:
        return (process.memory_info().rss - self._before.get(process.pid, 0)) // MEGABYTE


@dataclass(frozen=True)
class Serving:
    """An `awhile serve` of one database."""

    url: str
    process: psutil.Process

    @contextmanager
    def watched(self) -> Generator[Peaks]:
        """Its memory while the block runs."""
        peaks, over = Peaks(), threading.Event()
        peaks.begin(self.process)

        def sample() -> None:
            while not over.wait(SAMPLE_SECONDS):
                peaks.look(self.process)

        sampling = threading.Thread(target=sample)
        sampling.start()
        try:
            yield peaks
        finally:
            over.set()
            sampling.join()

    async def run(self, sql: str) -> dict[str, Any]:
        """The answer to one SELECT."""
        async with connect(self.url, ledger=None) as server:
            result = await server.call("run_sql", {"sql": sql})
            return result.structured_content or {}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers."""
        async with connect(self.url, ledger=None) as server:
            return (await server.call(tool, arguments)).structured_content or {}

    async def download(self, name: str) -> int:
        """The bytes of a file that leaves."""
        size = 0
        async with (
            httpx2.AsyncClient(timeout=900) as http,
            http.stream("GET", urljoin(self.url, f"results/{name}")) as answer,
        ):
            answer.raise_for_status()
            async for part in answer.aiter_raw():
                size += len(part)
        return size


@contextmanager
def serving(database: str, folder: Path, **settings: str) -> Generator[Serving]:
    """Serve a database until the block is left."""
    variables = {f"AWHILE_{name.upper()}": value for name, value in settings.items()}
    with subprocess.Popen(
        [sys.executable, "-m", "awhile.cli.main", "serve", "--port=0"],
        env={
            **os.environ,
            "AWHILE_DATABASE": database,
            "AWHILE_DATA_FOLDER": str(folder),
            "AWHILE_CONFIG": os.devnull,
            **variables,
        },
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            yield Serving(url, psutil.Process(server.pid))
        finally:
            server.terminate()


@contextmanager
def databases(folder: Path, engine: str) -> Generator[str]:
    """An empty database of an engine: its path, or its URL."""
    path = folder / f"empty.{engine}"
    if engine == "duckdb":
        duckdb.connect(path).close()
        yield str(path)
    elif engine == "sqlite":
        connection: Any = apsw.Connection(str(path))
        connection.execute("CREATE TABLE t (n)")
        connection.close()
        yield str(path)
    else:
        with Cluster() as cluster:
            word = secrets.token_hex(8)
            with psycopg.connect(cluster.dsn(), autocommit=True) as owner:
                owner.execute(f"CREATE ROLE reader LOGIN PASSWORD '{word}'".encode())
                owner.execute(b"CREATE DATABASE empty")
            yield f"postgresql://reader:{word}@127.0.0.1:{cluster.port}/empty"


async def measure(engine: str, rows: int = 50_000_000, cell_bytes: int = 200_000_000) -> None:
    """Print what one engine's cases took."""
    with (
        tempfile.TemporaryDirectory() as name,
        databases(Path(name), engine) as database,
        serving(database, Path(name, "data")) as app,
    ):
        await app.run("SELECT 1")
        run_id = await case(app, f"{engine}: {rows:,} rows", ROWS[engine].format(rows))
        with app.watched() as peaks:
            await app.call("result_rows", run_id=run_id, sort_column=2, descending=True)
        say("a sorted page of it", peaks)
        await leave(app, run_id)
        what = f"{engine}: one cell of {cell_bytes:,} bytes"
        await leave(app, await case(app, what, CELL[engine].format(cell_bytes)))


async def case(app: Serving, what: str, sql: str) -> str:
    """Run one query and say what it took; its id."""
    began = time.monotonic()
    with app.watched() as peaks:
        answer = await app.run(sql)
    say(f"{what} ({time.monotonic() - began:.0f} s)", peaks)
    print(f"  kept: {answer['row_count']:,} rows, truncated: {answer['truncated']}")
    return str(answer["run_id"])


async def leave(app: Serving, run_id: str) -> None:
    """Say what the making of a file took."""
    with app.watched() as peaks:
        size = await app.download(f"{run_id}.csv")
    say(f"as CSV ({size // MEGABYTE} MB)", peaks)


def say(what: str, peaks: Peaks) -> None:
    print(f"{what}: server +{peaks.server} MB, worker +{peaks.worker} MB")


if __name__ == "__main__":
    for each in sys.argv[1:] or ["duckdb", "sqlite", "postgres"]:
        anyio.run(measure, each)
