"""What is measured, by subject. Each module declares its rows and has one function a measure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from benchmarks.measures import growing, listening, requests, stopping, working
from benchmarks.rounds import Bench

MEASURES: Mapping[str, Callable[[Bench], Awaitable[None]]] = {
    "requests": requests.measure,
    "listening": listening.measure,
    "stopping": stopping.measure,
    "progress": working.measure_progress,
    "recovery": working.measure_recovery,
    "memory": working.measure_memory,
    "growing": growing.measure,
}
"""All of them, in the order of the table."""
