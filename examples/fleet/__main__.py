"""``make fleet``: two replicas and two workers on one store, until Ctrl-C.

The store is what `AWHILE_STORE` names; else a PostgreSQL started for it, where its programs are;
else a SQLite file in a folder of its own. Kill what you like: whatever ended is named, and the rest
goes on. That PostgreSQL is started again, as whatever runs a real one does.
"""

import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import anyio
import anyio.to_thread

from checks.postgres import Cluster, binaries

MODULE = "examples.fleet.reports:mcp"
REPLICAS, WORKERS = 2, 2

AWAY_SECONDS = 3.0
"""How long a PostgreSQL that was killed stays away."""

LOOK_SECONDS = 0.2


@contextmanager
def store() -> Generator[tuple[str, Cluster | None]]:
    """The URL of the store, for as long as it is there, and its PostgreSQL if it is of our own."""
    with ExitStack() as stack:
        url, cluster = os.environ.get("AWHILE_STORE"), None
        if url:
            print("The store is the one that AWHILE_STORE names.", flush=True)
        elif binaries():
            cluster = stack.enter_context(Cluster())
            url = cluster.url()
            print(f"The store is a PostgreSQL of its own, gone at the end: {url}", flush=True)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="awhile-fleet-"))
            url = f"sqlite:///{folder}/tasks.db"
            print(f"The store is a SQLite file of its own, gone at the end: {url}", flush=True)
        yield url, cluster


async def run(kind: str, name: str, store: str, *more: str) -> None:
    """One process, from its start to its end."""
    command = [sys.executable, "-m", "awhile.cli.main", kind, MODULE, *more]
    environment = {**os.environ, "AWHILE_STORE": store}  # a flag would show its password to others
    # In a session of its own, so that Ctrl-C reaches it once, and from here.
    async with await anyio.open_process(
        command, stderr=None, start_new_session=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            url = (await process.stdout.receive()).decode().strip()
            print(f"{name}, process {process.pid}: {url}", flush=True)
            code = await process.wait()
        except anyio.EndOfStream:
            code = await process.wait()
        except anyio.get_cancelled_exc_class():
            process.send_signal(signal.SIGTERM)
            with anyio.CancelScope(shield=True):
                await process.wait()
            raise
        ended = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        print(f"{name} has ended ({ended}).", flush=True)


async def start_again(cluster: Cluster) -> None:
    """Say where PostgreSQL is, and start it again whenever it has ended."""
    while True:
        print(f"PostgreSQL, process {cluster.pid}", flush=True)
        while cluster.pid is not None:  # noqa: ASYNC110 - it is not a child of the event loop
            await anyio.sleep(LOOK_SECONDS)
        print(f"PostgreSQL has ended, and is started again in {AWAY_SECONDS:g} s.", flush=True)
        await anyio.sleep(AWAY_SECONDS)
        await anyio.to_thread.run_sync(cluster.start)


async def stop_on_signals(everything: anyio.CancelScope) -> None:
    """Ctrl-C, or SIGTERM, ends them all in order."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            print("Stopping: what runs gets five seconds.", flush=True)
            everything.cancel()
            return


async def main() -> None:
    """Start them all and wait for Ctrl-C."""
    os.environ.setdefault("AWHILE_REQUEST_STATE_KEY", secrets.token_hex(32))
    with store() as (url, cluster):
        async with anyio.create_task_group() as fleet:
            fleet.start_soon(stop_on_signals, fleet.cancel_scope)
            if cluster is not None:
                fleet.start_soon(start_again, cluster)
            for number in range(1, REPLICAS + 1):
                fleet.start_soon(run, "serve", f"Replica {number}", url, "--slots=0", "--port=0")
            for number in range(1, WORKERS + 1):
                fleet.start_soon(run, "worker", f"Worker {number}", url, "--health-port=0")


if __name__ == "__main__":
    anyio.run(main)
