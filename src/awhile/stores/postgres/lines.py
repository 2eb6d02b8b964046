"""Whose task is next: fair between owners, read from indexes when it is asked.

The lines have no rows of their own, as they have in SQLite: every create, claim and ending would
write its owner's, and so wait for the commit of the one before, in whatever process that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from awhile.stores.contract import PASSED_OVER
from awhile.stores.postgres.changing import stored
from awhile.stores.postgres.values import Numbers, Texts, kept

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.stores.postgres.changing import Stored
    from awhile.stores.postgres.connections import Connections, Raw
    from awhile.stores.wanted import Wanted

    Row = Sequence[Any]

NEAR = 256
"""Tasks at the front of the queue that are looked at first. Mostly they show enough owners."""

FURTHER = (("heads", 500), ("heads_near", 20_000), ("heads", 1 << 40))
"""What is looked at if they do not: a few long lines, many short ones, whatever there is."""

AGAIN = 3
"""How often to look again when others were just taking what was next."""


def first_asked(wanted: Wanted) -> list[tuple[str, Mapping[str, Any]]]:
    """What `Lines` wants to have been read."""
    return [("held", {}), ("heads_near", {"tools": Texts(wanted.tools), "window": NEAR})]


class Lines:
    """The queue, as one transaction that claims sees it."""

    def __init__(
        self,
        connections: Connections,
        on: Raw,
        wanted: Wanted,
        held: Sequence[Row],
        near: Sequence[Row],
    ) -> None:
        self._connections = connections
        self._on = on
        self._wanted = wanted
        self._held: dict[str, int] = {kept(owner): count for owner, count in held}
        self._near = near
        self.unfit = False
        """Whether a task was met, and so locked, that is not for this caller."""

    async def take(self, limit: int, *, wary: bool) -> list[Stored]:
        """Lock up to ``limit`` tasks in line: the next ones that nobody else is just taking.

        Wary, it looks before: whoever locks what is not for them hides it from whom it is for.
        """
        if limit <= 0:
            return []
        owners = await self._next_owners(limit + PASSED_OVER if wary else limit)
        if not owners:
            return []
        per_owner = self._wanted.per_owner
        if per_owner is not None:
            # What they hold is counted anew once nobody else claims of these owners.
            space = self._connections.address.lock("owners")
            asked = {"owners": Texts(owners)}
            _, held = await self._connections.each(
                self._on, [("lock_owners", {**asked, "space": space}), ("held_of", asked)]
            )
            self._held = {kept(owner): count for owner, count in held}
        taken: list[Stored] = []
        seen = await self._not_for_us(owners, limit + PASSED_OVER) if wary else []
        for _ in range(AGAIN):
            line = await self._next(owners, limit - len(taken), seen, per_owner=per_owner)
            if not line:
                break
            seen += line
            rows = await self._connections.rows(self._on, "take", {"ordinals": Numbers(line)})
            found = {one.ordinal: one for one in map(stored, rows)}
            fit = {number for number, one in found.items() if self._wanted.fits(one.record)}
            self.unfit = self.unfit or len(fit) < len(found)
            taken += [found[ordinal] for ordinal in line if ordinal in fit]
            if len(found) == len(line) or per_owner is not None:
                break
        return taken

    async def _not_for_us(self, owners: Sequence[str], limit: int) -> list[int]:
        line = await self._next(owners, limit, [], per_owner=None)
        asked = {"ordinals": Numbers(line)}
        rows = await self._connections.rows(self._on, "in_line", asked)
        return [one.ordinal for one in map(stored, rows) if not self._wanted.fits(one.record)]

    async def _next_owners(self, limit: int) -> list[str]:
        """Who is next: of no more than ``limit`` owners a task can be among the first ``limit``."""
        name = "heads_near"
        heads, complete = self._heads(self._near, NEAR)
        for further, window in FURTHER:
            # Whoever is not among the oldest begins later than all of them: where enough of those
            # hold nothing, nobody else comes before them.
            idle = sum(held == 0 for held, _, _ in heads[:limit])
            if complete or (name == "heads_near" and idle == limit):
                break
            name = further
            asked = {"tools": Texts(self._wanted.tools), "window": window}
            rows = await self._connections.rows(self._on, name, asked)
            heads, complete = self._heads(rows, window)
        return [owner for _, _, owner in heads[:limit]]

    def _heads(self, rows: Sequence[Row], window: int) -> tuple[list[tuple[int, int, str]], bool]:
        """(tasks held, first task in line, owner) in order; and whether those are all there are."""
        per_owner = self._wanted.per_owner
        heads: list[tuple[int, int, str]] = []
        for name, ordinal, _ in rows:
            owner = kept(name)
            held = self._held.get(owner, 0)
            if ordinal is None or owner in self._wanted.without:
                continue
            if per_owner is None or held < per_owner:
                heads.append((held, ordinal, owner))
        return sorted(heads), sum(count for _, _, count in rows) < window

    async def _next(
        self, owners: Sequence[str], limit: int, besides: Sequence[int], *, per_owner: int | None
    ) -> list[int]:
        asked = {
            "owners": Texts(owners),
            "held": Numbers([self._held.get(owner, 0) for owner in owners]),
            "tools": Texts(self._wanted.tools),
            "per_owner": per_owner,
            "besides": Numbers(besides),
            "limit": limit,
        }
        rows = await self._connections.rows(self._on, "next_in_line", asked)
        return [ordinal for ordinal, _ in rows]


__all__ = ["Lines", "first_asked"]
