"""A SQLite file of somebody's: never changed, read while others write, and the reason said when it
cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest

from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.errors import DatabaseNotOpened, QueryRefused
from awhile.ask.engines.open import name_of, open_engine, without_password
from awhile.ask.engines.sqlite.engine import SQLiteEngine
from awhile.ask.engines.sqlite.session import SQLiteSettings, connect
from awhile.ask.results import page

pytestmark = pytest.mark.anyio


def written(path: Path, sql: str) -> Any:
    connection: Any = apsw.Connection(str(path))
    connection.execute(sql)
    return connection


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.sqlite"
    written(path, "CREATE TABLE t (x); INSERT INTO t VALUES (1)").close()
    return path


async def not_opened(path: Path) -> str:
    with pytest.raises(DatabaseNotOpened) as error:
        await SQLiteEngine(path).open()
    return str(error.value)


async def rows(engine: Engine, sql: str, folder: Path) -> list[list[str | None]]:
    path = folder / "r.parquet"
    await engine.run(sql, report=lambda at: None, budget=Budget(), destination=path)
    return page(path, 0, 100).rows


async def test_a_missing_file_is_named_and_not_made(tmp_path: Path) -> None:
    assert "there is no file" in await not_opened(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


async def test_a_file_of_another_kind_may_be_an_encrypted_one(tmp_path: Path) -> None:
    path = tmp_path / "secret.sqlite"
    path.write_bytes(bytes(range(256)) * 40)
    assert "encrypted" in await not_opened(path)


async def test_a_file_of_a_newer_version_is_named(file: Path) -> None:
    with file.open("r+b") as content:
        content.seek(18)
        content.write(b"\x09\x09")
    assert "newer version" in await not_opened(file)


async def test_a_file_locked_by_a_writer_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = written(file, "BEGIN EXCLUSIVE")
    assert "locked for writing" in await not_opened(file)
    writer.close()


async def test_a_log_that_others_write_is_read_as_it_grows(file: Path, tmp_path: Path) -> None:
    writer = written(file, "PRAGMA journal_mode = WAL")
    engine = SQLiteEngine(file)
    await engine.open()
    writer.execute("BEGIN; INSERT INTO t VALUES (2)")
    assert await rows(engine, "SELECT count(*) FROM t", tmp_path) == [["1"]]
    writer.execute("COMMIT; CREATE TABLE u (y)")
    assert await rows(engine, "SELECT count(*) FROM t", tmp_path) == [["2"]]
    assert (await engine.describe()).table("u") is not None
    await engine.close()
    writer.close()


async def test_a_file_put_in_its_place_is_what_the_next_question_reads(
    file: Path, tmp_path: Path
) -> None:
    engine = SQLiteEngine(file)
    await engine.open()
    assert await rows(engine, "SELECT x FROM t", tmp_path) == [["1"]]
    new = tmp_path / "new.sqlite"
    written(new, "CREATE TABLE t (x); INSERT INTO t VALUES (7)").close()
    await anyio.Path(new).replace(file)
    assert await rows(engine, "SELECT x FROM t", tmp_path) == [["7"]]
    await engine.close()


async def test_d11_a_column_of_mixed_values_shows_each_as_it_is(file: Path, tmp_path: Path) -> None:
    written(
        file,
        "CREATE TABLE m (v INTEGER); INSERT INTO m VALUES (1), ('12 pcs'), (x'0aff'), (2.5), "
        "(NULL), (9223372036854775807), (CAST(x'ff41' AS TEXT)), ('é')",
    ).close()
    engine = SQLiteEngine(file)
    await engine.open()
    got = await rows(engine, "SELECT v FROM m ORDER BY rowid -- all of them;", tmp_path)
    texts = ["1", "12 pcs", "x'0aff'", "2.5", None, "9223372036854775807", "\\xffA", "é"]
    assert got == [[text] for text in texts]
    await engine.close()


async def test_seconds_since_1970_in_a_column_declared_as_a_date_are_no_dates(file: Path) -> None:
    """Ours: compared with a date's text, every one of them would be smaller."""
    written(
        file,
        "CREATE TABLE d (a DATE, b TEXT, c DATETIME); INSERT INTO d VALUES "
        "(1735689600, '2025-01-01', '2025-01-01 10:00:00')",
    ).close()
    engine = SQLiteEngine(file)
    await engine.open()
    table = (await engine.describe()).table("d")
    await engine.close()
    assert table is not None
    assert [each.kind for each in table.columns] == ["integer", "date", "timestamp"]


async def test_a_full_text_and_a_spatial_index_can_be_searched(file: Path, tmp_path: Path) -> None:
    """Ours: each is a virtual table, which asks its own tables, and prepares to write to them."""
    written(
        file,
        "CREATE VIRTUAL TABLE notes USING fts5(body); INSERT INTO notes VALUES ('late delivery');"
        "CREATE VIRTUAL TABLE old USING fts4(body); INSERT INTO old VALUES ('late delivery');"
        "CREATE VIRTUAL TABLE spots USING rtree(id, x0, x1); INSERT INTO spots VALUES (1, 2, 3)",
    ).close()
    engine = SQLiteEngine(file)
    await engine.open()
    for sql, said in (
        (
            "SELECT highlight(notes, 0, '<', '>') FROM notes('late') ORDER BY rank",
            "<late> delivery",
        ),
        ("SELECT snippet(old) FROM old WHERE body MATCH 'late'", "<b>late</b> delivery"),
        ("SELECT id FROM spots WHERE x0 < 3", "1"),
    ):
        assert await rows(engine, sql, tmp_path) == [[said]]
    with pytest.raises(QueryRefused) as refused:
        await rows(engine, "SELECT * FROM pragma_data_version", tmp_path)
    assert refused.value.word == "pragma_data_version"
    await engine.close()


ESCAPES = [
    "INSERT INTO t VALUES (2)",
    "CREATE TABLE u (y)",
    "CREATE TEMP TABLE u (y)",
    "PRAGMA query_only = OFF; INSERT INTO t VALUES (2)",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ''",
    "ATTACH 'stolen.sqlite' AS s; CREATE TABLE s.u (y)",
    "VACUUM INTO 'stolen.sqlite'",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('stolen', 'x')",
]


@pytest.mark.parametrize("sql", ESCAPES)
def test_d14_the_engine_itself_refuses_whatever_passes_the_guard(
    sql: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    connection: Any = connect(SQLiteSettings(file, None, 1.0))
    with pytest.raises(apsw.Error):
        connection.execute(sql).fetchall()
    connection.close()
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_file_is_recognised_by_what_is_in_it(file: Path, tmp_path: Path) -> None:
    odd = file.rename(tmp_path / "sales.duckdb")
    assert open_engine(str(odd)).capabilities.name == "SQLite"
    assert open_engine(f"sqlite:///{odd}").capabilities.name == "SQLite"


def test_an_unknown_scheme_is_refused_without_its_password() -> None:
    with pytest.raises(DatabaseNotOpened, match="'oracle'") as error:
        open_engine("oracle://me:hunter2@host/db")
    assert "hunter2" not in str(error.value)


def test_a_url_is_shown_without_its_password() -> None:
    url = "postgresql://me:hunter2@host:5433/sales?sslmode=require"
    assert without_password(url) == "postgresql://me@host:5433/sales"
    assert name_of(url) == "sales"
    assert name_of("/data/shop.sqlite") == "shop"
