"""From a cancel to the query's proven end, in the middle of each kind of work."""

from __future__ import annotations

import time
from pathlib import Path

import anyio

from awhile.ask.engines.contract import Budget, Engine, HowStopped
from benchmarks.engines.subjects import Subject
from benchmarks.results import Row, Samples, Target

__all__ = ["KILLS", "KINDS", "MOMENTS", "ROWS", "stop"]

KINDS = ("scan", "join", "aggregate", "sort")
MOMENTS = (0.2, 0.7, 1.5, 3.0)
"""Seconds after its beginning at which a query is stopped."""

KILLS = Row(name="stop_kills", words="  by the end of the process", unit="times")

ROWS = [
    *(
        Row(
            name=f"stop_{kind}",
            words=f"cancel to confirmed, in a {kind}".replace("a agg", "an agg"),
            unit="ms",
            targets=(Target(words="≤ 2.5 s: a second after the grace", most=2500),),
        )
        for kind in KINDS
    ),
    KILLS,
]


async def stop(
    subject: Subject, engine: Engine, kind: str, moment: float, folder: Path
) -> tuple[Samples, HowStopped]:
    """One stop of one kind of work, so many seconds after its beginning; and how it is known."""
    running = anyio.Event()
    ended: list[HowStopped] = []
    asked = 0.0

    async def run() -> None:
        await engine.run(
            subject.endless[kind],
            report=lambda at: running.set() if at.stage == "running" else None,
            budget=Budget(rows=10**12, bytes=10**15),
            destination=folder / "result.parquet",
            on_stopped=lambda how, seconds: ended.append(how),
        )

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await running.wait()
        await anyio.sleep(moment)
        asked = time.perf_counter()
        group.cancel_scope.cancel()
    took = (time.perf_counter() - asked) * 1000
    [how] = ended
    assert how in ("engine_confirmed", "process_ended"), how
    return {f"stop_{kind}": took}, how
