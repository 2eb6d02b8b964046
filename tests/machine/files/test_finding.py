"""Which files there are, and which tables they make."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

from awhile.ask.engines.files import catalog, finding
from awhile.ask.engines.files.finding import find
from tests.machine.files.opening import opened, refusal


def write(folder: Path, *names: str, content: str = "id,name\n1,a\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def parquet(path: Path, sql: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.connect().sql(sql).to_parquet(str(path))


def names_found(*paths: Path) -> list[str]:
    return [file.name for file in find(paths).files]


def test_hidden_files_are_none_and_others_that_are_no_data_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", ".b.csv", "_c.csv", "~$book.xlsx", ".git/d.csv", "deep/er/e.CSV")
    write(tmp_path, "notes.txt", "run.py")
    write(tmp_path, "empty.json", content="")
    found = find([tmp_path])
    folder = tmp_path.name
    assert [file.name for file in found.files] == [f"{folder}/a.csv", f"{folder}/deep/er/e.CSV"]
    assert found.notes == [
        f"left out of {folder!r}, which are empty: 'empty.json'",
        f"left out of {folder!r}, which are not Parquet, CSV, TSV, JSON, NDJSON or Excel, by their "
        "names: 'notes.txt', 'run.py'",
    ]


def test_a_link_is_followed_as_long_as_it_stays_in_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "data/real/a.csv", "secret.csv", "other/b.csv")
    data = tmp_path / "data"
    (data / "inside.csv").symlink_to("real/a.csv")
    (data / "outside.csv").symlink_to(tmp_path / "secret.csv")
    (data / "other").symlink_to(tmp_path / "other")
    (data / "nowhere.csv").symlink_to("gone.csv")
    (data / "loop").symlink_to(data)
    found = find([data])
    assert [file.path for file in found.files] == [data / "real" / "a.csv"]
    assert [note for note in found.notes if "outside.csv" in note] == [
        "left out of 'data', which are links to elsewhere (give them by themselves): 'other', "
        "'outside.csv'"
    ]
    assert any("'nowhere.csv'" in note for note in found.notes)
    # A person who names a link means what it leads to, by the name that was given.
    [given] = find([data / "outside.csv"]).files
    assert (given.name, given.path) == ("outside.csv", tmp_path / "secret.csv")


@pytest.mark.parametrize("log", ["_delta_log/0.json", ".hoodie/x", "metadata/v1.metadata.json"])
def test_a_table_that_keeps_versions_is_not_read_as_plain_files(log: str, tmp_path: Path) -> None:
    """Only its log tells which rows count; all of them together were never anybody's table."""
    write(tmp_path, "data/t/part-0.csv", f"data/t/{log}", "data/plain.csv")
    found = find([tmp_path / "data"])
    assert [file.name for file in found.files] == ["data/plain.csv"]
    assert "tables of Delta, Iceberg or Hudi" in found.notes[0]
    assert "export what is to be asked" in refusal(tmp_path, "data/t")


def test_a_file_that_is_given_twice_is_one(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "b.csv")
    assert names_found(tmp_path / "b.csv", tmp_path, tmp_path / "a.csv") == [
        "b.csv",
        f"{tmp_path.name}/a.csv",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.csv", "there is no file or folder '{}'; check the path"),
        ("*.csv", "there is no file or folder '{}'; check the path"),
        ("empty.csv", "'{}' is empty, so there is nothing to ask about"),
        ("data.dat", "'{}' is not known to be Parquet, CSV, TSV, JSON, NDJSON or Excel; name it"),
        ("folder", "there is no Parquet, CSV, TSV, JSON, NDJSON or Excel file in '{}'"),
        ("pipe.csv", "'{}' is neither a file nor a folder"),
        ("loop.csv", "'{}' cannot be read: "),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_next_step(
    name: str, said: str, tmp_path: Path
) -> None:
    write(tmp_path, "data.dat", "folder/notes.txt")
    write(tmp_path, "empty.csv", content="")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert refusal(tmp_path, name).startswith(said.format(tmp_path / name))


def test_parquet_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    parquet(tmp_path / "export.000", "SELECT 1 AS x")
    with opened(tmp_path, named=["export.000"]) as files:
        assert files.rows("FROM export") == [["1"]]


def test_too_many_files_are_refused_and_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MOST_FILES", 3)
    write(tmp_path, *(f"{n}/a.csv" for n in range(4)))
    assert "more files than are opened together (3 data files" in refusal(tmp_path, "")
    monkeypatch.setattr(finding, "_MOST_ENTRIES", 5)
    write(tmp_path, *(f"notes{n}.txt" for n in range(9)))
    assert "give a smaller folder, or some of the files" in refusal(tmp_path, "")


def test_too_many_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_MOST_TABLES", 2)
    write(tmp_path, "data/a.csv", "data/b.csv", "data/c.csv")
    assert "make 3 tables, and 2 are opened together" in refusal(tmp_path, "data")


def test_a_file_of_a_folder_that_cannot_be_read_is_left_out_with_the_reason(
    tmp_path: Path,
) -> None:
    write(tmp_path, "data/a.csv")
    write(tmp_path, "data/bad.parquet", "data/bad.xlsx", "data/bad.json", content="nonsense{")
    with opened(tmp_path, named=["data"]) as files:
        card = files.card()
    assert [table.name for table in card.tables] == ["a"]
    for name in ("data/bad.parquet", "data/bad.xlsx", "data/bad.json"):
        assert any(note.startswith("left out: ") and name in note for note in card.notes), name
    assert "bad.parquet" in refusal(tmp_path, "data/bad.parquet")


def test_files_are_one_table_by_columns_and_names_that_differ_in_numbers(tmp_path: Path) -> None:
    write(tmp_path, "d/orders_2024.csv", "d/orders_2025.csv", content="id,amount\n1,2.5\n")
    write(tmp_path, "d/countries.csv", "d/categories.csv")
    write(tmp_path, "d/orders_2026.csv", content="id,amount,currency\n1,2.5,EUR\n")
    for part in range(3):
        parquet(tmp_path / "d" / "events" / f"part-{part:05}.parquet", f"SELECT {part} AS n")
    for number in (1, 2):
        write(tmp_path, f"d/log{number}.ndjson", content=json.dumps({"n": number, "s": "x"}))
    with opened(tmp_path, named=["d"]) as files:
        card = files.card()
        assert [table.name for table in card.tables] == [
            *("categories", "countries", "events", "log", "orders", "orders_2026")
        ]
        assert files.rows("SELECT file, count(*) FROM orders GROUP BY ALL ORDER BY ALL") == [
            ["orders_2024.csv", "1"],
            ["orders_2025.csv", "1"],
        ]
        assert files.rows("SELECT sum(n) FROM events") == [["3"]]
        assert files.rows("SELECT n, file FROM log ORDER BY n") == [
            ["1", "log1.ndjson"],
            ["2", "log2.ndjson"],
        ]
        assert files.comment("orders") == (
            "2 files with the same columns: 'd/orders_2024.csv', 'd/orders_2025.csv'; the last "
            "column says which file a row is from"
        )
        assert card.notes == (
            "not of the same table as 'd/orders_2024.csv', because they have other columns: "
            "'d/orders_2026.csv'",
        )


def test_hive_partitions_are_one_table_with_their_columns(tmp_path: Path) -> None:
    for region, year in (("EU", 2024), ("US & co", 2025)):
        parquet(
            tmp_path / "sales" / f"region={region}" / f"year={year}" / "a.parquet", "SELECT 7 n"
        )
    with opened(tmp_path, named=["sales"]) as files:
        assert files.columns("sales") == {"n": "INTEGER", "region": "VARCHAR", "year": "BIGINT"}
        assert files.rows("SELECT region, year, n FROM sales ORDER BY year") == [
            ["EU", "2024", "7"],
            ["US & co", "2025", "7"],
        ]
        assert files.comment("sales") == "2 files, partitioned by the folders they are in"


def test_parts_whose_columns_have_other_types_are_one_table_that_holds_both(
    tmp_path: Path,
) -> None:
    parquet(tmp_path / "d" / "p1.parquet", "SELECT 1::INTEGER AS a, 'x' AS b")
    parquet(tmp_path / "d" / "p2.parquet", "SELECT 'y' AS b, 5000000000::BIGINT AS a")
    write(tmp_path, "d/c1.csv", content="a,b\n1,x\n")
    write(tmp_path, "d/c2.csv", content="a,b\nn/a,x\n")
    with opened(tmp_path, named=["d"]) as files:
        assert files.rows("SELECT sum(a) FROM p") == [["5000000001"]]
        assert files.rows("SELECT a FROM c ORDER BY a") == [["1"], ["n/a"]]


def test_names_are_the_files_own_as_sql_takes_them_and_no_two_are_alike(tmp_path: Path) -> None:
    write(tmp_path, "2024 sales.csv", "Müller & Söhne.csv", "a--b__c.csv", "!!!.csv", "x/T.csv")
    write(tmp_path, "y/t.csv", "t.csv", "weird [*?] 'q\" é.csv", "x;DROP TABLE t;--.csv")
    write(tmp_path, "t.json", content='[{"id": 1}]')
    paths = [
        *("2024 sales.csv", "Müller & Söhne.csv", "a--b__c.csv", "!!!.csv", "t.csv", "t.json"),
        *("x/T.csv", "y/t.csv", "weird [*?] 'q\" é.csv", "x;DROP TABLE t;--.csv"),
    ]
    with opened(tmp_path, named=paths) as files:
        tables = [table.name for table in files.card().tables]
        assert tables == [
            *("t_2024_sales", "Müller_Söhne", "a_b_c", tmp_path.name.strip("_"), "t", "t_json"),
            *("x_T", "y_t", "weird_q_é", "x_DROP_TABLE_t"),
        ]
        for table in tables:
            assert len(files.rows(f'FROM "{table}"')) == 1
