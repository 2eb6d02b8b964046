"""What is said about names that the database does not have."""

from __future__ import annotations

from awhile.ask.answer.hints import hints
from awhile.ask.engines.errors import QueryError
from awhile.ask.schema import Schema, Table, TableColumn


def test_a_result_in_sql_that_duckdb_cannot_read_is_told_from_a_table_that_is_not_there() -> None:
    sql = "SELECT STRAIGHT_JOIN n FROM result_3 WHERE n = 1"
    error = QueryError("Table 'shop.result_3' doesn't exist", unknown_name=True)
    (hint,) = hints(sql, error, Schema((), dialect="mysql"))
    assert hint.startswith("result_3 may be a result of yours: results are read by SQL of DuckDB's")


def test_where_no_name_is_near_the_few_there_are_are_named() -> None:
    shop = Schema(
        (
            Table(
                "orders",
                (TableColumn("id", "INT"), TableColumn("total", "INT")),
            ),
        )
    )
    error = QueryError("no such column: nme", unknown_name=True)
    (hint,) = hints("SELECT nme FROM orders", error, shop)
    assert hint == "There is no column 'nme' in 'orders'; there are id, total."
