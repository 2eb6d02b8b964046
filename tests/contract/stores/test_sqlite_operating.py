"""What operators ask costs by what is living, however many tasks are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.stores.sqlite import SqliteStore
from awhile.stores.sqlite.connection import Connection
from awhile.stores.sqlite.operating import OPERATING

pytestmark = pytest.mark.anyio

ASKED = {
    "limit": 9,
    "changes": 9,
    "ours": "x",
    "owner": None,
    "tool": None,
    "at_ms": 1,
    "until_ms": 1,
    "due_ms": 1,
    "ordinal": 1,
    "task_id": "a",
}


@pytest.mark.parametrize("name", OPERATING)
async def test_no_statement_walks_through_all_tasks(tmp_path: Path, name: str) -> None:
    file = tmp_path / "tasks.db"
    async with SqliteStore(file):
        connection = Connection(file, reads_only=True)
        values = {one: ASKED[one] for one in ASKED if f":{one}" in OPERATING[name]}
        plan = connection.rows(f"EXPLAIN QUERY PLAN {OPERATING[name]}", values)
        connection.close()
    walks = [step for *_, step in plan if step.startswith("SCAN task") and "INDEX" not in step]
    assert walks == []
