"""Nothing but one SELECT of this database's own data, and every such SELECT."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.engines.contract import Engine
from awhile.ask.engines.errors import EngineError, QueryError, QueryRefused
from tests.contract.engines.conftest import EngineCase, Runner

pytestmark = pytest.mark.anyio

REFUSED = {
    # D13: writes, hidden in every way
    "INSERT INTO orders SELECT * FROM orders": "INSERT",
    "UPDATE orders SET amount = 0": "UPDATE",
    "DELETE FROM orders": "DELETE",
    "DROP TABLE orders": "DROP",
    "CREATE TABLE t AS SELECT 1": "CREATE",
    "CREATE TEMP TABLE t AS SELECT 1": "CREATE",
    "TRUNCATE orders": "TRUNCATE",
    "ALTER TABLE orders ADD COLUMN x INTEGER": "ALTER",
    "COMMIT; DROP TABLE orders": "DROP",
    "SELECT 1; DROP TABLE orders": "DROP",
    "SELECT 1;; DELETE FROM orders -- ;": "DELETE",
    "/* a comment; */ DELETE FROM orders": "DELETE",
    "-- SELECT 1\nDELETE FROM orders": "DELETE",
    "SELECT 1; SELECT 2": "SELECT",
    "WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d": "DELETE",
    "WITH d AS (SELECT 1) INSERT INTO customers SELECT 1, '', NULL": "WITH",
    "EXPLAIN ANALYZE DELETE FROM orders": "EXPLAIN",
    "BEGIN": "BEGIN",
    "PREPARE p AS DELETE FROM orders": "PREPARE",
    "": "",
    " ; ; ": "",
    "-- nothing": "",
    # D14: files, network, settings
    "COPY orders TO 'stolen.csv'": "COPY",
    "COPY (SELECT 1) TO 'stolen.parquet' (FORMAT parquet)": "COPY",
    "EXPORT DATABASE 'stolen'": "EXPORT",
    "ATTACH 'other.duckdb'": "ATTACH",
    "INSTALL httpfs": "INSTALL",
    "LOAD httpfs": "LOAD",
    "SET enable_external_access = true": "SET",
    "PRAGMA database_list": "PRAGMA",
    "CALL pragma_version()": "CALL",
    "SELECT * FROM read_text('/etc/passwd')": "read_text",
    "SELECT * FROM read_csv('/etc/passwd')": "read_csv",
    "SELECT * FROM READ_CSV_AUTO('/etc/passwd')": "read_csv_auto",
    "SELECT (SELECT count(*) FROM glob('/etc/*'))": "glob",
    "SELECT * FROM orders WHERE order_id IN (SELECT 1 FROM read_parquet('x'))": "read_parquet",
    "WITH f AS (FROM read_blob('/etc/passwd')) SELECT * FROM f": "read_blob",
    "SELECT getenv('HOME')": "getenv",
    "SELECT * FROM duckdb_secrets()": "duckdb_secrets",
    "SELECT * FROM query('DELETE FROM orders')": "query",
    "FROM json_execute_serialized_sql('{}')": "json_execute_serialized_sql",
}

ENGINE_REFUSES = [
    "FROM '/etc/passwd'",
    "SELECT * FROM 'file.csv'",
    "FROM 'https://example.org/a.csv'",
]

ALLOWED = [
    "SELECT 1;",
    "select 1 -- a comment; with DROP TABLE in it",
    "SELECT 'drop table orders; delete from orders'",
    'SELECT channel AS update_time, count(*) AS "delete" FROM orders GROUP BY channel',
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders",
    "SELECT row_number() OVER (PARTITION BY channel ORDER BY amount) FROM orders LIMIT 5",
    "SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY channel ORDER BY amount) = 1",
    "FROM orders SELECT channel, sum(amount) GROUP BY ALL ORDER BY ALL",
    "SELECT x'01', [x + 1 FOR x IN [1, 2]], {'a': 1}.a",
    "SELECT * FROM big_orders LIMIT 3",
    "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT 1 -- " + "-(" * 200,
    "SELECT '" + "(" * 200 + "'",
    "SELECT '☃', \"customer_id\" FROM customers",
    "SUMMARIZE customers",
    "DESCRIBE orders",
    "SELECT * FROM customers ASOF JOIN orders ON customers.joined_on <= orders.ordered_at LIMIT 3",
]


@pytest.mark.parametrize(("sql", "word"), REFUSED.items())
def test_d13_d14_anything_else_is_refused_by_name(sql: str, word: str, engine_of: Engine) -> None:
    with pytest.raises(QueryRefused) as refused:
        engine_of.check(sql)
    assert refused.value.word == word
    assert refused.value.why


@pytest.mark.parametrize("sql", ALLOWED)
async def test_d15_legitimate_reads_pass_and_run(sql: str, runner: Runner) -> None:
    assert (await runner.run(sql)).row_count >= 1


@pytest.mark.parametrize("sql", ENGINE_REFUSES)
async def test_d14_a_file_in_place_of_a_table_is_refused(sql: str, runner: Runner) -> None:
    with pytest.raises(EngineError):
        await runner.run(sql)


def test_what_is_not_sql_is_an_error_with_a_place(engine_of: Engine) -> None:
    with pytest.raises(QueryError) as error:
        engine_of.check("SELECT 1,\n  FROM WHERE")
    assert error.value.line == 2


@pytest.mark.parametrize(
    "text", ["SELECT " + "(" * 50_000, "SELECT 1" + " " * 300_000, "SELECT 1\0"]
)
def test_a_text_made_to_hurt_the_parser_is_refused(text: str, engine_of: Engine) -> None:
    with pytest.raises(EngineError):
        engine_of.check(text)


@pytest.fixture
def engine_of(case: EngineCase, database: Path) -> Engine:
    """An engine that is not opened: checking needs no database."""
    return case.make(database)
