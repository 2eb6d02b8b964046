"""What mending leaves as it was written, what it takes from nothing else, and how long it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn
from awhile.ask.translators.models.mending import Unreadable, mended
from awhile.ask.translators.models.saying import said_of
from tests.machine.translators.test_models import SHOP, TODAY, table


@pytest.mark.parametrize(
    ("wrote", "becomes"),
    [
        (
            "SELECT id, country FROM orders WHERE id > 2 ORDER BY id",
            "SELECT orders.id, customers.country FROM orders LEFT JOIN customers ON customers.id = "
            "orders.customer_id WHERE orders.id > 2 ORDER BY orders.id",
        ),
        (
            "SELECT day AS id, name FROM orders ORDER BY id",
            "SELECT day AS id, customers.name FROM orders LEFT JOIN customers ON customers.id = "
            "orders.customer_id ORDER BY id",
        ),
        (
            "SELECT name, quantity FROM customers JOIN lines ON customers.id = lines.customer_id "
            "AND id = 3",
            "SELECT name, quantity FROM customers JOIN orders ON customers.id = orders.customer_id "
            "JOIN lines ON customers.id = 3 AND orders.id = lines.order_id",
        ),
        (
            "SELECT town FROM towns AS customers WHERE EXISTS(SELECT 1 FROM orders WHERE "
            "orders.id = customers.id AND country = 'Italy')",
            "SELECT town FROM towns AS customers WHERE EXISTS( SELECT 1 FROM orders LEFT JOIN "
            "customers AS customers_2 ON customers_2.id = orders.customer_id WHERE "
            "orders.id = customers.id AND customers_2.country = 'Italy' )",
        ),
    ],
)
def test_what_is_joined_in_mending_takes_no_name_from_what_was_there(
    wrote: str, becomes: str
) -> None:
    assert " ".join(mended(wrote, SHOP, TODAY).sql.split()) == becomes


@pytest.mark.parametrize(
    "wrote",
    [
        "WITH customers AS (SELECT id FROM products) SELECT country FROM orders",
        "WITH orders AS (SELECT id FROM products) SELECT country FROM lines",
        "WITH orders AS (SELECT id FROM products) "
        "SELECT c.name, l.quantity FROM customers AS c JOIN lines AS l ON c.id = l.customer_id",
    ],
)
def test_what_a_with_gives_is_not_joined_for_the_table_of_its_name(wrote: str) -> None:
    found = mended(wrote, SHOP, TODAY)
    assert (found.sql, found.repairs) == (wrote, ())


def test_no_table_loses_its_own_condition_to_keys_over_one_that_is_joined_further_on() -> None:
    """Ours: each customer stood beside all lines; SQLite takes conditions on what follows."""
    wrote = (
        "SELECT c.name, l.quantity FROM customers AS c JOIN lines AS l ON c.id = l.customer_id "
        "JOIN orders AS o ON o.id = l.order_id"
    )
    found = mended(wrote, replace(SHOP, dialect="sqlite"), TODAY)
    assert " ".join(found.sql.split()) == wrote.replace("l.customer_id", "o.customer_id")
    assert found.repairs == ("customer_id was taken from lines, and is a column of orders",)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "mysql"])
def test_names_are_put_in_as_the_schema_and_the_text_have_them(dialect: str) -> None:
    orders = Table(
        "Orders",
        (TableColumn("No", "INTEGER"), TableColumn("group", "INTEGER")),
        ("No",),
        (ForeignKey(("group",), "shop.order of", ("Id",)),),
    )
    groups = Table("shop.order of", (TableColumn("Id", "INTEGER"), TableColumn("Land", "VARCHAR")))
    schema = Schema((orders, groups), dialect=dialect)
    written = 'SELECT O."Land" FROM "Orders" AS O'
    becomes = (
        'SELECT "order of"."Land" FROM "Orders" AS O LEFT JOIN shop."order of" '
        'ON "order of"."Id" = O."group"'
    )
    if dialect == "mysql":
        written, becomes = written.replace('"', "`"), becomes.replace('"', "`")
    assert " ".join(mended(written, schema, TODAY).sql.split()) == becomes


_BOTH = "FROM customers AS c JOIN orders AS o ON o.customer_id = c.id"


@pytest.mark.parametrize(
    "wrote",
    [
        f"SELECT country, COUNT(*) FROM (SELECT c.country {_BOTH}) AS x GROUP BY country",
        f"WITH x AS (SELECT c.country {_BOTH}) SELECT country, COUNT(*) FROM x GROUP BY country",
        f"SELECT c.country {_BOTH} UNION ALL SELECT town FROM towns",
        f"SELECT c.country, SUM(1) {_BOTH} GROUP BY c.country",
        f"SELECT SUM(CASE WHEN c.country = 'Italy' THEN 1 ELSE 0 END) {_BOTH}",
        f"SELECT AVG(IF(c.country = 'Italy', 1, 0)) * COUNT_IF(c.country > 'I') {_BOTH}",
        f"SELECT c.name, l.quantity {_BOTH} JOIN lines AS l USING (order_id)",
        f"SELECT c.name, l.quantity {_BOTH} NATURAL JOIN lines AS l",
        f"SELECT c.name, p.title {_BOTH} RIGHT JOIN products AS p ON p.id = c.id",
    ],
)
def test_a_table_without_a_word_asked_of_it_stays_where_its_rows_matter(wrote: str) -> None:
    assert mended(wrote, SHOP, TODAY).sql == wrote


@pytest.mark.parametrize(
    "wrote",
    [
        # Orders that are there, of customers without a country.
        "SELECT o.id FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer_id "
        "WHERE c.country IS NULL AND c.name = 'A'",
        "SELECT DISTINCT COUNT(*) FROM customers GROUP BY country",
        "SELECT COUNT(*) FROM customers GROUP BY (country, name)",
        "SELECT COUNT(*) AS n FROM customers GROUP BY COUNT(*)",
        "SELECT COUNT(*) FROM customers GROUP BY ROLLUP (country, name)",
        "SELECT COUNT(*) FROM customers GROUP BY GROUPING SETS ((country), (name))",
        "SELECT COUNT(*) AS country FROM customers GROUP BY country ORDER BY country",
    ],
)
def test_what_says_something_is_no_slip(wrote: str) -> None:
    assert mended(wrote, SHOP, TODAY).sql == wrote


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM DATE_SUB( customers",
        "SELECT DATE_TRUNC('month', day) FROM orders WHERE YEAR( `` day) = 2026",
    ],
)
def test_what_nobody_can_read_is_unreadable_however_that_shows(text: str) -> None:
    with pytest.raises(Unreadable, match="cannot be read as mysql SQL") as unreadable:
        mended(text, replace(SHOP, dialect="mysql"), TODAY)
    assert "NoneType" not in str(unreadable.value)


def test_what_the_groups_are_is_told_as_the_sql_has_it() -> None:
    wrote = "SELECT COUNT(*) FROM orders GROUP BY DATE_FORMAT(day, '%Y')"
    found = mended(wrote, replace(SHOP, dialect="mysql"), TODAY)
    assert found.repairs == ("each row is of one DATE_FORMAT(day, '%Y'), which is shown, too",)


def test_a_select_of_nothing_is_told_as_that() -> None:
    found = mended("SELECT FROM orders", replace(SHOP, dialect="postgres"), TODAY)
    assert said_of(found.tree, "postgres") == "It shows no columns, from orders."


def test_hostile_texts_are_read_in_bounded_time() -> None:
    """Ours: nothing can end a thread that reads; each of these had no end that anybody saw."""
    twice = ", ".join(
        f"a{n} AS (SELECT p.x + q.x AS x FROM a{n - 1} p, a{n - 1} q)" for n in range(1, 60)
    )
    ends = [
        table(f"t{n}", "id:INTEGER", **{f"to_{m}": f"t{m}" for m in range(n)}) for n in range(80)
    ]
    joins = " ".join(f"JOIN t{n} ON t{n}.here = t{n - 1}.there" for n in range(1, 80))
    for schema, text in (
        (SHOP, f"WITH a0 AS (SELECT id AS x FROM orders), {twice} SELECT x / x FROM a59"),
        (Schema(tuple(ends)), f"SELECT 1 FROM t0 {joins}"),
        (SHOP, f"SELECT {'+'.join(['day', *['INTERVAL 1 DAY'] * 1200])} FROM orders"),
    ):
        found = mended(text, replace(schema, dialect="sqlite"), TODAY)
        assert (found.sql, found.repairs) == (text, ())
