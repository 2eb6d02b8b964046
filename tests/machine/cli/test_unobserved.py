"""How long a query goes on for nobody, as a server's settings and its database have it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from awhile.ask.cli.serve import unobserved_seconds_of
from awhile.ask.engines.contract import Capabilities
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.cli.settings import read_settings

FREE = Capabilities(
    name="Some database",
    dialect="duckdb",
    percent="none",
    estimate="none",
    interrupt="prompt",
    stop_within_seconds=1,
    stop_is_proven=True,
    side_by_side=1,
)
PAID = replace(FREE, costs_money=True)


@pytest.mark.parametrize(
    ("said", "free", "paid"), [(None, None, 1800), ("0", None, None), ("60", 60, 60)]
)
def test_a_query_that_costs_money_stops_after_half_an_hour_unless_somebody_says_otherwise(
    said: str | None, free: float | None, paid: float | None
) -> None:
    environment = {} if said is None else {"AWHILE_UNOBSERVED_SECONDS": said}
    settings = read_settings(environment=environment).settings
    assert unobserved_seconds_of(settings, FREE) == free
    assert unobserved_seconds_of(settings, PAID) == paid


@pytest.mark.parametrize("url", ["mysql://reader@127.0.0.1/shop", "sqlite:///shop.db"])
def test_a_database_of_ones_own_costs_nothing(url: str) -> None:
    assert not SQLAlchemyEngine(url).capabilities.costs_money
