"""Which changes a reader has not seen yet, exactly, whatever order transactions commit in.

A number taken from a sequence inside a transaction says nothing about when that transaction will
commit: a reader that goes on from the highest number it saw misses a lower one that commits later.
So a change's ``rev`` holds its transaction: ``(xid << 12) + rev_base + n``, ``n`` counting the
changes in it. PostgreSQL says of every snapshot which transactions it does not see although they
have a number: those listed as running. What the next snapshot sees and this one did not is
therefore what has a rev above the highest that was seen, and what transactions listed as running
have written: a few ranges of the index of revs, complete without waiting for anybody (source: ours;
the decision record 0017 has the proof).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
    """Transactions below that which are not seen either."""
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

    def settled_rev(self, unsettled: Collection[int]) -> int | None:
        """The highest rev below which nothing can appear any more; None: all that was seen."""
        return self.first_rev(min(unsettled)) - 1 if unsettled else None


@dataclass(frozen=True, slots=True)
class Seen:
    """All changes that one reader has seen."""

    snapshot: Snapshot
    last_rev: int
    """The highest among them. Not all below ``xmax`` counts as seen: a server that crashed, or the
    standby that took over from it, gives numbers of transactions that wrote nothing out again (that
    of a ring, which no disk waits for)."""

    @property
    def from_rev(self) -> int:
        """Whatever has this rev or a higher one was not seen."""
        return self.last_rev + 1

    @property
    def unseen(self) -> list[int]:
        """The first revs of the transactions below that which were not seen either."""
        first_revs = map(self.snapshot.first_rev, self.snapshot.running)
        return [one for one in first_revs if one < self.from_rev]

    def then(self, snapshot: Snapshot, revs: Iterable[int]) -> Seen:
        """With what a later snapshot showed beside."""
        return Seen(snapshot, max([self.last_rev, *revs]))


NOTHING = Seen(Snapshot(0, (), 0), 0)
"""What has been seen before anything was."""

__all__ = ["CHANGES_LIMIT", "NOTHING", "SHIFT", "Seen", "Snapshot"]
