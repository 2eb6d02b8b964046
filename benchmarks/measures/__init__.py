"""What is measured, by subject. Each module declares its rows and has one function a measure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from benchmarks.measures import requests
from benchmarks.rounds import Bench

MEASURES: Mapping[str, Callable[[Bench], Awaitable[None]]] = {
    "requests": requests.measure,
}
"""All of them, in the order of the table."""
