"""Files in worker processes: opened, cancelled, killed; and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import anyio
import duckdb
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.engines.errors import DatabaseNotOpened, EngineLost
from awhile.ask.engines.files.engine import FilesEngine
from awhile.ask.engines.open import name_of, open_engine
from awhile.ask.engines.sqlite.engine import SQLiteEngine
from awhile.ask.results import page
from tests.contract.engines.workers import workers
from tests.machine.files.test_workbooks import write

pytestmark = pytest.mark.anyio


async def ask(engine: FilesEngine, sql: str, folder: Path) -> list[list[str | None]]:
    result = await engine.run(
        sql, report=lambda at: None, budget=Budget(), destination=folder / "r.parquet"
    )
    return page(result.path, 0, 100).rows


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_d3_what_a_killed_worker_had_spilled_is_gone_and_the_next_query_runs(
    tmp_path: Path,
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    path = tmp_path / "t.parquet"
    duckdb.connect().sql("SELECT range AS n FROM range(1_000)").to_parquet(str(path))
    engine = FilesEngine([path], spill_folder=spill, memory_limit_bytes=200_000_000, side_by_side=1)
    await engine.open()
    killed = anyio.Event()

    def look(_: object) -> None:
        spilled = [file for file in spill.glob("*/*") if file.suffix == ".tmp"]
        if spilled and not killed.is_set():
            killed.set()
            for worker in workers():
                worker.kill()  # as the system does that runs out of memory

    with anyio.fail_after(30), pytest.raises(EngineLost, match="unharmed"):
        await engine.run(
            "SELECT * FROM (SELECT hash(r) AS h, r FROM range(200_000_000) AS t(r)) ORDER BY h",
            report=look,
            budget=Budget(),
            destination=tmp_path / "r.parquet",
        )
    assert killed.is_set()
    assert [file for file in spill.glob("*/*") if file.suffix == ".tmp"] == []
    assert await ask(engine, "SELECT count(*) FROM t", tmp_path) == [["1000"]]
    await engine.close()
    assert names_in(spill) == []
    assert names_in(tmp_path) == ["r.parquet", "spill", "t.parquet"]


async def test_a_workbook_that_is_being_converted_can_be_stopped(tmp_path: Path) -> None:
    write(tmp_path / "large.xlsx", a=[[f"c{n}" for n in range(20)], *[list(range(20))] * 4_000])
    spill = tmp_path / "spill"
    spill.mkdir()
    engine = FilesEngine([tmp_path / "large.xlsx"], spill_folder=spill, grace_seconds=0.0)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(engine.open)
            while not list(spill.glob("*/converted/*/.*.part")):  # noqa: ASYNC110 - bounded
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()
    assert workers() == []
    assert names_in(spill) == []
    await engine.open()
    assert await ask(engine, "SELECT count(*), sum(c3) FROM large", tmp_path) == [["4000", "12000"]]
    await engine.close()


async def test_what_is_converted_is_kept_where_there_is_a_folder_for_it(tmp_path: Path) -> None:
    write(tmp_path / "book.xlsx", a=[["x"], [1]])
    for _ in range(2):
        engine = open_engine([str(tmp_path / "book.xlsx")], cache_folder=tmp_path / "kept")
        assert isinstance(engine, FilesEngine)
        await engine.open()
        assert (await engine.describe()).database == "book"
        await engine.close()
    [version] = (tmp_path / "kept").glob("*/*")
    assert names_in(version) == ["0.parquet", "sheets.json"]


async def test_the_card_is_read_again_once_a_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    engine = FilesEngine([tmp_path])
    await engine.open()
    first = await engine.describe()
    assert await engine.describe() is first
    assert not await engine.changed(first)
    path.write_text("a,b\n1,2\n")
    assert await engine.changed(first)
    table = (await engine.describe()).table("t")
    assert table is not None
    assert [column.name for column in table.columns] == ["a", "b"]
    await engine.close()


@pytest.mark.parametrize(
    ("names", "engine"),
    [
        (["a.csv"], FilesEngine),
        (["folder"], FilesEngine),
        (["a.csv", "folder", "b.xlsx"], FilesEngine),
        (["missing.parquet"], FilesEngine),
        (["renamed.dat"], FilesEngine),
        (["missing.duckdb"], DuckDBEngine),
        (["missing.db"], SQLiteEngine),
    ],
)
def test_an_engine_is_chosen_by_what_the_paths_are(
    names: list[str], engine: type[Engine], tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    duckdb.connect().sql("SELECT 1 AS x").to_parquet(str(tmp_path / "renamed.dat"))
    paths = [str(tmp_path / name) for name in names]
    assert type(open_engine(paths)) is engine


def test_a_database_among_data_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotOpened, match=r"'postgresql://me@host/shop' is a database by"):
        open_engine([str(tmp_path / "a.csv"), "postgresql://me:secret@host/shop"])


def test_a_question_without_quotes_is_seen_for_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotOpened, match="put a question of several words into quotes"):
        open_engine([str(tmp_path / "by"), str(tmp_path / "country")])


def test_several_files_are_called_by_the_first() -> None:
    assert name_of(["/data/sales.parquet"]) == "sales"
    assert name_of(["/data/sales.parquet", "b.csv", "c"]) == "sales and 2 more"
