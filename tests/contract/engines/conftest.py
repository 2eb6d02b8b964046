"""One contract, every engine: what differs between engines is a row of `CASES`."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from awhile.ask.engines.contract import Budget, Engine, HowStopped, Progress, QueryResult
from tests.contract.engines.cases import CASES, EngineCase
from tests.contract.engines.shops import SHOPS

_ALWAYS = {
    "files": {
        "test_a_query_reads_the_results_it_is_given_beside_the_database",
        "test_a_text_column_with_few_values_has_even_the_rare_one",
        "test_d13_d14_no_bypass_runs_and_nothing_is_changed_by_trying",
        "test_d15_legitimate_reads_pass_and_run",
        "test_d3_a_cancelled_query_leaves_the_file_readable_and_unchanged",
        "test_d6_a_query_over_its_time_is_stopped_and_says_so",
        "test_d8_reading_stops_at_the_row_budget",
        "test_every_question_gets_the_same_rows_from_every_engine",
        "test_keys_that_are_not_declared_are_inferred_and_say_so",
        "test_tables_columns_and_counts_are_there",
        "test_what_runs_in_duckdb_reads_results_and_nothing_else_does",
    },
    "sqlalchemy": {
        "test_a_cancel_at_any_moment_is_never_lost",
        "test_a_date_is_compared_as_one",
        "test_a_name_the_database_does_not_have_is_told_with_its_place",
        "test_d10_d11_every_value_has_an_exact_text",
        "test_d13_a_value_is_never_sql",
        "test_d13_d14_no_bypass_runs_and_nothing_is_changed_by_trying",
        "test_d15_legitimate_reads_pass_and_run",
        "test_d1_a_cancel_at_every_stage_stops_the_query_by_the_engines_own_list",
        "test_d8_reading_stops_at_the_row_budget",
        "test_every_question_gets_the_same_rows_from_every_engine",
        "test_tables_columns_and_counts_are_there",
        "test_the_declared_types_are_kept",
        "test_the_rows_are_in_the_file_and_counted",
        "test_what_runs_in_duckdb_reads_results_and_nothing_else_does",
    },
}
"""What is run with every other test, of engines that share most of their ways with another: data
files differ from DuckDB's own in what is read, and not in how a query runs; and SQLAlchemy's SQLite
is the second database of an engine whose first is MariaDB."""

_SELDOM = {
    "mariadb": {
        "test_a_mistake_beside_a_name_without_a_value_is_told_as_it_is",
        "test_a_query_cancelled_while_its_rows_arrive_leaves_no_file",
        "test_a_query_that_takes_minutes_is_estimated_without_being_run",
        "test_a_result_without_rows_still_has_its_columns",
        "test_a_schema_that_has_not_changed_is_the_same_object",
        "test_a_text_column_with_many_values_has_some",
        "test_a_text_made_to_hurt_the_parser_is_refused",
        "test_a_value_is_bound_to_every_place_of_its_name",
        "test_a_value_without_a_name_is_refused",
        "test_a_view_is_described_without_counting_its_rows",
        "test_closing_ends_every_process_of_the_engine",
        "test_closing_while_a_query_runs_is_told_to_whoever_waits",
        "test_d3_a_cancelled_query_leaves_the_file_readable_and_unchanged",
        "test_d8_a_result_of_exactly_the_budget_is_not_called_truncated",
        "test_d9_a_truncated_result_says_so_on_every_page",
        "test_parameters_are_bound_in_an_estimate_as_in_a_run",
        "test_queries_run_side_by_side_and_further_ones_wait",
        "test_reports_go_from_waiting_to_fetching_and_never_back",
        "test_the_percentage_rises_between_0_and_100",
        "test_what_looks_like_a_name_in_a_text_or_comment_is_none",
        "test_what_may_not_run_is_not_estimated_either",
    },
}
"""What shows the pool of workers, or what Python alone does: other engines show it as well."""


@pytest.hookimpl(tryfirst=True)  # before the marker is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make faults` what is shown by another engine as well."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        case = callspec and callspec.params.get("case")
        name = getattr(item, "originalname", "")
        if not isinstance(case, EngineCase):
            continue
        if name in _SELDOM.get(case.name, ()) or name not in _ALWAYS.get(case.name, (name,)):
            item.add_marker(pytest.mark.long)


@pytest.fixture(
    params=[
        pytest.param(case, marks=[getattr(pytest.mark, case.server.marker)] if case.server else [])
        for case in CASES
    ],
    ids=lambda case: case.name,
)
def case(request: pytest.FixtureRequest) -> EngineCase:
    found = request.param
    assert isinstance(found, EngineCase)
    return found


@pytest.fixture(scope="session")
def made() -> dict[str, str]:
    """Each engine's database, made once, when it is first needed."""
    return {}


@pytest.fixture
def database(
    case: EngineCase,
    made: dict[str, str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> str:
    """The path or URL of a database; a file is this test's own."""
    if case.name not in made:
        made[case.name] = case.database(tmp_path_factory.mktemp(case.name), request)
    found = Path(made[case.name]) if case.processes else None
    if found is None:
        return made[case.name]
    own = tmp_path / found.name
    return str(shutil.copytree(found, own) if found.is_dir() else shutil.copy(found, own))


@pytest.fixture
async def engine(case: EngineCase, database: str) -> AsyncGenerator[Engine]:
    engine = case.make(database)
    await engine.open()
    yield engine
    await engine.close()


@pytest.fixture
async def shop(
    case: EngineCase,
    made: dict[str, str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncGenerator[Runner]:
    """Runs queries on a shop with the same rows in every engine."""
    name = f"{case.name} shop"
    if name not in made:
        made[name] = SHOPS[case.name](tmp_path_factory.mktemp("shop"), request)
    folder = tmp_path / "shop results"
    folder.mkdir()
    engine = case.make(made[name])
    await engine.open()
    yield Runner(engine, folder)
    await engine.close()


@dataclass
class Runner:
    """Runs queries and keeps what was said about them."""

    engine: Engine
    folder: Path
    reports: list[Progress] = field(default_factory=list[Progress])
    stopped: list[tuple[HowStopped, float]] = field(default_factory=list[tuple[HowStopped, float]])

    @property
    def destination(self) -> Path:
        return self.folder / "result.parquet"

    async def run(self, sql: str, budget: Budget | None = None) -> QueryResult:
        return await self.engine.run(
            sql,
            report=self.reports.append,
            budget=budget or Budget(),
            destination=self.destination,
            on_stopped=lambda how, seconds: self.stopped.append((how, seconds)),
        )

    async def until(self, seen: Callable[[Progress], bool], seconds: float = 20) -> None:
        """Wait for a report of which `seen` is true."""
        with anyio.fail_after(seconds):
            while not any(seen(report) for report in self.reports):  # noqa: ASYNC110 - bounded
                await anyio.sleep(0.01)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def runner(engine: Engine, tmp_path: Path) -> Runner:
    folder = tmp_path / "results"
    folder.mkdir()
    return Runner(engine, folder)
