"""How polite the probe is: bounds on its requests and its time, and no task of its own left."""

from __future__ import annotations

from dataclasses import dataclass

from awhile.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one probe of one server.

    Raises:
        SettingsError: a bound with which nothing could be measured.
    """

    seconds: float = 120.0
    """The whole probe; what it did not come to is *not tried*. Ending its tasks comes after that,
    within `ENDING_SECONDS`."""
    requests: int = 600
    """The requests it may send, those that end its tasks aside."""
    run_seconds: float = 20.0
    """How long one call of the tool is followed; then it is cancelled."""
    linger_seconds: float = 3.0
    """How long an ended task is looked at, to see whether it stays as it is."""
    stop_seconds: float = 10.0
    """How long after a cancel the task may take to end."""
    measure_every_ms: float = 100.0
    """How often the measuring poller looks; the only one faster than the server suggests."""
    answer_seconds: float = 10.0
    """How long any one answer may take."""

    def __post_init__(self) -> None:
        for name in ("seconds", "requests", "run_seconds", "answer_seconds", "stop_seconds"):
            if not getattr(self, name) > 0:
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, so nothing could be measured. Give more."
                )
        if not self.measure_every_ms >= 20 or not self.linger_seconds >= 0:
            raise SettingsError(
                f"measure_every_ms is {self.measure_every_ms!r} and linger_seconds is "
                f"{self.linger_seconds!r}: a server cannot be asked more often than every 20 ms, "
                "nor for a negative time. Give more."
            )


ENDING_SECONDS = 10.0
"""How long the probe waits, at the very end, for the tasks it made to have ended."""


class Spent(Exception):
    """A bound was reached; says which."""


class Budget:
    """The requests that may still be sent."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.sent = 0
        self.ending = False
        """Whether only tasks are being ended any more, which the bound does not keep from."""

    def spend(self) -> None:
        """Count one request.

        Raises:
            Spent: there is none left.
        """
        if self.sent >= self.limits.requests and not self.ending:
            raise Spent(f"the bound of {self.limits.requests} requests was reached")
        self.sent += 1


__all__ = ["ENDING_SECONDS", "Budget", "Limits", "Spent"]
