"""When to ask again. Pure: time and chance are arguments.

The rhythm is the server's own (``pollIntervalMs``, ext-tasks "Task Polling"), within sane bounds.
A server that does not answer is asked again after a growing, jittered delay, for as long as
somebody waits: its tasks are not affected by our not seeing them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

DEFAULT_POLL_SECONDS = 1.0
"""The rhythm for a server that suggests none (source: ours)."""

SHORTEST_POLL_SECONDS = 0.05
LONGEST_POLL_SECONDS = 60.0
"""Bounds on what a server may suggest: not a busy loop, and not a task forgotten for an hour."""

FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 8.0
"""A restarted server is seen again within this; a dead one is not hammered."""

SAFETY_POLL_SECONDS = 15.0
"""How often to look while the server pushes changes: a lost push costs no more than this."""

SOON_SECONDS = 0.01
"""After we changed something (a cancel, an answer), how soon the first look out of turn comes; the
next ones ever later (`later_seconds`), until the rhythm is sooner. Most work stops within 10 ms."""

LATER = 3.0
"""By how much each of those waits is longer than the one before."""

PUSHED_SECONDS = 0.1
"""How long a push may take before one look out of turn is worth it."""


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
    pushed: bool = False
    """Whether the server has agreed to tell us of changes by itself."""
    soon_seconds: float | None = None
    """How long the last wait was of those that are shorter than the rhythm; None: it is none."""

    def answered(self, now: float, *, poll_interval_ms: int | None, ended: bool) -> Pace:
        """The server told us how the task stands, asked or not."""
        interval = poll_seconds(poll_interval_ms)
        if self.pushed:
            wait, soon = max(interval, SAFETY_POLL_SECONDS), None
        else:
            soon = self.soon_seconds and later_seconds(self.soon_seconds)
            wait, soon = (soon, soon) if soon and soon < interval else (interval, None)
        return Pace(
            due_at=None if ended else now + wait,
            interval_seconds=interval,
            pushed=self.pushed,
            soon_seconds=soon,
        )

    def listening(self, now: float) -> Pace:
        """The server agreed to push. One look soon: it need not say how the task stands already."""
        return replace(self, pushed=True).hurried(now)

    def deaf(self, now: float, *, chance: float) -> Pace:
        """Nothing is pushed any more, so the rhythm is the server's again.

        ``chance``, a random number from 0 to 1, spreads the tasks of one broken stream over it.
        """
        if self.due_at is None:
            return replace(self, pushed=False)
        due_at = min(self.due_at, now + chance * self.interval_seconds)
        return replace(self, pushed=False, due_at=due_at)

    def failed(self, now: float, *, chance: float) -> Pace:
        """The server did not answer. ``chance`` is a random number from 0 to 1."""
        return replace(
            self,
            due_at=now + retry_seconds(self.failures, chance=chance),
            failures=self.failures + 1,
            failing_since=now if self.failing_since is None else self.failing_since,
        )

    def hurried(self, now: float) -> Pace:
        """We changed something, so look sooner than the rhythm says: once, if the server pushes,
        else until something has come of it or the rhythm is as soon."""
        if self.due_at is None or self.failures:
            return self
        if self.pushed:
            return replace(self, due_at=min(self.due_at, now + PUSHED_SECONDS), soon_seconds=None)
        return replace(self, due_at=min(self.due_at, now + SOON_SECONDS), soon_seconds=SOON_SECONDS)

    def wait_seconds(self, now: float) -> float | None:
        """How long to wait before asking; None: do not ask again."""
        return None if self.due_at is None else max(0.0, self.due_at - now)


def poll_seconds(poll_interval_ms: int | None) -> float:
    """The pause between two polls, from what the server suggests.

    A suggestion below the shortest is no rhythm: servers in the field send seconds there (5 for
    5 s; field case A14), and neither asking 20 times a second nor waiting as many seconds as were
    perhaps meant as milliseconds would be right.
    """
    if poll_interval_ms is None or poll_interval_ms < SHORTEST_POLL_SECONDS * 1000:
        return DEFAULT_POLL_SECONDS
    return min(poll_interval_ms / 1000, LONGEST_POLL_SECONDS)


def later_seconds(soon_seconds: float) -> float:
    """The next wait of those that begin with `SOON_SECONDS`."""
    return soon_seconds * LATER


def retry_seconds(
    failures: int, *, chance: float, longest_seconds: float = LONGEST_RETRY_SECONDS
) -> float:
    """The pause before asking again after ``failures`` earlier failures in a row.

    Doubles up to ``longest_seconds``; of that, between half and all, so that many clients of one
    restarted server do not come back in step.
    """
    whole = min(FIRST_RETRY_SECONDS * 2.0 ** min(failures, 16), longest_seconds)
    return whole * (0.5 + chance / 2)


class Connects:
    """When the next of many connects may be, so that there are never too many in a while.

    Instants are seconds on any one monotonic clock.
    """

    def __init__(self, *, most: int, within_seconds: float) -> None:
        self._at: deque[float] = deque(maxlen=most)
        self._within_seconds = within_seconds

    def made(self, now: float) -> None:
        """One was made."""
        self._at.append(now)

    def wait_seconds(self, now: float) -> float:
        """How long the next has to wait."""
        if len(self._at) < (self._at.maxlen or 0):
            return 0.0
        return max(0.0, self._at[0] + self._within_seconds - now)


__all__ = ["SOON_SECONDS", "Connects", "Pace", "later_seconds", "poll_seconds", "retry_seconds"]
