"""Ask your database, as any MCP host sees it."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from awhile import CancelOutcome, StoppedHow
from awhile.ask.engines.contract import Budget
from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import HEAVY, PATIENCE_SECONDS, App, serving

pytestmark = pytest.mark.anyio


async def test_a_question_becomes_sql_and_ends_as_a_table(app: App) -> None:
    """Ours."""
    answer = await app.call("ask", question="how many customers are there")
    assert answer["confidence"] == "grounded"
    assert answer["sql"].startswith("SELECT")
    assert answer["reading"]
    assert answer["rows"] == [["600"]]
    assert (answer["row_count"], answer["truncated"]) == (1, False)


async def test_what_is_not_understood_is_refused_with_what_can_be_asked(app: App) -> None:
    """Ours."""
    answer = await app.call("ask", question="how happy is the weather")
    assert "rows" not in answer
    assert "weather" in answer["refusal"]["not_understood"]
    assert "customers" in answer["refusal"]["tables"]


async def test_what_has_two_readings_is_asked_back_and_each_choice_answers(app: App) -> None:
    """Ours."""
    answer = await app.call("ask", question="average revenue by country")
    choices = answer["question_back"]["choices"]
    assert len(choices) >= 2
    for choice in choices:
        assert (await app.call("ask", question=choice["question"]))["row_count"] >= 1


async def test_a_retry_with_the_same_key_finds_the_same_run(app: App) -> None:
    """Ours: a reply may be lost on the way."""
    question = "how many orders are there"
    answers = [await app.call("ask", question=question, request_key="k") for _ in range(3)]
    assert len({answer["run_id"] for answer in answers}) == 1
    assert len((await app.call("list_runs"))["runs"]) == 1


async def test_a_mistake_in_sql_is_told_with_its_place(app: App) -> None:
    """Ours; field case A8."""
    with pytest.raises(ToolFailed, match="nonsense") as failed:
        await app.call("run_sql", sql="SELECT nonsense FROM orders")
    content = failed.value.result["structuredContent"]
    await app.check("run_sql", content)
    assert (content["error"]["line"], content["error"]["column"]) == (1, 8)
    assert content["error"]["kind"] == "QueryError"


@pytest.mark.parametrize(
    "sql",
    ["DROP TABLE orders", "SELECT 1; SELECT 2", "SELECT * FROM read_text('/etc/passwd')"],
)
async def test_what_is_not_one_reading_select_is_refused(app: App, sql: str) -> None:
    """Ours; field cases D13 and D14."""
    with pytest.raises(ToolFailed) as failed:
        await app.call("run_sql", sql=sql)
    assert failed.value.result["structuredContent"]["error"]["kind"] == "QueryRefused"


async def test_all_rows_can_be_paged_sorted_and_filtered_without_rounding(app: App) -> None:
    """Ours; field case D10."""
    sql = "SELECT 9007199254740993 + range AS n, 1.10::DECIMAL(9, 2) AS price FROM range(120)"
    answer = await app.call("run_sql", sql=sql)
    assert len(answer["rows"]) == 50
    page = await app.call(
        "result_rows",
        run_id=answer["run_id"],
        offset=119,
        limit=10,
        sort_column=0,
        descending=True,
    )
    assert page["rows"] == [["9007199254740993", "1.10"]]
    assert (page["row_count"], page["matching_rows"]) == (120, 120)
    some = await app.call(
        "result_rows",
        run_id=answer["run_id"],
        filters=[
            {"column": 0, "operator": ">=", "value": "9007199254741111"},
            {"column": 1, "operator": "=", "value": "1.1"},
        ],
    )
    assert some["rows"] == [["9007199254741111", "1.10"], ["9007199254741112", "1.10"]]
    assert (some["row_count"], some["matching_rows"]) == (120, 2)


async def test_a_heavy_query_is_listed_while_it_runs_and_really_stopped(app: App) -> None:
    """Ours; field case D3."""
    handle = await app.start("run_sql", sql=HEAVY)
    with anyio.fail_after(PATIENCE_SECONDS):
        async for now in handle.watch():
            if now.message == "Running the query":
                break
        (run,) = (await app.call("list_runs"))["runs"]
        assert (run["run_id"], run["status"], run["sql"]) == (handle.id, "working", HEAVY)
        assert await handle.cancel() is CancelOutcome.CANCELLED
    (run,) = (await app.call("list_runs"))["runs"]
    assert run["status"] == "cancelled"
    assert run["stopped_how"] in {StoppedHow.ENGINE_CONFIRMED, StoppedHow.PROCESS_ENDED}
    assert list(app.results.glob("*.parquet")) == []


async def test_rows_of_a_run_that_has_none_are_told_why(app: App) -> None:
    """Ours."""
    refused = await app.call("ask", question="how happy is the weather")
    with pytest.raises(ToolFailed, match="without rows"):
        await app.call("result_rows", run_id=refused["run_id"])
    with pytest.raises(ToolFailed, match="no such run"):
        await app.call("result_rows", run_id="0" * 32)
    answer = await app.call("run_sql", sql="SELECT 1 AS n")
    for wrong, said in (
        ({"sort_column": 1}, "there are 1"),
        ({"filters": [{"column": 0, "operator": ">", "value": "x"}]}, "'x' is no number"),
    ):
        with pytest.raises(ToolFailed, match=said):
            await app.call("result_rows", run_id=answer["run_id"], **wrong)


async def test_the_database_is_described_with_questions_that_work(app: App) -> None:
    """Ours."""
    described = await app.call("describe_database")
    assert {"customers", "orders", "order_lines", "products"} <= {
        table["name"] for table in described["tables"]
    }
    assert described["dialect"] == "duckdb"
    (lines,) = [one for one in described["tables"] if one["name"] == "order_lines"]
    columns = {one["name"]: one for one in lines["columns"]}
    assert columns["product_id"]["references"] == "products.product_id"
    assert columns["quantity"]["kind"] == "integer"
    assert described["examples"]
    quick = described["examples"][0]
    assert "rows" in await app.call("ask", question=quick)


async def test_the_schema_can_be_read_as_resources(app: App) -> None:
    """Ours."""
    everything = await app.server.read_resource("schema://tables")
    tables = json.loads(everything.contents[0].text)  # type: ignore[union-attr]
    one = await app.server.read_resource("schema://tables/orders")
    orders = json.loads(one.contents[0].text)  # type: ignore[union-attr]
    assert orders in tables
    assert "order_id" in [column["name"] for column in orders["columns"]]


async def test_a_row_larger_than_a_result_may_be_is_said_to_be(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours; field case D8."""
    async with serving(tmp_path, warehouse, budget=Budget(bytes=1000)) as app:
        result = await app.server.call("run_sql", {"sql": "SELECT repeat('x', 100000)"})
        assert "the first one alone is larger" in result.content[0].text  # type: ignore[union-attr]


async def test_a_query_that_waits_for_a_place_says_how_many_come_before(app: App) -> None:
    """Ours: two run at once."""
    handles = [await app.start("run_sql", sql=HEAVY) for _ in range(3)]
    with anyio.fail_after(PATIENCE_SECONDS):
        async for now in handles[2].watch():
            if now.message == "Waiting for a place: 1st in line":
                break
        for handle in reversed(handles):
            assert await handle.cancel() is CancelOutcome.CANCELLED
