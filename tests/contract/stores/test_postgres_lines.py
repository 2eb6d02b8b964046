"""The queue of a PostgreSQL store, read in pieces: the same order, however little is looked at."""

from __future__ import annotations

import random

import anyio
import pytest

from awhile.stores.postgres import PostgresStore, lines
from awhile.testing.store_case import AT, task

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("near", [1, 3, 1000])
async def test_who_is_next_does_not_depend_on_how_far_was_looked(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, seed: int, near: int
) -> None:
    """Ours: the fewest held first, of those the oldest; each one taken counts at once."""
    monkeypatch.setattr(lines, "NEAR", near)
    further = (("heads", near), ("heads_near", 2 * near), ("heads", 1 << 40))
    monkeypatch.setattr(lines, "FURTHER", further)
    order = random.Random(seed)
    names = "abcdefg"[: 2 + seed]
    held = dict.fromkeys(names, 0)
    async with PostgresStore.from_url(postgres_url) as store:
        for _ in range(order.randrange(6)):
            owner = order.choice(names)
            held[owner] += 1
            await store.create(task(owner=owner, worker="w1"))
        waiting = [await store.create(task(owner=order.choice(names))) for _ in range(25)]
        for limit in (1, 2, 5, 1, 9, 30):
            expected: list[str] = []
            while waiting and len(expected) < limit:
                first = min(waiting, key=lambda one: (held[one.owner], waiting.index(one)))
                waiting.remove(first)
                held[first.owner] += 1
                expected.append(first.task_id)
            claimed = await store.claim(
                worker="w", tools=["report"], at_ms=AT, until_ms=AT + 9, limit=limit
            )
            assert [one.task_id for one in claimed] == expected


async def test_workers_woken_together_take_different_tasks_and_as_many_as_there_are(
    postgres_url: str,
) -> None:
    """Ours: what somebody else is just taking is passed over, not waited for."""
    async with (
        PostgresStore.from_url(f"{postgres_url}&pool=12") as store,
        PostgresStore.from_url(f"{postgres_url}&pool=12") as second,
    ):
        for number in range(40):
            await store.create(task(owner=f"o{number % 3}"))
        taken: list[str] = []

        async def claim(on: PostgresStore, per_owner: int | None) -> None:
            claimed = await on.claim(
                worker="w",
                tools=["report"],
                at_ms=AT,
                until_ms=AT + 9,
                limit=4,
                per_owner=per_owner,
            )
            taken.extend(one.task_id for one in claimed)

        async with anyio.create_task_group() as workers:
            for on in (store, second) * 4:
                workers.start_soon(claim, on, 2)
        assert len(taken) == len(set(taken)) == 6  # two of each owner, whoever took them
        for _ in range(9):
            async with anyio.create_task_group() as workers:
                for on in (store, second):
                    workers.start_soon(claim, on, None)
        assert len(taken) == len(set(taken)) == 40
