"""The lines of a SQLite store's queue: always what counting would say, also in an older file."""

from __future__ import annotations

import random
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.stores.rows import created_fields, to_row
from awhile.stores.sqlite import SqliteStore
from awhile.stores.sqlite.connection import Connection
from awhile.stores.sqlite.files import APPLICATION_ID
from awhile.tasks import Event, StoppedHow
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task

pytestmark = pytest.mark.anyio

COUNTED = """
    SELECT tool, owner, count(*), min(ordinal), (
        SELECT count(*) FROM task AS held
        WHERE held.owner = task.owner AND held.lease_worker IS NOT NULL
    )
    FROM task
    WHERE lease_worker IS NULL AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NULL
    GROUP BY tool, owner ORDER BY tool, owner
"""
KEPT = "SELECT tool, owner, waiting, head, running FROM line ORDER BY tool, owner"


def check_lines(file: Path) -> None:
    """The kept numbers are the counted ones."""
    connection = Connection(file, reads_only=True)
    counted = connection.rows(COUNTED)
    assert connection.rows(KEPT) == counted
    assert connection.number("SELECT waiting FROM counter") == sum(row[2] for row in counted)
    connection.close()


@pytest.mark.parametrize("seed", range(4))
async def test_the_lines_are_what_counting_would_say_whatever_happens(
    tmp_path: Path, seed: int
) -> None:
    order = random.Random(seed)
    file = tmp_path / "tasks.db"
    ids: list[str] = []
    async with SqliteStore(file) as store:
        for step in range(150):
            at_ms = AT + step
            match order.randrange(6):
                case 0 | 1:
                    one = task(
                        owner=order.choice("abc"),
                        tool=order.choice(["one", "two"]),
                        worker=order.choice([None, "w1"]),
                        until_ms=at_ms + order.choice([5, 1000]),
                        max_attempts=order.choice([1, 2]),
                        keep_ms=order.choice([0, 10, None]),
                    )
                    ids.append((await store.create(one)).task_id)
                case 2:
                    await store.claim(
                        worker="w2",
                        tools=order.sample(["one", "two"], 1),
                        at_ms=at_ms,
                        until_ms=at_ms + order.choice([5, 1000]),
                        limit=order.randrange(4),
                    )
                case 3:
                    await store.sweep(at_ms=at_ms, limit=3)
                case _:
                    if not ids:
                        continue
                    generation = order.choice([1, 1, 2])
                    event: Event = order.choice(
                        [
                            ev.CancelAsked(),
                            ev.Released(generation=generation, how=StoppedHow.COROUTINE_ENDED),
                            ev.Completed(generation=generation, result={}),
                            ev.Noted(generation=generation, key="k", outcome=1, reachable=True),
                        ]
                    )
                    try:
                        await store.append(order.choice(ids), event, at_ms)
                    except (IllegalEvent, TaskNotFound):
                        continue
            if step % 10 == 0:
                check_lines(file)
    check_lines(file)


async def test_a_file_of_the_first_version_is_taken_over_with_its_queue(tmp_path: Path) -> None:
    file = tmp_path / "tasks.db"
    old = sqlite3.connect(file)
    folder = files("awhile.stores.sqlite") / "migrations"
    old.executescript((folder / "0001_tasks.sql").read_text(encoding="utf-8"))
    old.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1")
    columns = [row[1] for row in old.execute("PRAGMA table_info(task)") if row[1] != "ordinal"]
    made = [task(owner=owner) for owner in ("ada", "ada", "eve")]
    made.append(task(owner="ada", worker="w1"))
    for rev, record in enumerate(made, start=1):
        row = {**to_row(record), "rev": rev, "history_seq": 1}
        marks = ", ".join(f":{name}" for name in columns)
        old.execute(f"INSERT INTO task ({', '.join(columns)}) VALUES ({marks})", row)
        old.execute(
            "INSERT INTO history VALUES (?, 1, ?, 'Created', ?)",
            (rev, AT, created_fields(record)),
        )
    old.execute("UPDATE counter SET rev = 4")
    old.commit()
    old.close()
    async with SqliteStore(file) as store:
        check_lines(file)
        assert [await store.place(one.task_id) for one in made] == [1, 2, 0, None]
        assert (await store.get(made[0].task_id)) is not None
        assert (await store.create(task())).rev == 5
    check_lines(file)
