"""What MySQL and MariaDB have not is written so that it gives what DuckDB gives."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from awhile.ask.translators.dialects import written
from tests.contract.engines.mariadb import asked
from tests.contract.engines.shops import SHOPS

pytestmark = pytest.mark.mariadb

PARTS = """
WITH part_1 AS (SELECT country, count(*) AS a FROM customers WHERE country < 'G' GROUP BY country),
part_2 AS (SELECT country, count(*) AS b FROM customers WHERE country > 'F' GROUP BY country),
part_3 AS (SELECT nullif(country, 'Spain') AS country, count(*) AS c FROM customers
           WHERE country > 'N' GROUP BY 1)
SELECT coalesce(part_1.country, part_2.country, part_3.country) AS country, part_1.a, part_2.b,
       part_3.c
FROM part_1
FULL JOIN part_2 ON part_1.country IS NOT DISTINCT FROM part_2.country
FULL JOIN part_3 ON coalesce(part_1.country, part_2.country) IS NOT DISTINCT FROM part_3.country
"""
TREES = {
    "parts matched on their groups": PARTS,
    "a median beside other figures": """
        SELECT p.category, median(l.quantity) AS middle, avg(l.quantity) AS mean, count(*) AS n,
               count(DISTINCT l.order_id) AS orders
        FROM order_lines l JOIN products p ON p.product_id = l.product_id
        WHERE l.quantity > 1 GROUP BY p.category HAVING count(*) > 2 ORDER BY middle DESC, 1""",
    "two medians, of values some of which are unknown": """
        SELECT segment, median(CASE WHEN country = 'Spain' THEN customer_id END) AS a,
               median(nullif(customer_id, 1)) AS b FROM customers GROUP BY segment""",
    "the median of all rows": "SELECT median(unit_price) AS middle FROM products",
    "the median of none": "SELECT median(unit_price) AS middle FROM products WHERE unit_price < 0",
    "a median of another query": """
        SELECT median(n) AS middle
        FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id) t""",
    **{
        f"times by {unit}": f"""
            SELECT CAST(date_trunc('{unit}', ordered_at) AS DATE) AS unit, count(*) FROM orders
            GROUP BY CAST(date_trunc('{unit}', ordered_at) AS DATE)"""
        for unit in ("day", "week", "month", "quarter", "year")
    },
    "days of the week": """
        SELECT extract(isodow FROM ordered_at) AS day, count(*) FROM orders
        GROUP BY extract(isodow FROM ordered_at)""",
    "quotients and the spread of a sample": """
        SELECT count(*) * 1.0 / nullif(max(product_id), 0) AS share, stddev(unit_price) AS spread,
               variance(product_id) AS variance FROM products""",
    "running figures": """
        SELECT product_id, sum(unit_price) OVER (ORDER BY product_id ASC ROWS BETWEEN UNBOUNDED
               PRECEDING AND CURRENT ROW) AS running FROM products""",
}


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, str]:
    """The shop in both."""
    folder = tmp_path_factory.mktemp("shops")
    return {name: SHOPS[name](folder, request) for name in ("duckdb", "mariadb")}


def plain(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as they are compared: numbers to six places, in any order."""
    numbers = (int, float, Decimal)
    return sorted(
        str([f"{cell:.6f}" if isinstance(cell, numbers) else str(cell) for cell in row])
        for row in rows
    )


@pytest.mark.parametrize("sql", TREES.values(), ids=TREES.keys())
def test_a_tree_gives_the_same_rows_in_both(sql: str, made: dict[str, str]) -> None:
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    with duckdb.connect(Path(made["duckdb"]), read_only=True) as connection:
        wanted = connection.execute(written(tree, "duckdb")).fetchall()
    assert plain(asked(made["mariadb"], written(tree, "mysql"))) == plain(wanted)
