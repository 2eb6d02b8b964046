"""The same questions, asked of the same shop, get the same rows from every engine."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pytest

from awhile.ask.engines.contract import Budget
from awhile.ask.engines.errors import QueryError
from awhile.ask.results import page
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Sql
from tests.contract.engines.cases import EngineCase
from tests.contract.engines.conftest import Runner
from tests.contract.translators.shop import TODAY

pytestmark = pytest.mark.anyio

QUESTIONS = (
    "how many customers are there",
    "how many orders per month this year",
    "revenue by country",
    "top 10 products by revenue last month",
    "average order value by segment",
    "median order value",
    "customers who never ordered",
    "best selling category",
    "revenue per quarter",
    "orders in Germany",
    "list the products in category Toys",
    "products over 100",
    "orders and revenue by channel",
    "which country has the most customers",
    "what is our total revenue this year?",
    "how many orders were cancelled?",
    "monthly revenue in 2025",
    "revenue by category and year",
    "orders since March",
    "revenue in the past 90 days",
    "which products are bought together most often",
)
ANSWERS = Path(__file__).with_name("answers.json")
"""The rows, as DuckDB has them: every other engine is held to the same."""


def plain(cell: str | None) -> str | None:
    """A cell as it is compared: numbers to six places, and midnight as its day."""
    if cell is None:
        return None
    try:
        number = f"{round(Decimal(cell), 6):f}"
        return number.rstrip("0").rstrip(".") if "." in number else number
    except InvalidOperation:
        return re.sub(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.0+\Z", r"\1", cell)


async def test_every_question_gets_the_same_rows_from_every_engine(
    case: EngineCase, shop: Runner
) -> None:
    answers = json.loads(ANSWERS.read_text())
    schema = await shop.engine.describe()
    for question in QUESTIONS:
        said = BuiltInTranslator().translate_now(question, schema, TODAY)
        assert isinstance(said, Sql), said
        if "median" in question and not case.has_median:
            with pytest.raises(QueryError, match="no such function"):
                await shop.run(said.sql)
            continue
        result = await shop.run(said.sql, Budget(rows=1000))
        found = [[plain(cell) for cell in row] for row in page(result.path, 0, 1000).rows]
        wanted = answers[question]
        assert [each.name for each in result.columns] == wanted["columns"]
        assert sorted(map(str, found)) == sorted(map(str, wanted["rows"])), question
