"""Progress as this side hears it, and its messages, for servers that tell only the latest."""

from __future__ import annotations

from awhile.tasks import Progress, Step
from awhile.tasks.record import RECENT_STEPS
from awhile.wire.codec import maybe_number


def heard(done: float, total: float | None, message: str | None, *, at_ms: int) -> Progress:
    """One ``notifications/progress``; what is no number (servers send NaN) says nothing."""
    return Progress(
        at_ms=at_ms, done=maybe_number(done), total=maybe_number(total), message=message
    )


def with_step(steps: tuple[Step, ...], message: str | None, *, at_ms: int) -> tuple[Step, ...]:
    """The steps with one more, if ``message`` is news; the oldest give way.

    A step that came and went between two looks is not there: it cannot be known.
    """
    if message is None or (steps and steps[-1].message == message):
        return steps
    seq = steps[-1].seq + 1 if steps else 1
    return (*steps, Step(seq=seq, at_ms=at_ms, message=message))[-RECENT_STEPS:]


__all__ = ["heard", "with_step"]
