"""The order of a run: each measure in rounds, every column once in each round.

The machine is shared and noisy. What is compared is therefore measured within seconds of each
other, over and over (A B C, B C A, …), and the median of the rounds is told.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from benchmarks.results import Results, Row, Samples
from benchmarks.subjects import Subjects

Sample = Callable[[str], Awaitable[Samples]]
"""Takes one sample in a column."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much a run takes on: `make bench`, or `make bench QUICK=1`."""

    rounds: int
    seconds: float
    """How long one closed loop runs."""
    tasks: int
    """How many tasks there are to be looked at."""
    streams: tuple[int, ...]
    idle: int
    """How many idle tasks or listeners memory is measured with."""
    kept: tuple[int, ...]
    """At how many kept tasks growth is measured."""
    stops: int
    """How many bodies are stopped for one sample; of child processes a quarter of it."""
    recovery_seconds: int
    """How long is waited for killed tasks to run again."""


FULL = Size(
    rounds=5,
    seconds=1.0,
    tasks=400,
    streams=(1, 100, 1000),
    idle=1000,
    kept=(1_000, 10_000, 100_000, 1_000_000),
    stops=12,
    recovery_seconds=20,
)
QUICK = Size(
    rounds=2,
    seconds=0.4,
    tasks=200,
    streams=(1, 100),
    idle=200,
    kept=(1_000, 10_000, 100_000),
    stops=4,
    recovery_seconds=10,
)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One run: what is measured, how much of it, and where the figures go."""

    subjects: Subjects
    size: Size
    results: Results
    say: Callable[[str], None]

    def declare(self, *rows: Row) -> None:
        """Add lines to the table."""
        self.results.rows += rows

    async def rounds(
        self, words: str, columns: list[str], sample: Sample, *, rounds: int | None = None
    ) -> None:
        """Interleave samples of the columns, beginning with another one each round."""
        began = time.monotonic()
        for number in range(rounds or self.size.rounds):
            turn = number % max(len(columns), 1)
            for column in columns[turn:] + columns[:turn]:
                self.results.add(column, await sample(column))
        self.say(f"{words} ({time.monotonic() - began:.0f} s)")
