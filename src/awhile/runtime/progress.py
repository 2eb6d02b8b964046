"""What a body has reported and nobody has taken yet. Reports come from any thread."""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass

from awhile.runtime.bell import Bell

MAX_PENDING = 200
"""How many reports wait at most; older ones give way. A body that reports faster than they can be
written loses steps, never the latest."""

INTERVAL_SECONDS = 0.1
"""The shortest time between two writes or notifications, about ten a second (MCP, progress:
"both parties SHOULD implement rate limiting to prevent flooding")."""


MESSAGE_LENGTH = 1000
"""How much of a report's message is kept: every poll of the task repeats it (source: ours)."""


@dataclass(frozen=True, slots=True)
class Report:
    """One report of a body; ``total`` None: no honest total."""

    done: float | None
    total: float | None
    message: str | None


def sanitised(done: float | None, total: float | None, message: str | None) -> Report:
    """A report fit to be kept: numbers a client can read, no total that was passed, short text."""
    done = done if done is not None and _finite(done) and done >= 0 else None
    total = total if total is not None and _finite(total) and total > 0 else None
    if done is not None and total is not None and done > total:
        total = None  # clamping would repeat a value; an unknown total is the honest form
    if message is not None:
        message = readable(message)
        if len(message) > MESSAGE_LENGTH:
            message = f"{message[:MESSAGE_LENGTH]}…"
    return Report(done, total, message)


def readable(text: str) -> str:
    """The text with lone surrogates shown as escapes: they are no Unicode, so no store and no
    client takes them, and file names read from disk may hold some (PEP 383)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number beyond any float
        return False


class Progress:
    """The reports of one body. ``put`` is thread-safe; waiting on ``bell`` belongs to the loop."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.latest: Report | None = None
        self._lock = threading.Lock()
        self._pending: deque[Report] = deque(maxlen=MAX_PENDING)

    def put(self, report: Report) -> None:
        """Add a report. One with an unchanged message replaces the one before it."""
        with self._lock:
            if self._pending and self._pending[-1].message == report.message:
                self._pending.pop()
            self._pending.append(report)
            self.latest = report
        self.bell.ring()

    def take(self) -> list[Report]:
        """All reports nobody has taken yet, oldest first."""
        with self._lock:
            pending = list(self._pending)
            self._pending.clear()
        return pending
