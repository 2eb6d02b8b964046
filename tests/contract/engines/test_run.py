"""A query's rows, its progress, its budget and its errors."""

from __future__ import annotations

from pathlib import Path

import anyio
import pyarrow.parquet as pq
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.errors import QueryError, QueryInterrupted
from tests.contract.engines.cases import EngineCase
from tests.contract.engines.conftest import Runner

pytestmark = pytest.mark.anyio


def rows_in(path: Path) -> int:
    with pq.ParquetFile(path) as file:
        return file.metadata.num_rows


async def test_the_rows_are_in_the_file_and_counted(case: EngineCase, runner: Runner) -> None:
    result = await runner.run(case.numbers)
    assert (result.row_count, result.truncated) == (300_000, False)
    assert rows_in(result.path) == 300_000
    assert [column.name for column in result.columns] == ["n"]


async def test_a_result_without_rows_still_has_its_columns(runner: Runner) -> None:
    result = await runner.run("SELECT customer_id, name FROM customers WHERE 1 = 0")
    assert (result.row_count, result.truncated) == (0, False)
    assert [column.name for column in result.columns] == ["customer_id", "name"]
    assert rows_in(result.path) == 0


async def test_d8_reading_stops_at_the_row_budget(case: EngineCase, runner: Runner) -> None:
    result = await runner.run(case.numbers, Budget(rows=1203))
    assert (result.row_count, result.truncated, result.cut_by) == (1203, True, "rows")
    assert rows_in(result.path) == 1203


async def test_d8_a_result_of_exactly_the_budget_is_not_called_truncated(
    case: EngineCase, runner: Runner
) -> None:
    result = await runner.run(f"{case.numbers} LIMIT 1203", Budget(rows=1203))
    assert (result.row_count, result.truncated, result.cut_by) == (1203, False, None)


async def test_d8_reading_stops_at_the_byte_budget(case: EngineCase, runner: Runner) -> None:
    result = await runner.run(case.numbers, Budget(bytes=80_000))
    assert (result.truncated, result.cut_by) == (True, "bytes")
    # Eight bytes a number where it is kept as one; as text, some more and some fewer.
    assert 5_000 < result.row_count <= 12_000


async def test_reports_go_from_waiting_to_fetching_and_never_back(
    case: EngineCase, runner: Runner
) -> None:
    await runner.run(f"SELECT n, n * n FROM ({case.numbers}) AS t ORDER BY n * n DESC, n")
    order = ["waiting", "running", "fetching"]
    stages = [order.index(report.stage) for report in runner.reports]
    assert stages == sorted(stages)
    assert stages[0] == 0
    elapsed = [report.elapsed_seconds for report in runner.reports]
    assert elapsed == sorted(elapsed)


async def test_the_percentage_rises_between_0_and_100(case: EngineCase, runner: Runner) -> None:
    seen: list[float] = []
    for sql, seconds in ((case.endless["join"], 1.5), (case.numbers, 20)):
        runner.reports.clear()
        with anyio.move_on_after(seconds):
            await runner.run(sql)
        percents = [report.percent for report in runner.reports if report.percent is not None]
        assert percents == sorted(percents)
        seen += percents
    assert (seen == []) == (runner.engine.capabilities.percent == "none")
    assert all(0 <= percent <= 100 for percent in seen)


async def test_an_error_has_the_engines_words_and_the_place(runner: Runner) -> None:
    with pytest.raises(QueryError, match="colour") as error:
        await runner.run("SELECT customer_id,\n       colour\nFROM customers")
    assert (error.value.line, error.value.column) == (2, 8)
    assert runner.files() == []


async def test_an_error_of_syntax_has_its_place(runner: Runner) -> None:
    with pytest.raises(QueryError) as error:
        await runner.run("SELECT customer_id\nFORM customers x")
    assert error.value.line == 2


async def test_an_error_half_way_leaves_no_file(case: EngineCase, runner: Runner) -> None:
    with pytest.raises(QueryError):
        await runner.run(case.half_way)
    assert runner.files() == []
    assert (await runner.run("SELECT 1")).row_count == 1


async def test_queries_run_side_by_side_and_further_ones_wait(
    engine: Engine, case: EngineCase, runner: Runner
) -> None:
    places = engine.capabilities.side_by_side
    runners = [Runner(engine, runner.folder / str(number)) for number in range(places)]
    async with anyio.create_task_group() as group:
        for each in runners:
            each.folder.mkdir()
            group.start_soon(each.run, case.endless["scan"])
        for each in runners:
            await each.until(lambda at: at.stage == "running")
        with anyio.move_on_after(0.5):
            await runner.run("SELECT 1")
        assert [(report.stage, report.before) for report in runner.reports] == [("waiting", 0)]
        group.cancel_scope.cancel()
    assert runner.stopped == [("never_started", 0.0)]
    assert (await runner.run("SELECT 1")).row_count == 1


async def test_d6_a_query_over_its_time_is_stopped_and_says_so(
    case: EngineCase, runner: Runner
) -> None:
    with pytest.raises(QueryInterrupted, match=r"budget of 0\.7 s") as error:
        await runner.run(case.endless["scan"], Budget(seconds=0.7))
    assert error.value.how in ("engine_confirmed", "process_ended")
    assert runner.files() == []


async def test_d6_rows_that_come_for_ever_are_cut_off_too(case: EngineCase, runner: Runner) -> None:
    """Field case D6: the same time covers fetching, and it is said how much had been read."""
    endless = f"SELECT a.n AS n FROM ({case.numbers}) AS a CROSS JOIN ({case.numbers}) AS b"
    with pytest.raises(QueryInterrupted, match="rows read by then are not kept") as error:
        await runner.run(endless, Budget(rows=10**12, bytes=10**12, seconds=1.2))
    assert error.value.rows > 0
    assert runner.files() == []


def test_a_budget_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="room for one row"):
        Budget(rows=0)
