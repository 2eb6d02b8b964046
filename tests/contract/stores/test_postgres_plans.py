"""What a PostgreSQL server reads to answer: as little on a young store as on an old one."""

from __future__ import annotations

import anyio
import psycopg
import pytest

from awhile.stores.postgres import PostgresStore
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]

MANY = 40
"""More than the executions after which a plan is kept."""

READ = """
SELECT seq_tup_read, idx_scan FROM pg_stat_user_tables
WHERE schemaname = %s AND relname = 'task'
"""


async def test_the_table_of_tasks_is_not_read_through_for_one_of_them(postgres_url: str) -> None:
    """Ours: without statistics, as before the first ANALYZE, kept plans read every row."""
    async with PostgresStore.from_url(postgres_url) as store:
        await store.create(task())  # the tables exist, and that no pooler is in between is known
        async with await psycopg.AsyncConnection.connect(
            postgres_url.partition("?")[0], autocommit=True
        ) as beside:
            schema = postgres_url.rpartition("schema=")[2].partition("&")[0]
            before = await _read(beside, schema)
            for _ in range(MANY):
                made = await store.create(task(worker="w"))
                assert await store.get(made.task_id) == made
                done = ev.Completed(generation=made.generation, result={}, is_error=False)
                await store.append(made.task_id, done, AT)
            rows, found = before
            with anyio.fail_after(10):
                while found < before[1] + 3 * MANY:  # told once a second
                    await anyio.sleep(0.05)
                    rows, found = await _read(beside, schema)
            assert rows - before[0] < MANY


async def _read(on: psycopg.AsyncConnection[tuple[int, int]], schema: str) -> tuple[int, int]:
    cursor = await on.execute(READ, [schema])
    row = await cursor.fetchone()
    assert row is not None
    return row
