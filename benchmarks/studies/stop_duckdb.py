"""Cancel-to-stopped of a DuckDB query: a scan, a join, an aggregate, a global sort.

Run ``python -m benchmarks.studies.stop_duckdb [tries]``. Each query would take minutes; each is
cancelled at several moments of its life, and the time is taken from the cancel to `run` having
returned, when the query no longer runs: the engine confirmed its interrupt, or its process was
killed after a grace of 1.5 s.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import anyio
import duckdb

from awhile.ask.engines.contract import Budget, HowStopped
from awhile.ask.engines.duckdb.engine import DuckDBEngine

TRIES = 7
MEMORY_BYTES = 2 * 1024**3

QUERIES = {
    "scan": "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3",
    "join": "SELECT count(*) FROM range(30_000_000) a JOIN range(30_000_000) b "
    "ON hash(a.range) % 100_000 = hash(b.range, 1) % 100_000",
    "aggregate": "SELECT hash(range) % 40_000_000, count(DISTINCT hash(range, 1)) "
    "FROM range(4_000_000_000) GROUP BY 1",
    "sort": "SELECT * FROM (SELECT range AS n, hash(range) AS h FROM range(300_000_000)) "
    "ORDER BY h, n DESC",
}


async def stop(
    engine: DuckDBEngine, sql: str, after_seconds: float, folder: Path
) -> tuple[float, HowStopped]:
    """Seconds from the cancel to the end, and how the end is known."""
    running = anyio.Event()
    ended: list[HowStopped] = []
    asked = 0.0

    async def run() -> None:
        await engine.run(
            sql,
            report=lambda at: running.set() if at.stage == "running" else None,
            budget=Budget(rows=10**12, bytes=10**15),
            destination=folder / "result.parquet",
            on_stopped=lambda how, seconds: ended.append(how),
        )

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await running.wait()
        await anyio.sleep(after_seconds)
        asked = time.perf_counter()
        group.cancel_scope.cancel()
    return time.perf_counter() - asked, ended[0]


async def main(tries: int) -> None:
    print(f"DuckDB {duckdb.__version__}, {tries} cancels each, between 0.3 and 6 s into the query")
    print(f"{'query':<10} {'median s':>9} {'worst s':>8}  how it is known")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = folder / "empty.duckdb"
        duckdb.connect(database).close()
        engine = DuckDBEngine(database, memory_limit_bytes=MEMORY_BYTES, spill_folder=folder)
        await engine.open()
        for kind, sql in QUERIES.items():
            moments = [0.3 + 5.7 * number / max(tries - 1, 1) for number in range(tries)]
            stops = [await stop(engine, sql, moment, folder) for moment in moments]
            seconds = [took for took, _ in stops]
            how = ", ".join(
                f"{count} {what}" for what, count in Counter(h for _, h in stops).items()
            )
            print(f"{kind:<10} {statistics.median(seconds):>9.3f} {max(seconds):>8.3f}  {how}")
        await engine.close()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else TRIES)
