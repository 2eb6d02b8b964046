"""A result as CSV: what a reader that knows RFC 4180 gets back is what was there."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from awhile.ask.results.delimited import CsvForm, csv_parts
from tests.machine.results.writing import write_result

AWKWARD = [
    "plain",
    "",
    "a,b",
    'say "no"',
    "two\nlines",
    "two\r\nlines",
    " around ",
    "=1+1",
    "+49 170",
    "-x",
    "@me",
    "\tTab",
    "-1.5e3",
    "Étude ☃",
]


def text_of(path: Path, form: CsvForm | None = None) -> str:
    return b"".join(csv_parts(path, form or CsvForm())).decode()


@pytest.fixture
def awkward(tmp_path: Path) -> Path:
    values = ", ".join(f"('{value}')" for value in AWKWARD)
    return write_result(
        tmp_path / "awkward.parquet",
        f'SELECT v, NULL AS "a,b", 9007199254740993 AS n FROM (VALUES {values}) AS t(v)',
    )


def test_every_text_comes_back_as_it_was(awkward: Path) -> None:
    """Ours, after RFC 4180, section 2."""
    read = list(csv.reader(io.StringIO(text_of(awkward), newline="")))
    assert read == [["v", "a,b", "n"], *([value, "", "9007199254740993"] for value in AWKWARD)]
    assert text_of(awkward).count("\r\n") == 1 + len(AWKWARD) + 1  # one of them is in a cell


def test_null_and_an_empty_text_differ(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", "SELECT NULL AS a, '' AS b, ''::BLOB AS c")
    assert text_of(path) == 'a,b,c\r\n,"",""\r\n'


def test_names_are_as_the_query_gave_them(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", 'SELECT 1 AS n, 2 AS n, 3 AS "say ""no"""')
    assert text_of(path) == 'n,n,"say ""no"""\r\n1,2,3\r\n'


def test_no_rows_are_a_line_of_names(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", "SELECT 1 AS n WHERE false")
    assert text_of(path) == "n\r\n"


def test_a_mark_for_excel_and_lines_for_unix_are_to_be_had(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", "SELECT 'é' AS n")
    assert text_of(path, CsvForm(bom=True, line_end="\n")) == "\ufeffn\né\n"


def test_safe_cells_are_no_formulas_and_numbers_stay_numbers(awkward: Path) -> None:
    """Ours, after OWASP's "CSV Injection"."""
    read = list(csv.reader(io.StringIO(text_of(awkward, CsvForm(safe=True)), newline="")))
    changed = {"=1+1", "+49 170", "-x", "@me", "\tTab"}
    assert [row[0] for row in read[1:]] == [
        f"'{value}" if value in changed else value for value in AWKWARD
    ]


def test_very_many_columns_are_a_line(tmp_path: Path) -> None:
    """Ours: a thousand columns are more than one expression of DuckDB's can have."""
    cells = ", ".join(f"'{at},' || range AS c{at}" for at in range(1_000))
    path = write_result(tmp_path / "wide.parquet", f"SELECT {cells} FROM range(2)")
    assert list(csv.reader(io.StringIO(text_of(path)))) == [
        [f"c{at}" for at in range(1_000)],
        *([f"{at},{row}" for at in range(1_000)] for row in range(2)),
    ]


def test_no_cell_is_cut(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", "SELECT repeat('x', 100_000) AS t")
    assert text_of(path) == f"t\r\n{'x' * 100_000}\r\n"


def test_rows_of_many_groups_are_in_their_order(written: Path) -> None:
    lines = text_of(written).splitlines()
    assert [line.partition(",")[0] for line in lines[1:]] == [str(n) for n in range(50_000)]
