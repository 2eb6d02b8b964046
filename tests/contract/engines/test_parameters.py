"""Named parameters: typed, bound, and never part of a text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from awhile.ask.engines.contract import Budget
from awhile.ask.engines.errors import EngineError, QueryError, QueryRefused
from awhile.ask.engines.parameters import bound, typed
from awhile.ask.results import page
from tests.contract.engines.conftest import Runner

pytestmark = pytest.mark.anyio


async def rows(runner: Runner, sql: str, **parameters: Any) -> list[list[str | None]]:
    result = await runner.engine.run(
        sql,
        report=runner.reports.append,
        budget=Budget(),
        destination=runner.destination,
        parameters=typed(parameters),
    )
    return page(result.path, 0, 100).rows


async def test_a_value_is_bound_to_every_place_of_its_name(runner: Runner) -> None:
    sql = "SELECT count(*) FROM customers WHERE customer_id >= :low AND customer_id < :low + :many"
    assert await rows(runner, sql, low=100, many=7) == [["7"]]


async def test_a_date_is_compared_as_one(runner: Runner) -> None:
    sql = "SELECT count(*) FROM customers WHERE joined_on >= :since"
    since = {"type": "date", "value": "2025-01-01"}
    assert await rows(runner, sql, since=since) == [["234"]]


async def test_d13_a_value_is_never_sql(runner: Runner) -> None:
    sql = "SELECT count(*) FROM customers WHERE name = :name"
    assert await rows(runner, sql, name="' OR 1 = 1; DROP TABLE orders --") == [["0"]]


async def test_what_looks_like_a_name_in_a_text_or_comment_is_none(runner: Runner) -> None:
    sql = "SELECT ':name' AS said, count(*) /* :name */ FROM customers WHERE name = :name -- :name"
    assert await rows(runner, sql, name="Customer 7") == [[":name", "1"]]


async def test_a_name_without_a_value_is_refused_by_that_name(runner: Runner) -> None:
    sql = "SELECT count(*) FROM customers WHERE name = :name AND customer_id > :low"
    with pytest.raises(QueryRefused, match="no value is given for it, nor for :") as both:
        await rows(runner, sql)
    assert both.value.word in (":name", ":low")
    with pytest.raises(QueryRefused, match="no value is given for it; give one") as one:
        await rows(runner, sql, low=1)
    assert one.value.word == ":name"
    with pytest.raises(QueryRefused, match="no value is given for it; give one"):
        await runner.engine.estimate(sql, parameters={"low": 1})


async def test_a_mistake_beside_a_name_without_a_value_is_told_as_it_is(runner: Runner) -> None:
    with pytest.raises(EngineError) as told:
        await rows(runner, "SELECT FROM WHERE :name")
    assert "no value" not in str(told.value)


async def test_a_value_without_a_name_is_refused(runner: Runner) -> None:
    with pytest.raises(QueryRefused, match=":other"):
        await rows(runner, "SELECT count(*) FROM customers", other=1)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "1" + "0" * 30),
        ("integer", "1" + "0" * 400),
        ("decimal", "0." + "3" * 60),
        ("decimal", "1E500"),
        ("text", "before\0behind"),
    ],
)
async def test_a_value_is_bound_as_it_is_or_refused(runner: Runner, kind: str, text: str) -> None:
    """Never as another one, and never at the cost of the process that was given it."""
    try:
        found = await rows(runner, "SELECT :value AS v", value={"type": kind, "value": text})
    except (QueryRefused, QueryError):
        return
    ((cell,),) = found
    assert cell is not None
    if kind == "text":
        assert cell == text
    elif runner.engine.capabilities.dialect == "sqlite":
        assert float(cell) == float(text)  # it has no other decimals
    else:
        assert Decimal(cell) == Decimal(text)


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        10**1000,
        -(10**1000),
        {"type": "decimal", "value": "sNaN"},
        {"type": "decimal", "value": "1E99999999"},
        {"type": "decimal", "value": "1E-99999999"},
    ],
    ids=["half a character", "long", "long and negative", "a NaN that signals", "huge", "tiny"],
)
def test_what_no_engine_has_is_refused(value: object) -> None:
    with pytest.raises(QueryRefused, match=":since"):
        typed({"since": value})


@pytest.mark.parametrize(
    "value",
    [[1], {"type": "date"}, {"type": "date", "value": "soon"}, {"type": "x", "value": "1"}],
)
def test_what_is_no_value_is_refused(value: object) -> None:
    with pytest.raises(QueryRefused, match=":since"):
        typed({"since": value})


def test_casts_slices_and_quoted_texts_are_left_alone() -> None:
    sql = "SELECT a::text, d::n, b[1:n], $q$ :n $q$, E'\\' :n', \"x:n\" FROM t WHERE c = :n"
    assert bound(sql, {"n": 1}, lambda name: f"<{name}>") == sql[: -len(":n")] + "<n>"
