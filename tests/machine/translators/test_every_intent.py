"""Every intent compiles to SQL that parses in every dialect, and runs where it can be run here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import apsw
import duckdb
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from sqlglot import exp

from awhile.ask.schema import Schema, Table, TableColumn
from awhile.ask.translators.compile import compile_intent
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.intent import ColumnRef, Condition, Listing, Matching
from awhile.ask.translators.joins import Joins, TwoWays
from awhile.ask.translators.marks import Part
from awhile.ask.translators.reading import reading_of
from tests.machine.translators.intents import Asked, asked, figures_of

DIALECTS = ("duckdb", "sqlite", "postgres", "mysql")


def written(made: Asked, dialect: str) -> str | None:
    """The SQL, or None where the compiler says why it will not write any."""
    schema = replace(made.schema, dialect=dialect)
    try:
        return compile_intent(made.intent, schema, Joins(schema))
    except (Stuck, TwoWays):
        return None


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def ddl(schema: Schema) -> list[str]:
    return [
        f"create table {quoted(table.name)} "
        f"({', '.join(f'{quoted(c.name)} {c.type}' for c in table.columns)})"
        for table in schema.tables
    ]


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(made=asked())
def test_every_intent_is_one_select_that_parses_and_runs(made: Asked) -> None:
    for dialect in DIALECTS:
        sql = written(made, dialect)
        if sql is None:
            continue
        statements = sqlglot.parse(sql, read=dialect)
        assert len(statements) == 1
        tree = statements[0]
        assert isinstance(tree, exp.Select)
        inner = {each.alias for each in tree.find_all(exp.CTE)}
        tables = {each.name for each in tree.find_all(exp.Table)} - inner
        assert tables <= {each.name for each in made.schema.tables}
        assert reading_of(made.intent, figures_of(made.schema)).endswith(".")
        if dialect == "duckdb":
            with duckdb.connect() as connection:
                for each in ddl(made.schema):
                    connection.execute(each)
                connection.execute(sql)
        elif dialect == "sqlite":
            lite: Any = apsw.Connection(":memory:")
            for each in ddl(made.schema):
                lite.execute(each)
            lite.execute(sql).fetchall()
            lite.close()


@pytest.mark.parametrize(
    ("where", "text", "found"),
    [
        ("start", "école élé", ["École Élémentaire", "ÉCOLE ÉLÉ"]),
        ("end", "ÉLÉ", ["ÉCOLE ÉLÉ"]),
        ("anywhere", "É*[?]", ["né*[?]"]),
        ("anywhere", "c%", ["abC%"]),
    ],
)
def test_letters_are_no_wildcards_and_upper_and_lower_case_is_alike(
    where: Part, text: str, found: list[str]
) -> None:
    names = ("École Élémentaire", "ÉCOLE ÉLÉ", "né*[?]", "né??", "abC%", "abcd")
    table = Table("schools", (TableColumn("name", "VARCHAR"),))
    name = ColumnRef("schools", "name")
    intent = Listing("schools", (name,), where=Condition((Matching(name, where, text),)))
    lite: Any = apsw.Connection(":memory:")
    with duckdb.connect() as duck:
        for dialect, connection in (("sqlite", lite), ("duckdb", duck)):
            schema = Schema((table,), dialect=dialect)
            connection.execute(ddl(schema)[0])
            for each in names:
                connection.execute("insert into schools values (?)", (each,))
            sql = compile_intent(intent, schema, Joins(schema))
            assert [row[0] for row in connection.execute(sql).fetchall()] == found, sql
    lite.close()
