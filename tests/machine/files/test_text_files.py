"""CSV and JSON as people have them: what is read is what is in the file, and what was decided is
said."""

from __future__ import annotations

import gzip
from collections.abc import Generator
from pathlib import Path

import pytest

from awhile.ask.engines.errors import QueryError
from tests.machine.files.opening import Opened, opened, refusal

ROWS = "".join(f"{n},n{n}\n" for n in range(50))
FILES: dict[str, str | bytes] = {
    "semicolons.csv": "id;name;price\n1;a;1,50\n2;b;-0,5\n3;c;1.234,56\n",
    "thousands.csv": "id;people\n1;1,234\n2;5,678\n",
    "points.csv": "id;price\n1;1.234\n2;5.678\n",
    "names.csv": "id,id,,ID\n1,2,3,4\n",
    "no_names.csv": "1,2.5,a\n2,3.5,b\n",
    "title.csv": "Sales of 2025\n\nid,name\n1,a\n2,b\n",
    "latin.csv": "id,name\n1,Müller\n2,5 €\n".encode("cp1252"),
    "utf16.csv": b"\xfe\xff" + "id,name\n1,Müller\n".encode("utf-16-be"),
    "utf16_without_mark.csv": "id,name\n1,abcdefgh\n".encode("utf-16-le"),
    "marked.csv": "id,name\n1,Müller\n".encode("utf-8-sig"),
    "packed.csv.gz": gzip.compress(b"id,name\n1,a\n"),
    "packed_latin.csv.gz": gzip.compress("id,name\n1,Müller\n".encode("cp1252")),
    "either_way.csv": "d\n01/02/2025\n03/04/2025\n",
    "short_years.csv": "d\n01/02/25\n03/04/25\n",
    "american.csv": "d\n01/02/2025\n12/31/2025\n",
    "european.csv": "d\n01/02/2025\n31/12/2025\n",
    "german.csv": "d;t\n01.02.2025;01.02.2025 10:00:00\n03.04.2025;03.04.2025 11:00:00\n",
    "digits.csv": "id,exact,float\n12345678901234567890123,0.1234567890123456789,0.1\n2,1.5,2.5\n",
    "zips.csv": "zip,phone\n01234,+49\n99999,0049\n",
    "empty_rows.csv": "id,name\n",
    "quoted later.csv": "id,name\n" + ROWS + '50,"a, b"\n',
    "hinted.csv": "sep=;\na;b\n1;2\n",
    "prose.csv": "text\nDoe, John\nRoe, Jane, Dr\n",
    "tabs.tsv": "id\tname\n1\ta, b\n",
    "tabs_and_commas.tsv": "id\tname, first\n1\ta, b\n",
    "records.json": '[{"a": 1, "b": {"c": [1, 2]}}, {"a": 2.5}]',
    "lines.ndjson": '{"a": 9007199254740993}\n{"a": 2}\n',
    "digits.json": '[{"u": 18446744073709551616, "x": 0.1}]',
    "utf16.json": '[{"a": "ü"}]'.encode("utf-16"),
    "packed.json.gz": gzip.compress(b'[{"a": 1}]'),
    "mixed.json": '[{"a": 1}, {"a": "x"}]',
    "no_values.json": "[]",
    "either_case.json": '[{"a": 1, "A": 2}]',
}
KINDS: dict[str, dict[str, str]] = {
    "semicolons": {"id": "BIGINT", "name": "VARCHAR", "price": "DOUBLE"},
    "thousands": {"id": "BIGINT", "people": "VARCHAR"},
    "points": {"id": "BIGINT", "price": "DOUBLE"},
    "names": {"id": "BIGINT", "id_1": "BIGINT", "column2": "BIGINT", "ID_2": "BIGINT"},
    "no_names": {"column0": "BIGINT", "column1": "DOUBLE", "column2": "VARCHAR"},
    "title": {"id": "BIGINT", "name": "VARCHAR"},
    "either_way": {"d": "VARCHAR"},
    "short_years": {"d": "VARCHAR"},
    "american": {"d": "DATE"},
    "european": {"d": "DATE"},
    "german": {"d": "DATE", "t": "TIMESTAMP"},
    "digits": {"id": "HUGEINT", "exact": "VARCHAR", "float": "DOUBLE"},
    "zips": {"zip": "VARCHAR", "phone": "VARCHAR"},
    "empty_rows": {"id": "VARCHAR", "name": "VARCHAR"},
    "records": {"a": "DOUBLE", "b": "STRUCT(c BIGINT[])"},
    "lines": {"a": "BIGINT"},
    "digits_json": {"u": "HUGEINT", "x": "DOUBLE"},
    "mixed": {"a": "JSON"},
    "hinted": {"a": "BIGINT", "b": "BIGINT"},
    "no_values": {"json": "JSON"},
}
VALUES: dict[str, list[list[str | None]]] = {
    "semicolons": [["1", "a", "1.5"], ["2", "b", "-0.5"], ["3", "c", "1234.56"]],
    "latin": [["1", "Müller"], ["2", "5 €"]],
    "utf16": [["1", "Müller"]],
    "utf16_without_mark": [["1", "abcdefgh"]],
    "marked": [["1", "Müller"]],
    "packed": [["1", "a"]],
    "packed_latin": [["1", "Müller"]],
    "american": [["2025-01-02"], ["2025-12-31"]],
    "european": [["2025-02-01"], ["2025-12-31"]],
    "digits": [["12345678901234567890123", "0.1234567890123456789", "0.1"], ["2", "1.5", "2.5"]],
    "zips": [["01234", "+49"], ["99999", "0049"]],
    "tabs": [["1", "a, b"]],
    "hinted": [["1", "2"]],
    "tabs_and_commas": [["1", "a, b"]],
    "either_case": [["1", "2"]],
    "prose": [["Doe, John"], ["Roe, Jane, Dr"]],
    "lines": [["9007199254740993"], ["2"]],
    "digits_json": [["18446744073709551616", "0.1"]],
    "utf16_json": [["ü"]],
    "packed_json": [["1"]],
    "empty_rows": [],
    "no_values": [],
}
SAID = {
    "semicolons": "the file 'people/semicolons.csv'; separated by ';'; with decimal commas",
    "no_names": "the file 'people/no_names.csv'; without a line of names",
    "title": "the file 'people/title.csv'; without its first 2 lines",
    "latin": "the file 'people/latin.csv'; its text read as Windows-1252 (Latin-1)",
    "utf16": "the file 'people/utf16.csv'; its text read as UTF-16",
    "either_way": "the file 'people/either_way.csv'; text, because nobody can tell day, month and "
    "year apart in it: 'd'",
    "digits": "the file 'people/digits.csv'; text, because a number would lose digits: 'exact'",
    "marked": "the file 'people/marked.csv'",
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Generator[Opened]:
    """All of them in one folder."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "people").mkdir()
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / "people" / name).write_bytes(data)
    with opened(folder, named=["people"]) as files:
        yield files


def test_types_are_those_that_lose_nothing(people: Opened) -> None:
    card = people.card()
    found = {table.name: {each.name: each.type for each in table.columns} for table in card.tables}
    assert {name: found[name] for name in KINDS} == KINDS
    assert len(found) == len(FILES)


def test_values_are_those_in_the_file(people: Opened) -> None:
    assert {name: people.rows(f"FROM {name}") for name in VALUES} == VALUES
    assert people.rows("FROM quoted_later OFFSET 50") == [["50", "a, b"]]


def test_the_card_says_how_each_is_read(people: Opened) -> None:
    card = people.card()
    found = {table.name: table.comment for table in card.tables}
    assert {name: found[name] for name in SAID} == SAID


def trouble(folder: Path, content: str | bytes, name: str = "bad.csv") -> str:
    """What a query on all of a file says."""
    data = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(data)
    with opened(folder, named=[name]) as files, pytest.raises(QueryError) as error:
        files.rows("FROM bad")
    return error.value.message


@pytest.mark.parametrize(
    ("line", "why"),
    [("51,x,extra", "it has 3 values where 2 are expected"), ("51", "it has 1 value where 2")],
)
def test_a_line_with_too_many_values_or_too_few_is_named(
    line: str, why: str, tmp_path: Path
) -> None:
    """DuckDB's own detection would take such a file for one column of text, without a word."""
    said = trouble(tmp_path, f"id,name\n{ROWS}{line}\n{ROWS}")
    assert said.startswith(f"line 52 of 'bad.csv': {why}")
    assert repr(line) in said
    assert said.endswith("correct it there (or leave the file out), and ask again")


def test_the_card_tells_of_a_bad_line_before_anybody_asks(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(f"id,name\n{ROWS}51,x,extra\n")
    with opened(tmp_path, named=["bad.csv"]) as files:
        assert "queries will fail: line 52 of 'bad.csv'" in files.comment("bad")
        assert files.rows("SELECT 1") == [["1"]]


def test_broken_json_is_refused_with_the_place_and_the_files_name(tmp_path: Path) -> None:
    (tmp_path / "bad.ndjson").write_text('{"a": 1}\n{"a":\n{"a": 3}\n')
    said = refusal(tmp_path, "bad.ndjson")
    assert said.startswith('Malformed JSON in file "bad.ndjson", at byte')
    assert "in line 3" in said  # where it ends: there the text is no JSON any more
    assert "correct it there" in said


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)) * 20)
    said = refusal(tmp_path, "noise.csv")
    assert "'noise.csv'" in said
    assert said.endswith("correct it there (or leave the file out), and ask again")


def test_a_file_that_is_mostly_utf_8_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    said = trouble(tmp_path, "id,name\n1,Müller\n2,Groß\n".encode() + b"3,\xff\n")
    assert "bad.csv" in said
    assert "utf-8" in said


def test_a_value_of_another_kind_behind_the_sample_is_named_and_then_read_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file is looked at by its first rows alone; what those did not show is an error once,
    and from then on the whole file is looked at."""
    monkeypatch.setattr("awhile.ask.engines.files.looking._WHOLE_BYTES", 1_000)
    monkeypatch.setattr("awhile.ask.engines.files.separated._SAMPLE_ROWS", 10_000)
    content = "id,name\n" + "".join(f"{n},n{n}\n" for n in range(60_000)) + "N/A,x\n"
    (tmp_path / "large.csv").write_text(content)
    with opened(tmp_path, named=["large.csv"]) as files:
        assert "types by its first 10,000 rows" in files.comment("large")
        assert files.columns("large") == {"id": "BIGINT", "name": "VARCHAR"}
        with pytest.raises(QueryError) as error:
            files.rows("SELECT max(id) FROM large")
        assert error.value.message.startswith("line 60,002 of 'large.csv': ")
        assert "N/A" in error.value.message
        assert "or ask again as it is" in error.value.message
        assert files.session.stale()
    with opened(tmp_path, named=["large.csv"]) as files:
        assert files.columns("large") == {"id": "VARCHAR", "name": "VARCHAR"}
        assert files.rows("SELECT count(*) FROM large") == [["60001"]]
