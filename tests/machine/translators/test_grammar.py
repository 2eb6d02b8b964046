"""The grammar of a model's answers: broad enough for every known SQL, and no name of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import sqlglot
from sqlglot import exp

from awhile.ask.engines.duckdb import guard as duckdb_guard
from awhile.ask.engines.listed import listed
from awhile.ask.schema import Schema, Table, TableColumn
from awhile.ask.translators.models.grammar import FUNCTIONS, answer_grammar, functions_of, only_sql
from benchmarks.questions import defog
from benchmarks.questions.sets import Asked, sets
from tests.machine.translators.grammars import Grammar

VIEWS = (
    "line: order_id line_number product_id product category list_price quantity unit_price amount "
    "customer_id customer country city segment joined_on ordered_at channel status",
    "value: order_id customer_id customer country city segment ordered_at channel status amount "
    "units lines",
)
"""What the golds of the shop are written on, beside its tables."""
BEYOND = "= m - INTERVAL '1' YEAR) FROM line"
"""In one gold an inner SELECT compares with a name that the outer one gives to a column."""

_MYSQL = "awhile.ask.engines.sqlalchemy.mysql"
LISTED = {
    "sqlite": listed("awhile.ask.engines.sqlite", "functions.txt"),
    # PostgreSQL's grammar has these as words of its own.
    "postgres": listed("awhile.ask.engines.postgres", "functions.txt")
    | {"coalesce", "greatest", "least", "nullif", "trim"},
    "mysql": listed(_MYSQL, "functions.txt")
    | listed(_MYSQL, "syntax.txt")
    | listed("awhile.ask.engines.sqlalchemy", "syntax.txt"),
}
"""What each database's guard lets through; DuckDB's names what it does not."""

SETS = [each for each in sets(None) if each.engine == "duckdb" or each.group == "public"]


def table(line: str) -> Table:
    """`name: column column`."""
    name, _, columns = line.partition(": ")
    return Table(name, tuple(TableColumn(one, "VARCHAR") for one in columns.split()))


SHOP = (table("orders: id customer_id day"), table("customers: id name country"))


@cache
def grammar(tables: tuple[Table, ...], dialect: str) -> Grammar:
    """Of the SELECTs about these tables."""
    text = answer_grammar(tables, dialect)
    assert text is not None
    return Grammar(text, "statement")


@pytest.mark.parametrize("asked", SETS, ids=lambda each: each.name)
def test_every_right_answer_of_our_questions_is_in_the_grammar(asked: Asked) -> None:
    with asked.open() as database:
        tables = (*database.schema.tables, *map(table, VIEWS if asked.group == "shop" else ()))
    missed = [
        f"{text[:stopped]} >>> {text[stopped:]}"
        for dialect, text in _golds(asked, Schema(tables))
        if (stopped := grammar(tables, dialect).stops_at(text)) is not None and BEYOND not in text
    ]
    assert missed == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM clients",
        "SELECT name FROM customers JOIN shops ON TRUE",
        "SELECT id FROM orders WHERE id IN (SELECT id FROM secrets)",
        "SELECT colour FROM customers",
        "SELECT id FROM orders WHERE weight > 3",
        "SELECT id FROM (SELECT weight FROM orders)",
        "WITH a AS (SELECT id FROM secrets) SELECT id FROM a",
        "SELECT pg_sleep(3)",
        "SELECT 1; DROP TABLE orders",
        "DELETE FROM orders",
        "SELECT 1 -- and more",
    ],
)
def test_what_the_schema_does_not_have_is_not_in_it(sql: str) -> None:
    assert grammar(SHOP, "duckdb").stops_at(sql) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n FROM (SELECT COUNT(*) AS n FROM orders) AS a",
        "SELECT T1.country FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id",
        "WITH a AS (SELECT COUNT(*) AS n FROM orders) SELECT n FROM a",
        "SELECT c.country, COUNT(*) AS n FROM customers c GROUP BY c.country ORDER BY n DESC",
        "SELECT\n  count(*)\nFROM orders AS o\nJOIN customers AS c\n  ON o.customer_id = c.id",
        "SELECT CASE WHEN day >= DATE '2026-01-01' THEN 1 ELSE 0 END FROM orders",
        "SELECT SUM(id) OVER (PARTITION BY day ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT "
        "ROW) FROM orders WHERE day > CURRENT_DATE - INTERVAL '3 months'",
    ],
)
def test_names_that_a_statement_gives_itself_and_what_models_write_are_in_it(sql: str) -> None:
    assert grammar(SHOP, "duckdb").stops_at(sql) is None


def test_D17_a_name_that_is_a_grammar_is_a_name() -> None:
    """Field case D17: injection by the names of columns and tables."""
    name = 'x" | [a-z]+ "'
    hostile = Table(name, (TableColumn('a"\\ ::= b', "VARCHAR"), TableColumn("é\n😀", "VARCHAR")))
    made = grammar((hostile, *SHOP), "duckdb")
    quoted = exp.to_identifier(name, quoted=True).sql(dialect="duckdb")
    assert made.stops_at(f"SELECT id FROM {quoted}") is None
    assert made.stops_at("SELECT id FROM anything") is not None


def test_a_name_is_quoted_where_the_dialect_would_take_it_for_another() -> None:
    tables = (table("Booking: BookedOn"),)
    assert grammar(tables, "duckdb").stops_at("SELECT BookedOn FROM Booking") is None
    assert grammar(tables, "postgres").stops_at("SELECT BookedOn FROM Booking") is not None
    assert grammar(tables, "postgres").stops_at('SELECT "BookedOn" FROM "Booking"') is None


def test_an_answer_is_a_select_in_its_marks_a_question_back_or_that_it_cannot() -> None:
    made = Grammar(answer_grammar(SHOP, "sqlite") or "")
    assert made.stops_at("```sql\nSELECT id FROM orders\n```") is None
    assert made.stops_at("ASK: which?\n- all of them\n- those of 2026") is None
    assert made.stops_at("CANNOT: there is no weather here") is None
    assert made.stops_at("Sure! Here it is:") == 0
    once_asked = Grammar(only_sql(answer_grammar(SHOP, "sqlite") or ""))
    assert once_asked.stops_at("```sql\nSELECT id FROM orders\n```") is None
    assert once_asked.stops_at("CANNOT: there is no weather here") is None
    assert once_asked.stops_at("ASK: which?\n- all of them\n- those of 2026") == 0


@pytest.mark.parametrize("dialect", FUNCTIONS)
def test_every_function_in_it_is_one_that_the_guard_of_the_database_lets_through(
    dialect: str,
) -> None:
    named = functions_of(dialect)
    if dialect == "duckdb":
        for name in named:
            duckdb_guard.check(f"SELECT {name}(1, 1)")
    else:
        assert named - LISTED[dialect] == set()


def test_a_dialect_without_a_grammar_has_none() -> None:
    assert answer_grammar(SHOP, "tsql") is None


def _golds(asked: Asked, schema: Schema) -> Iterator[tuple[str, str]]:
    """Each by its dialect, as SQLGlot writes it, with names as the schema has them."""
    real = {name.casefold(): name for one in schema.tables for name in _names(one)}
    found = {asked.engine: {gold for one in asked.questions for gold in one.gold}}
    if asked.group == "public":
        questions = defog.questions(asked.name, "postgres")
        found["postgres"] = {gold for one in questions for gold in one.gold}
    for dialect, golds in found.items():
        for gold in sorted(golds):
            tree = sqlglot.parse_one(gold, read=dialect)
            for one in tree.find_all(exp.Identifier):
                if not one.quoted:
                    name = one.name.casefold()
                    one.set("this", real.get(name, name))
            yield dialect, tree.sql(dialect=dialect)


def _names(one: Table) -> Iterator[str]:
    yield one.name
    yield from (column.name for column in one.columns)
