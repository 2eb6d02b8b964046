"""What somebody may have meant by a name that is not there."""

from __future__ import annotations

import pytest

from awhile.ask.engines.nearest import Unknown, did_you_mean
from awhile.ask.schema import Schema, Table, TableColumn

SCHEMA = Schema(
    (
        Table("orders", (TableColumn("order_id", "INT"), TableColumn("amount", "INT"))),
        Table(
            "sales.customers", (TableColumn("customer_id", "INT"), TableColumn("Amount €", "INT"))
        ),
        Table("x\u202e\ny", (TableColumn("z", "INT"),)),
    )
)


@pytest.mark.parametrize(
    ("unknown", "sql", "said"),
    [
        (Unknown("table", "order"), "", "did you mean 'orders'?"),
        (Unknown("table", "Custmers"), "", "did you mean 'sales.customers'?"),
        (Unknown("table", "public.customer"), "", "did you mean 'sales.customers'?"),
        (Unknown("table", "weather"), "", ""),
        (Unknown("column", "amout"), "FROM orders", "did you mean 'orders.amount'?"),
        (Unknown("column", "o.ordr_id"), "FROM orders o", "did you mean 'orders.order_id'?"),
        (Unknown("column", "amout"), "FROM x", "did you mean 'orders.amount' or"),
        (Unknown("table", "x\n"), "", r"did you mean 'x\u202e\ny'?"),
        (Unknown("column", "amout", advised=True), "FROM orders", ""),
    ],
    ids=str,
)
def test_the_nearest_names_are_asked_about(unknown: Unknown, sql: str, said: str) -> None:
    got = did_you_mean(unknown, sql, SCHEMA)
    assert got.startswith(said)
    assert bool(got) == bool(said)
    assert got.isprintable()
