"""Writing the sample warehouse: runs in a child process, so that it can be stopped."""

from __future__ import annotations

import csv
import re
from datetime import date, timedelta
from pathlib import Path

import duckdb

from awhile.ask.sample.recipe import SEED, Size, text
from awhile.processes import ChildRun

__all__ = ["generate"]

_MEMORY = "3GB"
"""A month of the large sample fits; more spills beside the file."""
_SUMMER_THEME = "barbecue"


def generate(path: Path, size: Size, end_day: date, run: ChildRun) -> None:
    """Write the warehouse of the two years up to `end_day` to a new file.

    The same arguments give the same rows, with the same version of DuckDB.
    """
    # Whole months, so that no chart begins with a dip.
    start_day = date(end_day.year - 2, end_day.month, 1)
    sections = _sections(text("warehouse.sql"))
    products = [
        {"place": place, **row}
        for place, row in enumerate(csv.DictReader(text("products.csv").splitlines()), start=1)
    ]
    places = [
        {"place": place, **row, "weight": int(row["weight"])}
        for place, row in enumerate(csv.DictReader(text("places.csv").splitlines()), start=1)
    ]
    themes = sorted({row["theme"] for row in products if row["theme"]})
    months = _months(start_day, end_day)
    with duckdb.connect(path) as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'")
        for name, value in {
            "seed": SEED,
            "start_day": start_day,
            "end_day": end_day,
            "day_count": (end_day - start_day).days,
            "order_target": size.orders,
            "customer_count": size.customers,
            "restaurants_from": 1 - size.restaurant_share,
            "product_rows": products,
            "place_rows": places,
            "first_names": text("first_names.txt").split(),
            "last_names": text("last_names.txt").split(),
            "theme_count": len(themes),
            "summer_theme": themes.index(_SUMMER_THEME) + 1,
        }.items():
            connection.execute(f"SET VARIABLE {name} = $1", [value])
        monthly = {name: sections.pop(name) for name in list(sections) if name.startswith("month ")}
        last = sections.pop("say what is what")
        for name, statement in sections.items():
            run.report(0, len(months), name)
            connection.execute(statement)
        for done, (month_from, month_to) in enumerate(months):
            run.report(done, len(months), f"orders of {month_from:%B %Y}")
            connection.execute("SET VARIABLE month_from = $1", [month_from])
            connection.execute("SET VARIABLE month_to = $1", [month_to])
            for statement in monthly.values():
                connection.execute(statement)
        connection.execute(last)
        run.report(len(months), len(months), "writing the file")
        connection.execute("CHECKPOINT")


def _sections(text: str) -> dict[str, str]:
    """The statements of a file by name, in order."""
    parts = re.split(r"^-- name: (.+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _months(start_day: date, end_day: date) -> list[tuple[date, date]]:
    months: list[tuple[date, date]] = []
    first = start_day
    while first <= end_day:
        following = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
        months.append((first, following))
        first = following
    return months
