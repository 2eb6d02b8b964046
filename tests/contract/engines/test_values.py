"""Every value, name and type survives the way to a page of text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from awhile.ask.results import Page, Sort, View, page
from awhile.ask.results.views import Stop, write_view
from tests.contract.engines.cases import EngineCase
from tests.contract.engines.conftest import Runner
from tests.contract.engines.values import TYPES, VALUES

pytestmark = pytest.mark.anyio


def ordered(path: Path, by: Sort) -> Page:
    """The first rows of a result in another order."""
    view = path.with_name("view.part")
    write_view(path, View(by), view, Stop())
    return page(view, 0, 9)


async def test_d10_d11_every_value_has_an_exact_text(case: EngineCase, runner: Runner) -> None:
    values = VALUES[case.dialect]
    result = await runner.run("SELECT " + ", ".join(values))
    got = page(result.path, 0, 1)
    assert dict(zip(values, got.rows[0], strict=True)) == values
    assert json.loads(json.dumps(got.rows, allow_nan=False)) == got.rows


async def test_the_declared_types_are_kept(case: EngineCase, runner: Runner) -> None:
    sql, types = TYPES[case.dialect]
    result = await runner.run(sql)
    assert [column.type for column in result.columns] == types
    assert page(result.path, 0, 1).columns == result.columns


@pytest.mark.parametrize(
    ("sql", "names", "row"),
    [
        ("SELECT 1 n, 2 n, 3 n_2", ["n", "n", "n_2"], ["1", "2", "3"]),
        ('SELECT 1 n, 2 "N", 3 n', ["n", "N", "n"], ["1", "2", "3"]),
        ("SELECT 1 AS \"a b\", 2 AS \"'\", 3 AS \"\"\"\"", ["a b", "'", '"'], ["1", "2", "3"]),
        ("SELECT 1 AS file_row_number, 2 AS filename", ["file_row_number", "filename"], ["1", "2"]),
    ],
)  # fmt: skip
async def test_d12_columns_are_positional_and_keep_their_names(
    sql: str, names: list[str], row: list[str], runner: Runner
) -> None:
    result = await runner.run(sql)
    got = page(result.path, 0, 1)
    assert ([column.name for column in got.columns], got.rows) == (names, [row])
    assert ordered(result.path, Sort(0, descending=True)).rows == [row]


async def test_d9_a_truncated_result_says_so_on_every_page(runner: Runner) -> None:
    from awhile.ask.engines.contract import Budget

    result = await runner.run("SELECT order_id FROM orders", Budget(rows=500))
    got = page(result.path, 490, 100)
    assert (got.row_count, got.truncated, len(got.rows)) == (500, True, 10)
    assert ordered(result.path, Sort(0, descending=True)).truncated


async def test_d10_numbers_kept_as_text_are_sorted_as_numbers(
    case: EngineCase, shop: Runner
) -> None:
    sql = "SELECT unit_price, 9007199254740990 + product_id FROM products WHERE product_id < 8"
    result = await shop.run(sql)
    prices = [float(str(row[0])) for row in ordered(result.path, Sort(0)).rows]
    assert prices == sorted(prices)
    ids = [int(str(row[1])) for row in ordered(result.path, Sort(1, descending=True)).rows]
    assert ids == [9007199254740990 + key for key in range(7, 0, -1)]
