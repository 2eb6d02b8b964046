"""``python -m benchmarks.engines``: what a task costs beside a bare query, progress, and stops."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from pathlib import Path

import anyio

from awhile.ask.engines.contract import Engine, HowStopped
from awhile.ask.engines.open import open_engine
from benchmarks.command import add_arguments, tell
from benchmarks.engines import running, stopping, telling
from benchmarks.engines.servers import on_mariadb, on_postgres
from benchmarks.engines.subjects import Subject, on_csv, on_duckdb, on_parquet, on_sqlite
from benchmarks.machine import facts
from benchmarks.report import Layout
from benchmarks.results import Results
from checks import mariadb
from checks.postgres import Cluster, binaries

LIBRARIES = (
    "mcp", "uvicorn", "duckdb", "apsw", "psycopg", "sqlalchemy", "pymysql", "sqlglot", "pyarrow",
    "pgparse",
)  # fmt: skip
MEASURES = {"running": running.ROWS, "telling": telling.ROWS, "stopping": stopping.ROWS}
TITLES = {
    "duckdb": "DuckDB",
    "parquet": "Parquet",
    "csv": "CSV",
    "sqlite": "SQLite",
    "postgres": "PostgreSQL",
    "mariadb": "MariaDB",
}
FILES = {"duckdb": on_duckdb, "parquet": on_parquet, "csv": on_csv, "sqlite": on_sqlite}


async def measure(
    subjects: list[Subject], names: list[str], results: Results, folder: Path, *, quick: bool
) -> None:
    """In rounds: every engine once in each."""
    for name in names:
        results.rows += MEASURES[name]
    async with AsyncExitStack() as opened:
        engines: dict[str, Engine] = {}
        for subject in subjects:
            engine = engines[subject.key] = open_engine(subject.database)
            await engine.open()
            opened.push_async_callback(engine.close)
        if "running" in names:
            await _compare(subjects, engines, results, folder, rounds=2 if quick else 5)
        if "telling" in names:
            for subject in (2 if quick else 5) * subjects:
                say(f"progress of {subject.title}")
                results.add(subject.key, await telling.tell(subject, engines[subject.key], folder))
        if "stopping" in names:
            await _stop(subjects, engines, results, folder, quick=quick)


async def _stop(
    subjects: list[Subject],
    engines: dict[str, Engine],
    results: Results,
    folder: Path,
    *,
    quick: bool,
) -> None:
    how: dict[str, list[HowStopped]] = {subject.key: [] for subject in subjects}
    for kind in stopping.KINDS:
        for moment in stopping.MOMENTS[:2] if quick else 2 * stopping.MOMENTS:
            for subject in subjects:
                say(f"stop of {subject.title}: {kind}, after {moment} s")
                engine = engines[subject.key]
                sample, known = await stopping.stop(subject, engine, kind, moment, folder)
                results.add(subject.key, sample)
                how[subject.key].append(known)
    for key, known in how.items():
        killed = known.count("process_ended")
        results.said[stopping.KILLS.name, key] = f"{killed} of {len(known)}"


async def _compare(
    subjects: list[Subject],
    engines: dict[str, Engine],
    results: Results,
    folder: Path,
    *,
    rounds: int,
) -> None:
    async with AsyncExitStack() as opened:
        asked = {
            subject.key: await opened.enter_async_context(
                running.asked(subject, engines[subject.key], folder)
            )
            for subject in subjects
        }
        for number in range(rounds + 1):
            for subject in subjects:
                for kind, sql in subject.queries.items():
                    say(f"{kind} query on {subject.title}")
                    times = 5 if kind == "small" else 3
                    sample = await running.compare(asked[subject.key], kind, sql, times)
                    if number:  # the first warms up
                        results.add(subject.key, sample)


def say(words: str) -> None:
    """Tell whoever waits what is being measured."""
    print(words, file=sys.stderr)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    parser.add_argument("--engines", nargs="+", choices=list(TITLES), default=list(TITLES))
    given = parser.parse_args()
    began, machine, results = time.monotonic(), facts(LIBRARIES), Results()
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="awhile-bench-") as name:
        folder = Path(name)
        with ExitStack() as opened:
            subjects = [make(folder) for key, make in FILES.items() if key in given.engines]
            if "postgres" in given.engines and binaries() is None:
                missing["postgres"] = "PostgreSQL is not installed"
            elif "postgres" in given.engines:
                subjects.append(on_postgres(opened.enter_context(Cluster())))
            if "mariadb" in given.engines and mariadb.program() is None:
                missing["mariadb"] = "MariaDB is not installed"
            elif "mariadb" in given.engines:
                subjects.append(on_mariadb(opened.enter_context(mariadb.Server())))
            run = partial(measure, subjects, given.only, results, folder, quick=given.quick)
            anyio.run(run)
    machine["took"] = f"{time.monotonic() - began:.0f} s"
    columns = {key: title for key, title in TITLES.items() if key in given.engines}
    layout = Layout(
        title="Engines: medians of interleaved rounds (least-most)",
        columns=columns,
        ours=list(columns),
        missing=missing,
    )
    tell(results, layout, machine, given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
