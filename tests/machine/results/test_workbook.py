"""A result as an Excel workbook: exact, as a number or an instant where Excel can hold it."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.results import workbook
from awhile.ask.results.workbook import write_workbook
from tests.machine.results.writing import Cell, sheets, write_result


def book(tmp_path: Path, sql: str, types: list[str] | None = None) -> dict[str, list[list[Cell]]]:
    path = write_result(tmp_path / "r.parquet", sql, types)
    target = tmp_path / "r.xlsx"
    write_workbook(path, target, {"Question": "how many?"})
    return sheets(target.read_bytes())


VALUES: dict[str, Cell] = {
    "999999999999999::BIGINT": 999999999999999.0,
    "9007199254740993": "9007199254740993",
    "-12.50::DECIMAL(9, 2)": -12.5,
    "1234567890123456.7::DECIMAL(20, 1)": "1234567890123456.7",
    "0.1::DOUBLE + 0.2::DOUBLE": 0.30000000000000004,
    "0.1::FLOAT": 0.1,
    "'nan'::DOUBLE": "nan",
    "true": True,
    "DATE '2026-01-02'": 46024.0,
    "DATE '1900-02-28'": "1900-02-28",
    "DATE '0044-03-15 (BC)'": "0044-03-15 (BC)",
    "'infinity'::DATE": "infinity",
    "TIMESTAMP '2026-01-02 12:00:00'": 46024.5,
    "TIMESTAMP '2026-01-02 12:00:00.000001'": "2026-01-02 12:00:00.000001",
    "TIMESTAMP_NS '2026-01-02 12:00:00.5'": 46024 + 43200.5 / 86400,
    "TIMESTAMPTZ '2026-01-02 12:00:00+00'": "2026-01-02 12:00:00+00",
    "'-infinity'::TIMESTAMP": "-infinity",
    "'=1+1'": "=1+1",
    "'http://example.org/'": "http://example.org/",
    "'007'": "007",
    "'<r><t>not markup</t></r>'": "<r><t>not markup</t></r>",
    "'_x0041_' || chr(1) || '&<>'": "_x0041_\x01&<>",
    "' around '": " around ",
    "'\\xDE\\xAD'::BLOB": "dead",
    "[1, NULL]": "[1, NULL]",
}

TEXTS: dict[str, Cell] = {
    "12.50": 12.5,
    "9007199254740993": "9007199254740993",
    "1" * 40: "1" * 40,
    "NaN": "NaN",
    "1e+22": 1e22,
    "1e-07": 1e-07,
    "007": "007",
    "12 pcs": "12 pcs",
}
"""Numbers as engines write them that store them as texts."""


def test_every_value_is_what_it_was(tmp_path: Path) -> None:
    wanted = ", ".join(VALUES)
    found = book(tmp_path, f"SELECT NULL, {wanted}")["Rows"][1]
    assert dict(zip(VALUES, found, strict=True)) == VALUES


def test_numbers_stored_as_texts_are_numbers_where_they_are_exact(tmp_path: Path) -> None:
    rows = ", ".join(f"('{text}')" for text in TEXTS)
    sql = f"SELECT v, v FROM (VALUES {rows}) AS t(v)"
    found = book(tmp_path, sql, ["NUMERIC", "ANY"])["Rows"][1:]
    assert {str(row[1]): row[0] for row in found} == TEXTS


def test_the_last_sheet_says_what_these_rows_are(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.parquet", "SELECT 1 AS n", truncated=True)
    said = write_workbook(path, tmp_path / "r.xlsx", {"Question": "how many?"})
    about = sheets((tmp_path / "r.xlsx").read_bytes())["About these rows"]
    assert about == [
        ["Question", "how many?"],
        ["Rows", "the first 1 of more: the rest was not read"],
    ]
    assert said == []


def test_a_cell_that_excel_cannot_hold_is_cut_and_said_to_be(tmp_path: Path) -> None:
    path = write_result(
        tmp_path / "r.parquet",
        "SELECT repeat('😀', 20_000) AS a, repeat('x', 32_767) AS b, chr(65534) AS c",
    )
    said = write_workbook(path, tmp_path / "r.xlsx", {})
    found = sheets((tmp_path / "r.xlsx").read_bytes())
    cut = str(found["Rows"][1][0])
    assert len(cut.encode("utf-16-le")) // 2 <= 32_767
    assert cut.endswith("… [20,000 characters in all]")
    assert found["Rows"][1][1:] == ["x" * 32_767, "\ufffd"]
    assert [one[1] for one in found["About these rows"] if one[0] == "Note"] == said
    assert said[0].startswith("1 cell is cut")
    assert "U+FFFE" in said[1]
    assert "".join(said).isascii()


def test_rows_beyond_a_sheet_go_on_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "_MOST_ROWS", 3)
    path = write_result(tmp_path / "r.parquet", "SELECT range AS n FROM range(5)")
    said = write_workbook(path, tmp_path / "r.xlsx", {})
    found = sheets((tmp_path / "r.xlsx").read_bytes())
    assert [found[f"Rows{more}"] for more in ("", " 2", " 3")] == [
        [["n"], [0.0], [1.0]],
        [["n"], [2.0], [3.0]],
        [["n"], [4.0]],
    ]
    assert said == ["A sheet of Excel has 3 rows, so these go on in 3 sheets."]


def test_too_many_columns_are_refused_with_what_to_take_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "_MOST_COLUMNS", 1)
    path = write_result(tmp_path / "r.parquet", "SELECT 1 AS a, 2 AS b")
    with pytest.raises(ValueError, match="take the CSV"):
        write_workbook(path, tmp_path / "r.xlsx", {})
