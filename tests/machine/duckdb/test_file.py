"""The user's file: opened only when needed, never changed, and the reason said when it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import duckdb
import psutil
import pytest

from awhile.ask.engines.contract import Budget
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.engines.duckdb.session import Limits, connect
from awhile.ask.engines.errors import DatabaseNotOpened, EngineLost, QueryError
from awhile.ask.schema import ForeignKey
from tests.contract.engines.workers import workers

pytestmark = pytest.mark.anyio

ENDLESS = "SELECT count(*) FROM range(100_000_000_000) WHERE hash(range) = 3"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x")
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def not_opened(path: Path) -> str:
    with pytest.raises(DatabaseNotOpened) as error:
        await DuckDBEngine(path).open()
    assert workers() == []
    return str(error.value)


async def ask(engine: DuckDBEngine, sql: str, folder: Path) -> int:
    result = await engine.run(
        sql, report=lambda at: None, budget=Budget(), destination=folder / "r.parquet"
    )
    return result.row_count


async def write_once_it_is_free(file: Path, sql: str) -> None:
    with anyio.fail_after(5):
        while True:
            try:
                with duckdb.connect(file) as connection:
                    connection.execute(sql)
                return
            except duckdb.IOException:
                await anyio.sleep(0.05)


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "there is no file" in await not_opened(tmp_path / "none.duckdb")
    assert names_in(tmp_path) == []


async def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.duckdb"
    path.write_text("hello\n" * 5000)
    assert "is not a DuckDB database" in await not_opened(path)


async def test_a_folder_is_named(tmp_path: Path) -> None:
    assert "is a folder" in await not_opened(tmp_path)


async def test_a_writer_in_another_process_is_named(file: Path) -> None:
    writer = subprocess.Popen(  # noqa: ASYNC220 - somebody else's program
        [
            sys.executable,
            "-c",
            "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()",
            str(file),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    with writer:
        writer.stdout.readline()
        with pytest.raises(DatabaseNotOpened) as error:
            await DuckDBEngine(file).open()
        said = str(error.value)
        writer.kill()
    assert f"PID {writer.pid}" in said
    assert "close it there" in said


async def test_its_owner_can_write_to_it_between_two_questions(file: Path, tmp_path: Path) -> None:
    engine = DuckDBEngine(file, release_after_seconds=0.1)
    await engine.open()
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 1
    await write_once_it_is_free(file, "INSERT INTO t VALUES (2)")
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 2
    await engine.close()


async def test_the_card_is_read_again_when_the_file_has_changed(file: Path) -> None:
    engine = DuckDBEngine(file, release_after_seconds=0.05)
    await engine.open()
    first = await engine.describe()
    assert await engine.describe() is first
    await write_once_it_is_free(file, "CREATE TABLE u AS SELECT 1 AS y")
    assert (await engine.describe()).table("u") is not None
    await engine.close()


async def test_a_file_put_in_its_place_is_what_the_next_question_reads(
    file: Path, tmp_path: Path
) -> None:
    """Ours: a nightly build is renamed into place; its old self stays readable, but is gone."""
    engine = DuckDBEngine(file)
    await engine.open()
    await engine.describe()
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 1
    new = tmp_path / "new.duckdb"
    with duckdb.connect(new) as connection:
        connection.execute("CREATE TABLE u AS SELECT * FROM range(3)")
    await anyio.Path(new).replace(file)
    assert (await engine.describe()).table("u") is not None
    assert await ask(engine, "SELECT * FROM u", tmp_path) == 3
    await anyio.Path(file).unlink()
    with pytest.raises(DatabaseNotOpened, match="there is no file"):
        await ask(engine, "SELECT * FROM u", tmp_path)
    await engine.close()


async def test_declared_keys_are_reported_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "keys.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE SCHEMA s; CREATE TABLE s.parents (id INTEGER PRIMARY KEY); "
            "CREATE TABLE s.kids (id INTEGER, p INTEGER REFERENCES s.parents (id))"
        )
    engine = DuckDBEngine(path)
    await engine.open()
    kids = (await engine.describe()).table("s.kids")
    await engine.close()
    assert kids is not None
    assert kids.foreign_keys == (ForeignKey(("p",), "s.parents", ("id",), declared=True),)


async def test_a_killed_worker_is_an_error_and_the_next_query_runs(
    file: Path, tmp_path: Path
) -> None:
    engine = DuckDBEngine(file)
    await engine.open()
    running = anyio.Event()

    async def kill() -> None:
        await running.wait()
        for child in workers():
            child.kill()

    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        with pytest.raises(EngineLost, match="unharmed"):
            await engine.run(
                ENDLESS,
                report=lambda at: running.set() if at.stage == "running" else None,
                budget=Budget(),
                destination=tmp_path / "r.parquet",
            )
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 1
    await engine.close()


async def test_a_worker_killed_before_it_took_the_query_up_is_replaced(
    file: Path, tmp_path: Path
) -> None:
    """Ours: nothing has run by then, so the query runs once, in a new worker."""
    engine = DuckDBEngine(file)
    await engine.open()
    dying = workers()
    for worker in dying:
        worker.suspend()  # alive to whoever looks, and deaf
    counts: list[int] = []

    async def query() -> None:
        counts.append(await ask(engine, "SELECT * FROM t", tmp_path))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(query)
            await anyio.wait_all_tasks_blocked()  # the query is sent, and waits to be taken up
            for worker in dying:
                worker.kill()
    assert counts == [1]
    await engine.close()


async def test_where_every_worker_is_killed_that_is_said_and_not_tried_for_ever(
    file: Path, tmp_path: Path
) -> None:
    engine = DuckDBEngine(file)
    await engine.open()

    async def kill_all() -> None:
        while True:
            for child in workers():
                child.kill()
            await anyio.sleep(0.001)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(kill_all)
            with pytest.raises(EngineLost, match="unharmed"):
                await ask(engine, "SELECT * FROM t", tmp_path)
            group.cancel_scope.cancel()
    await engine.close()


async def test_an_error_among_the_rows_is_said_like_any_other(file: Path, tmp_path: Path) -> None:
    """Ours: Arrow wraps it, as JSON, once rows have begun to come."""
    engine = DuckDBEngine(file)
    await engine.open()
    sql = "SELECT CASE range WHEN 900000 THEN CAST('x' || range AS INT) END FROM range(1000000)"
    with pytest.raises(QueryError) as error:
        await ask(engine, sql, tmp_path)
    await engine.close()
    assert error.value.message == "Conversion Error: Could not convert string 'x900000' to INT32"
    assert (error.value.line, error.value.column) == (1, 36)


async def test_memory_and_temporary_files_are_bounded_and_it_is_said_what_to_do(
    file: Path, tmp_path: Path
) -> None:
    """Ours: in words of this program's, for DuckDB's are about settings that are locked."""
    spill = tmp_path / "spill"
    spill.mkdir()
    engine = DuckDBEngine(
        file,
        side_by_side=1,
        spill_folder=spill,
        memory_limit_bytes=100_000_000,
        spill_limit_bytes=30_000_000,
    )
    await engine.open()
    told: list[str] = []
    for sql in (
        "SELECT * FROM (SELECT hash(range) AS h, range FROM range(200_000_000)) ORDER BY h",
        "SELECT list(range) FROM range(100_000_000)",
    ):
        with anyio.fail_after(30), pytest.raises(QueryError) as error:
            await ask(engine, sql, tmp_path)
        told.append(str(error.value))
    assert "more temporary files than the disk has room for" in told[0]
    assert "it needs more memory at once than a query may use" in told[1]
    assert all("ask for less at once" in one and "SET" not in one for one in told)
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 1
    await engine.close()
    assert not any(spill.iterdir())


async def test_d3_a_worker_that_does_not_answer_is_killed_and_its_spill_removed(
    file: Path, tmp_path: Path
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    engine = DuckDBEngine(
        file, grace_seconds=0.3, spill_folder=spill, memory_limit_bytes=200_000_000
    )
    await engine.open()
    stopped: list[str] = []
    spilled = anyio.Event()
    frozen: list[psutil.Process] = []

    def look(_: object) -> None:
        if any(spill.glob("*/*")):
            spilled.set()

    async def sort() -> None:
        await engine.run(
            "SELECT * FROM (SELECT hash(range) AS h, range FROM range(200_000_000)) ORDER BY h",
            report=look,
            budget=Budget(),
            destination=tmp_path / "r.parquet",
            on_stopped=lambda how, seconds: stopped.append(how),
        )

    async with anyio.create_task_group() as group:
        group.start_soon(sort)
        with anyio.fail_after(20):
            await spilled.wait()
        # A worker that is deep in something it cannot be called from: frozen, to be exact.
        frozen = workers()
        for worker in frozen:
            worker.suspend()
        group.cancel_scope.cancel()
    assert stopped == ["process_ended"]
    for worker in frozen:
        if worker.is_running():
            worker.resume()
    assert await ask(engine, "SELECT * FROM t", tmp_path) == 1
    await engine.close()
    assert names_in(spill) == []


async def test_what_a_killed_program_spilled_is_swept_at_the_next_start(
    file: Path, tmp_path: Path
) -> None:
    spill = tmp_path / "spill"
    ended = subprocess.Popen([sys.executable, "-c", ""])  # noqa: ASYNC220
    ended.wait()
    (spill / f"awhile-duckdb-{ended.pid}-x").mkdir(parents=True)
    (spill / "awhile-duckdb-1-x").mkdir()
    engine = DuckDBEngine(file, spill_folder=spill)
    await engine.open()
    await engine.close()
    assert names_in(spill) == ["awhile-duckdb-1-x"]


ESCAPES = [
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "FROM '/etc/passwd'",
    "SELECT * FROM parquet_metadata('x.parquet')",
    "COPY t TO 'stolen.csv'",
    "COPY (SELECT 1) TO 'stolen.parquet' (USE_TMP_FILE false)",
    "EXPORT DATABASE 'stolen'",
    "ATTACH 'other.duckdb'",
    "ATTACH ':memory:' AS m; COPY t TO '/tmp/stolen.csv'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "SET temp_directory = '/tmp/other'",
    "SET GLOBAL memory_limit = '100GB'",
    "PRAGMA enable_profiling = 'json'; SET profiling_output = '/tmp/stolen.json'",
    "INSERT INTO t VALUES (2)",
    "CREATE TABLE u AS SELECT 1",
    "DROP TABLE t",
    "UPDATE t SET x = 2",
    "WITH d AS (DELETE FROM t RETURNING *) FROM d",
    "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')",
]


@pytest.mark.parametrize("sql", ESCAPES)
def test_d14_the_engine_itself_refuses_whatever_passes_the_guard(
    sql: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock-down is the first line: these go to the connection with no guard before it."""
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    with (
        connect(file, Limits(tmp_path / "spill", 10**9, 10**9)) as connection,
        pytest.raises(duckdb.Error),
    ):
        connection.execute(sql).fetchall()
    assert file.read_bytes() == before
    assert names_in(tmp_path) == [file.name]


async def test_d8_a_huge_result_and_a_huge_cell_do_not_fill_memory(
    file: Path, tmp_path: Path
) -> None:
    engine = DuckDBEngine(file, side_by_side=1)
    await engine.open()
    peaks: list[int] = []

    def look(_: object) -> None:
        for child in workers():
            peaks.append(child.memory_info().rss)

    budget = Budget(rows=1_000_000)
    result = await engine.run(
        "SELECT range, hash(range), 'row ' || range FROM range(50_000_000)",
        report=look,
        budget=budget,
        destination=tmp_path / "r.parquet",
    )
    assert (result.row_count, result.truncated) == (1_000_000, True)
    assert max(peaks) < 600_000_000
    cell = await engine.run(
        "SELECT repeat('x', 200_000_000) AS cell",
        report=lambda at: None,
        budget=budget,
        destination=tmp_path / "cell.parquet",
    )
    assert cell.row_count == 1
    await engine.close()
