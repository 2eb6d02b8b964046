"""D14: what is given is read, and nothing on this machine can be written through it."""

from __future__ import annotations

import json
import os
from contextlib import closing, nullcontext
from pathlib import Path

import duckdb
import pytest

from awhile.ask.engines.duckdb.confined import Confined
from awhile.ask.engines.duckdb.reading import Entry, ReadOnlyFiles
from awhile.ask.engines.stamp import stamp_of
from awhile.processes.landlock import version
from tests.contract.engines.workbooks import write_workbook
from tests.machine.files.opening import opened

KINDS = {"csv": "t.csv", "parquet": "t.parquet", "json": "t.json", "excel": "t.xlsx"}
OTHERS = {"csv": "csv", "parquet": "parquet", "json": "json", "excel": "csv"}


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def source(kind: str, tmp_path: Path) -> Path:
    """A file of that kind, with a table of one row."""
    path = tmp_path / KINDS[kind]
    row = duckdb.connect().sql("SELECT 1 AS a, 'x' AS b")
    match kind:
        case "csv":
            row.to_csv(str(path))
        case "parquet":
            row.to_parquet(str(path))
        case "json":
            path.write_text(json.dumps([{"a": 1, "b": "x"}]))
        case _:
            write_workbook(path, sheet=row)
    return path


def test_d14_no_statement_writes_the_file_even_with_no_guard_before_it(
    kind: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the worker's own connection, as it is locked, as whoever runs this (in CI: root)."""
    monkeypatch.chdir(tmp_path)
    before = source.read_bytes()
    ran: list[str] = []
    with opened(tmp_path, source) as files:
        assert files.rows("FROM t") == [["1", "x"]]
        [card] = files.unguarded("SELECT sql FROM duckdb_views() WHERE view_name = 't'")
        location = str(card[0]).split("'")[1]
        assert location.startswith("awhile-files://0/")
        form = OTHERS[kind]
        for to in (str(source), source.name, f"./{source.name}", f"file://{source}", location):
            for more in ("", ", USE_TMP_FILE false", ", OVERWRITE true", ", APPEND true"):
                sql = f"COPY (SELECT 2 AS a) TO '{to}' (FORMAT {form}{more})"
                try:
                    files.unguarded(sql)
                except duckdb.Error:
                    continue
                ran.append(sql)
        for sql in (
            "COPY (SELECT 2) TO 'awhile-files://0/new.csv'",
            "COPY (SELECT 2) TO 'awhile-files://../new.csv'",
            "COPY (SELECT 2 AS a, 3 AS b) TO 'awhile-files://d' (FORMAT csv, PARTITION_BY (a))",
            "EXPORT DATABASE 'awhile-files://d'",
            "EXPORT DATABASE 'd'",
            "ATTACH 'awhile-files://0/new.duckdb'",
            f"ATTACH '{tmp_path}/new.duckdb'",
            "CREATE TABLE u AS SELECT 1",
            "CREATE OR REPLACE VIEW t AS SELECT 2 AS a",
            "DROP VIEW t",
            "COMMENT ON VIEW t IS 'x'",
            "SET allowed_paths = ['/']",
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            "SET temp_directory = '/tmp'",
            "INSTALL httpfs",
            "LOAD httpfs",
        ):
            try:
                files.unguarded(sql)
            except duckdb.Error:
                continue
            ran.append(sql)
        assert files.rows("FROM t") == [["1", "x"]]
    assert ran == []
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of the session", source.name]


ELSEWHERE = (
    "read_text('/etc/hostname')",
    "read_csv('/etc/passwd')",
    "'/etc/passwd'",
    "glob('/*')",
    "glob('awhile-files://*')",
    "read_text('awhile-files://../../../etc/passwd')",
    "read_text('awhile-files:///etc/passwd')",
    "read_text('AWHILE-FILES:///etc/passwd')",
    "read_text('file:awhile-files:///etc/passwd')",
    "read_text(['awhile-files://0/t.csv', '/etc/passwd'])",
    "parquet_metadata('awhile-files:///etc/passwd')",
)


def test_d14_no_statement_reads_another_file_or_says_what_files_there_are(tmp_path: Path) -> None:
    """Again on the worker's connection, with no guard before it."""
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    read: dict[str, object] = {}
    with opened(tmp_path, named=["t.csv"]) as files:
        for relation in ELSEWHERE:
            try:
                rows = files.unguarded(f"FROM {relation}")
            except duckdb.Error:
                rows = []
            if rows:
                read[relation] = rows
    assert read == {}


def test_d14_the_kernel_denies_writing_were_duckdbs_own_lock_to_fail(
    kind: str, source: Path, tmp_path: Path
) -> None:
    """As it has failed: a path that DuckDB may read is one that it may write. Where the kernel has
    no Landlock, that path is still not one that a worker's DuckDB may reach (above)."""
    before = source.read_bytes()
    spill = tmp_path / "spill"
    spill.mkdir()
    confined = Confined(spill)

    def overwrite() -> None:
        with duckdb.connect() as connection:
            connection.execute(f"SET allowed_paths = ['{source}', '{spill}/s.csv']")
            connection.execute("SET enable_external_access = false; SET lock_configuration = true")
            connection.execute(f"COPY (SELECT 2) TO '{spill}/s.csv' (USE_TMP_FILE false)")
            form = OTHERS[kind]
            connection.execute(f"COPY (SELECT 2) TO '{source}' (FORMAT {form}, USE_TMP_FILE false)")

    denied = pytest.raises(duckdb.IOException, match="Permission denied")
    with closing(confined), denied if version() > 0 else nullcontext():
        confined(overwrite)
    assert (spill / "s.csv").exists()
    assert confined.is_denied == (version() > 0)
    assert (source.read_bytes() == before) == confined.is_denied


def test_the_file_system_duckdb_is_given_opens_for_reading_alone(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("a\n1\n")
    stamp = stamp_of(source)
    assert stamp is not None
    files = ReadOnlyFiles({"awhile-files://0/a.csv": Entry("a.csv", source, stamp)})
    for mode in ("wb", "ab", "rb+", "r+b", "xb", "w"):
        with pytest.raises(PermissionError):
            files.open("awhile-files://0/a.csv", mode)
    with pytest.raises(FileNotFoundError):
        files.open("awhile-files://0/b.csv")
    descriptor = files.open("awhile-files://0/a.csv")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(descriptor.fileno(), b"2")
    assert descriptor.read(100) == b"a\n1\n"
    descriptor.close()
    assert source.read_text() == "a\n1\n"
