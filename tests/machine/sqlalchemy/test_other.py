"""A database nobody has made anything for: what is asked of it, and what is not claimed."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import anyio.to_thread
import apsw
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.errors import QueryError, QueryInterrupted, QueryRefused
from awhile.ask.engines.sqlalchemy.address import Address
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.ask.engines.sqlalchemy.urls import address_of
from awhile.ask.engines.sqlalchemy.values import Result
from awhile.ask.results import page
from checks.postgres import Cluster
from tests.contract.engines import server

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"


@pytest.fixture
def stranger(tmp_path: Path) -> Address:
    """SQLite, as if nobody knew it."""
    path = tmp_path / "mine.sqlite"
    connection: Any = apsw.Connection(str(path))
    connection.execute("CREATE TABLE t (x INTEGER, said TEXT); INSERT INTO t VALUES (1, 'a:b')")
    connection.close()
    return replace(address_of(f"sqlite:///{path}"), kind="other")


async def run(engine: Engine, sql: str, folder: Path, **options: Any) -> list[list[str | None]]:
    path = folder / "r.parquet"
    await engine.run(
        sql,
        report=lambda at: None,
        budget=options.pop("budget", Budget()),
        destination=path,
        **options,
    )
    return page(path, 0, 100).rows


async def test_a_stop_is_not_said_to_be_proven_where_nobody_can_ask(
    stranger: Address, tmp_path: Path
) -> None:
    engine = SQLAlchemyEngine(stranger, grace_seconds=0.2)
    assert not engine.capabilities.stop_is_proven
    assert engine.capabilities.stop_within_seconds == math.inf
    await engine.open()
    with pytest.raises(QueryInterrupted) as error:
        await run(engine, ENDLESS, tmp_path, budget=Budget(seconds=0.5))
    assert error.value.how == "not_stopped"
    assert await run(engine, "SELECT x FROM t", tmp_path) == [["1"]]
    await engine.close()


@pytest.mark.postgres
async def test_a_drivers_own_cancel_is_used_and_still_proves_nothing(
    postgres_cluster: Cluster, stranger: Address, tmp_path: Path
) -> None:
    """Here PostgreSQL's, through SQLAlchemy and psycopg: its list shows that it was stopped."""
    urls = server.new_database(postgres_cluster)
    url = urls.reader.replace("postgresql://", "postgresql+psycopg://")
    engine = SQLAlchemyEngine(replace(stranger, url=url, dialect="postgres"), grace_seconds=20)
    await engine.open()
    with anyio.fail_after(15), pytest.raises(QueryInterrupted) as error:
        await run(engine, ENDLESS, tmp_path, budget=Budget(seconds=0.5))
    assert error.value.how == "not_stopped"
    assert await anyio.to_thread.run_sync(server.running, urls.reader) == []
    await engine.close()


async def test_only_its_tables_are_read_and_nothing_is_read_that_was_not_asked_for(
    stranger: Address, tmp_path: Path
) -> None:
    engine = SQLAlchemyEngine(stranger)
    await engine.open()
    with pytest.raises(QueryError, match="none of the database's tables") as error:
        await run(engine, "SELECT sql FROM sqlite_master", tmp_path)
    assert error.value.unknown_name
    schema = await engine.describe()
    assert [table.name for table in schema.tables] == ["t"]
    assert schema.tables[0].row_count is None
    assert "no values were read" in schema.notes[0]
    await engine.close()


async def test_values_are_bound_by_the_driver_and_other_colons_are_only_colons(
    stranger: Address, tmp_path: Path
) -> None:
    engine = SQLAlchemyEngine(stranger)
    await engine.open()
    sql = "SELECT x, ':said' FROM t WHERE said = :said AND ':x' <> 'a:b:c' /* :said */"
    assert await run(engine, sql, tmp_path, parameters={"said": "a:b"}) == [["1", ":said"]]
    with pytest.raises(QueryRefused, match="':said': no value is given for it"):
        await run(engine, "SELECT x FROM t WHERE said = :said", tmp_path)
    await engine.close()


@pytest.mark.parametrize(
    ("dialect", "sql", "word"),
    [
        ("snowflake", "SELECT * FROM @stage", "@"),
        ("snowflake", "SELECT * FROM 's3://bucket/x'", "s3://bucket/x"),
        ("snowflake", "SELECT * FROM TABLE(result_scan('x'))", "TABLE"),
        ("snowflake", "SELECT system$cancel_query('x')", "system$cancel_query"),
        ("databricks", "SELECT * FROM csv.`/etc/passwd`", "csv./etc/passwd"),
        ("databricks", "SELECT * FROM read_files('/etc')", "read_files"),
        ("tsql", "SELECT * INTO #t FROM orders", "INTO"),
        ("tsql", "SELECT * FROM OPENQUERY(other, 'DELETE')", "OPENQUERY"),
        ("tsql", "SELECT @@version", "@"),
        ("tsql", "EXEC xp_cmdshell 'dir'", "EXEC"),
        ("tsql", "WAITFOR DELAY '10:00'", "WAITFOR"),
        ("tsql", "SELECT * FROM orders WITH (TABLOCKX)", "WITH"),
        ("tsql", "SELECT name FROM sys.server_principals", "sys.server_principals"),
        ("bigquery", "SELECT * FROM EXTERNAL_QUERY('x', 'DELETE')", "EXTERNAL_QUERY"),
        ("bigquery", "DECLARE x INT64", "DECLARE"),
        ("oracle", "SELECT utl_http.request('http://x') FROM dual", "request"),
        ("oracle", "SELECT dbms_lock.sleep(9) FROM dual", "sleep"),
        ("oracle", "SELECT s.nextval FROM dual", "NEXTVAL"),
        ("oracle", "SELECT * FROM orders FOR UPDATE", "FOR UPDATE"),
        ("clickhouse", "SELECT * FROM url('http://x', CSV)", "url"),
        ("clickhouse", "SELECT * FROM file('/etc/passwd')", "file"),
        ("clickhouse", "SELECT * FROM system.users", "system.users"),
        ("clickhouse", "SELECT 1 INTO OUTFILE 'x'", "INTO"),
        ("trino", "SELECT * FROM TABLE(x.system.query('DELETE'))", "TABLE"),
        ("trino", "SELECT * FROM system.runtime.queries", "system.runtime"),
        ("postgres", "SELECT pg_sleep(9)", "pg_sleep"),
        ("postgres", "SELECT 1; COMMIT", "COMMIT"),
        ("postgres", "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "WITH"),
        ("redshift", "UNLOAD ('SELECT 1') TO 's3://x'", "UNLOAD"),
        ("oracle", "SELECT /*+ PARALLEL(8) */ 1 FROM dual", "/*+ PARALLEL(8) */"),
        ("trino", "SELECT 1 /* a /* b */", "/* a"),
    ],
)
def test_d13_what_no_list_allows_is_refused_in_every_dialect(
    dialect: str, sql: str, word: str, stranger: Address
) -> None:
    engine = SQLAlchemyEngine(replace(stranger, dialect=dialect))
    with pytest.raises(QueryRefused) as refused:
        engine.check(sql)
    assert refused.value.word == word


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("tsql", "SELECT TOP (5) [name], count(*) AS n FROM [my orders] GROUP BY [name]"),
        ("tsql", "SELECT datediff(day, a, b), iif(x > 1, 'a', 'b'), convert(int, c) FROM t"),
        ("snowflake", "SELECT a, count_if(b) FROM t QUALIFY row_number() OVER (ORDER BY a) = 1"),
        ("snowflake", "SELECT date_trunc('month', d)::date AS m, sum(x) FROM t GROUP BY 1"),
        ("bigquery", "SELECT safe_divide(a, b), date_diff(c, d, DAY) FROM `p.d.t`"),
        ("bigquery", "SELECT percentile_cont(x, 0.5) OVER () FROM p.d.t"),
        ("oracle", "SELECT nvl(a, 0), add_months(d, 1), to_char(d, 'YYYY') FROM t WHERE 1 = 1"),
        ("oracle", "SELECT * FROM t ORDER BY a FETCH FIRST 5 ROWS ONLY"),
        (
            "trino",
            "SELECT approx_distinct(a), max_by(b, c) FROM hive.web.t WHERE d >= DATE '2025-01-01'",
        ),
        ("clickhouse", "SELECT quarter(d), count() FROM db.t GROUP BY quarter(d) LIMIT 5"),
        ("redshift", "SELECT listagg(a, ',') WITHIN GROUP (ORDER BY a) FROM t -- as one text"),
        ("databricks", "SELECT date_format(d, 'y'), stddev(x) FROM main.sales.t GROUP BY 1"),
    ],
)
def test_d15_plain_analytic_statements_pass_in_every_dialect(
    dialect: str, sql: str, stranger: Address
) -> None:
    SQLAlchemyEngine(replace(stranger, dialect=dialect)).check(sql)


class Odd:
    def __str__(self) -> str:
        raise RuntimeError


def test_d11_every_object_of_a_driver_has_a_text_and_a_bad_one_costs_a_cell() -> None:
    cells = {
        2**70: str(2**70),
        Decimal("1E+3"): "1000",
        Decimal("0.10"): "0.10",
        0.1 + 0.2: "0.30000000000000004",
        float("nan"): "nan",
        True: "true",
        None: None,
        "a\ud800": "a\\ud800",
        b"\xde\xad": "x'dead'",
        date(2026, 1, 2): "2026-01-02",
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC): "2026-01-02 03:04:05+00:00",
        time(3, 4): "03:04:00",
        timedelta(days=40, seconds=1): "40 days, 0:00:01",
        UUID(int=10): "00000000-0000-0000-0000-00000000000a",
        (1, Decimal("1.5"), "ä"): '[1, "1.5", "ä"]',
        Odd(): "(no text: RuntimeError)",
    }
    result = Result([str(place) for place in range(len(cells))], iter([tuple(cells)]))
    [batch] = result.batches(lambda: None)
    assert [column.to_pylist()[0] for column in batch.columns] == list(cells.values())
    assert [column.type for column in result.columns()][:3] == ["INTEGER", "DECIMAL", "DECIMAL"]
