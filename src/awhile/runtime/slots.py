"""The places for bodies in one process, of which one owner cannot take the last."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import anyio

from awhile.errors import SettingsError
from awhile.stores.bounds import NO_BOUNDS, queue_full

if TYPE_CHECKING:
    from collections.abc import Collection

    from awhile.stores.bounds import Bounds

SHARE = 3 / 4
"""How much of the places one owner gets, so that a newcomer's work starts at once however much
another has submitted (field case A22). Source: ours."""


class Slots:
    """So many places; a body holds one from before it starts until it has really ended.

    Belongs to the event loop. Whoever waits gets a place in the order of coming, except that an
    owner with their share of places waits for one of their own.
    """

    def __init__(self, count: int, bounds: Bounds = NO_BOUNDS) -> None:
        if count < 1:
            raise SettingsError(f"slots is {count!r}: no task would ever run; use at least 1.")
        self.count = count
        self.share = math.ceil(count * SHARE)
        self._bounds = bounds
        self._held: Counter[str] = Counter()
        self._waiting: list[tuple[str, anyio.Event]] = []

    def free(self, owner: str) -> bool:
        """Whether a body of this owner could start right now."""
        return self._held.total() < self.count and self._held[owner] < self.share

    @property
    def room(self) -> int:
        """How many places can be given away at once, whoever they are given to."""
        left = self.count - self._held.total()
        most = max((held for held in self._held.values() if held < self.share), default=0)
        return min(left, self.share - most)

    @property
    def sated(self) -> Collection[str]:
        """The owners who have their share."""
        return [owner for owner, held in self._held.items() if held >= self.share]

    def take(self, owner: str) -> bool:
        """Take a place if there is one for this owner."""
        if not self.free(owner):
            return False
        self._held[owner] += 1
        return True

    async def acquire(self, owner: str) -> None:
        """Wait for a place.

        Raises:
            QueueFull: as many wait here already as may wait in the queue.
        """
        if self.take(owner):
            return
        self._check_room(owner)
        place = (owner, anyio.Event())
        self._waiting.append(place)
        try:
            await place[1].wait()
        except BaseException:
            if place in self._waiting:
                self._waiting.remove(place)
            else:  # it was given just now
                self.release(owner)
            raise

    def release(self, owner: str) -> None:
        """Give a place back."""
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        for place in self._waiting:
            if self.take(place[0]):
                self._waiting.remove(place)
                place[1].set()
                return

    def _check_room(self, owner: str) -> None:
        own = sum(1 for one, _ in self._waiting if one == owner)
        for waiting, bound, is_own in (
            (own, self._bounds.queued_per_owner, True),
            (len(self._waiting), self._bounds.queued, False),
        ):
            if bound is not None and waiting >= bound:
                raise queue_full(waiting=waiting, own=is_own, oldest_waits_ms=0)


__all__ = ["SHARE", "Slots"]
