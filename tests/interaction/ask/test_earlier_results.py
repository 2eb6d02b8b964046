"""A person's earlier results as tables of later SQL, beside the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pytest

from awhile.ask.engines.contract import Budget
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.engines.files.engine import FilesEngine
from awhile.ask.engines.postgres.engine import PostgresEngine
from awhile.ask.engines.sqlite.engine import SQLiteEngine
from awhile.ask.results import Results
from awhile.ask.results.cache import Cache
from awhile.ask.results.names import ResultNames
from awhile.ask.results.storage import Folder, open_storage
from awhile.ask.semantics.engine import SemanticEngine
from awhile.ask.semantics.file import read
from awhile.errors import ToolFailed
from checks.postgres import Cluster
from tests.contract.engines.server import new_database
from tests.interaction.ask.conftest import App, serving

pytestmark = pytest.mark.anyio


async def refused(app: App, sql: str) -> dict[str, Any]:
    """The error of a text that was not run."""
    with pytest.raises(ToolFailed) as failed:
        await app.call("run_sql", sql=sql)
    error = failed.value.result["structuredContent"]["error"]
    assert error["kind"] == "QueryRefused"
    return error


async def test_results_have_names_by_which_later_sql_reads_them(quick: App) -> None:
    """Ours: and what was read is kept with the run, and said."""
    orders = await quick.call("ask", question="how many orders are there")
    numbers = await quick.call("run_sql", sql="SELECT range AS n FROM range(3)")
    assert (orders["result_name"], numbers["result_name"]) == ("result_1", "result_2")
    sql = "SELECT sum(n) + :more AS s FROM result_2, Result_1"
    checked = await quick.call("check_sql", sql=sql, parameters={"more": 1})
    assert checked["may_run"]
    answer = await quick.call("run_sql", sql=sql, parameters={"more": 1})
    assert (answer["rows"], answer["result_name"]) == ([["4"]], "result_3")
    assert answer["reading"] == (
        "Over earlier results in place of the database: result_1, result_2."
    )
    told = await quick.call("explain_run", run_id=answer["run_id"])
    assert told["earlier"] == {"result_1": orders["run_id"], "result_2": numbers["run_id"]}
    assert (told["engine"], told["result_name"]) == ("DuckDB", "result_3")
    listed = {run["run_id"]: run["result_name"] for run in (await quick.call("list_runs"))["runs"]}
    assert listed[numbers["run_id"]] == "result_2"
    text = (await quick.server.call("run_sql", {"sql": "FROM result_3"})).content[0]
    assert "kept as result_4" in text.text  # type: ignore[union-attr]


async def test_a_part_of_the_rows_is_not_passed_off_as_the_whole(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours; field case D9: also where it is what later SQL counts."""
    async with serving(tmp_path, warehouse, budget=Budget(rows=500)) as app:
        await app.call("run_sql", sql="SELECT range AS n FROM range(1203)")
        answer = await app.call("run_sql", sql="SELECT count(*) FROM result_1")
    assert answer["rows"] == [["500"]]
    assert "result_1 (only the first rows of more, so no total of it is one)" in answer["reading"]


async def test_what_is_no_result_or_no_longer_one_is_said_to_be_so(quick: App) -> None:
    """Ours."""
    nothing = await refused(quick, "SELECT * FROM result_1")
    assert "you have no results yet" in nothing["message"]
    assert (await refused(quick, "SELECT * FROM result_1, orders")) == nothing
    first = await quick.call("run_sql", sql="SELECT 1 AS n")
    await quick.call("run_sql", sql="SELECT 2 AS n")
    unknown = await refused(quick, "SELECT * FROM result_7")
    assert "your last one is result_2" in unknown["message"]
    (quick.results / f"{first['run_id']}.parquet").unlink()
    gone = await refused(quick, "SELECT * FROM result_1 JOIN result_2 USING (n)")
    assert "result_1 is no longer kept" in gone["message"]


async def test_results_are_joined_with_the_tables_of_a_duckdb_database(app: App) -> None:
    """Ours: in one statement, and what it used is kept and said as ever."""
    some = "SELECT order_id, 'late' AS why FROM orders ORDER BY order_id LIMIT :most"
    first = await app.call("run_sql", sql=some, parameters={"most": 3})
    sql = "SELECT why, count(*) AS n FROM orders JOIN Result_1 USING (order_id) WHERE why = :w "
    sql += "GROUP BY why"
    values = {"w": "late"}
    assert (await app.call("check_sql", sql=sql, parameters=values))["may_run"]
    answer = await app.call("run_sql", sql=sql, parameters=values)
    assert (answer["rows"], answer["result_name"]) == ([["late", "3"]], "result_2")
    assert answer["reading"] == "Over earlier results beside the database: result_1."
    told = await app.call("explain_run", run_id=answer["run_id"])
    assert told["earlier"] == {"result_1": first["run_id"]}
    assert (told["engine"], told["database"]) == ("DuckDB", "the sample")
    unknown = await refused(app, "SELECT * FROM orders, result_7")
    assert "your last one is result_2" in unknown["message"]
    for text in ("COPY (SELECT * FROM orders, result_1) TO 'x.csv'", "DELETE FROM result_1"):
        await refused(app, text)
    with pytest.raises(ToolFailed) as failed:
        await app.call("run_sql", sql="SELECT wy FROM orders, result_1")
    said = failed.value.result["structuredContent"]["error"]
    assert "wy" in said["message"]
    assert "may be a result of yours" not in str(said)


async def test_another_persons_result_is_unknown_beside_the_database_too(app: App) -> None:
    """Ours: the same look-up by owner decides; a result of one's own that is gone is told so."""
    mine = await app.call("run_sql", sql="SELECT 1 AS order_id")
    others = "f" * 32
    kept = app.results / f"{mine['run_id']}.parquet"
    (app.results / f"{others}.parquet").write_bytes(kept.read_bytes())
    names = ResultNames(Folder(app.results))
    assert names.give("somebody else", "e" * 32) == 1
    assert names.give("somebody else", others) == 2
    error = await refused(app, "SELECT * FROM orders, result_2")
    assert "no result of yours is called that" in error["message"]
    kept.unlink()
    gone = await refused(app, "SELECT * FROM orders JOIN result_1 USING (order_id)")
    assert "result_1 is no longer kept" in gone["message"]


async def test_a_table_that_is_called_like_a_result_is_the_databases(tmp_path: Path) -> None:
    """Ours: and a result of another number is joined with it."""
    database = tmp_path / "own.duckdb"
    with duckdb.connect(database) as connection:
        connection.execute("CREATE TABLE result_1 AS SELECT 7 AS n, 'table' AS origin")
    async with serving(tmp_path, database) as app:
        await app.call("run_sql", sql="SELECT 7 AS n, 'result' AS origin")
        second = await app.call("run_sql", sql="SELECT 7 AS n")
        assert second["result_name"] == "result_2"
        joined = await app.call(
            "run_sql", sql="SELECT origin FROM result_1 JOIN result_2 USING (n)"
        )
        told = await app.call("explain_run", run_id=joined["run_id"])
    assert joined["rows"] == [["table"]]
    assert told["earlier"] == {"result_2": second["run_id"]}


async def test_a_semantic_file_takes_nothing_from_what_can_be_joined(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: it says what words mean, and never what may be run."""
    file = tmp_path / "shop.yaml"
    file.write_text("examples:\n- {question: how was the day, sql: SELECT 2 AS day}\n")
    engine = SemanticEngine(DuckDBEngine(warehouse, spill_folder=tmp_path), read(file))
    async with serving(tmp_path, engine) as app:
        await app.call("run_sql", sql="SELECT 1 AS n")
        sql = "SELECT n FROM (SELECT * FROM orders LIMIT 1), result_1"
        assert (await app.call("check_sql", sql=sql))["may_run"]
        assert (await app.call("run_sql", sql=sql))["rows"] == [["1"]]


async def test_results_kept_elsewhere_are_joined_with_data_files(tmp_path: Path) -> None:
    """Ours: a copy on this machine is read, as for results alone."""
    (tmp_path / "orders.csv").write_text("id,city\n1,Oslo\n2,Rome\n")
    kept = Results(
        open_storage(f"memory://{uuid4().hex}", tmp_path / "drafts"),
        Cache(tmp_path / "views", 10**8),
    )
    engine = FilesEngine([tmp_path / "orders.csv"], spill_folder=tmp_path)
    async with serving(tmp_path, engine, results=kept) as app:
        await app.call("run_sql", sql="SELECT 2 AS id, 1.50 AS price")
        sql = "SELECT city, price FROM orders JOIN result_1 USING (id)"
        answer = await app.call("run_sql", sql=sql)
    assert answer["rows"] == [["Rome", "1.50"]]


async def test_where_the_engine_reads_no_results_the_two_steps_are_said(tmp_path: Path) -> None:
    """Ours: with what the first one's rows will be called."""
    database = tmp_path / "own.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1 AS id")
        connection.commit()
    async with serving(tmp_path, SQLiteEngine(database)) as app:
        await app.call("run_sql", sql="SELECT 1 AS id")
        mixed = await refused(app, "SELECT * FROM result_1, orders")
    assert mixed["message"] == (
        "refused because of 'result_1': it is a result of yours, and orders of the database: "
        "SQLite reads no results, so one text reads either. In two steps: run a SELECT on orders "
        "first, of what the join needs; its rows are then called result_2; and run this text with "
        "that name in place of it"
    )


async def test_another_persons_number_is_simply_unknown(quick: App) -> None:
    """Ours: numbers are each person's own."""
    mine = await quick.call("run_sql", sql="SELECT 1 AS n")
    others = "f" * 32
    names = ResultNames(Folder(quick.results))
    assert names.give("somebody else", others) == 1
    assert names.give("somebody else", "e" * 32) == 2
    (quick.results / f"{'e' * 32}.parquet").write_bytes(
        (quick.results / f"{mine['run_id']}.parquet").read_bytes()
    )
    assert (await quick.call("run_sql", sql="FROM result_1"))["rows"] == [["1"]]
    error = await refused(quick, "SELECT * FROM result_3")
    assert "no result of yours is called that" in error["message"]


@pytest.mark.postgres
async def test_results_of_postgresql_are_joined_beside_it(
    tmp_path: Path, postgres_cluster: Cluster
) -> None:
    """Ours: numbers that PostgreSQL gives as text are numbers again."""
    urls = new_database(postgres_cluster)
    async with serving(tmp_path, PostgresEngine(urls.reader)) as app:
        prices = (
            "SELECT n AS id, (n || '.10')::numeric(10, 2) AS price FROM generate_series(1, 3) n"
        )
        await app.call("run_sql", sql=prices)
        script = await app.call("run_script", sql="SELECT 2 AS id; FROM result_1 SELECT max(price)")
        handle = await app.server.resume(script["runs"][1]["run_id"])
        top: dict[str, Any] = (await handle.result()).structured_content or {}
        sql = "SELECT sum(price) AS total FROM result_1 JOIN result_2 USING (id)"
        joined = await app.call("run_sql", sql=sql)
    assert top["rows"] == [["3.10"]]
    assert joined["rows"] == [["2.10"]]
    assert joined["columns"] == [{"name": "total", "type": "DECIMAL(38,2)"}]
