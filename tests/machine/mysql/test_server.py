"""A server of somebody's: who may ask, what a stop leaves there, and what is said when it fails."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pymysql
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.errors import DatabaseNotOpened, EngineError, QueryError, QueryRefused
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.ask.engines.sqlalchemy.mysql.reasons import plain
from awhile.ask.results import page
from awhile.ask.schema import ForeignKey
from checks.mariadb import Server
from tests.contract.engines.mariadb import Urls, asked, asking, new_database, running
from tests.contract.engines.workers import workers

pytestmark = [pytest.mark.anyio, pytest.mark.mariadb]

ENDLESS = "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.x * b.x * c.x * d.x * e.x = -1"


@pytest.fixture(scope="module")
def urls(mariadb_server: Server) -> Urls:
    urls = new_database(mariadb_server)
    asked(urls.owner, "CREATE TABLE t (x int)", "INSERT INTO t SELECT seq FROM seq_1_to_200")
    return urls


@pytest.fixture
async def engine(urls: Urls) -> AsyncGenerator[SQLAlchemyEngine]:
    engine = SQLAlchemyEngine(urls.reader)
    await engine.open()
    yield engine
    await engine.close()


async def rows(engine: Engine, sql: str, folder: Path) -> list[list[str | None]]:
    path = folder / f"{secrets.token_hex(4)}.parquet"
    await engine.run(sql, report=lambda at: None, budget=Budget(), destination=path)
    return page(path, 0, 100).rows


async def not_opened(url: str) -> str:
    with pytest.raises(DatabaseNotOpened) as error:
        await SQLAlchemyEngine(url).open()
    return str(error.value)


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not await anyio.to_thread.run_sync(holds):  # noqa: ASYNC110 - bounded
            await anyio.sleep(0.02)


def _word(urls: Urls) -> str:
    return urls.reader.partition("@")[0].rpartition(":")[2]


async def test_d13_an_administrator_is_refused_with_the_sql_for_a_fit_user(urls: Urls) -> None:
    said = await not_opened(urls.owner)
    assert "ALL PRIVILEGES, GRANT OPTION" in said
    assert "CREATE USER 'awhile_reader'@'%'" in said


async def test_d13_a_user_with_powers_is_refused_and_all_of_them_are_named(
    mariadb_server: Server,
) -> None:
    """Also those of one column, and those of a role it need not have taken on."""
    urls = new_database(mariadb_server)
    database, role = urls.owner.rpartition("/")[2], f"boss_{secrets.token_hex(4)}"
    asked(
        urls.owner,
        "CREATE TABLE t (x int)",
        f"CREATE ROLE {role}",
        f"GRANT FILE, PROCESS ON *.* TO {role}",
        f"GRANT {role} TO {urls.user}@'%'",
        f"GRANT INSERT (x) ON {database}.t TO {urls.user}@'%'",
        f"GRANT LOCK TABLES ON {database}.* TO {urls.user}@'%' WITH GRANT OPTION",
    )
    assert "(FILE, GRANT OPTION, INSERT, LOCK TABLES)" in await not_opened(urls.reader)


async def test_the_sql_that_is_printed_makes_a_user_that_is_taken(urls: Urls) -> None:
    sql = (await not_opened(urls.owner)).partition("\n\n")[2]
    user, word = f"fit_{secrets.token_hex(4)}", secrets.token_hex(8)
    sql = sql.replace("awhile_reader", user).replace("choose one", word)
    asked(urls.owner, *(each for each in sql.split(";") if each.strip()))
    engine = SQLAlchemyEngine(urls.reader.replace(urls.user, user).replace(_word(urls), word))
    await engine.open()
    assert (await engine.describe()).table("t") is not None
    await engine.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("{before}hunter2{after}", "refused the user or the password"),
        ("{before}{word}{after}_none", "refused the user or the password"),
        ("{before}{word}{after}?colour=hunter2", "an option that its driver does not know"),
        ("mysql://me:hunter2@127.0.0.1:1/sales", "'sales' at 127.0.0.1:1 cannot be reached"),
    ],
    ids=["password", "database", "option", "server"],
)
async def test_why_it_cannot_be_opened_is_said_and_the_password_is_not(
    url: str, said: str, urls: Urls
) -> None:
    word = _word(urls)
    before, after = urls.reader.split(word)
    found = await not_opened(url.format(before=before, word=word, after=after))
    assert said in found
    assert "hunter2" not in found
    assert word not in found


async def test_d6_a_server_that_does_not_greet_is_given_up(urls: Urls) -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as silent:
        port = silent.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - no query of Django's
        said = await not_opened(f"mysql://u:hunter2@127.0.0.1:{port}/db?connect_timeout=1")
    assert "cannot be reached" in said


async def test_d4_after_cancels_at_any_moment_nothing_is_left_on_the_server(
    engine: SQLAlchemyEngine, urls: Urls, tmp_path: Path
) -> None:
    for number in range(20):
        with anyio.move_on_after((number % 10) * 0.003):
            await rows(engine, ENDLESS, tmp_path)
    assert await rows(engine, "SELECT x FROM t WHERE x < 3", tmp_path) == [["1"], ["2"]]
    assert running(urls.reader) == []


async def test_d5_an_administrators_kill_ends_the_query_with_the_reason_and_the_pool_heals(
    engine: SQLAlchemyEngine, urls: Urls, tmp_path: Path
) -> None:
    for command in ("KILL QUERY", "KILL CONNECTION"):

        async def kill(command: str = command) -> None:
            await until(lambda: running(urls.reader) != [])
            with asking(urls.owner) as cursor:
                cursor.execute(
                    "SELECT ID FROM information_schema.PROCESSLIST "
                    f"WHERE USER = '{urls.user}' AND INFO LIKE 'SELECT count%'"
                )
                for (number,) in cursor.fetchall():
                    cursor.execute(f"{command} {number}")

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(kill)
                with pytest.raises(EngineError, match=r"on the server|connection to the server"):
                    await rows(engine, ENDLESS, tmp_path)
        assert await rows(engine, "SELECT count(*) FROM t", tmp_path) == [["200"]]


async def test_d3_a_worker_that_does_not_answer_is_killed_and_its_query_ended_on_the_server(
    urls: Urls, tmp_path: Path
) -> None:
    engine = SQLAlchemyEngine(urls.reader, grace_seconds=0.3)
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
        await until(lambda: running(urls.reader) != [])
        for worker in workers():
            worker.suspend()
        group.cancel_scope.cancel()
    assert stopped == ["engine_confirmed"]
    assert running(urls.reader) == []
    await engine.close()


async def test_d13_a_function_of_the_databases_own_is_called_only_if_it_is_allowed(
    engine: SQLAlchemyEngine, urls: Urls, tmp_path: Path
) -> None:
    database = urls.owner.rpartition("/")[2]
    asked(
        urls.owner,
        "CREATE OR REPLACE FUNCTION twice(n int) RETURNS int DETERMINISTIC RETURN 2 * n",
        f"GRANT EXECUTE ON FUNCTION {database}.twice TO {urls.user}@'%'",
    )
    for call in ("twice(2)", f"{database}.twice(2)", "`twice`(2)", "`lower`('A')", "x.lower('A')"):
        with pytest.raises(QueryRefused):
            await rows(engine, f"SELECT {call} FROM t", tmp_path)
    allowing = SQLAlchemyEngine(f"{urls.reader}?functions=twice")
    await allowing.open()
    assert await rows(allowing, "SELECT twice(21)", tmp_path) == [["42"]]
    await allowing.close()


async def test_a_servers_settings_do_not_change_how_a_text_is_read_or_what_is_shown(
    urls: Urls, tmp_path: Path
) -> None:
    """Modes under which a quote or a backslash means something else; a zone; limits that cut."""
    with asking(urls.owner) as cursor:
        cursor.execute("SELECT @@GLOBAL.sql_mode, @@GLOBAL.time_zone")
        [(modes, zone)] = cursor.fetchall()
        cursor.execute("SET GLOBAL sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES', time_zone = '-05:00'")
        cursor.execute("SET GLOBAL group_concat_max_len = 4")
        try:
            engine = SQLAlchemyEngine(urls.reader)
            await engine.open()
            sql = (
                "SELECT 'a\\'b', \"c\", 1 || 0, from_unixtime(0), length(group_concat(x)), "
                "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) "
                "SELECT count(*) FROM r) FROM t"
            )
            found = await rows(engine, sql, tmp_path)
            await engine.close()
        finally:
            cursor.execute("SET GLOBAL sql_mode = %s, time_zone = %s", (modes, zone))
            cursor.execute("SET GLOBAL group_concat_max_len = DEFAULT")
    assert found == [["a'b", "c", "1", "1970-01-01 00:00:00", "691", "3000"]]


async def test_d10_d11_what_only_a_column_can_hold_has_an_exact_text(
    engine: SQLAlchemyEngine, urls: Urls, tmp_path: Path
) -> None:
    columns = {
        "bigint unsigned": ("18446744073709551615", "18446744073709551615", "BIGINT UNSIGNED"),
        "int(6) zerofill": ("42", "42", "INT UNSIGNED"),
        "tinyint(1)": ("1", "1", "TINYINT"),
        "decimal(65,30)": ("12345678901234567890123456789012345.5", None, "DECIMAL(65,30)"),
        "float": ("1.5", "1.5", "FLOAT"),
        "double": ("0.1e0 + 0.2e0", "0.30000000000000004", "DOUBLE"),
        "year": ("0", "0000", "YEAR"),
        "bit(12)": ("b'10110'", "000000010110", "BIT(12)"),
        "enum('x','y, z')": ("'y, z'", "y, z", "ENUM"),
        "set('p','q')": ("'p,q'", "p,q", "SET"),
        "json": ("'{\"id\": 9007199254740993}'", '{"id": 9007199254740993}', "LONGTEXT"),
        "binary(3)": ("'ab'", "616200", "BINARY(3)"),
        "varbinary(9)": ("x'dead00'", "dead00", "VARBINARY(9)"),
        "longblob": ("x'ff'", "ff", "LONGBLOB"),
        "char(5)": ("'\u2603'", "\u2603", "CHAR(5)"),
        "varchar(40) character set latin1": ("'\u00e4'", "\u00e4", "VARCHAR(40)"),
        "mediumtext": ("'a\nb'", "a\nb", "LONGTEXT"),
        "geometry": ("point(1, 2)", "POINT(1 2)", "GEOMETRY"),
        "timestamp(6)": ("'2026-01-02 03:04:05.5'", "2026-01-02 08:04:05.500000+00", "TIMESTAMP"),
        "datetime(3)": ("'2026-01-02 03:04:05.5'", "2026-01-02 03:04:05.500", "DATETIME"),
        "datetime": ("'0000-00-00'", "0000-00-00 00:00:00", "DATETIME"),
        "date": ("'2026-02-00'", "2026-02-00", "DATE"),
        "time(1)": ("'-838:59:59.5'", "-838:59:59.5", "TIME"),
        "uuid": ("'00000000-0000-0000-0000-00000000000a'", None, "CHAR(36)"),
        "inet6": ("'::1'", "::1", "CHAR(39)"),
    }
    wanted = [
        (text if text is not None else value.strip("'")) for value, text, _ in columns.values()
    ]
    wanted[3] += "0" * 29
    with asking(urls.owner) as cursor:
        cursor.execute("SET SESSION sql_mode = '', time_zone = '-05:00'")
        made = ", ".join(f"c{place} {kind}" for place, kind in enumerate(columns))
        cursor.execute(f"CREATE OR REPLACE TABLE kinds ({made})")
        values = ", ".join(value for value, _, _ in columns.values())
        cursor.execute(f"INSERT INTO kinds VALUES ({values})")
    path = tmp_path / "r.parquet"
    result = await engine.run(
        "SELECT * FROM kinds", report=lambda at: None, budget=Budget(), destination=path
    )
    assert page(path, 0, 1).rows == [wanted]
    assert [column.type for column in result.columns] == [kind for _, _, kind in columns.values()]


async def test_the_card_has_keys_comments_kinds_and_tables_that_keep_their_history(
    mariadb_server: Server,
) -> None:
    urls = new_database(mariadb_server)
    asked(
        urls.owner,
        "CREATE TABLE shops (id int PRIMARY KEY COMMENT 'our number', kind enum('big','small'), "
        "opened year, notes longtext) COMMENT 'Every shop'",
        "CREATE TABLE prices (shop_id int, amount decimal(10,2) unsigned, size bigint(9) unsigned, "
        "PRIMARY KEY (shop_id), FOREIGN KEY (shop_id) REFERENCES shops (id)) "
        "WITH SYSTEM VERSIONING",
        "INSERT INTO shops VALUES (1, 'big', 2020, 'x')",
    )
    engine = SQLAlchemyEngine(urls.reader)
    await engine.open()
    schema = await engine.describe()
    await engine.close()
    prices, shops = schema.tables
    assert (prices.name, shops.name, shops.comment) == ("prices", "shops", "Every shop")
    assert (shops.primary_key, shops.row_count) == (("id",), 1)
    assert prices.foreign_keys == (ForeignKey(("shop_id",), "shops", ("id",)),)
    kinds = {
        column.name: (column.type, column.kind) for column in (*shops.columns, *prices.columns)
    }
    assert kinds == {
        "id": ("INTEGER", "integer"),
        "kind": ("ENUM('big','small')", "text"),
        "opened": ("YEAR(4)", "integer"),
        "notes": ("LONGTEXT", "text"),
        "shop_id": ("INTEGER", "integer"),
        "amount": ("DECIMAL(10,2) UNSIGNED", "number"),
        "size": ("BIGINT UNSIGNED", "integer"),
    }
    assert shops.columns[0].comment == "our number"
    assert shops.columns[1].sample_values == ("big",)


async def test_a_value_that_the_server_gives_null_in_place_of_is_no_null(
    engine: SQLAlchemyEngine, tmp_path: Path
) -> None:
    """Ours: it says so in a warning alone, and other warnings lose nothing."""
    with pytest.raises(QueryError, match="larger than the server makes"):
        await rows(engine, "SELECT repeat('x', 100000000) AS large", tmp_path)
    assert await rows(engine, "SELECT 1 / 0 AS nothing, CAST('1x' AS INT) AS one", tmp_path) == [
        [None, "1"]
    ]


def test_what_the_server_ended_is_said_in_a_sentence() -> None:
    """Ours: a lock is waited for ten seconds, which is not done here."""
    for code, why in (
        (1205, "a table was locked by somebody else and was for some seconds"),
        (1317, "somebody ended it on the server"),
        (1969, "it took longer than it may"),
        (2013, "the connection to the server is lost"),
    ):
        said = str(plain(pymysql.OperationalError(code, "said so")))
        assert why in said
        assert "(said so); ask " in said


async def test_a_query_that_waits_for_a_table_that_somebody_holds_can_be_stopped(
    engine: SQLAlchemyEngine, urls: Urls, tmp_path: Path
) -> None:
    asked(urls.owner, "CREATE OR REPLACE TABLE held (x int)")
    with asking(urls.owner) as cursor:
        cursor.execute("LOCK TABLES held WRITE")
        with anyio.move_on_after(0.5) as scope:
            await rows(engine, "SELECT x FROM held", tmp_path)
    assert scope.cancelled_caught
    assert running(urls.reader) == []
