"""A server of somebody's: who may ask, what a stop leaves there, and what is said when it fails."""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import psycopg
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.errors import (
    DatabaseNotOpened,
    EngineError,
    QueryError,
    QueryInterrupted,
    QueryRefused,
)
from awhile.ask.engines.postgres.address import address_of
from awhile.ask.engines.postgres.engine import PostgresEngine
from awhile.ask.engines.postgres.link import connected
from awhile.ask.results import page
from checks.postgres import Cluster
from tests.contract.engines.server import Urls, new_database, running
from tests.contract.engines.workers import workers

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]

ENDLESS = "SELECT count(*) FROM generate_series(1, 2000000000) AS n WHERE n % 7 = 9"


@pytest.fixture
def urls(postgres_cluster: Cluster) -> Urls:
    urls = new_database(postgres_cluster)
    execute(urls.owner, "CREATE TABLE t (x int, who text); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return urls


@pytest.fixture
async def engine(urls: Urls) -> AsyncGenerator[PostgresEngine]:
    engine = PostgresEngine(urls.reader)
    await engine.open()
    yield engine
    await engine.close()


def execute(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())


async def rows(
    engine: Engine, sql: str, folder: Path, principal: str | None = None
) -> list[list[str | None]]:
    path = folder / f"{secrets.token_hex(4)}.parquet"
    await engine.run(
        sql, report=lambda at: None, budget=Budget(), destination=path, principal=principal
    )
    return page(path, 0, 100).rows


async def not_opened(url: str) -> str:
    with pytest.raises(DatabaseNotOpened) as error:
        await PostgresEngine(url).open()
    return str(error.value)


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not await anyio.to_thread.run_sync(holds):  # noqa: ASYNC110 - bounded
            await anyio.sleep(0.02)


async def test_d13_a_superuser_is_refused_with_the_sql_for_a_fit_role(urls: Urls) -> None:
    said = await not_opened(urls.owner)
    assert "SUPERUSER" in said
    assert "CREATE ROLE awhile_reader LOGIN" in said


@pytest.mark.parametrize(
    "power",
    [
        "ALTER ROLE {role} CREATEROLE",
        "ALTER ROLE {role} REPLICATION",
        "ALTER ROLE {role} CREATEDB",
        "GRANT pg_read_server_files TO {role}",
        "GRANT pg_write_server_files TO {role}",
        "GRANT pg_execute_server_program TO {role}",
    ],
)
async def test_d13_a_role_with_powers_is_refused_and_they_are_named(power: str, urls: Urls) -> None:
    sql = power.format(role=urls.role)
    execute(urls.owner, sql)
    assert (sql.split()[-1] if "ALTER" in sql else sql.split()[1]) in await not_opened(urls.reader)


async def test_the_sql_that_is_printed_makes_a_role_that_is_taken(urls: Urls) -> None:
    sql = (await not_opened(urls.owner)).partition("\n\n")[2]
    role, word = f"fit_{secrets.token_hex(4)}", secrets.token_hex(8)
    execute(urls.owner, sql.replace("awhile_reader", role).replace("choose one", word))
    engine = PostgresEngine(urls.reader.replace(urls.role, role, 1).replace(_word(urls), word))
    await engine.open()
    assert (await engine.describe()).table("t") is not None
    await engine.close()


def _word(urls: Urls) -> str:
    return urls.reader.partition("@")[0].rpartition(":")[2]


async def test_a_wrong_password_is_said_and_not_shown(urls: Urls) -> None:
    said = await not_opened(urls.reader.replace(_word(urls), "hunter2"))
    assert "refused the password" in said
    assert "hunter2" not in said


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    said = await not_opened("postgresql://me:hunter2@127.0.0.1:1/sales")
    assert "cannot be reached" in said
    assert "'sales' at 127.0.0.1:1" in said
    assert "hunter2" not in said


async def test_a_database_that_is_not_there_is_named(urls: Urls) -> None:
    assert "no such database" in await not_opened(f"{urls.reader}_none")


async def test_d4_after_fifty_cancels_at_any_moment_nothing_is_left_on_the_server(
    engine: PostgresEngine, urls: Urls, tmp_path: Path
) -> None:
    for number in range(50):
        with anyio.move_on_after((number % 10) * 0.003):
            await rows(engine, ENDLESS, tmp_path)
    assert await rows(engine, "SELECT x FROM t ORDER BY x", tmp_path) == [["1"], ["2"]]
    await until(lambda: running(urls.reader) == [])


async def test_d4_a_late_cancel_never_meets_the_next_query(urls: Urls, tmp_path: Path) -> None:
    engine = PostgresEngine(urls.reader, side_by_side=1)
    await engine.open()
    for _ in range(15):
        with anyio.move_on_after(0.02):
            await rows(engine, ENDLESS, tmp_path)
        assert await rows(engine, "SELECT 1 FROM pg_catalog.pg_class LIMIT 1", tmp_path) == [["1"]]
    await engine.close()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("terminate", "administrator command.*; ask again"),
        ("cancel", "somebody ended it on the server; ask again"),
    ],
)
async def test_d5_an_administrators_kill_ends_the_query_with_the_reason_and_the_pool_heals(
    how: str, why: str, engine: PostgresEngine, urls: Urls, tmp_path: Path
) -> None:
    async def kill() -> None:
        await until(lambda: any("FETCH" in each for each in running(urls.reader)))
        execute(
            urls.owner,
            f"SELECT pg_{how}_backend(pid) FROM pg_stat_activity "
            f"WHERE usename = '{urls.role}' AND state <> 'idle'",
        )

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(kill)
            with pytest.raises(EngineError, match=why):
                await rows(engine, ENDLESS, tmp_path)
    assert await rows(engine, "SELECT count(*) FROM t", tmp_path) == [["2"]]


async def test_d3_a_worker_that_does_not_answer_is_killed_and_its_query_ended_on_the_server(
    urls: Urls, tmp_path: Path
) -> None:
    engine = PostgresEngine(urls.reader, grace_seconds=0.3)
    await engine.open()
    stopped: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(
            lambda: engine.run(
                ENDLESS,
                report=lambda at: None,
                budget=Budget(),
                destination=tmp_path / "r.parquet",
                on_stopped=lambda how, seconds: stopped.append(how),
            )
        )
        await until(lambda: any("FETCH" in each for each in running(urls.reader)))
        for worker in workers():
            worker.suspend()
        group.cancel_scope.cancel()
    assert stopped == ["engine_confirmed"]
    assert running(urls.reader) == []
    await engine.close()


async def test_a_role_for_each_person_sees_that_persons_rows_alone(
    urls: Urls, tmp_path: Path
) -> None:
    """Row-level security: the database decides, by the role that the person who asks becomes."""
    anna = f"anna_{secrets.token_hex(4)}"
    execute(
        urls.owner,
        f"CREATE ROLE {anna} NOLOGIN; GRANT {anna} TO {urls.role}; GRANT SELECT ON t TO {anna}; "
        f"UPDATE t SET who = '{anna}' WHERE x = 2; ALTER TABLE t ENABLE ROW LEVEL SECURITY; "
        "CREATE POLICY own ON t FOR SELECT USING (who = current_user)",
    )
    engine = PostgresEngine(f"{urls.reader}?roles=principal")
    await engine.open()
    assert engine.capabilities.principals
    assert await rows(engine, "SELECT x FROM t", tmp_path, anna) == [["2"]]
    assert await rows(engine, "SELECT current_user", tmp_path, anna) == [[anna]]
    for nobody in (None, "postgres", 'x"; RESET ROLE; --'):
        with pytest.raises(QueryRefused):
            await rows(engine, "SELECT x FROM t", tmp_path, nobody)
    await engine.close()


async def test_d13_a_function_of_the_databases_own_is_called_only_if_it_is_allowed(
    engine: PostgresEngine, urls: Urls, tmp_path: Path
) -> None:
    execute(
        urls.owner,
        "CREATE FUNCTION double(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 2 * $1'; "
        "CREATE FUNCTION lower(int) RETURNS int LANGUAGE sql AS 'SELECT 0'; "
        "CREATE FUNCTION peek(t) RETURNS int LANGUAGE sql AS 'SELECT 0'",
    )
    for call in ("double(2)", "lower(2)", "t.peek", "(t).peek"):
        with pytest.raises(QueryRefused):
            await rows(engine, f"SELECT {call} FROM t", tmp_path)
    allowing = PostgresEngine(f"{urls.reader}?functions=double")
    await allowing.open()
    assert await rows(allowing, "SELECT double(21)", tmp_path) == [["42"]]
    await allowing.close()


async def test_d6_every_limit_is_the_servers_too_for_the_length_of_a_query(
    urls: Urls, tmp_path: Path
) -> None:
    """Ours; field case D6: should everybody else be gone, the server ends it by itself."""
    limits = {
        "transaction_read_only": "on",
        "statement_timeout": "42s",
        "lock_timeout": "10s",
        "idle_in_transaction_session_timeout": "1min",
        "client_connection_check_interval": "1s",
    }
    engine = PostgresEngine(f"{urls.reader}?functions=current_setting")
    await engine.open()
    result = await engine.run(
        "SELECT " + ", ".join(f"current_setting('{name}')" for name in limits),
        report=lambda at: None,
        budget=Budget(seconds=40),
        destination=tmp_path / "r.parquet",
    )
    await engine.close()
    assert page(result.path, 0, 1).rows == [list(limits.values())]


async def test_a_table_that_somebody_holds_is_said_to_be_locked_after_a_while(urls: Urls) -> None:
    whys = {
        "lock_timeout": "was locked by somebody",
        "statement_timeout": "took longer.*; ask for less",
    }
    server = connected(address_of(urls.reader))
    with psycopg.connect(urls.owner) as owner:
        owner.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        for limit, why in whys.items():
            server.ask(f"SET {limit} = '50ms'".encode())
            with pytest.raises(QueryError, match=why):
                server.ask(b"SELECT x FROM t")
            server.ask(f"RESET {limit}".encode())
    server.close()


async def test_a_select_without_columns_is_told_what_it_lacks(
    engine: PostgresEngine, tmp_path: Path
) -> None:
    with pytest.raises(QueryError, match="has no columns"):
        await rows(engine, "SELECT FROM t", tmp_path)


async def test_the_planners_estimate_is_known_before_a_query_runs(engine: PostgresEngine) -> None:
    estimate = await engine.estimate("SELECT * FROM generate_series(1, 5000) AS n")
    assert estimate is not None
    assert (estimate.rows, estimate.cost > 0) == (5000, True)


async def test_a_change_of_the_schema_is_found_by_the_next_look(urls: Urls) -> None:
    engine = PostgresEngine(urls.reader, look_seconds=0)
    await engine.open()
    before = await engine.describe()
    assert not await engine.changed(before)
    for change in (
        "CREATE TABLE u (y int)",
        "ALTER TABLE t RENAME who TO name",
        "COMMENT ON COLUMN t.x IS 'what it is'",
        f"REVOKE SELECT ON u FROM {urls.role}",
    ):
        execute(urls.owner, change)
        assert await engine.changed(before), change
        before, last = await engine.describe(), before
        assert before.tables != last.tables
        assert not await engine.changed(before)
    execute(urls.owner, "INSERT INTO t VALUES (3, 'c')")
    assert not await engine.changed(before)
    await engine.close()


async def test_a_query_that_misses_a_name_has_the_schema_looked_at_again(
    urls: Urls, engine: PostgresEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awhile.ask.engines.workers.cards._SUSPECT_SECONDS", 0.0)
    assert (await engine.describe()).table("invoices") is None
    execute(urls.owner, "CREATE TABLE invoices (x int)")
    with pytest.raises(EngineError, match="invoces"):
        await rows(engine, "SELECT * FROM invoces", tmp_path)
    assert (await engine.describe()).table("invoices") is not None


async def test_everybody_sees_the_tables_of_their_own_role_alone(
    urls: Urls, postgres_cluster: Cluster
) -> None:
    """Ours: queries run as the role of who asks, so names are read as that role, too."""
    ann, bob = (f"{name}_{secrets.token_hex(3)}" for name in ("ann", "bob"))
    for role in (ann, bob):
        execute(urls.owner, f"CREATE ROLE {role}; GRANT {role} TO {urls.role}")
    execute(
        urls.owner,
        f"CREATE TABLE salaries (pay int); REVOKE ALL ON salaries FROM {urls.role};"
        f"GRANT SELECT ON salaries TO {ann}; GRANT SELECT (x) ON t TO {bob}",
    )
    engine = PostgresEngine(f"{urls.reader}?roles=principal", look_seconds=0)
    await engine.open()
    seen = {
        role: {
            table.name: [column.name for column in table.columns]
            for table in (await engine.describe(principal=role)).tables
        }
        for role in (ann, bob)
    }
    assert seen == {ann: {"salaries": ["pay"]}, bob: {"t": ["x"]}}
    for nobody in (None, "mallory"):
        with pytest.raises(QueryRefused):
            await engine.describe(principal=nobody)
    execute(urls.owner, f"REVOKE {bob} FROM {urls.role}")
    with pytest.raises(QueryRefused):
        await engine.describe(principal=bob)
    await engine.close()


async def test_d6_a_server_that_takes_the_connection_and_says_nothing_costs_the_time_there_is(
    tmp_path: Path,
) -> None:
    """Field case D6: connecting counts, too."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        engine = PostgresEngine(f"postgresql://reader@127.0.0.1:{port}/shop", grace_seconds=0.2)
        try:
            with anyio.fail_after(20), pytest.raises(QueryInterrupted, match=r"budget of 0\.5 s"):
                await engine.run(
                    "SELECT 1",
                    report=lambda _at: None,
                    budget=Budget(seconds=0.5),
                    destination=tmp_path / "result.parquet",
                )
        finally:
            await engine.close()


async def test_d13_no_function_of_the_databases_own_is_called_by_another_name(
    urls: Urls, engine: PostgresEngine, tmp_path: Path
) -> None:
    """An operator, a cast and a domain's check call functions, too."""
    execute(
        urls.owner,
        """
        CREATE FUNCTION slow(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
        CREATE FUNCTION slow2(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
        CREATE OPERATOR @+@ (leftarg = int, rightarg = int, procedure = slow2);
        CREATE DOMAIN checked AS int CHECK (slow(value) > 0);
        CREATE DOMAIN plain AS int CHECK (value > 0);
        CREATE TYPE pair AS (a int);
        CREATE FUNCTION to_int(pair) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
        CREATE CAST (pair AS int) WITH FUNCTION to_int(pair)
        """,
    )
    for sql, word in (
        ("SELECT x @+@ 1 FROM t", "@+@"),
        ("SELECT 1 WHERE 1 @+@ ANY (SELECT 1) = 1", "@+@"),
        ("SELECT x::checked FROM t", "checked"),
        ("SELECT CAST(ARRAY[x] AS checked[]) FROM t", "checked"),
        ("SELECT row(1)::pair::int", "pair"),
    ):
        with pytest.raises(QueryRefused) as refused:
            await rows(engine, sql, tmp_path)
        assert refused.value.word == word
    assert await rows(engine, "SELECT x::plain + 1 FROM t ORDER BY 1", tmp_path) == [["2"], ["3"]]
    allowing = PostgresEngine(f"{urls.reader}?functions=slow2,slow")
    await allowing.open()
    assert await rows(allowing, "SELECT 5 @+@ 1", tmp_path) == [["5"]]
    await allowing.close()


async def test_where_everybody_has_rows_of_their_own_catalogs_of_all_names_are_refused(
    urls: Urls, engine: PostgresEngine
) -> None:
    private = PostgresEngine(f"{urls.reader}?roles=principal")
    for sql in ("SELECT relname FROM pg_class", "SELECT * FROM pg_catalog.pg_views"):
        engine.check(sql)
        with pytest.raises(QueryRefused, match="information_schema"):
            private.check(sql)
    private.check("SELECT table_name FROM information_schema.tables")
