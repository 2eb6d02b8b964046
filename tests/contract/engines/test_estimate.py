"""What an engine says of a query before it runs."""

from __future__ import annotations

from datetime import date

import anyio
import pytest

from awhile.ask.engines.contract import Engine
from awhile.ask.engines.errors import QueryError, QueryRefused
from tests.contract.engines.cases import EngineCase

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 15


async def test_a_query_that_takes_minutes_is_estimated_without_being_run(
    case: EngineCase, engine: Engine
) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        estimate = await engine.estimate(case.endless["join"])
        few = await engine.estimate("SELECT 1")
    assert (estimate is None) == (engine.capabilities.estimate == "none") == (few is None)
    if estimate is not None and few is not None:
        assert estimate.cost > 1000 * few.cost
        assert few.rows == 1


async def test_a_name_the_database_does_not_have_is_told_with_its_place(engine: Engine) -> None:
    with pytest.raises(QueryError, match="colour") as error:
        await engine.estimate("SELECT customer_id,\n       colour\nFROM customers")
    assert (error.value.line, error.value.column) == (2, 8)
    with pytest.raises(QueryError, match="client"):
        await engine.estimate("SELECT * FROM client")


async def test_parameters_are_bound_in_an_estimate_as_in_a_run(engine: Engine) -> None:
    since = {"since": date(2025, 1, 1)}
    await engine.estimate("SELECT * FROM customers WHERE joined_on >= :since", parameters=since)


async def test_what_may_not_run_is_not_estimated_either(engine: Engine) -> None:
    with pytest.raises(QueryRefused):
        await engine.estimate("DELETE FROM orders")
