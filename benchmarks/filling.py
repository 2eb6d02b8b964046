"""Fills a store with a million tasks in seconds, by SQL: copies of one that the store itself wrote.

Each copy has an id and a number of change of its own, and belongs to one of twenty owners; its
first history entry is copied with it. Columns are read from the table, so that a new one is copied
like the others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg

from awhile.stores.postgres.address import Address

OWNERS = 20

Run = Callable[[str], list[Any]]
"""Runs one statement; its rows."""

NUMBERS_SQLITE = (
    "(WITH RECURSIVE one(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < {count}) "
    "SELECT n FROM one)"
)
NUMBERS_POSTGRES = "(SELECT n FROM generate_series(1, {count}) AS one(n))"


def owner(number: int) -> str:
    """One of the owners of the copies."""
    return f"owner-{number % OWNERS}"


def fill(url: str, template: str, count: int) -> None:
    """Add so many copies of a task to the store of that URL, which nobody has open."""
    if url.startswith("sqlite:"):
        _sqlite(Path(url.removeprefix("sqlite:///")), template, count)
    else:
        _postgres(url, template, count)


def _sqlite(path: Path, template: str, count: int) -> None:
    connection: Any = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -200000")

    def run(statement: str) -> list[Any]:
        return list(connection.execute(statement))

    with connection:
        columns = [one[1] for one in run("PRAGMA table_info(task)")]  # generated ones are not in it
        ((rev,),) = run("SELECT rev FROM counter")
        _copy(
            run,
            columns,
            NUMBERS_SQLITE.format(count=count),
            template,
            new={"task_id": "lower(hex(randomblob(16)))", "rev": f"{rev} + made.n"},
        )
        run(f"UPDATE counter SET rev = rev + {count}")
    connection.close()


def _postgres(url: str, template: str, count: int) -> None:
    address = Address.parse(url)
    with psycopg.connect(address.conninfo) as connection:

        def run(statement: str) -> list[Any]:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

        run(f"SET search_path = {address.schema}")
        rows = run(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'task' "
            f"AND table_schema = '{address.schema}' AND is_generated = 'NEVER'"
        )
        # The numbers of transactions long gone, of which each change of ours has its own.
        ((rev,),) = run("SELECT coalesce(max(rev), 0) FROM task WHERE rev < 2000000")
        _copy(
            run,
            [one[0] for one in rows],
            NUMBERS_POSTGRES.format(count=count),
            template,
            new={
                "task_id": "replace(gen_random_uuid()::text, '-', '')",
                "rev": f"{rev} + made.n",
            },
        )
    with psycopg.connect(address.conninfo, autocommit=True) as connection:
        for table in ("task", "history"):  # as autovacuum would, sooner or later
            connection.execute(f"VACUUM ANALYZE {address.schema}.{table}".encode())


def _copy(
    run: Run, columns: list[str], numbers: str, template: str, *, new: dict[str, str]
) -> None:
    new = {**new, "owner": f"'owner-' || (made.n % {OWNERS})"}
    columns = [one for one in columns if one != "ordinal"]
    values = ", ".join(new.get(one, f"old.{one}") for one in columns)
    ((ordinal,),) = run(f"SELECT ordinal FROM task WHERE task_id = '{template}'")
    ((last,),) = run("SELECT max(ordinal) FROM task")
    run(
        f"INSERT INTO task ({', '.join(columns)}) SELECT {values} FROM task AS old, "
        f"{numbers} AS made WHERE old.task_id = '{template}'"
    )
    run(
        "INSERT INTO history (ordinal, seq, at_ms, kind, fields) SELECT new.ordinal, old.seq, "
        "old.at_ms, old.kind, old.fields FROM history AS old, task AS new "
        f"WHERE old.ordinal = {ordinal} AND old.seq = 1 AND new.ordinal > {last}"
    )
