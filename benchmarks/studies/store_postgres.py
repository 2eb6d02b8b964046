"""The PostgreSQL store beside a bare loop on the same server: one insert, one commit.

Run ``python -m benchmarks.studies.store_postgres``. It starts a cluster of its own. All numbers are
medians of interleaved rounds on this machine; a ratio travels better between machines than a rate.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

import anyio
import psycopg

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.stores.postgres.listener import Listener
from benchmarks.studies.storing import ROUNDS, Calls, command, rate, table, wakes
from checks.postgres import Cluster


async def bare(cluster: Cluster, callers: int, *, notify: bool = False) -> float:
    """Commits per second of loops that do nothing else, each on a connection of its own."""
    idle: list[psycopg.AsyncConnection[Any]] = [
        await psycopg.AsyncConnection.connect(cluster.dsn(), autocommit=True)
        for _ in range(callers)
    ]
    await idle[0].execute("CREATE TABLE IF NOT EXISTS bare (status text, arguments text)")

    async def insert() -> None:
        connection = idle.pop()
        if notify:
            async with connection.pipeline(), connection.transaction():
                await connection.execute("INSERT INTO bare VALUES ('working', '{}')")
                await connection.execute("SELECT pg_notify('bare', '')")
        else:
            await connection.execute("INSERT INTO bare VALUES ('working', '{}')")
        idle.append(connection)

    try:
        return await rate(callers, insert)
    finally:
        for connection in idle:
            await connection.close()


async def measure(store: Store, cluster: Cluster) -> dict[str, float]:
    """One round: what each thing costs, in calls per second."""
    calls = await Calls.on(store)

    async def silence(*_: object) -> None:
        """No ring."""

    told = {
        "bare commit, 1 connection": await bare(cluster, 1),
        "bare commit, 32 connections": await bare(cluster, 32),
        "the same with NOTIFY inside": await bare(cluster, 32, notify=True),
        "create, 1 caller": await rate(1, calls.create),
        "create, 32 callers": await rate(32, calls.create),
    }
    with mock.patch.object(Listener, "_ring", silence):
        told["the same without notifications"] = await rate(32, calls.create)
    told |= {
        "report, 1 caller": await rate(1, calls.report),
        "report, 32 callers": await rate(32, calls.report),
        "create and complete, 32 callers": await rate(32, calls.life),
        "get, 1 caller": await rate(1, calls.read),
        "get, 32 callers": await rate(32, calls.read),
    }
    return told


async def measured() -> str:
    """Every round, as a table."""
    rounds: list[dict[str, float]] = []
    with Cluster() as cluster:
        for _ in range(ROUNDS):
            async with open_store(cluster.url()) as store, store.watch():
                await anyio.sleep(0.5)  # until it listens
                rounds.append(await measure(store, cluster))
        module = "benchmarks.studies.store_postgres"
        woken = await wakes(module, cluster.url(), asleep_seconds=0.01)
    return table(rounds, "bare commit, 1 connection", woken)


if __name__ == "__main__":
    command(__doc__, measured, listens_seconds=1)
