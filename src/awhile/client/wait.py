"""When to ask again. Pure: time and chance are arguments.

The rhythm is the server's own (``pollIntervalMs``, ext-tasks "Task Polling"), within sane bounds.
A server that does not answer is asked again after a growing, jittered delay, for as long as
somebody waits: its tasks are not affected by our not seeing them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

DEFAULT_POLL_SECONDS = 1.0
"""The rhythm for a server that suggests none (source: ours)."""

SHORTEST_POLL_SECONDS = 0.05
LONGEST_POLL_SECONDS = 60.0
"""Bounds on what a server may suggest: not a busy loop, and not a task forgotten for an hour."""

FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 8.0
"""A restarted server is seen again within this; a dead one is not hammered."""

SOON_SECONDS = 0.1
"""After we changed something (a cancel, an answer), how soon one look out of turn is worth it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Where the watching of one task stands. Instants are seconds on any one monotonic clock."""

    due_at: float | None = 0.0
    """When to ask next; None: never again, the task has ended."""
    interval_seconds: float = DEFAULT_POLL_SECONDS
    failures: int = 0
    """How many times in a row the server did not answer."""
    failing_since: float | None = None
    """When the first of those was; None while the server answers."""

    def answered(self, now: float, *, poll_interval_ms: int | None, ended: bool) -> Pace:
        """The server told us how the task stands."""
        interval = poll_seconds(poll_interval_ms)
        return Pace(due_at=None if ended else now + interval, interval_seconds=interval)

    def failed(self, now: float, *, chance: float) -> Pace:
        """The server did not answer. ``chance`` is a random number from 0 to 1."""
        return replace(
            self,
            due_at=now + retry_seconds(self.failures, chance=chance),
            failures=self.failures + 1,
            failing_since=now if self.failing_since is None else self.failing_since,
        )

    def hurried(self, now: float) -> Pace:
        """We changed something, so look once sooner than the rhythm says."""
        if self.due_at is None or self.failures:
            return self
        return replace(self, due_at=min(self.due_at, now + SOON_SECONDS))

    def wait_seconds(self, now: float) -> float | None:
        """How long to wait before asking; None: do not ask again."""
        return None if self.due_at is None else max(0.0, self.due_at - now)


def poll_seconds(poll_interval_ms: int | None) -> float:
    """The pause between two polls, from what the server suggests."""
    if poll_interval_ms is None:
        return DEFAULT_POLL_SECONDS
    return min(max(poll_interval_ms / 1000, SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)


def retry_seconds(failures: int, *, chance: float) -> float:
    """The pause before asking again after ``failures`` earlier failures in a row.

    Doubles up to `LONGEST_RETRY_SECONDS`; of that, between half and all, so that many clients of
    one restarted server do not come back in step.
    """
    whole = min(FIRST_RETRY_SECONDS * 2.0 ** min(failures, 16), LONGEST_RETRY_SECONDS)
    return whole * (0.5 + chance / 2)


__all__ = ["Pace", "poll_seconds", "retry_seconds"]
