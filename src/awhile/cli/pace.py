"""How long work will still take, told only while its percentage grows steadily. Pure.

The page decides the same way (`web/src/run/pace.ts`; a test compares).
"""

from __future__ import annotations

from typing import NamedTuple

LOOK_BACK_SECONDS = 20.0
LATELY_SECONDS = 6.0
AT_LEAST_PERCENT = 10.0
MOST_SAMPLES = 400


class Sample(NamedTuple):
    """A percentage as it was at an instant, in seconds on any one clock."""

    at: float
    percent: float


def sampled(samples: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """The samples with one more; those too old to matter are gone. A step back starts over."""
    if samples and new.percent < samples[-1].percent:
        return (new,)
    recent = tuple(one for one in samples if new.at - one.at <= LOOK_BACK_SECONDS)
    return (*recent, new)[-MOST_SAMPLES:]


def seconds_left(samples: tuple[Sample, ...]) -> float | None:
    """Seconds left at the pace of late; None unless that pace is steady."""
    if not samples:
        return None
    first, last = samples[0], samples[-1]
    if last.percent < AT_LEAST_PERCENT or last.at - first.at < LATELY_SECONDS * 1.5:
        return None
    lately = next((one for one in reversed(samples) if last.at - one.at >= LATELY_SECONDS), None)
    if lately is None:
        return None
    whole = (last.percent - first.percent) / (last.at - first.at)
    late = (last.percent - lately.percent) / (last.at - lately.at)
    if whole <= 0 or late <= 0 or abs(late - whole) > 0.3 * whole:
        return None
    return (100 - last.percent) / whole


__all__ = ["Sample", "sampled", "seconds_left"]
