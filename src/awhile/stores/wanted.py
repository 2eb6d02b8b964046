"""What one call of `Store.claim` would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from awhile.tasks.state import may_claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from awhile.tasks import TaskRecord


@dataclass(frozen=True, slots=True)
class Wanted:
    """See `Store.claim`."""

    tools: frozenset[str]
    at_ms: int
    limit: int
    per_owner: int | None
    without: frozenset[str]
    fit: Callable[[TaskRecord], bool] | None

    def fits(self, record: TaskRecord) -> bool:
        """Whether it is for this caller, if it may be claimed at all."""
        return self.fit is None or self.fit(record)

    def may_have(self, record: TaskRecord) -> bool:
        """Whether it may be claimed, and is for this caller."""
        return may_claim(record, self.at_ms) and self.fits(record)


__all__ = ["Wanted"]
