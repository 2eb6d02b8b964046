"""Places for queries: fair, and everybody who waits knows how many come before."""

from __future__ import annotations

import anyio
import pytest

from awhile.ask.engines.workers.places import Places

pytestmark = pytest.mark.anyio


class Asker:
    """One who wants a place, and keeps it until told otherwise."""

    def __init__(self, places: Places, owner: str) -> None:
        self.owner = owner
        self.told: list[int | None] = []
        self.has = anyio.Event()
        self.done = anyio.Event()
        self.scope = anyio.CancelScope()
        self._places = places

    async def ask(self) -> None:
        with self.scope:
            async with self._places.one(self.owner, self.told.append):
                self.has.set()
                await self.done.wait()


async def test_A22_who_asks_for_much_keeps_nobody_else_from_the_next_place() -> None:
    """Field case A22, in the line for a database; each hears when its place has changed."""
    places = Places(2)
    many = [Asker(places, "ada") for _ in range(5)]
    late = Asker(places, "eve")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for one in (*many, late):
                group.start_soon(one.ask)
            for one in many[:2]:
                await one.has.wait()
            await anyio.wait_all_tasks_blocked()
            assert [one.told for one in many] == [[None], [None], [0, 1], [1, 2], [2, 3]]
            assert late.told == [0]
            many[0].done.set()
            await late.has.wait()
            assert not many[2].has.is_set()
            assert many[4].told == [2, 3, 2]
            many[3].scope.cancel()
            await anyio.wait_all_tasks_blocked()
            assert many[4].told == [2, 3, 2, 1]
            for one in (late, *many):
                one.done.set()
            for one in (many[2], many[4]):
                await one.has.wait()


async def test_a_place_that_was_given_to_one_who_just_left_goes_to_the_next() -> None:
    """Ours."""
    places = Places(1)
    first, leaves, waits = (Asker(places, name) for name in ("ada", "eve", "bob"))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for one in (first, leaves, waits):
                group.start_soon(one.ask)
                await anyio.wait_all_tasks_blocked()
            first.done.set()
            leaves.scope.cancel()
            await waits.has.wait()
            waits.done.set()
    assert not leaves.has.is_set()
