"""Results beside a database in a worker: only those of the query, and only read."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from awhile.ask.engines.duckdb.guard import check
from awhile.ask.engines.duckdb.kept import ToRunOver
from awhile.ask.engines.duckdb.session import DuckDBSession, DuckDBSettings, FileSession, Limits
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError, QueryRefused
from awhile.ask.engines.workers.serving import Running
from awhile.ask.results import page
from tests.machine.files.opening import opened
from tests.machine.results.writing import write_result

MIXED = "SELECT id, n FROM orders JOIN result_1 USING (id)"


@contextmanager
def session_of_a_file(folder: Path) -> Generator[DuckDBSession]:
    with duckdb.connect(folder / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE orders AS SELECT range AS id FROM range(9)")
    spill = folder / "spill"
    spill.mkdir()
    session = FileSession(DuckDBSettings(folder / "shop.duckdb", Limits(spill, 10**9, 10**9), 1.0))
    try:
        yield session
    finally:
        session.close()


@contextmanager
def session_of_files(folder: Path) -> Generator[DuckDBSession]:
    (folder / "orders.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(9)))
    with opened(folder, folder / "orders.csv") as files:
        yield files.session


@pytest.fixture(params=[session_of_a_file, session_of_files], ids=["a file", "files"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[DuckDBSession]:
    """What a worker has, in this process."""
    folder = tmp_path / "database"
    folder.mkdir()
    with request.param(folder) as session:
        yield session


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return write_result(tmp_path / "own.parquet", "SELECT 3 AS id, 42 AS n")


def run(
    session: DuckDBSession, sql: str, tables: Mapping[str, Path], folder: Path
) -> list[list[str | None]]:
    destination = folder / "of this query.parquet"
    order = ToRunOver(sql, 1_000_000, 2**40, destination, tables=tables)
    session.run(order, Running(threading.Event()))
    return page(destination, 0, 100).rows


def unguarded(session: DuckDBSession, sql: str) -> list[tuple[Any, ...]]:
    """What DuckDB makes of any text: no guard has seen it."""
    return session.confined(lambda: session.connection.execute(sql).fetchall())


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


WRITING = (
    "COPY (SELECT 1 AS n) TO 'awhile-results://0.parquet'",
    "COPY (SELECT 1 AS n) TO 'awhile-results://0.parquet' (FORMAT parquet, USE_TMP_FILE false)",
    "COPY (SELECT 1 AS n) TO 'awhile-results://1.parquet' (FORMAT parquet, OVERWRITE true)",
    "COPY result_1 TO '{own}'",
    "COPY orders TO '{folder}/new.csv'",
    "EXPORT DATABASE 'awhile-results://d'",
    "INSERT INTO result_1 VALUES (1, 2)",
    "DELETE FROM result_1",
    "UPDATE result_1 SET n = 1",
    "CREATE TABLE t AS FROM result_1",
    "ATTACH '{folder}/new.duckdb'",
)

READING = (
    "SELECT * FROM read_parquet('{other}')",
    "SELECT * FROM '{own}'",
    "SELECT * FROM read_parquet('awhile-results://1.parquet')",
    "SELECT * FROM read_parquet('awhile-results://../other.parquet')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM result_2",
    "SET allowed_directories = ['/']",
    "SET enable_external_access = true",
)


def test_d14_a_result_beside_the_database_is_only_read_and_alone(
    session: DuckDBSession, own: Path, tmp_path: Path
) -> None:
    """Field case D14: the engine itself refuses, whatever passes the guard; the guard, before."""
    other = write_result(tmp_path / "other.parquet", "SELECT 42 AS secret")
    assert run(session, MIXED, {"result_1": own}, tmp_path) == [["3", "42"]]
    before = contents(tmp_path)
    for text in (*WRITING, *READING):
        sql = text.format(own=own, other=other, folder=tmp_path)
        with pytest.raises(duckdb.Error):
            unguarded(session, sql)
        if text not in ("SELECT * FROM result_2", "SELECT * FROM '{own}'"):
            with pytest.raises((QueryRefused, QueryError)):
                check(sql)
    assert contents(tmp_path) == before


def test_d14_the_next_order_finds_no_result_of_the_one_before(
    session: DuckDBSession, own: Path, tmp_path: Path
) -> None:
    """Ours: whoever asks next may be somebody else; also after a failure."""
    card = session.describe(1.0, None)
    seen = session.catalog(None)
    assert run(session, MIXED, {"result_1": own}, tmp_path) == [["3", "42"]]
    with pytest.raises(QueryError, match="nome"):
        run(session, "SELECT nome FROM orders, result_1", {"result_1": own}, tmp_path)
    assert (session.catalog(None), session.describe(1.0, None)) == (seen, card)
    for sql in ("SELECT * FROM result_1", "FROM 'awhile-results://0.parquet'"):
        run(session, MIXED, {"result_1": own}, tmp_path)
        with pytest.raises(QueryError):
            run(session, sql, {}, tmp_path)
    views = "SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal"
    assert run(session, views, {}, tmp_path) == [["0"]]
    others = write_result(tmp_path / "others.parquet", "SELECT 4 AS id, 'other' AS n")
    assert run(session, MIXED, {"result_1": others}, tmp_path) == [["4", "other"]]


def test_a_result_that_is_gone_is_said_to_be_and_the_next_query_runs(
    session: DuckDBSession, own: Path, tmp_path: Path
) -> None:
    """Ours; also where it is deleted between the query's planning and its reading."""
    run(session, MIXED, {"result_1": own}, tmp_path)
    own.unlink()
    with pytest.raises(DatabaseNotOpened, match="the rows of result_1 are gone; list_runs shows"):
        run(session, MIXED, {"result_1": own}, tmp_path)
    again = write_result(tmp_path / "again.parquet", "SELECT 5 AS id, 1 AS n")
    session.read({"result_1": again})
    again.unlink()
    with pytest.raises(duckdb.Error):
        unguarded(session, "FROM result_1")
    assert session.results.trouble is not None
    assert "'result_1' can no longer be read" in session.results.trouble
    assert run(session, "SELECT count(*) FROM orders", {}, tmp_path) == [["9"]]


def test_a_result_hides_no_table_that_the_database_has_got_meanwhile(
    tmp_path: Path, own: Path
) -> None:
    """Ours: the name was the result's when it was looked up."""
    with session_of_a_file(tmp_path) as session:
        with pytest.raises(QueryError, match="the database has a table called Orders by now"):
            run(session, "SELECT * FROM orders", {"Orders": own}, tmp_path)
        assert session.stale()
