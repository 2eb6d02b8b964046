"""A clock that stands still until it is moved."""

from __future__ import annotations


class HandClock:
    """Call it for the time (Unix milliseconds): it goes wherever a ``now_ms`` is asked for."""

    def __init__(self, at_ms: int = 1_800_000_000_000) -> None:
        self.at_ms = at_ms

    def __call__(self) -> int:
        """The time it was moved to."""
        return self.at_ms

    def move(self, *, seconds: float = 0, ms: int = 0) -> int:
        """Move it on, or back if negative; returns the time it shows then."""
        self.at_ms += round(seconds * 1000) + ms
        return self.at_ms


__all__ = ["HandClock"]
