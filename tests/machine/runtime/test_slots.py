"""The places of one process: one owner never has the last, and nobody who waits is forgotten."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awhile.errors import QueueFull, SettingsError
from awhile.runtime.slots import Slots
from awhile.stores.bounds import Bounds

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("count", "share"), [(1, 1), (2, 2), (3, 3), (4, 3), (8, 6), (32, 24)])
def test_one_owner_gets_three_quarters_of_the_places(count: int, share: int) -> None:
    slots = Slots(count)
    taken = 0
    while slots.take("ada"):
        taken += 1
    assert taken == share
    assert slots.free("eve") is (count > share)


@given(
    count=st.integers(1, 9),
    steps=st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=60),
)
@settings(max_examples=200, deadline=None)
def test_the_places_are_never_more_than_there_are_and_room_is_never_promised_in_vain(
    count: int, steps: list[tuple[bool, str]]
) -> None:
    slots = Slots(count)
    held: list[str] = []
    for takes, owner in steps:
        if takes and slots.take(owner):
            held.append(owner)
        elif not takes and owner in held:
            held.remove(owner)
            slots.release(owner)
        assert len(held) <= count
        assert max((held.count(one) for one in held), default=0) <= slots.share
        sated = set(slots.sated)
        for one in "abc":
            assert (one in sated) is (held.count(one) >= slots.share)
            if one not in sated:  # whoever a claim gives it all to
                assert held.count(one) + slots.room <= slots.share
        assert slots.room <= count - len(held)


async def test_who_waits_gets_a_place_in_the_order_of_coming() -> None:
    slots = Slots(1)
    got: list[int] = []

    async def wait(number: int) -> None:
        await slots.acquire("ada")
        got.append(number)
        slots.release("ada")

    assert slots.take("ada")
    async with anyio.create_task_group() as waiting:
        for number in range(5):
            waiting.start_soon(wait, number)
        await anyio.wait_all_tasks_blocked()
        slots.release("ada")
    assert got == list(range(5))
    assert slots.free("ada")


async def test_who_has_their_share_lets_others_pass() -> None:
    slots = Slots(4)
    for _ in range(3):
        assert slots.take("ada")
    got: list[str] = []

    async def wait(owner: str) -> None:
        await slots.acquire(owner)
        got.append(owner)

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait, "ada")
        await anyio.wait_all_tasks_blocked()
        waiting.start_soon(wait, "eve")
        await anyio.wait_all_tasks_blocked()
        assert got == ["eve"]
        slots.release("ada")
    assert got == ["eve", "ada"]


async def test_a_waiter_that_is_cancelled_leaves_no_place_lost() -> None:
    slots = Slots(1)

    async def hold() -> None:
        await slots.acquire("ada")
        try:
            await anyio.sleep_forever()
        finally:
            slots.release("ada")

    for is_given in (True, False):  # a place just before it is cancelled
        assert slots.take("ada")
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(hold)
            await anyio.wait_all_tasks_blocked()
            if is_given:
                slots.release("ada")
            waiting.cancel_scope.cancel()
        if not is_given:
            slots.release("ada")
        assert slots.free("ada")


async def test_no_more_wait_for_a_place_than_may_wait_in_the_queue() -> None:
    slots = Slots(1, Bounds(queued=2, queued_per_owner=1))
    assert slots.take("ada")
    async with anyio.create_task_group() as waiting:
        waiting.start_soon(slots.acquire, "ada")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(QueueFull, match="of yours"):
            await slots.acquire("ada")
        waiting.start_soon(slots.acquire, "eve")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(QueueFull, match="wait to start here"):
            await slots.acquire("bob")
        waiting.cancel_scope.cancel()


def test_no_place_at_all_is_refused() -> None:
    with pytest.raises(SettingsError, match="no task would ever run"):
        Slots(0)
