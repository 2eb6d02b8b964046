"""Whether a lease that ran out says that its worker is lost.

It does not where nobody could renew one: while the store was locked, full or could not be reached,
or while the whole machine slept. Then all leases run out together, and of those that come back
whoever is first must take nothing and end nothing before the others have renewed. (Measured: with a
file locked for one and a half leases, an idle replica ended the work of a healthy worker.)
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import anyio

from awhile.errors import StoreError
from awhile.tasks import Status, TaskRecord

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from awhile.stores.contract import TaskStore

OWNER = "awhile:lull"
"""The owner of the rows that are written to see whether any can be; no caller's reads like it."""

RETURN_SECONDS = 2.0
"""How long at least others are left, however short leases are: their next try comes up to a second
after a store was away, and may need a new connection first. (Measured: with PostgreSQL killed and
leases of a second, half a lease was too little about once in five runs. Seen once, too, where it
was away so shortly that nothing failed here, and was only slow.)"""


class Lull:
    """A time in which the store took nothing, or this process stood still.

    Args:
        store: where the leases are.
        lease_ms: how long they hold. Workers renew them three times as often, so they outlast a
            lull of half that.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(self, store: TaskStore, *, lease_ms: int, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._lease_ms = lease_ms
        self._now_ms = now_ms
        self._answered_ms = now_ms()
        self._failed = False

    def answered(self, asked_ms: int) -> None:
        """The store did what it was asked at ``asked_ms``; it may have taken its time."""
        self._answered_ms = asked_ms

    def failed(self) -> None:
        """The store did not do what it was asked."""
        self._failed = True

    @property
    def suspected(self) -> bool:
        """Whether leases may have run out because nobody could renew them."""
        return self._failed or self._now_ms() - self._answered_ms > self._lease_ms // 2

    async def sit_out(self, renew: Callable[[], Awaitable[bool]]) -> None:
        """If there may have been one: renew our own leases, make sure that it is over, and leave
        others half a lease, and at least `RETURN_SECONDS`, to renew theirs.

        Raises:
            StoreError: it is not over.
        """
        if not self.suspected:
            return
        if not await renew():
            raise StoreError("Nothing is claimed while leases cannot be renewed.")
        await self._store.create(self._row())  # really written: a full disk can still be read
        await anyio.sleep(max(self._lease_ms / 2000, RETURN_SECONDS))
        self._failed = False
        self._answered_ms = self._now_ms()

    def _row(self) -> TaskRecord:
        """One that has expired already, so that it is swept."""
        now = self._now_ms()
        return TaskRecord(
            task_id=f"lull-{secrets.token_hex(16)}",
            owner=OWNER,
            tool=OWNER,
            arguments={},
            status=Status.COMPLETED,
            created_at_ms=now,
            last_updated_at_ms=now,
            ended_at_ms=now,
            keep_ms=0,
            result={},
        )


__all__ = ["Lull"]
