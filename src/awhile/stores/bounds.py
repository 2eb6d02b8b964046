"""How much may be there at once, and what to say to somebody for whom there is no place."""

from __future__ import annotations

import math
from dataclasses import dataclass

from awhile.errors import QueueFull

RETRY_SOONEST_SECONDS, RETRY_LATEST_SECONDS = 1, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may be there at once, over every process on the store; None: no bound.

    Attributes:
        queued: tasks that wait to be claimed.
        queued_per_owner: those of one owner.
        running_per_owner: tasks of one owner that somebody holds.
    """

    queued: int | None = None
    queued_per_owner: int | None = None
    running_per_owner: int | None = None


NO_BOUNDS = Bounds()


def queue_full(*, waiting: int, own: bool, oldest_waits_ms: int) -> QueueFull:
    """The refusal, with a hint when to come back.

    A queue of ``waiting`` tasks whose oldest has waited for so long moves by one place in about
    ``oldest_waits_ms / waiting`` (Little's law).
    """
    seconds = math.ceil(oldest_waits_ms / 1000 / max(1, waiting))
    hint = max(RETRY_SOONEST_SECONDS, min(RETRY_LATEST_SECONDS, seconds))
    return QueueFull(waiting=waiting, own=own, retry_after_seconds=hint)


__all__ = ["NO_BOUNDS", "Bounds", "queue_full"]
