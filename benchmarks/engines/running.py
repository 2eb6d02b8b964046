"""What it costs to run a query as a task, beside running it bare.

Bare is the driver on a connection that is open, every row taken. By the engine: the same in a
process that can be killed, its rows in a file. As a task: `run_sql` of a server in a process of its
own, called over HTTP by the project's own client, until its answer with the first rows is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from awhile import RemoteServer, connect
from awhile.ask.engines.contract import Budget, Engine
from benchmarks.engines.subjects import Subject
from benchmarks.results import Row, Samples, Target

__all__ = ["ROWS", "Asked", "asked", "compare"]

KINDS = {
    "small": "a look-up",
    "long": "seconds of work",
    "wide": "300,000 rows",
}
TARGET = Target(words="≤ 30 ms and 2 %", most=30)
BUDGET = Budget(rows=10**9, bytes=10**12)


def _rows(kind: str, words: str) -> list[Row]:
    return [
        Row(name=f"{kind}_bare", words=f"{words}: bare", unit="ms"),
        Row(name=f"{kind}_engine", words="  by the engine", unit="ms"),
        Row(name=f"{kind}_task", words="  as a task, over HTTP", unit="ms"),
        # Many rows are kept in a file, which bare running does not do: there is no target for it.
        Row(
            name=f"{kind}_over",
            words="  as a task, over bare and 2 % of it",
            unit="ms",
            targets=() if kind == "wide" else (TARGET,),
        ),
    ]


ROWS = [row for kind, words in KINDS.items() for row in _rows(kind, words)]


class Asked:
    """One database, asked in three ways."""

    def __init__(
        self, subject: Subject, engine: Engine, server: RemoteServer, folder: Path
    ) -> None:
        self._subject = subject
        self._engine = engine
        self._server = server
        self._folder = folder

    async def bare(self, sql: str) -> None:
        self._subject.bare(sql)

    async def by_engine(self, sql: str) -> None:
        await self._engine.run(
            sql, report=lambda at: None, budget=BUDGET, destination=self._folder / "result.parquet"
        )

    async def as_task(self, sql: str) -> None:
        answer = await self._server.call("run_sql", {"sql": sql})
        assert not answer.is_error, answer


@asynccontextmanager
async def asked(subject: Subject, engine: Engine, folder: Path) -> AsyncGenerator[Asked]:
    """The database with a server before it, as anybody starts one."""
    command = [str(Path(sys.executable).with_name("awhile")), "serve", "--port", "0"]
    data = folder / f"data-{subject.key}"
    environment = {
        **os.environ,
        "AWHILE_DATABASE": subject.database,
        "AWHILE_DATA_FOLDER": str(data),
        "AWHILE_STORE": f"sqlite:///{folder / f'tasks-{subject.key}.db'}",
        "AWHILE_ROW_BUDGET": str(BUDGET.rows),
    }
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs meanwhile
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            url = process.stdout.readline().strip()
            async with connect(url) as server:
                yield Asked(subject, engine, server, folder)
        finally:
            process.terminate()


async def compare(one: Asked, kind: str, sql: str, times: int) -> Samples:
    """One sample of all three ways, in turn; the least of some, for the machine is others', too."""
    took: dict[str, list[float]] = {"bare": [], "engine": [], "task": []}
    for _ in range(times):
        for name, way in (("bare", one.bare), ("engine", one.by_engine), ("task", one.as_task)):
            began = time.perf_counter()
            await way(sql)
            took[name].append((time.perf_counter() - began) * 1000)
    bare, engine, task = (min(took[name]) for name in took)
    return {
        f"{kind}_bare": bare,
        f"{kind}_engine": engine,
        f"{kind}_task": task,
        f"{kind}_over": task - 1.02 * bare,
    }
