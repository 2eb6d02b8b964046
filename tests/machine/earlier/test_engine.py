"""SQL over kept results: exact values of their own types, and nothing else in reach."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import duckdb
import pytest

from awhile.ask.engines.contract import Budget, HowStopped
from awhile.ask.engines.duckdb.guard import tables_in
from awhile.ask.engines.duckdb.session import Limits
from awhile.ask.engines.earlier.engine import EarlierResults
from awhile.ask.engines.earlier.session import EarlierSession, EarlierSettings
from awhile.ask.engines.errors import EngineError, QueryError, QueryRefused
from awhile.ask.results import page
from tests.machine.results.writing import write_result

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 20


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[EarlierResults]:
    engine = EarlierResults(spill_folder=tmp_path, memory_limit_bytes=256 * 1024 * 1024)
    await engine.open()
    yield engine
    await engine.close()


async def rows(
    engine: EarlierResults, sql: str, tables: Mapping[str, Path], folder: Path
) -> list[list[str | None]]:
    destination = folder / "of this query.parquet"
    await engine.run_over(
        sql, tables, report=lambda _at: None, budget=Budget(), destination=destination
    )
    return page(destination, 0, 100).rows


def kept(path: Path, columns: Sequence[tuple[str, tuple[str, str]]]) -> Path:
    """A result whose columns another engine gave as texts: two values of each type, and NULL."""
    texts = ", ".join(
        f"unnest(['{one}', '{two}', NULL]) AS c{at}" for at, (_, (one, two)) in enumerate(columns)
    )
    return write_result(path, f"SELECT {texts}", [declared for declared, _ in columns])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[EarlierSession]:
    """What a worker has, in this process."""
    spill = tmp_path / "spill"
    spill.mkdir()
    session = EarlierSession(EarlierSettings(Limits(spill, 10**9, 256 * 1024 * 1024), 5))
    yield session
    session.close()


def asked(session: EarlierSession, sql: str) -> list[tuple[Any, ...]]:
    """Run a text with no guard before it."""
    return session.confined(_fetched, session, sql)


def _fetched(session: EarlierSession, sql: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(sql).fetchall()


TEXTS: dict[str, tuple[tuple[str, str], str]] = {
    "NUMERIC(10,2)": (("1.10", "-22.05"), "DECIMAL(38,2)"),
    "NUMERIC": (("0.000000000001", "12345678901234567890"), "DECIMAL(38,12)"),
    "HUGEINT": (("170141183460469231731687303715884105727", "-1"), "HUGEINT"),
    "INTEGER": (("9007199254740993", "0"), "BIGINT"),
    "DOUBLE": (("1e-05", "inf"), "DOUBLE"),
    "DATE": (("2024-02-29", "1999-12-31"), "DATE"),
    "TIMESTAMP": (("2024-02-29 23:59:59.123456", "1999-12-31 00:00:00"), "TIMESTAMP"),
    "TIMESTAMP WITH TIME ZONE": (
        ("2024-02-29 23:59:59+00", "1999-12-31 00:00:00+00"),
        "TIMESTAMP WITH TIME ZONE",
    ),
    "BOOLEAN": (("t", "f"), "BOOLEAN"),
}
"""Texts of a type, and the type they have again in SQL."""

AS_THEY_ARE = [
    ("NUMERIC", ("NaN", "1.5")),
    ("NUMERIC(60,30)", ("1.000000000000000000000000000001", "123456789012345678901234567890")),
    ("DATE", ("0044-03-15 BC", "2024-02-29")),
    ("TIMESTAMP", ("2024-02-29 23:59:59.123456789", "2024-02-29 00:00:00")),
    ("TIMESTAMP", ("2024-02-29 23:59:59+02", "2024-02-29 00:00:00+02")),
    ("ANY", ("12", "twelve")),
    ("UUID", ("a", "b")),
]
"""Texts of which one at least would not be itself in a type of numbers or times."""


def test_texts_are_numbers_and_times_again_where_that_loses_nothing(
    session: EarlierSession, tmp_path: Path
) -> None:
    columns = [(declared, values) for declared, (values, _) in TEXTS.items()]
    session.read({"result_1": kept(tmp_path / "r.parquet", columns)})
    [types] = asked(session, "SELECT typeof(COLUMNS(*)) FROM result_1 LIMIT 1")
    assert list(types) == [wanted for _, wanted in TEXTS.values()]
    counts = asked(session, "SELECT count(COLUMNS(*)) FROM result_1")
    assert counts == [(2,) * len(columns)]


def test_texts_stay_texts_where_one_value_would_not_be_itself(
    session: EarlierSession, tmp_path: Path
) -> None:
    session.read({"result_1": kept(tmp_path / "r.parquet", AS_THEY_ARE)})
    [types] = asked(session, "SELECT typeof(COLUMNS(*)) FROM result_1 LIMIT 1")
    assert set(types) == {"VARCHAR"}
    first = asked(session, "FROM result_1 LIMIT 1")
    assert first == [tuple(values[0] for _, values in AS_THEY_ARE)]


async def test_results_are_joined_and_summed_exactly(
    engine: EarlierResults, tmp_path: Path
) -> None:
    """Ours; field case D10: numbers past 2^53, and decimals, through a join."""
    sold = write_result(
        tmp_path / "sold.parquet",
        "SELECT 9007199254740993 + range AS id, (range || '.10') AS amount FROM range(3)",
        ["BIGINT", "NUMERIC(10,2)"],
    )
    named = write_result(
        tmp_path / "named.parquet",
        "SELECT 9007199254740993 + range AS id, 'n' || range AS name, 1 AS name FROM range(3)",
    )
    sql = (
        "SELECT name, sum(amount) AS total FROM result_1 JOIN result_2 USING (id) "
        "GROUP BY ALL ORDER BY name DESC"
    )
    tables = {"result_1": sold, "result_2": named}
    assert await rows(engine, sql, tables, tmp_path) == [
        ["n2", "2.10"], ["n1", "1.10"], ["n0", "0.10"],
    ]  # fmt: skip
    # The next query sees its own tables alone.
    with pytest.raises(QueryError, match="result_1"):
        await rows(engine, "SELECT * FROM result_1", {"result_2": named}, tmp_path)
    await engine.look_up("SELECT name FROM result_2", {"result_2": named})
    with pytest.raises(QueryError, match="nome"):
        await engine.look_up("SELECT nome FROM result_2", {"result_2": named})


async def test_a_query_over_results_is_really_stopped(
    engine: EarlierResults, tmp_path: Path
) -> None:
    """Ours; field case D3."""
    result = write_result(tmp_path / "r.parquet", "SELECT range AS n FROM range(100_000)")
    heavy = "SELECT sum(a.n * b.n % 7) FROM result_1 a, result_1 b, result_1 c"
    stopped: list[HowStopped] = []
    running = anyio.Event()

    async def run() -> None:
        await engine.run_over(
            heavy,
            {"result_1": result},
            report=lambda at: running.set() if at.stage == "running" else None,
            budget=Budget(),
            destination=tmp_path / "never.parquet",
            on_stopped=lambda how, _seconds: stopped.append(how),
        )

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await running.wait()
            group.cancel_scope.cancel()
    assert stopped[0] in ("engine_confirmed", "process_ended")
    assert not (tmp_path / "never.parquet").exists()


ESCAPES = (
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM read_parquet('{other}')",
    "SELECT * FROM glob('/etc/*')",
    "COPY (SELECT 1) TO '{own}'",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY (SELECT 1) TO 'awhile-files://0/result_1.parquet'",
    "ATTACH '{folder}/new.duckdb'",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "CREATE TABLE t AS SELECT 1",
)


@pytest.mark.parametrize("escape", ESCAPES)
def test_d14_a_worker_of_results_reads_those_of_its_query_and_writes_nothing(
    session: EarlierSession, tmp_path: Path, escape: str
) -> None:
    """Field case D14: the engine itself refuses, whatever passes the guard; others' results are
    none of the query's."""
    own = write_result(tmp_path / "own.parquet", "SELECT 1 AS n")
    other = write_result(tmp_path / "other.parquet", "SELECT 42 AS secret")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    session.read({"result_1": own})
    assert asked(session, "FROM result_1") == [(1,)]
    with pytest.raises(duckdb.Error):
        asked(session, escape.format(own=own, other=other, folder=tmp_path))
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert after == before


async def test_d14_the_guard_refuses_them_before(engine: EarlierResults, tmp_path: Path) -> None:
    """Field case D14."""
    own = write_result(tmp_path / "own.parquet", "SELECT 1 AS n")
    for escape in ESCAPES:
        sql = escape.format(own=own, other=own, folder=tmp_path)
        with pytest.raises(EngineError) as no:
            await rows(engine, sql, {"result_1": own}, tmp_path)
        assert isinstance(no.value, QueryRefused | QueryError)


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT * FROM result_3 JOIN Result_5 USING (a)", {"result_3", "result_5"}),
        ("WITH result_3 AS (SELECT 1) SELECT * FROM result_3", set[str]()),
        ("SELECT (SELECT max(x) FROM result_2) FROM main.result_9, range(3)",
         {"result_2", "main.result_9"}),
        ("WITH a AS (WITH b AS (FROM result_4) FROM b) SELECT * FROM a, orders",
         {"result_4", "orders"}),
        ("SELECT 'result_1' AS result_2 FROM t -- result_3", {"t"}),
    ],
)  # fmt: skip
def test_the_tables_of_a_text_are_told_by_duckdbs_own_parser(sql: str, named: set[str]) -> None:
    assert tables_in(sql) == named


def test_what_is_no_select_names_no_tables() -> None:
    assert tables_in("DROP TABLE result_1") is None
    assert tables_in("SELECT FROM WHERE") is None
