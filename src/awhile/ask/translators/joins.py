"""The foreign-key graph: which table looks up which, and where figures of several tables meet.

Source: ours. An edge goes from the table that holds a key to the table it points at, so walking
along edges never multiplies rows. Everything about fan-out follows from that.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awhile.ask.schema import ForeignKey, Schema

__all__ = ["Hop", "Joins", "TwoWays"]


class TwoWays(Exception):
    """Two tables are linked in more than one shortest way, so a join would be a guess."""

    def __init__(self, start: str, end: str) -> None:
        super().__init__(f"{start!r} and {end!r} are linked in more than one way")
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class Hop:
    """One step from the table that holds `key` to the table it points at."""

    table: str
    key: ForeignKey

    def other(self, at: str) -> str:
        """The table at its other end."""
        return self.key.table if at == self.table else self.table


class Joins:
    """Look-up paths between the tables of one schema; every answer is remembered."""

    def __init__(self, schema: Schema) -> None:
        known = {table.name for table in schema.tables}
        self._edges: dict[str, tuple[ForeignKey, ...]] = {
            table.name: tuple(
                key for key in table.foreign_keys if key.table in known and key.table != table.name
            )
            for table in schema.tables
        }
        self._near: dict[str, dict[str, int]] = {}
        self._reach: dict[str, dict[str, int]] = {}
        self._touching: dict[str, list[Hop]] = {name: [] for name in self._edges}
        """The keys that each table holds and those that point at it."""
        for hop in (Hop(name, key) for name, keys in self._edges.items() for key in keys):
            self._touching[hop.table].append(hop)
            self._touching[hop.key.table].append(hop)

    def keys(self, table: str) -> tuple[ForeignKey, ...]:
        """The keys `table` holds, except to itself."""
        return self._edges[table]

    def reach(self, table: str) -> dict[str, int]:
        """Every table that can be looked up from `table`, with the number of steps."""
        if table not in self._reach:
            self._reach[table] = self._walk(
                table, lambda at: [key.table for key in self._edges[at]]
            )
        return self._reach[table]

    def near(self, table: str) -> dict[str, int]:
        """Every table linked with `table` in whichever direction, with the number of steps."""
        if table not in self._near:
            self._near[table] = self._walk(
                table, lambda at: [hop.other(at) for hop in self._touching[at]]
            )
        return self._near[table]

    def path(self, start: str, end: str) -> tuple[Hop, ...]:
        """The hops from `start` to `end`. Raises `TwoWays` when two shortest paths exist."""
        found: list[tuple[Hop, ...]] = []
        steps = self.reach(start)[end]

        def extend(at: str, hops: tuple[Hop, ...]) -> None:
            if at == end:
                found.append(hops)
            elif len(hops) < steps and len(found) < 2:
                for key in self._edges[at]:
                    left = steps - len(hops) - 1
                    if self.reach(key.table).get(end, steps + 1) <= left:
                        extend(key.table, (*hops, Hop(at, key)))

        extend(start, ())
        if len(found) > 1:
            raise TwoWays(start, end)
        return found[0]

    def links(self, start: str, end: str, longest: int) -> list[tuple[Hop, ...]]:
        """The shortest ways from one table to another along keys in whichever direction, of so many
        hops at most. They may multiply rows."""
        ways: list[tuple[str, tuple[Hop, ...]]] = [(start, ())]
        for _ in range(longest):
            ways = [
                (hop.other(at), (*hops, hop))
                for at, hops in ways
                for hop in self._touching[at]
                if hop not in hops
            ]
            if found := [hops for at, hops in ways if at == end]:
                return found
        return []

    def base(self, tables: Iterable[str]) -> str | None:
        """The table nearest to all of `tables` from which each of them can be looked up.

        None when there is no such table. Raises `TwoWays` when two are equally near.
        """
        wanted = tuple(dict.fromkeys(tables))
        best: list[tuple[int, str]] = sorted(
            (sum(self.reach(name)[each] for each in wanted), name)
            for name in self._edges
            if all(each in self.reach(name) for each in wanted)
        )
        if not best:
            return None
        if len(best) > 1 and best[0][0] == best[1][0]:
            raise TwoWays(wanted[0], wanted[-1])
        return best[0][1]

    def _walk(self, start: str, next_of: Next) -> dict[str, int]:
        steps = {start: 0}
        queue = deque([start])
        while queue:
            at = queue.popleft()
            for each in next_of(at):
                if each not in steps:
                    steps[each] = steps[at] + 1
                    queue.append(each)
        return steps


if TYPE_CHECKING:
    from collections.abc import Callable

    Next = Callable[[str], list[str]]
