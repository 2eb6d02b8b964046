"""One contract, every engine: what differs between engines is a row of `CASES`."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import duckdb
import pytest

from awhile.ask.engines.contract import Budget, Engine, HowStopped, Progress, QueryResult
from awhile.ask.engines.duckdb.engine import DuckDBEngine


@dataclass(frozen=True)
class EngineCase:
    """How to make a database and an engine on it, and SQL that means the same in each."""

    name: str
    make: Callable[[Path], Engine]
    database: Callable[[Path], Path]
    numbers: str
    """One column `n`: a million whole numbers from 0."""
    endless: dict[str, str]
    """Queries that take minutes, by the kind of work the engine is in."""


def _duckdb_database(folder: Path) -> Path:
    path = folder / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            """
            CREATE TABLE customers (customer_id INTEGER, name VARCHAR, joined_on DATE);
            INSERT INTO customers
              SELECT range, 'Customer ' || range, DATE '2024-01-01' + range::INTEGER
              FROM range(600);
            CREATE TABLE orders (
              order_id BIGINT, customer_id INTEGER, channel VARCHAR, amount DECIMAL(10, 2),
              ordered_at TIMESTAMP);
            INSERT INTO orders
              SELECT range, range % 600,
                     if(range = 399_999, 'Fax', ['Store', 'Website', 'Phone'][1 + range % 3]),
                     range / 7, TIMESTAMP '2025-01-01' + to_minutes(range)
              FROM range(400_000);
            CREATE VIEW big_orders AS FROM orders WHERE amount > 1000;
            COMMENT ON TABLE orders IS 'One row for each order';
            """
        )
    return path


CASES = [
    EngineCase(
        name="duckdb",
        make=DuckDBEngine,
        database=_duckdb_database,
        numbers="SELECT range AS n FROM range(1_000_000)",
        endless={
            "scan": "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3",
            "join": "SELECT count(*) FROM orders a JOIN orders b ON a.amount < b.amount "
            "JOIN orders c ON hash(a.order_id, b.order_id) = c.order_id",
            "sort": "SELECT * FROM (SELECT range AS n, hash(range) AS h FROM range(400_000_000)) "
            "ORDER BY h, n DESC",
            "aggregate": "SELECT hash(range) % 40_000_000, count(DISTINCT hash(range, 1)) "
            "FROM range(4_000_000_000) GROUP BY 1",
        },
    )
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> EngineCase:
    found = request.param
    assert isinstance(found, EngineCase)
    return found


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each engine's database, made once."""
    return {case.name: case.database(tmp_path_factory.mktemp(case.name)) for case in CASES}


@pytest.fixture
def database(case: EngineCase, made: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copy(made[case.name], tmp_path))


@pytest.fixture
async def engine(case: EngineCase, database: Path) -> AsyncGenerator[Engine]:
    engine = case.make(database)
    await engine.open()
    yield engine
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
