"""How a query tells how far it is, against how far it turned out to have been."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise
from pathlib import Path

from awhile.ask.engines.contract import Budget, Engine, Progress
from benchmarks.engines.subjects import Subject
from benchmarks.results import Row, Samples, Target

__all__ = ["ROWS", "tell"]

ROWS = [
    Row(name="tell_reports", words="reports while it runs", unit="/s"),
    Row(
        name="tell_falls",
        words="  a percentage or count that falls",
        unit="times",
        targets=(Target(words="never", most=0),),
    ),
    Row(name="tell_half", words="  percentage at half of the time", unit="%"),
    Row(name="tell_last", words="  the last percentage before the end", unit="%"),
    Row(name="tell_error", words="  distance from the truth, on average", unit="points"),
]


async def tell(subject: Subject, engine: Engine, folder: Path) -> Samples:
    """One run of the steady query, and what it said of itself."""
    heard: list[tuple[float, Progress]] = []
    began = time.perf_counter()
    await engine.run(
        subject.steady,
        report=lambda at: heard.append((time.perf_counter() - began, at)),
        budget=Budget(rows=10**9, bytes=10**12),
        destination=folder / "result.parquet",
    )
    took = time.perf_counter() - began
    percents = [(at, one.percent) for at, one in heard if one.percent is not None]
    falls = sum(later < sooner for (_, sooner), (_, later) in pairwise(percents))
    falls += sum(later.rows < sooner.rows for (_, sooner), (_, later) in pairwise(heard))
    told = {"tell_reports": len(heard) / took, "tell_falls": float(falls)}
    if percents:
        told |= {
            "tell_half": next((each for at, each in percents if at >= took / 2), percents[-1][1]),
            "tell_last": percents[-1][1],
            "tell_error": statistics.mean(abs(each - 100 * at / took) for at, each in percents),
        }
    return told
