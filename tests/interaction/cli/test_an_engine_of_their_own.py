"""An engine that somebody else's package brings, by an entry point, found where databases are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.open import open_engine
from awhile.cli import ends
from tests.interaction.cli.terminal import Place

ENGINE = '''
import pyarrow as pa

from awhile.ask.engines.contract import Capabilities, Column, Progress, QueryResult
from awhile.ask.engines.parquet import ParquetResult
from awhile.ask.schema import Schema, Table


class Books:
    """Answers every SELECT with what it was asked and of what."""

    capabilities = Capabilities(
        name="Books", dialect="duckdb", percent="none", estimate="none", interrupt="prompt",
        stop_within_seconds=1, stop_is_proven=True, side_by_side=1,
    )

    def __init__(self, database):
        self.database = database

    @classmethod
    def from_database(cls, database, *, side_by_side, memory_limit_bytes):
        if database.endswith("closed"):
            raise ValueError("these books are closed; name others")
        return cls(database)

    async def open(self): ...

    async def close(self): ...

    async def describe(self, *, principal=None):
        return Schema((), database="books")

    async def changed(self, since, *, principal=None):
        return False

    def check(self, sql, parameters=None): ...

    async def estimate(self, sql, *, parameters=None, principal=None):
        return None

    async def run(self, sql, *, report, budget, destination, on_stopped=None, parameters=None,
                  principal=None):
        report(Progress(None, 0, 0.0, "running"))
        columns = (Column("database", "TEXT"), Column("sql", "TEXT"))
        batch = pa.record_batch([[self.database], [sql]], names=["database", "sql"])
        with ParquetResult(destination, columns, batch.schema) as result:
            result.write(batch)
            result.finish(truncated=False)
        return QueryResult(columns, 1, False, destination, 0.0)
'''


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package as pip leaves one."""
    site = tmp_path / "site"
    told = site / "awhile_books-1.0.dist-info"
    told.mkdir(parents=True)
    (site / "awhile_books.py").write_text(ENGINE)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: awhile-books\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[awhile.engines]\nbooks = awhile_books:Books\n")
    return site


def test_an_engine_brought_by_an_entry_point_is_asked_by_the_scheme_of_its_urls(
    place: Place, installed: Path
) -> None:
    """Ours: by the command that everybody uses, which knows nothing of it."""
    asked = ("ask", "--sql", "SELECT 1", "--csv", "--database")
    path = ":".join([str(installed), *filter(None, sys.path)])
    done = place.run(*asked, "books://of/2026", PYTHONPATH=path)
    assert done.returncode == ends.RESULT, done.stderr
    assert done.stdout == "database,sql\nbooks://of/2026,SELECT 1\n"


def test_it_has_the_files_of_its_name_and_says_what_is_wrong_in_its_own_words(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours."""
    file = tmp_path / "of.books"
    with pytest.raises(DatabaseNotOpened, match="no engine takes 'books' URLs"):
        open_engine("books://of/2026")
    monkeypatch.setattr(sys, "path", [str(installed), *sys.path])
    assert open_engine(str(file)).capabilities.name == "Books"
    with pytest.raises(DatabaseNotOpened, match="these books are closed; name others"):
        open_engine("books://closed")
