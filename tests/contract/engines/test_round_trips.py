"""Every value an engine can return comes out of every door as the engine itself writes it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from jsonschema import Draft202012Validator

from awhile.ask.engines.contract import Budget, Engine, QueryResult
from awhile.ask.mcp_server import shapes
from awhile.ask.mcp_server.model import RowsModel
from awhile.ask.results import Sort, View, page
from awhile.ask.results.delimited import CsvForm, csv_parts
from awhile.ask.results.views import Stop, write_view
from awhile.ask.results.workbook import write_workbook
from tests.contract.engines import mariadb
from tests.contract.engines.cases import CASES, EngineCase
from tests.contract.engines.generating import TYPES, is_float, selected, texts_of
from tests.contract.engines.server import new_database
from tests.machine.results.writing import Cell, sheets

ROWS = 6
Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Asked:
    """One engine that is open for all examples."""

    case: EngineCase
    engine: Engine
    database: str
    portal: BlockingPortal
    folder: Path

    def run(self, sql: str) -> QueryResult:
        async def run() -> QueryResult:
            return await self.engine.run(
                sql,
                report=lambda _: None,
                budget=Budget(),
                destination=self.folder / "result.parquet",
            )

        return self.portal.call(run)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(case, marks=[getattr(pytest.mark, case.server.marker)] if case.server else [])
        for case in CASES
        if case.name in TYPES
    ],
    ids=lambda case: case.name,
)
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Asked]:
    case: EngineCase = request.param
    folder = tmp_path_factory.mktemp(case.name)
    if case.name == "postgres":
        database = new_database(request.getfixturevalue("postgres_cluster")).reader
    elif case.name == "mariadb":
        database = mariadb.new_database(request.getfixturevalue("mariadb_server")).reader
    else:
        database = str(_empty(case.name, folder))
    engine = case.make(database)
    with start_blocking_portal() as portal:
        portal.call(engine.open)
        yield Asked(case, engine, database, portal, folder)
        portal.call(engine.close)


def _empty(name: str, folder: Path) -> Path:
    path = folder / f"empty.{name}"
    if name == "duckdb":
        duckdb.connect(str(path)).close()
    else:
        path.touch()
    return path


def examples(draw: some.DataObject, engine: str) -> list[list[str]]:
    kinds = TYPES[engine]
    columns = [
        draw.draw(some.lists(values, min_size=ROWS, max_size=ROWS), label=kind)
        for kind, values in kinds.items()
    ]
    nulls = ["NULL"] * len(columns)
    return [*map(list, zip(*columns, strict=True)), nulls]


def check(asked: Asked, rows: list[list[str]], sorted_by: int) -> None:
    """The doors, one after the other."""
    kinds = list(TYPES[asked.case.name])
    expected = texts_of(asked.case.name, asked.database, rows)
    result = asked.run(selected(rows))

    def same(found: Row, wanted: Row) -> bool:
        return all(
            have == want or (is_float(asked.case.name, kind, want) and _same_float(have, want))
            for have, want, kind in zip(found, wanted, kinds, strict=True)
        )

    shown = page(result.path, 0, 100)
    for row, wanted in zip(shown.rows, expected, strict=True):
        assert same(tuple(row), wanted), f"the grid: {_differing(row, wanted, kinds)!r}"
    content = shapes.rows(shown, offset=0).model_dump(mode="json")
    Draft202012Validator(RowsModel.model_json_schema()).validate(content)  # pyright: ignore[reportUnknownMemberType]
    assert json.loads(json.dumps(content, allow_nan=False))["rows"] == shown.rows
    text = b"".join(csv_parts(result.path, CsvForm())).decode()
    lines = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert lines == [[cell or "" for cell in row] for row in shown.rows], "CSV"
    assert _by_another_reader(result.path) == [tuple(row) for row in shown.rows], (
        "Parquet, read by itself"
    )
    target = asked.folder / "result.xlsx"
    write_workbook(result.path, target, {})
    for cells, row in zip(sheets(target.read_bytes())["Rows"][1:], shown.rows, strict=False):
        present = [cell for cell in row if cell is not None]
        assert all(map(_same_cell, cells, present)), f"Excel: {cells!r} for {present!r}"
    view = asked.folder / "view.part"
    write_view(result.path, View(Sort(sorted_by, descending=True)), view, Stop())
    in_order = page(view, 0, 100)
    assert in_order.rows[-1] == [None] * len(kinds)
    assert sorted(map(repr, in_order.rows)) == sorted(map(repr, shown.rows)), "sorted"


def _differing(row: list[str | None], wanted: Row, kinds: list[str]) -> list[object]:
    both = zip(kinds, row, wanted, strict=True)
    return [(kind, have, want) for kind, have, want in both if have != want]


def _same_float(have: str | None, want: str | None) -> bool:
    """The same bits: 0 is not -0."""
    return have is not None and want is not None and repr(float(have)) == repr(float(want))


def _by_another_reader(path: Path) -> list[Row]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = connection.read_parquet(str(path))
        cells = [
            f"lower(hex(#{at}))" if str(kind) == "BLOB" else f"#{at}::VARCHAR"
            for at, kind in enumerate(relation.types, start=1)
        ]
        return relation.project(", ".join(cells)).fetchall()


def _same_cell(cell: Cell, text: str) -> bool:
    """A cell is the exact text, or a number or an instant that has no more to it than that."""
    if isinstance(cell, bool):
        return text == str(cell).lower()
    if isinstance(cell, str) or cell is None:
        return cell == text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    if re.match(r"\d{4}-\d\d-\d\d", text):
        at = datetime(1899, 12, 30) + timedelta(milliseconds=round(cell * 86_400_000))  # noqa: DTZ001
        return at == datetime.fromisoformat(text)
    return Decimal(text) == Decimal(repr(cell)) or repr(float(text)) == repr(cell)


_HOW: Any = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    # A failure names the type, the value and both texts: there is nothing to shrink.
    "phases": [Phase.generate],
}
FEW = settings(max_examples=4, derandomize=True, **_HOW)
MANY = settings(max_examples=150, **_HOW)


@FEW
@given(some.data())
def test_d10_d11_what_comes_out_is_what_the_engine_writes(
    asked: Asked, data: some.DataObject
) -> None:
    """Field cases D10 and D11: grid, structured content, CSV, Parquet, Excel, and sorted copies."""
    rows = examples(data, asked.case.name)
    check(asked, rows, data.draw(some.integers(0, len(rows[0]) - 1)))


@pytest.mark.long
@MANY
@given(some.data())
def test_what_comes_out_is_what_the_engine_writes_for_many_more(
    asked: Asked, data: some.DataObject
) -> None:
    rows = examples(data, asked.case.name)
    check(asked, rows, data.draw(some.integers(0, len(rows[0]) - 1)))


def test_d10_ids_inside_of_json_keep_their_digits(asked: Asked, tmp_path: Path) -> None:
    """Field case D10: JSON is a text to us, and never parsed."""
    text = '{"id": 9007199254740993, "n": 1.10, "big": 123456789012345678901234567890}'
    kind = {"duckdb": "::JSON", "postgres": "::json"}.get(asked.case.name, "")
    result = asked.run(f"SELECT '{text}'{kind} AS v")
    assert page(result.path, 0, 1).rows == [[text]]
    assert list(csv.reader(io.StringIO(b"".join(csv_parts(result.path, CsvForm())).decode())))[
        1
    ] == [text]
    write_workbook(result.path, tmp_path / "r.xlsx", {})
    assert sheets((tmp_path / "r.xlsx").read_bytes())["Rows"][1] == [text]


def test_d12_duplicate_names_leave_as_they_are(asked: Asked, tmp_path: Path) -> None:
    """Field case D12: rows are positional, whichever door they take."""
    result = asked.run("SELECT 1 AS n, 2 AS n, 3 AS n_2")
    names: Any = [column.name for column in page(result.path, 0, 1).columns]
    assert names == ["n", "n", "n_2"]
    assert b"".join(csv_parts(result.path, CsvForm())) == b"n,n,n_2\r\n1,2,3\r\n"
    write_workbook(result.path, tmp_path / "r.xlsx", {})
    assert sheets((tmp_path / "r.xlsx").read_bytes())["Rows"] == [names, [1.0, 2.0, 3.0]]
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(result.path))
        assert relation.columns == ["n", "n_3", "n_2"]
        assert [str(cell) for cell in relation.fetchall()[0]] == ["1", "2", "3"]
