"""The schema card: what can be asked about."""

from __future__ import annotations

import pytest

from awhile.ask.engines.contract import Engine
from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.open import name_of
from awhile.ask.schema import ForeignKey
from tests.contract.engines.cases import EngineCase
from tests.contract.engines.conftest import Runner

pytestmark = pytest.mark.anyio


async def test_tables_columns_and_counts_are_there(
    case: EngineCase, engine: Engine, database: str
) -> None:
    schema = await engine.describe()
    assert schema.database == name_of(database)
    assert [table.name for table in schema.tables] == ["customers", "orders", "big_orders"]
    orders = schema.table("ORDERS")
    assert orders is not None
    assert orders.row_count == 400_000
    assert orders.comment == case.comment
    amount = orders.column("Amount")
    assert amount is not None
    assert (amount.type, amount.kind) == (case.amount_type, "number")


async def test_a_text_column_with_few_values_has_even_the_rare_one(
    engine: Engine,
) -> None:
    orders = (await engine.describe()).table("orders")
    channel = orders and orders.column("channel")
    assert channel is not None
    assert channel.sample_values == ("Fax", "Phone", "Store", "Website")
    assert channel.distinct_count == 4


async def test_a_text_column_with_many_values_has_some(engine: Engine) -> None:
    customers = (await engine.describe()).table("customers")
    name = customers and customers.column("name")
    assert name is not None
    assert (len(name.sample_values), name.distinct_count) == (5, 600)


async def test_dates_have_their_range(engine: Engine) -> None:
    schema = await engine.describe()
    customers, orders = schema.table("customers"), schema.table("orders")
    joined = customers and customers.column("joined_on")
    ordered = orders and orders.column("ordered_at")
    assert joined is not None
    assert (joined.minimum, joined.maximum) == ("2024-01-01", "2025-08-22")
    assert ordered is not None
    assert (ordered.minimum, ordered.maximum) == ("2025-01-01 00:00:00", "2025-10-05 18:39:00")


async def test_keys_that_are_not_declared_are_inferred_and_say_so(engine: Engine) -> None:
    orders = (await engine.describe()).table("orders")
    assert orders is not None
    assert orders.primary_key == ("order_id",)
    assert orders.foreign_keys == (
        ForeignKey(("customer_id",), "customers", ("customer_id",), declared=False),
    )


async def test_a_view_is_described_without_counting_its_rows(
    case: EngineCase, engine: Engine
) -> None:
    view = (await engine.describe()).table("big_orders")
    assert view is not None
    assert view.row_count == case.view_rows
    assert view.column("channel") is not None


async def test_a_schema_that_has_not_changed_is_the_same_object(engine: Engine) -> None:
    schema = await engine.describe()
    assert await engine.describe() is schema
    assert not await engine.changed(schema)


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM ordrs", "SELECT o.amout FROM orders o"])
async def test_an_error_about_a_name_says_so_and_where(
    sql: str, engine: Engine, runner: Runner
) -> None:
    """The name may be one of a schema that has changed: the card is looked at again then."""
    with pytest.raises(QueryError) as run:
        await runner.run(sql)
    assert run.value.line == 1
    with pytest.raises(QueryError) as estimated:
        await engine.estimate(sql)
    assert estimated.value.message == run.value.message
