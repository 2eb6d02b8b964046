"""What a PostgreSQL store refuses, with which words; its schema's versions; what it may cost."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import anyio
import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from awhile.errors import SettingsError, StoreError
from awhile.stores.open import open_store
from awhile.stores.postgres import PostgresStore, schema
from awhile.stores.postgres.address import Address
from awhile.stores.postgres.connections import Connections, in_schema
from awhile.stores.postgres.explain import explain, is_conflict
from awhile.stores.postgres.schema import migrations, prepare
from awhile.stores.postgres.values import Numbers, Texts
from awhile.stores.rows import COLUMNS, DERIVED
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from checks.postgres import Cluster, store_url

NEEDS_POSTGRES = pytest.mark.postgres


async def opened_and_closed(url: str) -> None:
    async with open_store(url) as store:
        await store.create(task())


def refusal(url: str) -> str:
    """What opening says."""
    with pytest.raises(StoreError) as refused:
        anyio.run(opened_and_closed, url)
    return str(refused.value)


# --- URLs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:/ada:hunter2@host/db",
        "postgresql://ada:hunter2@host:port/db",
        "postgresql://ada:hunter2@[host/db",
        "postgresql://ada:hunter2@host/db?nonsense=1",
        "postgresql://ada:hunter2@host/db?schema",
        "postgresql://ada:hunter2@host/db?schema=pg_mine",
        "postgresql://ada:hunter2@host/db?schema=a%22b",
        "postgresql://ada:hunter2@host/db?listen=maybe",
        "postgresql://ada:hunter2@host/db?pool=1",
        "postgresql://ada:hunter2@host/db?pool=many",
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        PostgresStore.from_url(url)
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None or "hunter2" not in repr(refused.value.__cause__)


def test_a_url_says_where_and_shows_no_password() -> None:
    """Ours: special characters percent-encoded, libpq's own options untouched."""
    one = Address.parse(
        "postgres://ada:p%40ss%2Fw%20rd@db.example:5433/tasks"
        "?schema=jobs&listen=off&pool=9&sslmode=require&application_name=x"
    )
    assert (one.schema, one.listen, one.pool_size) == ("jobs", "off", 9)
    assert one.shown == "postgresql://ada@db.example:5433/tasks"
    given = conninfo_to_dict(one.conninfo)
    assert (given["password"], given["sslmode"], given["application_name"]) == (
        "p@ss/w rd",
        "require",
        "x",
    )
    assert "p@ss" not in repr(one)
    assert "p%40ss" not in repr(one)
    assert "p@ss" not in repr(PostgresStore(one))


def test_several_hosts_and_a_socket_are_understood() -> None:
    """As libpq has them: for a failover, and on one machine."""
    several = Address.parse("postgresql://a:5432,b:5433/tasks?target_session_attrs=read-write")
    assert conninfo_to_dict(several.conninfo)["host"] == "a,b"
    socket = Address.parse("postgresql:///tasks?host=/run/postgresql")
    assert conninfo_to_dict(socket.conninfo)["host"] == "/run/postgresql"
    assert Address.parse("postgresql://host/tasks").schema == "awhile"


# --- refused by the server ----------------------------------------------------------------------


@NEEDS_POSTGRES
def test_a_server_that_is_not_there_is_named(postgres_url: str) -> None:
    host = re.sub(r":\d+/", ":1/", postgres_url)
    words = refusal(host)
    assert "cannot be reached" in words
    assert "pg_isready" in words


@NEEDS_POSTGRES
def test_a_wrong_password_is_said_and_not_repeated(postgres_cluster: Cluster) -> None:
    url = postgres_cluster.url().replace(quote(postgres_cluster.password, safe=""), "hunter2")
    words = refusal(url)
    assert "refuses this user or this password" in words
    assert "hunter2" not in words


@NEEDS_POSTGRES
def test_a_database_that_does_not_exist_can_be_created(postgres_cluster: Cluster) -> None:
    words = refusal(store_url(postgres_cluster.dsn("nowhere")))
    assert "createdb" in words


@pytest.fixture
def stranger(postgres_cluster: Cluster) -> Generator[str]:
    """The DSN of a role without any rights."""
    with psycopg.connect(postgres_cluster.dsn(), autocommit=True) as on:
        on.execute("CREATE ROLE stranger LOGIN PASSWORD 'hunter2'")
        yield postgres_cluster.dsn().replace(
            f"{postgres_cluster.user}:{quote(postgres_cluster.password, safe='')}",
            "stranger:hunter2",
        )
        on.execute("DROP OWNED BY stranger; DROP ROLE stranger")


@NEEDS_POSTGRES
def test_a_user_who_may_not_create_the_schema_is_told_what_to_grant(stranger: str) -> None:
    words = refusal(store_url(stranger))
    assert "GRANT CREATE ON DATABASE" in words
    assert "hunter2" not in words


@NEEDS_POSTGRES
def test_a_user_needs_no_more_than_to_read_and_write_once_the_schema_is_there(
    postgres_cluster: Cluster, stranger: str
) -> None:
    """Ours: who migrates and who serves may be two roles."""
    url = postgres_cluster.url("granted")
    anyio.run(opened_and_closed, url)
    with psycopg.connect(postgres_cluster.dsn(), autocommit=True) as on:
        on.execute("GRANT USAGE ON SCHEMA granted TO stranger")
        on.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA granted TO stranger"
        )
    anyio.run(opened_and_closed, store_url(stranger, "granted"))


@NEEDS_POSTGRES
def test_a_database_of_another_encoding_is_refused(postgres_cluster: Cluster) -> None:
    with psycopg.connect(postgres_cluster.dsn(), autocommit=True) as on:
        on.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    words = refusal(store_url(postgres_cluster.dsn("latin")))
    assert "LATIN1" in words
    assert "--encoding=UTF8" in words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.DiskFull, "full disk"),
        (errors.TooManyConnections, "max_connections"),
        (errors.UndefinedTable, "has lost its tables"),
        (errors.ReadOnlySqlTransaction, "target_session_attrs=read-write"),
        (errors.NumericValueOutOfRange, "cannot keep as it is"),
        (errors.DeadlockDetected, "Try again"),
        (errors.IoError, "server's disk"),
        (errors.DataCorrupted, "restore a backup"),
        (errors.CannotConnectNow, "just starting or stopping"),
        (errors.FeatureNotSupported, "could not do this"),
    ],
)
def test_every_error_says_what_happened_and_what_to_do(
    error: type[psycopg.Error], words: str
) -> None:
    """Ours; and no password, whatever the server repeats of it."""
    address = Address.parse("postgresql://ada:hunter2@host/db")
    said = str(explain(error("the password is hunter2"), address))
    assert words in said
    assert "'postgresql://ada@host/db'" in said
    assert "hunter2" not in said
    assert "***" in said


def test_what_others_undid_is_tried_again() -> None:
    assert is_conflict(errors.SerializationFailure())
    assert is_conflict(errors.DeadlockDetected())
    assert not is_conflict(errors.DiskFull())


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_a_closed_store_says_so(postgres_url: str) -> None:
    store = PostgresStore.from_url(postgres_url)
    async with store:
        with pytest.raises(StoreError, match="open already"):
            await store.__aenter__()
    for use in (store.create(task()), store.get("x"), store.find(owner="ada")):
        with pytest.raises(StoreError, match="not open"):
            await use


# --- values -------------------------------------------------------------------------------------


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_text_with_a_nul_in_it_is_kept_and_found(postgres_url: str) -> None:
    """Ours: PostgreSQL's text has no NUL, and SQLite's has."""
    odd: dict[str, Any] = {"owner": "a\x00b\x01", "tool": "\x01\x02", "request_key": "\x00"}
    async with PostgresStore.from_url(postgres_url) as store, store.watch() as watch:
        one = await store.create(task(task_id="\x00\x01", worker="w\x00", **odd))
        assert await store.get("\x00\x01") == one
        assert (await watch.wait(10)).keys() == {"\x00\x01"}
        said = ev.Reported(generation=1, message="\x00\x01\x02")
        after = await store.append(one.task_id, said, AT)
        assert after.status_message == "\x00\x01\x02"
        assert await store.find(owner="a\x00b\x01", tools=["\x01\x02"]) == [after]
        assert await store.create(task(**odd)) == after
        assert await store.find(owner="a\x01\x02b\x01\x01") == []


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_a_number_beyond_64_bits_is_refused_and_its_neighbours_are_kept(
    postgres_url: str,
) -> None:
    """Ours: as SQLite refuses it."""
    async with PostgresStore.from_url(postgres_url) as store:
        refused: list[StoreError] = []

        async def create(keep_ms: int) -> None:
            try:
                await store.create(task(keep_ms=keep_ms))
            except StoreError as error:
                refused.append(error)

        async with anyio.create_task_group() as callers:
            for keep_ms in (1, 2**63, 2):
                callers.start_soon(create, keep_ms)
        assert len(refused) == 1
        assert len(await store.find(owner="ada")) == 2


def test_every_column_of_a_record_is_written() -> None:
    """Ours: the suite compares what it wrote, and not what nobody writes."""
    text = migrations()[1]
    missing = [one for one in (*COLUMNS, *DERIVED) if not re.search(rf"^    {one} ", text, re.M)]
    assert missing == []


# --- the schema's versions ----------------------------------------------------------------------

ADDS = """-- A later version's migration, which only adds.
ALTER TABLE awhile.task ADD COLUMN later text;
ALTER TABLE awhile.task ADD COLUMN counted bigint NOT NULL DEFAULT 0;
ALTER TABLE awhile.store ADD COLUMN later text;
CREATE INDEX task_later ON awhile.task (later);
"""


async def migrate(url: str, known: Sequence[str]) -> None:
    """What code of another version does when it opens the store."""
    await prepare(Connections(Address.parse(url)), known)


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_the_code_before_works_on_in_a_schema_that_was_added_to(postgres_url: str) -> None:
    """Ours: a deploy rolls; what runs already and what starts late meet the newer schema."""
    async with PostgresStore.from_url(postgres_url) as running:
        before = await running.create(task())
        await migrate(postgres_url, [*migrations(), ADDS])
        async with PostgresStore.from_url(postgres_url) as late:
            for store in (running, late):
                made = await store.create(task())
                assert await store.get(made.task_id) == made
            [claimed, *_] = await late.claim(
                worker="w1", tools=["report"], at_ms=AT, until_ms=AT + 9, limit=9
            )
            assert claimed.task_id == before.task_id
            done = ev.Completed(generation=1, result={})
            after = await running.append(claimed.task_id, done, AT + 1)
            assert await late.find(owner="ada", tools=["report"], limit=9)
            assert (await late.overview()).endings[0].task_id == after.task_id
        await migrate(postgres_url, [*migrations(), ADDS])


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_a_schema_that_says_it_is_too_new_is_refused_saying_what_to_do(
    postgres_url: str,
) -> None:
    """Ours: what takes something away names the oldest code that can do without."""
    late = len(migrations())
    removes = f"-- It takes something away.\n-- min_version: {late}\nSELECT 1;"
    await migrate(postgres_url, [*migrations(), removes])
    with pytest.raises(StoreError) as refused:
        await opened_and_closed(postgres_url)
    assert f"only an Awhile that knows schema {late}" in str(refused.value)
    assert "Install the newer version of Awhile" in str(refused.value)
    await migrate(postgres_url, [*migrations(), removes])


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_concurrent_starters_migrate_once(postgres_url: str) -> None:
    async with anyio.create_task_group() as openers:
        for _ in range(8):
            openers.start_soon(opened_and_closed, postgres_url)
    async with PostgresStore.from_url(postgres_url) as store:
        assert len(await store.find(owner="ada")) == 8


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_a_starter_waits_a_bounded_time_for_one_that_migrates_and_says_what_to_do(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a replica hung for a minute at its start, and nobody knew why."""
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.2)
    address = Address.parse(postgres_url)
    async with await psycopg.AsyncConnection.connect(address.conninfo) as holder:
        await holder.execute("SELECT pg_advisory_xact_lock(%s::int, 0)", [address.lock("schema")])
        with anyio.fail_after(10), pytest.raises(StoreError) as refused:
            await opened_and_closed(postgres_url)
        assert "migrated by another process, for longer than 0.2 s" in str(refused.value)
        assert "pg_terminate_backend" in str(refused.value)
        await holder.rollback()
        await opened_and_closed(postgres_url)
        await holder.execute(in_schema("LOCK TABLE awhile.task", address).encode())
        with anyio.fail_after(10), pytest.raises(StoreError, match="waited in vain for a lock"):
            await migrate(postgres_url, [*migrations(), ADDS])
    await migrate(postgres_url, [*migrations(), ADDS])


@pytest.mark.anyio
async def test_a_server_that_lets_in_and_says_nothing_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours."""
    monkeypatch.setattr(schema, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, anyio.fail_after(10):
        port = silent.getsockname()[1]
        with pytest.raises(StoreError, match=r"pg_isready.*no answer for 0\.2 s"):
            await opened_and_closed(f"postgresql://ada@127.0.0.1:{port}/db")


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_a_migration_that_fails_leaves_the_schema_as_it_was(postgres_url: str) -> None:
    await opened_and_closed(postgres_url)
    broken = [*migrations(), ADDS + "SELECT 1 / 0;"]
    with pytest.raises(StoreError, match="division by zero"):
        await migrate(postgres_url, broken)
    await opened_and_closed(postgres_url)
    await migrate(postgres_url, [*migrations(), ADDS])


# --- cost ---------------------------------------------------------------------------------------

MANY = 100_000


@asynccontextmanager
async def with_many_ended(url: str) -> AsyncGenerator[Connections]:
    """A store with many ended tasks of one owner, and a few that wait or run."""
    async with PostgresStore.from_url(url) as store:
        one = await store.create(task(worker="w1"))
        await store.append(one.task_id, ev.Completed(generation=1, result={}), AT)
        address = Address.parse(url)
        names = [each for each in (*COLUMNS, *DERIVED) if each not in ("task_id", "rev")]
        async with await psycopg.AsyncConnection.connect(address.conninfo) as on:
            await on.execute(
                f"INSERT INTO {address.schema}.task "
                f"(history_seq, task_id, rev, {', '.join(names)}) "
                f"SELECT history_seq, 'copy ' || n, n, {', '.join(names)} "
                f"FROM {address.schema}.task, generate_series(1, {MANY}) AS n".encode()
            )
            await on.commit()
            await on.set_autocommit(True)
            await on.execute(f"ANALYZE {address.schema}.task".encode())
        for number in range(20):
            await store.create(task(owner=f"o{number % 3}"))
        yield Connections(address)


def scans(plan: dict[str, Any]) -> list[str]:
    """The large tables a plan reads from end to end, with each index it reads much of."""
    whole = plan["Node Type"] == "Seq Scan" and plan["Relation Name"] in {"task", "history"}
    found = [plan["Relation Name"]] if whole else []
    read = plan.get("Actual Rows", 0) + plan.get("Rows Removed by Filter", 0)
    if plan["Node Type"].startswith(("Index", "Bitmap")) and read > 2000:
        found.append(plan.get("Index Name", plan["Node Type"]))
    for child in plan.get("Plans", ()):
        found += scans(child)
    return found


@NEEDS_POSTGRES
@pytest.mark.anyio
async def test_nothing_a_busy_store_asks_reads_what_has_ended(postgres_url: str) -> None:
    """Ours: claiming, listing, watching and sweeping cost the same beside 10^5 ended tasks."""
    line = {"tools": Texts(["report"]), "at_ms": AT, "limit": 10}
    fair = {
        "owners": Texts(["ada", "o1"]),
        "held": Numbers([0, 1]),
        "tools": Texts(["report"]),
        "per_owner": None,
        "besides": Numbers([]),
        "limit": 10,
    }
    lines = {"tools": Texts(["report"]), "window": 500}
    listed = {
        "owner": "ada",
        "statuses": None,
        "living": False,
        "tools": None,
        "after_rev": 0,
        "before": None,
        "limit": 100,
    }
    living = {"statuses": Texts(["working", "input_required"]), "living": True}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("tasks", {"task_ids": Texts(["copy 7", "copy 8"])}),
        ("held", {}),
        ("heads_near", lines),
        ("heads", lines),
        ("next_in_line", fair),
        ("take", {"ordinals": Numbers([1, 2])}),
        ("again", line),
        ("to_reach", line),
        ("lost", {"at_ms": AT, "limit": 500}),
        ("unreached", {"at_ms": AT}),
        ("unclaimed", {"besides": Texts(["other"]), "at_ms": AT, "limit": 100}),
        ("place", {"task_id": "copy 7", "limit": 1000}),
        ("room", {"owners": Texts(["ada", "eve"]), "most": 1000, "most_of_one": 100}),
        ("tasks_of_owner", listed),
        ("tasks_of_owner", {**listed, **living}),
        ("tasks_of_owner", {**listed, "after_rev": 2**40}),
        ("changed", {"from_rev": 2**40, "unseen": [2**40, 2**41]}),
        ("sweep", {"at_ms": AT - 1, "limit": 500}),
        ("leases", {"limit": 100}),
        ("endings", {"limit": 100, "changes": 1000, "ours": "awhile:"}),
        ("waiting_by_tool", {}),
        ("held_by_tool", {}),
        ("lines", {"limit": 100}),
    ]
    async with (
        with_many_ended(postgres_url) as connections,
        await connections.connect() as on,
        on.transaction(force_rollback=True),
    ):
        for name, values in asked:
            sql = b"EXPLAIN (ANALYZE, FORMAT JSON) " + connections.statement(name)
            plan: Any = await (await on.execute(sql, values)).fetchone()
            told = json.dumps(plan[0], indent=1)
            assert scans(plan[0][0]["Plan"]) == [], f"{name}: {told}"
