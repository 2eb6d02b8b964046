"""Which chart a result gets. Source: ours."""

from __future__ import annotations

import pytest

from awhile.ask.charts.choose import Choice, Wanted, choose, fitting
from awhile.ask.results.roles import Looked, Role


def columns(*told: tuple[str, Role, int]) -> list[Looked]:
    return [Looked(at, name, role, distinct, 0) for at, (name, role, distinct) in enumerate(told)]


MONTHLY = columns(("month", "time", 12), ("revenue", "measure", 12))
BY_COUNTRY = columns(("country", "category", 7), ("customers", "measure", 7))
ONE = columns(("customer_count", "measure", 1))
CLOUD = columns(("id", "id", 900), ("height", "measure", 400), ("weight", "measure", 500))
NAMES = columns(("id", "id", 900), ("name", "category", 900))


@pytest.mark.parametrize(
    ("looked", "rows", "question", "kind"),
    [
        (MONTHLY, 12, None, "line"),
        (BY_COUNTRY, 7, None, "bar"),
        (ONE, 1, None, "number"),
        (CLOUD, 900, None, "scatter"),
        (NAMES, 900, None, None),
        (MONTHLY, 1, None, "number"),
        (MONTHLY, 0, None, None),
        (MONTHLY, 12, "Revenue by month as a bar chart", "bar"),
        (BY_COUNTRY, 7, "Customers by country as a line chart", "bar"),  # countries have no order
        (columns(("year", "order", 9), ("n", "measure", 9)), 9, None, "bar"),
        (columns(("year", "order", 9), ("n", "measure", 9)), 9, "Trend of n", "line"),
        (columns(("a", "measure", 9), ("b", "measure", 9)), 9, "a against b", "scatter"),
    ],
)
def test_the_kind_follows_from_the_columns_and_the_question(
    looked: list[Looked], rows: int, question: str | None, kind: str | None
) -> None:
    chosen = choose(looked, rows, question, Wanted())
    assert (chosen.kind if chosen else None) == kind


def test_a_category_with_few_values_tells_lines_apart_and_one_with_many_does_not() -> None:
    few = columns(("month", "time", 12), ("country", "category", 5), ("revenue", "measure", 60))
    many = columns(("month", "time", 12), ("product", "category", 90), ("revenue", "measure", 60))
    assert choose(few, 60, None, Wanted()) == Choice(kind="line", x=0, y=2, series=1)
    assert choose(many, 60, None, Wanted()) == Choice(kind="line", x=0, y=2)


@pytest.mark.parametrize(
    ("name", "aggregate"),
    [
        ("revenue", "sum"),
        ("average_order_value", "average"),
        ("share", "average"),
        ("max_price", "max"),
        ("min_price", "min"),
    ],
)
def test_only_what_can_be_added_up_is(name: str, aggregate: str) -> None:
    chosen = choose(columns(("at", "time", 9), (name, "measure", 9)), 9, None, Wanted())
    assert chosen is not None
    assert chosen.aggregate == aggregate


def test_what_a_person_chooses_holds_and_what_is_not_there_is_left_out() -> None:
    looked = columns(
        ("country", "category", 7), ("n", "measure", 7), ("rate", "measure", 7), ("y", "order", 7)
    )
    changed = choose(looked, 7, None, Wanted(kind="bar", y=2, x=99))
    assert changed == Choice(kind="bar", x=0, y=2, aggregate="average")
    counted = choose(looked, 7, None, Wanted(kind="bar", aggregate="count"))
    assert counted == Choice(kind="bar", x=0, y=None, aggregate="count")
    assert fitting(looked, 7) == ["line", "bar", "scatter"]
    assert choose(NAMES, 900, None, Wanted(kind="bar")) == Choice(
        kind="bar", x=1, aggregate="count"
    )
