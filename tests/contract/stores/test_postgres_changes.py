"""Changes in a PostgreSQL store: none is missed, whatever order transactions commit in."""

from __future__ import annotations

import asyncio

import anyio
import psycopg
import pytest

from awhile.stores.open import open_store
from awhile.stores.postgres import PostgresStore
from awhile.stores.postgres.address import Address
from awhile.stores.postgres.changing import create_values
from awhile.stores.postgres.connections import Connections
from awhile.stores.postgres.listener import Listener
from awhile.stores.postgres.snapshots import Seen, Snapshot
from awhile.stores.rows import created_fields, to_row
from awhile.tasks import TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, PATIENCE_SECONDS, task, wait_for

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]


async def insert(url: str, on: psycopg.AsyncConnection[tuple[object, ...]], one: TaskRecord) -> int:
    """What the store's writer does in its transaction, without a commit or a ring; the rev."""
    row = {**to_row(one), "fields": created_fields(one), "n": 1}
    connections = Connections(Address.parse(url))
    [(_, rev)] = await connections.rows(on, "create", create_values([row]))
    return rev


async def test_a_change_that_commits_after_a_later_one_is_reported_and_found(
    postgres_url: str,
) -> None:
    """Ours: who goes on from the highest number it saw would miss it for ever."""
    connections = Connections(Address.parse(postgres_url))
    async with (
        PostgresStore.from_url(postgres_url) as store,
        store.watch() as watch,
        await connections.connect() as slow,
    ):
        early = task()
        async with slow.transaction():
            early_rev = await insert(postgres_url, slow, early)
            later = await store.create(task())
            assert early_rev < later.rev
            assert await wait_for(watch, [later.task_id]) == {later.task_id}
            seen = await store.find(owner="ada")
            assert [one.task_id for one in seen] == [later.task_id]
            told = max(one.rev for one in seen)
        assert await wait_for(watch, [early.task_id]) == {early.task_id}
        since = await store.find(owner="ada", after_rev=told)
        assert early.task_id in [one.task_id for one in since]
        settled = max(one.rev for one in await store.find(owner="ada"))
        assert settled == later.rev
        assert await store.find(owner="ada", after_rev=settled) == []


async def test_a_change_nobody_rang_for_is_found_by_looking(postgres_url: str) -> None:
    """Ours: its writer was killed after the commit and before the ring."""
    connections = Connections(Address.parse(postgres_url))
    async with PostgresStore.from_url(postgres_url) as store, store.watch() as watch:
        async with await connections.connect() as dying:
            one = task()
            await insert(postgres_url, dying, one)
        assert await wait_for(watch, [one.task_id]) == {one.task_id}


async def test_somebody_elses_long_transaction_delays_nothing(postgres_url: str) -> None:
    """Ours: a load into another table, or another database, may run for hours."""
    connections = Connections(Address.parse(postgres_url))
    async with (
        PostgresStore.from_url(postgres_url) as store,
        PostgresStore.from_url(postgres_url) as second,
        await connections.connect() as foreign,
        foreign.transaction(),
    ):
        await foreign.execute("SELECT pg_current_xact_id()")
        async with store.watch() as watch:
            made = [await second.create(task()) for _ in range(3)]
            ids = {one.task_id for one in made}
            assert await wait_for(watch, ids) == ids
            assert list(await store.find(owner="ada")) == made[::-1]
            assert await store.find(owner="ada", after_rev=made[-1].rev) == []


async def test_a_slow_reader_of_everything_reads_on_from_the_store(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awhile.stores.changes.PENDING_LIMIT", 10)
    async with PostgresStore.from_url(postgres_url) as store, store.watch() as watch:
        made = {(await store.create(task())).task_id for _ in range(35)}
        assert await wait_for(watch, made) == made
        one = await store.create(task())
        assert await wait_for(watch, [one.task_id]) >= {one.task_id}


async def test_what_is_read_after_a_subscription_began_is_not_missed(postgres_url: str) -> None:
    """Ours: many subscribe while others write; each is told of what it could not have read."""
    async with (
        PostgresStore.from_url(postgres_url) as store,
        PostgresStore.from_url(postgres_url) as second,
    ):
        tasks = [await store.create(task(worker="w1")) for _ in range(20)]

        async def follow(one: TaskRecord) -> None:
            async with store.watch([one.task_id]) as watch:
                while True:
                    now = await store.get(one.task_id)
                    assert now is not None
                    if now.status.ended:
                        return
                    await watch.wait()

        async def end(one: TaskRecord) -> None:
            await second.append(one.task_id, ev.Completed(generation=1, result={}), AT)

        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as both:
                for one in tasks:
                    both.start_soon(follow, one)
                    both.start_soon(end, one)


async def test_a_listener_that_is_told_to_end_as_it_is_woken_ends(postgres_url: str) -> None:
    """Ours: while others wrote, every fifteenth close never ended on Python 3.11, whose
    ``asyncio.wait_for`` drops a cancellation that comes between the waking and the going on."""
    async with PostgresStore.from_url(postgres_url):
        pass  # there is a schema now
    loop = asyncio.get_running_loop()
    connections = Connections(Address.parse(postgres_url))
    await connections.open()
    for turns in range(6):
        listener = Listener(connections)
        await listener.subscribe(None)
        [looking] = [one for one in asyncio.all_tasks() if one.get_name() == "awhile-look"]
        waking = loop.create_task(listener.subscribe(None))
        for _ in range(turns):
            await asyncio.sleep(0)
        looking.cancel()
        await asyncio.wait([looking], timeout=PATIENCE_SECONDS)
        assert looking.done()
        waking.cancel()
        await asyncio.wait([waking])
        await listener.close()
    await connections.close()


async def test_a_store_told_not_to_listen_finds_changes_by_looking(postgres_url: str) -> None:
    async with (
        PostgresStore.from_url(f"{postgres_url}&listen=off&application_name=deaf") as store,
        open_store(postgres_url) as second,
        store.watch() as watch,
    ):
        for _ in range(5):
            one = await second.create(task())
            assert await wait_for(watch, [one.task_id]) == {one.task_id}
        async with await Connections(Address.parse(postgres_url)).connect() as on:
            asked = await on.execute(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE application_name = 'deaf' AND query LIKE 'LISTEN%'"
            )
            assert await asked.fetchone() == (0,)


def test_a_snapshot_knows_what_it_did_not_see() -> None:
    one = Snapshot.parse("700:705:700,703", 0)
    seen = Seen(one, (701 << 12) + 5)
    assert seen.from_rev == (701 << 12) + 6
    assert seen.unseen == [700 << 12]  # what 703 wrote lies above
    later = Snapshot.parse("703:706:703", 0)
    assert seen.then(later, []) == Seen(later, seen.last_rev)
    assert seen.then(later, [700 << 12, 705 << 12]) == Seen(later, 705 << 12)
    assert one.settled_rev([703, 700]) == (700 << 12) - 1
    assert one.settled_rev([]) is None
    assert Snapshot.parse("700:700:", 10).first_rev(700) == (700 << 12) + 10


async def test_a_database_restored_elsewhere_counts_on_from_its_own_revs(
    postgres_url: str,
) -> None:
    """Ours: transactions are counted anew there, and a change may not seem older than the last."""
    async with PostgresStore.from_url(postgres_url) as store:
        old = await store.create(task())
    connections = Connections(Address.parse(postgres_url))
    async with await connections.connect() as on:
        schema = Address.parse(postgres_url).schema
        await on.execute(f"UPDATE {schema}.task SET rev = rev + (1000000::bigint << 12)".encode())
    async with PostgresStore.from_url(postgres_url) as store, store.watch() as watch:
        restored = await store.get(old.task_id)
        assert restored is not None
        after = await store.append(old.task_id, ev.CancelAsked(), AT)
        assert after.rev > restored.rev > old.rev
        assert await wait_for(watch, [old.task_id]) == {old.task_id}
        new = await store.create(task())
        assert new.rev > after.rev
        assert await wait_for(watch, [new.task_id]) == {new.task_id}


async def test_a_standby_that_was_behind_and_took_over_hides_no_change(postgres_url: str) -> None:
    """Ours: it gives transactions numbers that a reader of the old server has seen already."""
    async with (
        PostgresStore.from_url(postgres_url) as store,
        PostgresStore.from_url(postgres_url) as second,
        store.watch() as watch,
    ):
        connections = Connections(Address.parse(postgres_url))
        one = task()
        async with await connections.connect() as on:
            seen = Seen(Snapshot(1 << 40, (), 0), 1 << 52)
            store._opened.listener._seen = seen  # pyright: ignore[reportPrivateUsage]
            await insert(postgres_url, on, one)
        assert await wait_for(watch, [one.task_id]) == {one.task_id}
        later = await second.create(task())
        assert await wait_for(watch, [later.task_id]) == {later.task_id}
