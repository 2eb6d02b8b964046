"""The places for queries, given fairly to who waits for one. Source: ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

__all__ = ["Places"]


@dataclass(eq=False)
class _Waiting:
    owner: str | None
    moved: Callable[[int], None]
    given: anyio.Event = field(default_factory=anyio.Event)
    before: int | None = None


class Places:
    """`count` places. Next is whoever's owner holds the fewest, of those who has waited longest: so
    one who asks for a hundred keeps nobody from a second place for longer than one query."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: Counter[str | None] = Counter()
        self._line: list[_Waiting] = []

    @asynccontextmanager
    async def one(
        self, owner: str | None, moved: Callable[[int | None], None]
    ) -> AsyncGenerator[None]:
        """Hold a place while the block runs. Before, `moved` is told how many come before this one,
        at first and whenever that changes; None: nobody, there is a place."""
        await self._take(owner, moved)
        try:
            yield
        finally:
            self._give_back(owner)

    async def _take(self, owner: str | None, moved: Callable[[int | None], None]) -> None:
        if self._held.total() < self._count:
            self._held[owner] += 1
            moved(None)
            return
        one = _Waiting(owner, moved)
        self._line.append(one)
        try:
            self._tell()
            await one.given.wait()
        except BaseException:
            if one in self._line:
                self._line.remove(one)
                self._tell()
            else:  # it was given just now
                self._give_back(owner)
            raise

    def _give_back(self, owner: str | None) -> None:
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        if self._line:
            next_one = self._in_order()[0]
            self._line.remove(next_one)
            self._held[next_one.owner] += 1
            next_one.given.set()
        self._tell()

    def _in_order(self) -> Sequence[_Waiting]:
        """Who waits, in the order in which they would be given places that others give back."""
        levels: Counter[str | None] = Counter()
        order: list[tuple[int, int, _Waiting]] = []
        for number, one in enumerate(self._line):
            order.append((self._held[one.owner] + levels[one.owner], number, one))
            levels[one.owner] += 1
        return [one for _, _, one in sorted(order, key=lambda each: each[:2])]

    def _tell(self) -> None:
        for before, one in enumerate(self._in_order()):
            if one.before != before:
                one.before = before
                one.moved(before)
