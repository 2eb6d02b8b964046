"""A PostgreSQL store whose connections, or whose server, break: nothing is lost, nor done twice."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import AsyncExitStack
from functools import partial

import anyio
import anyio.lowlevel
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from awhile.errors import StoreError
from awhile.stores.open import open_store
from awhile.stores.postgres import PostgresStore, connections
from awhile.tasks import Status, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, PATIENCE_SECONDS, kinds, task, wait_for
from checks.postgres import Bouncer, Cluster
from tests.contract.stores.proxy import Proxy

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait, bounded, until it is."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while not await true():  # noqa: ASYNC110 - what it waits for is in another process
            await anyio.sleep(0.02)


def end_sessions(dsn: str, name: str) -> int:
    """Have the server end every session of an application; returns how many."""
    with psycopg.connect(dsn, autocommit=True) as on:
        ended = on.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            [name],
        )
        return len(ended.fetchall())


def listening(dsn: str, name: str) -> bool:
    """Whether a session of that application waits for rings."""
    with psycopg.connect(dsn) as on:
        found = on.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE application_name = %s AND query LIKE 'LISTEN%%'",
            [name],
        )
        return found.fetchone() != (0,)


async def test_ended_sessions_are_replaced_and_what_was_missed_is_read(postgres_url: str) -> None:
    """Ours: reads, writes and watches go on; the listening session comes back as well."""
    dsn = postgres_url.partition("?")[0]

    async def listens() -> bool:
        return listening(dsn, "cut")

    async with (
        PostgresStore.from_url(f"{postgres_url}&application_name=cut") as store,
        open_store(postgres_url) as second,
        store.watch() as watch,
    ):
        await until(listens)
        for _ in range(3):
            ended = end_sessions(dsn, "cut")
            assert ended >= 2
            meanwhile = await second.create(task())
            mine = await store.create(task())
            assert await store.get(meanwhile.task_id) == meanwhile
            both = {meanwhile.task_id, mine.task_id}
            assert await wait_for(watch, both) == both
            await until(listens)
        one = await second.create(task())
        assert await wait_for(watch, [one.task_id]) == {one.task_id}


async def test_a_watch_reports_what_took_the_transaction_numbers_that_a_crash_lost(
    own_cluster: Cluster,
) -> None:
    """Ours: no disk waits for a ring, so that a server that was killed gives its number out again,
    here to another process while the watching one is cut off."""
    own_cluster.run_sql("ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()")
    schema = "crashes"
    async with AsyncExitStack() as stack:
        way = await stack.enter_async_context(AsyncExitStack())
        proxy = await way.enter_async_context(Proxy(own_cluster.port))
        store = PostgresStore.from_url(own_cluster.url(schema, port=proxy.port))
        await stack.enter_async_context(store)
        watch = await stack.enter_async_context(store.watch())
        known = await store.create(task())
        await wait_for(watch, [known.task_id])
        on = await psycopg.AsyncConnection.connect(own_cluster.dsn(), autocommit=True)
        async with on:
            for _ in range(60):
                await on.execute("SELECT pg_notify(%s, 'look')", [f"{schema}_changed"])
        await way.aclose()
        await anyio.to_thread.run_sync(own_cluster.kill)
        await anyio.to_thread.run_sync(own_cluster.start)
        async with PostgresStore.from_url(own_cluster.url(schema)) as second:
            meanwhile = {(await second.create(task())).task_id for _ in range(60)}
        await stack.enter_async_context(Proxy(own_cluster.port, at=proxy.port))
        assert meanwhile <= await wait_for(watch, meanwhile)


async def test_when_a_standby_takes_over_what_was_confirmed_is_there_and_watches_go_on(
    own_cluster: Cluster,
) -> None:
    """Ours: the server is killed for good, and its synchronous standby promoted. Calls in between
    wait; a watch reports what was done after, and what another process did."""
    with Cluster(standby_of=own_cluster) as standby:
        hosts = f"127.0.0.1:{own_cluster.port},127.0.0.1:{standby.port}"
        url = own_cluster.url(target_session_attrs="read-write")
        url = url.replace(f"127.0.0.1:{own_cluster.port}", hosts)
        confirmed: set[str] = set()
        before: set[str] = set()
        failed_over = anyio.Event()

        async def create(on: PostgresStore) -> None:
            last = False
            while not last:
                last = failed_over.is_set()
                confirmed.add((await on.create(task())).task_id)

        async with (
            PostgresStore.from_url(url) as store,
            PostgresStore.from_url(url) as second,
            store.watch() as watch,
        ):
            with anyio.fail_after(3 * PATIENCE_SECONDS):
                running = (await store.create(task(worker="w"))).task_id
                async with anyio.create_task_group() as callers:
                    for each in (store, store, second):
                        callers.start_soon(create, each)
                    before |= await wait_for(watch, [running])
                    await anyio.to_thread.run_sync(own_cluster.kill)
                    await anyio.to_thread.run_sync(standby.promote)
                    failed_over.set()
                done = await second.append(running, ev.Completed(generation=1, result={}), AT)
                await wait_for(watch, {running, *(confirmed - before)})
                assert await store.get(running) == done
                assert len(await store.find(owner="ada", limit=10_000)) == len(confirmed) + 1


async def test_a_killed_server_that_comes_back_has_lost_nothing_confirmed(
    own_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: kill -9 of PostgreSQL under 8 callers, who wait for it; each task is there once. The
    log says once that it is away, and once that it is back."""
    caplog.set_level(logging.INFO, "awhile.stores.postgres")
    url = own_cluster.url()
    confirmed: set[str] = set()
    over = anyio.Event()

    async def create(on: PostgresStore) -> None:
        while not over.is_set():
            confirmed.add((await on.create(task())).task_id)

    async def enough(more: int) -> None:
        goal = len(confirmed) + more

        async def reached() -> bool:
            return len(confirmed) >= goal

        await until(reached)

    async with PostgresStore.from_url(url) as store, store.watch() as watch:
        reported: set[str] = set()

        async def follow() -> None:
            while not over.is_set() or confirmed - reported:
                reported.update(await watch.wait(1))

        with anyio.fail_after(3 * PATIENCE_SECONDS):
            async with anyio.create_task_group() as callers:
                callers.start_soon(follow)
                for _ in range(8):
                    callers.start_soon(create, store)
                await enough(50)
                await anyio.to_thread.run_sync(own_cluster.kill)
                await anyio.to_thread.run_sync(own_cluster.start)
                await enough(50)
                over.set()
        kept = {one.task_id for one in await store.find(owner="ada", limit=100_000)}
        assert kept == confirmed == reported
        for task_id in confirmed:
            assert kinds(await store.history(task_id)) == ["Created"]
    told = [one.message for one in caplog.records if one.name == "awhile.stores.postgres"]
    assert len([one for one in told if "cannot be reached" in one and "Trying on" in one]) == 1
    assert len([one for one in told if "answers again" in one]) == 1


async def test_a_server_that_stays_away_is_named_and_nothing_hangs(
    own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: readers, writers and subscribers get a StoreError once the patience is over."""
    for module in ("connections", "writer"):
        monkeypatch.setattr(f"awhile.stores.postgres.{module}.GIVE_UP_SECONDS", 0.3)

    async def listens() -> bool:
        return listening(own_cluster.dsn(), "away")

    url = own_cluster.url(application_name="away")
    async with PostgresStore.from_url(url) as store:
        one = await store.create(task())
        await until(listens)
        await anyio.to_thread.run_sync(own_cluster.shut_down)
        began = time.monotonic()
        for use in (store.get(one.task_id), store.create(task()), store.find(owner="ada")):
            with pytest.raises(StoreError, match=r"cannot be reached|starting or stopping"):
                await use
        with pytest.raises(StoreError):
            async with store.watch():
                pass
        assert time.monotonic() - began < PATIENCE_SECONDS
        await anyio.to_thread.run_sync(own_cluster.start)
        assert await store.get(one.task_id) == one
        await until(listens)


# --- replies that are lost ----------------------------------------------------------------------


@pytest.fixture
def dsn_behind(postgres_url: str) -> Callable[[Proxy], str]:
    """The same store by way of a proxy."""
    port = conninfo_to_dict(postgres_url.partition("?")[0])["port"]
    return lambda proxy: postgres_url.replace(f":{port}/", f":{proxy.port}/") + "&listen=off"


@pytest.fixture
def port(postgres_url: str) -> int:
    """Where the server is."""
    given = conninfo_to_dict(postgres_url.partition("?")[0])
    return int(given["port"] or 5432)


CREATING, CHANGING, COMMITTING = b"ON CONFLICT DO NOTHING", b"AND task.xmin =", b"COMMIT"
"""What is in the statements whose replies get lost."""


async def lose_the_reply(
    proxy: Proxy,
    statement: bytes,
    act: Callable[[], Awaitable[object]],
    *,
    before: Callable[[], Awaitable[object]] = anyio.lowlevel.checkpoint,
) -> None:
    """Run ``act`` so that the server does what it asks, and the answer to it is lost; and
    ``before`` that is noticed."""
    proxy.lose_reply_to = statement

    async def cut() -> None:
        await proxy.lost_a_reply.wait()
        await before()
        proxy.lose_reply_to = None
        proxy.cut()

    with anyio.fail_after(2 * PATIENCE_SECONDS):
        async with anyio.create_task_group() as both:
            both.start_soon(cut)
            await act()


async def test_a_create_whose_reply_was_lost_is_kept_once(
    port: int, dsn_behind: Callable[[Proxy], str]
) -> None:
    async with Proxy(port) as proxy, PostgresStore.from_url(dsn_behind(proxy)) as store:
        one = task()

        async def create() -> None:
            assert (await store.create(one)).task_id == one.task_id

        await lose_the_reply(proxy, CREATING, create)
        assert kinds(await store.history(one.task_id)) == ["Created"]
        with pytest.raises(StoreError, match="has a task"):
            await store.create(one)


async def test_an_event_whose_reply_was_lost_happens_once_and_is_confirmed(
    port: int, dsn_behind: Callable[[Proxy], str]
) -> None:
    """Ours: it is not refused as having come too late, although the task has ended by it."""
    async with Proxy(port) as proxy, PostgresStore.from_url(dsn_behind(proxy)) as store:
        one = await store.create(task(worker="w1"))

        async def complete() -> None:
            done = ev.Completed(generation=1, result={"rows": 3})
            after = await store.append(one.task_id, done, AT + 1)
            assert (after.status, after.result) == (Status.COMPLETED, {"rows": 3})

        await lose_the_reply(proxy, CHANGING, complete)
        assert kinds(await store.history(one.task_id)) == ["Created", "Completed"]


async def test_an_event_whose_reply_was_lost_hides_nothing_that_came_after_it(
    port: int, dsn_behind: Callable[[Proxy], str], postgres_url: str
) -> None:
    """Ours: whoever has a record with a rev has seen all that was written up to it. Here a stop
    was asked, by another process, before the worker heard that what it said was written."""
    async with (
        Proxy(port) as proxy,
        PostgresStore.from_url(dsn_behind(proxy)) as store,
        open_store(postgres_url) as second,
    ):
        one = await store.create(task(worker="w1"))
        said: list[TaskRecord] = []

        async def report(*messages: str) -> None:
            async with anyio.create_task_group() as together:
                for each in messages:
                    together.start_soon(say, each)

        async def say(message: str) -> None:
            told = ev.Reported(generation=1, message=message)
            said.append(await store.append(one.task_id, told, AT + 1))

        async def ask_to_stop() -> None:
            await second.append(one.task_id, ev.CancelAsked(), AT + 2)

        await lose_the_reply(proxy, CHANGING, partial(report, "a", "b"), before=ask_to_stop)
        now = await second.get(one.task_id)
        assert now is not None
        assert now.cancel_asked
        assert [each.message for each in now.steps] == ["a", "b"]
        assert [each.status_message for each in said] == ["a", "b"]
        assert one.rev < said[0].rev < said[1].rev < now.rev


@pytest.mark.parametrize("lost", [CHANGING, COMMITTING])
async def test_a_claim_whose_reply_was_lost_is_told_after_all(
    port: int, dsn_behind: Callable[[Proxy], str], lost: bytes
) -> None:
    """Ours: else the task would wait for a lease to run out that nobody holds."""
    async with Proxy(port) as proxy, PostgresStore.from_url(dsn_behind(proxy)) as store:
        one = await store.create(task())

        async def claim() -> None:
            [got] = await store.claim(
                worker="w1", tools=["report"], at_ms=AT, until_ms=AT + 9, limit=1
            )
            assert (got.task_id, got.attempt, got.generation) == (one.task_id, 1, 1)

        await lose_the_reply(proxy, lost, claim)
        assert kinds(await store.history(one.task_id)) == ["Created", "Claimed"]


async def test_a_silent_connection_is_given_up(
    port: int, dsn_behind: Callable[[Proxy], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a network that swallows everything looks like a server that thinks for ever."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.3)
    async with Proxy(port) as proxy, PostgresStore.from_url(dsn_behind(proxy)) as store:
        one = await store.create(task())
        proxy.silent = True

        async def heal() -> None:
            await proxy.lost_a_reply.wait()
            proxy.silent = False

        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as both:
                both.start_soon(heal)
                assert await store.get(one.task_id) == one


# --- poolers ------------------------------------------------------------------------------------


@pytest.fixture
def bouncer(postgres_cluster: Cluster) -> Generator[Bouncer]:
    """A PgBouncer in transaction mode before the cluster."""
    with Bouncer(postgres_cluster) as started:
        yield started


@pytest.mark.pgbouncer
async def test_behind_pgbouncer_a_store_says_that_it_polls_and_works(
    postgres_cluster: Cluster,
    bouncer: Bouncer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: in transaction mode LISTEN is taken and forgotten, as prepared statements are."""
    monkeypatch.setattr("awhile.stores.postgres.listener.TRIAL_SECONDS", 0.5)
    caplog.set_level(logging.WARNING, "awhile.stores.postgres")
    url = postgres_cluster.url()
    behind = url.replace(f":{postgres_cluster.port}/", f":{bouncer.port}/")
    async with (
        PostgresStore.from_url(behind) as store,
        PostgresStore.from_url(url) as direct,
        store.watch() as watch,
    ):

        async def told() -> bool:
            return "LISTEN does not work there" in caplog.text

        await until(told)
        for _ in range(20):
            one = await direct.create(task(worker="w1"))
            assert await wait_for(watch, [one.task_id]) == {one.task_id}
            done = ev.Completed(generation=1, result={})
            await store.append(one.task_id, done, AT + 1)
            assert await wait_for(watch, [one.task_id]) == {one.task_id}
        async with anyio.create_task_group() as callers:
            for _ in range(200):
                callers.start_soon(store.create, task(owner="eve"))
        assert len(await store.find(owner="eve", limit=1000)) == 200
        assert (
            len(
                await store.claim(
                    worker="w", tools=["report"], at_ms=AT, until_ms=AT + 9, limit=300
                )
            )
            == 200
        )
    assert caplog.text.count("LISTEN does not work there") == 1
