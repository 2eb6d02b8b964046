"""Which changes a reader has not seen yet, exactly, whatever order transactions commit in.

A number taken from a sequence inside a transaction says nothing about when that transaction will
commit: a reader that goes on from the highest number it saw misses a lower one that commits later.
So a change's ``rev`` holds its transaction: ``(xid << 12) + rev_base + n``, ``n`` counting the
changes in it. PostgreSQL says of every snapshot which transactions it sees: all below ``xmax``
except those listed as running. What the next snapshot sees and this one did not is therefore what
transactions from ``xmax`` on, or one of those listed, have written: a few ranges of the index of
revs, complete without waiting for anybody (source: ours; the decision record 0017 has the proof).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SHIFT = 12
"""Bits of a rev that count the changes of one transaction."""

CHANGES_LIMIT = 1 << SHIFT
"""Changes one transaction may make at most."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one reader saw, as ``pg_current_snapshot()`` says it."""

    xmax: int
    """No transaction from here on is seen."""
    running: tuple[int, ...]
    """Transactions below that are not seen either."""
    rev_base: int
    """What this database adds to every rev; other than 0 only where it was restored elsewhere."""

    @classmethod
    def parse(cls, text: str, rev_base: int) -> Snapshot:
        """Of ``xmin:xmax:xid,xid``."""
        _, xmax, running = text.split(":")
        return cls(
            xmax=int(xmax),
            running=tuple(int(xid) for xid in running.split(",") if xid),
            rev_base=rev_base,
        )

    def first_rev(self, xid: int) -> int:
        """The lowest rev of that transaction."""
        return (xid << SHIFT) + self.rev_base

    @property
    def from_rev(self) -> int:
        """Whatever has this rev or a higher one was not seen."""
        return self.first_rev(self.xmax)

    @property
    def unseen(self) -> list[int]:
        """The first revs of the transactions below that that were not seen either."""
        return [self.first_rev(xid) for xid in self.running]

    def settled_rev(self, unsettled: Collection[int]) -> int | None:
        """The highest rev below which nothing can appear any more; None: all that was seen."""
        return self.first_rev(min(unsettled)) - 1 if unsettled else None


__all__ = ["CHANGES_LIMIT", "SHIFT", "Snapshot"]
