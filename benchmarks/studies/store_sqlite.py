"""The SQLite store beside a bare loop on the same disk: one insert, one fsync, one commit.

Run ``python -m benchmarks.studies.store_sqlite``. All numbers are medians of interleaved rounds on
this machine; a ratio travels better between machines than a rate.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import anyio.to_thread
import apsw

from awhile.stores.contract import Store
from awhile.stores.sqlite import SqliteStore
from benchmarks.studies.storing import ROUNDS, SECONDS, Calls, command, rate, table, wakes


def bare(folder: Path) -> float:
    """Commits per second of a loop that does nothing else."""
    connection: Any = apsw.Connection(str(folder / f"bare-{time.monotonic_ns()}.db"))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, status TEXT, arguments TEXT)")
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        connection.execute("INSERT INTO task (status, arguments) VALUES ('working', '{}')")
        count += 1
    took = time.perf_counter() - began
    connection.close()
    return count / took


async def measure(store: Store, folder: Path) -> dict[str, float]:
    """One round: what each thing costs, in calls per second."""
    calls = await Calls.on(store)

    async def read_by_thread() -> None:
        await anyio.to_thread.run_sync(anyio_free_get, store, calls.running[0])

    return {
        "bare commit": bare(folder),
        "create, 1 caller": await rate(1, calls.create),
        "create, 32 callers": await rate(32, calls.create),
        "report, 1 caller": await rate(1, calls.report),
        "report, 32 callers": await rate(32, calls.report),
        "create and complete, 32 callers": await rate(32, calls.life),
        "get": await rate(1, calls.read),
        "get by way of a thread": await rate(1, read_by_thread),
    }


def anyio_free_get(store: Store, task_id: str) -> object:
    """The same read, run to its end in whatever thread this is called in."""
    try:
        store.get(task_id).__await__().send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("The read waited for something.")


async def measured() -> str:
    """Every round, as a table."""
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(ROUNDS):
            async with SqliteStore(folder / f"round-{number}.db") as store:
                rounds.append(await measure(store, folder))
        url = f"sqlite:///{folder / 'wakes.db'}"
        woken = await wakes("benchmarks.studies.store_sqlite", url, asleep_seconds=0.003)
    return table(rounds, "bare commit", woken)


if __name__ == "__main__":
    command(__doc__, measured, listens_seconds=0)
