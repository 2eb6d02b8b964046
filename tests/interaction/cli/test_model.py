"""`awhile model`: a draft of a semantic file, and whether one fits the database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner, Result

from awhile.cli.main import app


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create table orders (order_id integer primary key, placed_at date)")
        connection.execute("insert into orders values (1, date '2026-01-01')")
    return path


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["model", *words, "--data-folder", str(folder)])


def test_a_draft_is_written_checked_and_never_overwrites(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "semantic.yaml"
    drafted = run(tmp_path, "init", str(database), "--output", str(file))
    assert drafted.exit_code == 0, drafted.output
    assert "date: placed_at" in file.read_text()
    checked = run(tmp_path, "check", str(database), "--semantic-file", str(file))
    assert checked.exit_code == 0, checked.output
    again = run(tmp_path, "init", str(database), "--output", str(file))
    assert again.exit_code != 0
    assert "would be overwritten" in str(again.exception)


def test_a_file_that_does_not_fit_is_refused_with_its_lines(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "semantic.yaml"
    file.write_text("measures:\n  sly:\n    table: orders\n    sql: getenv('HOME')\n")
    checked = run(tmp_path, "check", str(database), "--semantic-file", str(file))
    assert checked.exit_code != 0
    assert "semantic.yaml:4: measures.sly.sql: the database does not take it" in str(
        checked.exception
    )
