"""Results as tables of one query, beside the database, for the engines that read them."""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from awhile.ask.engines.contract import Budget, Engine, QueryResult, ReadsResults
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.results import page
from tests.contract.engines.cases import CASES, EngineCase
from tests.contract.engines.conftest import Runner
from tests.machine.results.writing import write_result

pytestmark = pytest.mark.anyio

READING = {"duckdb", "files"}

JOINED = (
    "SELECT channel, sum(price) AS total, max(amount) AS most FROM orders "
    "JOIN result_1 USING (order_id) GROUP BY ALL ORDER BY channel"
)


@pytest.fixture
def priced(tmp_path: Path) -> Path:
    """A result of another engine's: its numbers are texts in the file."""
    sql = "SELECT 399_997 + range AS order_id, (range || '.10') AS price FROM range(4)"
    return write_result(tmp_path / "priced.parquet", sql, ["BIGINT", "NUMERIC(10,2)"])


async def run_over(
    runner: Runner, sql: str, tables: dict[str, Path], budget: Budget | None = None
) -> QueryResult:
    assert isinstance(runner.engine, ReadsResults)
    return await runner.engine.run_over(
        sql,
        tables,
        report=runner.reports.append,
        budget=budget or Budget(),
        destination=runner.destination,
        on_stopped=lambda how, seconds: runner.stopped.append((how, seconds)),
    )


def test_what_runs_in_duckdb_reads_results_and_nothing_else_does(case: EngineCase) -> None:
    """Ours: another engine cannot read the files of results, so nothing is promised for it."""
    engine: Engine = case.make(f"{case.name}://x@127.0.0.1/x" if case.server else "no such file")
    assert isinstance(engine, ReadsResults) == (case.name in READING)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in READING], ids=lambda case: case.name
)
async def test_a_query_reads_the_results_it_is_given_beside_the_database(
    case: EngineCase, runner: Runner, priced: Path
) -> None:
    """Ours; field case D10: exact through the join, and gone with the query."""
    engine = runner.engine
    assert isinstance(engine, ReadsResults)
    before = await engine.describe()
    await run_over(runner, JOINED, {"result_1": priced})
    assert page(runner.destination, 0, 9).rows == [
        ["Fax", "2.10", "57142.71"], ["Phone", "1.10", "57142.57"], ["Website", "0.10", "57142.43"],
    ]  # fmt: skip
    await engine.look_up(JOINED, {"result_1": priced})
    with pytest.raises(QueryError, match="prize"):
        await engine.look_up("SELECT prize FROM orders, result_1", {"result_1": priced})
    for tables in ({"result_2": priced}, {}):
        with pytest.raises(QueryError, match="result_1"):
            await run_over(runner, "FROM orders, result_1", tables)
    with pytest.raises(QueryError, match="result_1"):
        await runner.run("SELECT * FROM result_1")
    assert await engine.describe() == before
    await anyio.to_thread.run_sync(priced.unlink)
    with pytest.raises(DatabaseNotOpened, match="the rows of result_1 are gone"):
        await run_over(runner, JOINED, {"result_1": priced})
    assert (await runner.run("SELECT count(*) FROM customers")).row_count == 1


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in READING], ids=lambda case: case.name
)
async def test_a_query_over_results_beside_the_database_is_cut_and_stopped_as_every_one(
    case: EngineCase, runner: Runner, priced: Path
) -> None:
    """Ours; field cases D3, D6 and D8."""
    tables = {"result_1": priced}
    cut = await run_over(runner, "FROM orders, result_1", tables, Budget(rows=1_000))
    assert (cut.row_count, cut.cut_by) == (1_000, "rows")
    runner.destination.unlink()
    runner.reports.clear()
    endless = case.endless["join"].replace("orders a", "orders a CROSS JOIN result_1")
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(run_over, runner, endless, tables)
            await runner.until(lambda at: at.stage == "running")
            group.cancel_scope.cancel()
    assert runner.stopped[-1][0] in ("engine_confirmed", "process_ended")
    assert runner.files() == []
    again = await run_over(runner, JOINED, tables)
    assert again.row_count == 3
