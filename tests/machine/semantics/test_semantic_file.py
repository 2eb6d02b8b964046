"""A semantic file: read, checked with lines, put on a schema card, and used by a question."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest

from awhile.ask.engines.duckdb import describe
from awhile.ask.schema import Schema
from awhile.ask.semantics.applying import applied, fitted
from awhile.ask.semantics.drafting import draft
from awhile.ask.semantics.file import parsed, read
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Refusal, Sql
from awhile.errors import SettingsError
from benchmarks.questions.desk import desk
from tests.contract.translators.shop import shop

PATH = Path("semantic.yaml")
TODAY = date(2026, 11, 5)


def card(connection: duckdb.DuckDBPyConnection, name: str) -> Schema:
    with connection:
        return describe.schema(connection, Path(name), 20.0)


@pytest.fixture(scope="module")
def shop_card() -> Schema:
    return card(shop(), "shop")


@pytest.fixture(scope="module")
def desk_card() -> Schema:
    return card(desk(), "desk")


def told(text: str, schema: Schema) -> str:
    """What is said of a file that does not fit."""
    with pytest.raises(SettingsError) as caught:
        applied(parsed(text, PATH), schema)
    return str(caught.value)


def sql(question: str, schema: Schema) -> str:
    found = BuiltInTranslator().translate_now(question, schema, TODAY)
    assert isinstance(found, Sql), found
    return " ".join(found.sql.split())


# Reading ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("entities: [", 1, "not well-formed YAML"),
        ("version: 2", 1, "version: 2 is none of 1"),
        ("entities:\n  orders:\n    lable: name\n", 3, "no such key; did you mean 'label'?"),
        ("entities:\n  orders:\n    hide: maybe\n", 3, "hide"),
        ("measures:\n  revenue:\n    table: orders\n", 2, "measures.revenue.sql: it is missing"),
        (
            "measures:\n  x:\n    table: a\n    sql: b\n    aggregate: plus\n",
            5,
            "'plus' is none of",
        ),
        ("joins:\n  - from: a.b\n    to: nothing\n", 3, "pattern"),
        ("entities: {}\n\nentities: {}\n", 3, "'entities' is here a second time"),
        ("- a list", 1, "valid dictionary"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(text, PATH)
    assert f"semantic.yaml:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_file_that_is_not_there_says_how_to_draft_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="awhile model init"):
        read(tmp_path / "none.yaml")


def test_an_empty_file_says_nothing_and_changes_nothing(shop_card: Schema) -> None:
    assert applied(parsed("", PATH), shop_card) == shop_card


# Fitting ------------------------------------------------------------------------------------------


def test_everything_that_does_not_fit_is_told_at_once(shop_card: Schema) -> None:
    said = told(
        """
entities:
  ordrs: {name: order}
  customers:
    label: nam
    date: name
    columns:
      contry: {name: land}
measures:
  revenue: {table: order_lines, sql: quantity * prize}
  secret: {table: orders, sql: "(select 1)"}
  other: {table: orders, sql: customers.name}
joins:
  - {from: orders.customer, to: customers.customer_id}
""",
        shop_card,
    )
    for words in (
        "semantic.yaml:3: entities.ordrs: there is no table 'ordrs'; did you mean 'orders'?",
        "customers has no column 'nam'; did you mean 'name'?",
        "semantic.yaml:6: entities.customers.date: name holds no dates, but VARCHAR",
        "customers has no column 'contry'; did you mean 'country'?",
        "order_lines has no column 'prize'",
        "an expression over one row, without SELECT",
        "it is over orders and may not name customers.name",
        "orders has no column 'customer'",
    ):
        assert words in said


def test_the_sql_of_measures_and_examples_passes_the_databases_guard(shop_card: Schema) -> None:
    def refuse(sql: str) -> None:
        if "read_csv" in sql.lower() or "DELETE" in sql:
            raise ValueError("it reads or writes more than tables")

    text = """
measures:
  sly: {table: orders, sql: "read_csv('/etc/passwd')"}
examples:
  - question: tidy up
    sql: DELETE FROM orders
"""
    with pytest.raises(SettingsError) as caught:
        applied(parsed(text, PATH), shop_card, refuse)
    assert str(caught.value).count("the database does not take it") == 2


def test_what_a_person_may_not_see_is_left_out_of_their_card(shop_card: Schema) -> None:
    """Ours: a role without rights on a table is asked nothing about it, and gets the rest."""
    text = "entities:\n  salaries: {name: salary}\n  customers: {synonyms: [shopper]}\n"
    said = fitted(parsed(text, PATH), shop_card)
    found = said.table("customers")
    assert found is not None
    assert found.said == ("shopper",)


# Using --------------------------------------------------------------------------------------------

WORDS = """
entities:
  customers:
    name: patron
    synonyms: [regular]
    date: joined_on
    columns:
      segment:
        name: class of customer
        values: {Business: firms}
  order_lines:
    columns:
      line_number: {hide: true}
measures:
  revenue: {table: order_lines, sql: quantity * unit_price * 0.9, synonyms: [turnover]}
  basket: {table: order_lines, sql: "sum(quantity) * 1.0 / count(distinct order_id)"}
  dearest line: {table: order_lines, sql: quantity * unit_price, aggregate: max}
examples: []
"""


@pytest.fixture(scope="module")
def said_card(shop_card: Schema) -> Schema:
    return applied(parsed(WORDS, PATH), shop_card)


def test_names_and_synonyms_are_understood(said_card: Schema) -> None:
    assert "FROM customers" in sql("how many patrons are there", said_card)
    assert "customers.country" in sql("regulars by country", said_card)
    assert "customers.segment" in sql("patrons by class of customer", said_card)


def test_words_for_a_value_are_the_value(said_card: Schema) -> None:
    assert "customers.segment = 'Business'" in sql("how many customers are firms", said_card)


def test_revenue_is_what_the_file_says(said_card: Schema) -> None:
    written = sql("revenue by country", said_card)
    assert "SUM(" in written
    assert "0.9" in written
    assert written == sql("turnover by country", said_card)
    assert "0.9" in sql("average order value by segment", said_card)


def test_a_measure_that_is_an_aggregate_is_taken_as_it_is(said_card: Schema) -> None:
    written = sql("basket by channel", said_card)
    assert "COUNT(DISTINCT order_lines.order_id)" in written
    assert "dearest_line" in sql("dearest line by category", said_card)
    assert isinstance(
        BuiltInTranslator().translate_now("average basket by channel", said_card, TODAY), Refusal
    )


def test_a_reading_says_which_formula_it_was(said_card: Schema) -> None:
    found = BuiltInTranslator().translate_now("turnover by country", said_card, TODAY)
    assert isinstance(found, Sql)
    assert "quantity * unit_price * 0.9 of order_lines" in found.reading
    assert any("as the semantic file says" in each.meaning for each in found.meanings)


def test_a_default_date_decides_what_was_asked_back(shop_card: Schema, desk_card: Schema) -> None:
    text = "entities:\n  tkt: {date: closedat}\n"
    assert "tkt.closedat >=" in sql(
        "number of tickets last month", applied(parsed(text, PATH), desk_card)
    )


def test_what_is_hidden_is_not_shown_and_cannot_be_named(said_card: Schema) -> None:
    assert (
        "line_number" not in sql("order lines with a quantity above 5", said_card).split("FROM")[0]
    )
    found = BuiltInTranslator().translate_now("order lines by line number", said_card, TODAY)
    assert isinstance(found, Refusal)


def test_a_hidden_table_still_joins_others(shop_card: Schema) -> None:
    hidden = applied(parsed("entities:\n  orders: {hide: true}\n", PATH), shop_card)
    assert "JOIN orders" in sql("revenue by country", hidden)
    assert not isinstance(BuiltInTranslator().translate_now("how many orders", hidden, TODAY), Sql)


def test_times_may_be_relative_to_the_last_day_of_the_data(shop_card: Schema) -> None:
    text = "times: last day of the data\n"
    said = applied(parsed(text, PATH), shop_card)
    found = BuiltInTranslator().translate_now("revenue last month", said, date(2031, 5, 1))
    assert isinstance(found, Sql)
    assert "relative to the last day of the data, 2026-11-0" in found.meanings[-1].meaning
    assert "2026-10-01" in found.sql


def test_a_join_can_be_added_and_taken_away(desk_card: Schema) -> None:
    cut = applied(
        parsed("joins:\n  - {from: tkt.agtid, to: agt.agtid, never: true}\n", PATH), desk_card
    )
    assert isinstance(BuiltInTranslator().translate_now("tickets by team", cut, TODAY), Refusal)
    mended = applied(parsed("joins:\n  - {from: tkt.agtid, to: agt.agtid}\n", PATH), cut)
    assert "JOIN agt" in sql("tickets by team", mended)


# Drafting -----------------------------------------------------------------------------------------


def test_a_draft_can_be_used_as_it_is(shop_card: Schema, desk_card: Schema) -> None:
    for schema in (shop_card, desk_card):
        said = applied(parsed(draft(schema), PATH), schema)
        assert [each.name for each in said.tables] == [each.name for each in schema.tables]


def test_a_draft_tells_revenue_dates_labels_and_what_terse_names_mean(
    shop_card: Schema, desk_card: Schema
) -> None:
    written = draft(shop_card)
    assert "sql: quantity * unit_price" in written
    assert "date: joined_on" in written
    assert "label: [name]" in written
    assert "question: which products are bought together most often" in written
    terse = draft(desk_card)
    assert "name: ticket\n" in terse
    assert "name: ticket priority" in terse or "name: priority" in terse


def test_a_draft_of_hostile_names_is_text(shop_card: Schema) -> None:
    """Ours: a table or column may be called anything; none of it becomes YAML."""
    connection = duckdb.connect()
    connection.execute('create table "a: {b}\n- c" ("#x" integer, "&y" varchar, "crtd_ts" date)')
    connection.execute("insert into \"a: {b}\n- c\" values (1, '*v', date '2026-01-01')")
    schema = card(connection, "odd")
    assert applied(parsed(draft(schema), PATH), schema).tables[0].name == "a: {b}\n- c"
