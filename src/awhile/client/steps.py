"""The messages of work, kept by this side for servers that tell only the latest."""

from __future__ import annotations

from awhile.tasks import Step
from awhile.tasks.record import RECENT_STEPS


def with_step(steps: tuple[Step, ...], message: str | None, *, at_ms: int) -> tuple[Step, ...]:
    """The steps with one more, if ``message`` is news; the oldest give way.

    A step that came and went between two looks is not there: it cannot be known.
    """
    if message is None or (steps and steps[-1].message == message):
        return steps
    seq = steps[-1].seq + 1 if steps else 1
    return (*steps, Step(seq=seq, at_ms=at_ms, message=message))[-RECENT_STEPS:]


__all__ = ["with_step"]
