"""What the columns of a result are good for, by their types, names and first rows: which are
amounts, and which say of what, or when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from awhile.ask.results.rows import rows_of
from awhile.ask.results.texts import column_name, scratch, text_of
from awhile.ask.schema import TableColumn

if TYPE_CHECKING:
    from awhile.ask.results.stored import Stored

__all__ = ["LOOKED_AT", "Looked", "Role", "look"]

LOOKED_AT = 20_000
"""How many rows are looked at; what is drawn is of all of them."""

MOST_COLUMNS = 60
"""How many columns are looked at; those behind them are drawn by nobody."""

Role = Literal["time", "measure", "category", "order", "id", "other"]
"""`order` is a number that stands for a place and not for an amount, such as a year."""

_ID = re.compile(r"(^|_)(id|key|uuid|guid|code|zip|postcode|phone)$|Id$")
_ORDER = re.compile(
    r"(^|_)(year|quarter|month|week|weekday|day|hour|minute|decade|rank|position|place|age)(_|$)",
    re.IGNORECASE,
)
_DATE = r"^-?\d{4,}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?)?$"
_LONG_TEXT = 60


@dataclass(frozen=True, slots=True)
class Looked:
    """One column: `distinct` counts its different values among the rows that were looked at."""

    position: int
    name: str
    role: Role
    distinct: int
    nulls: int
    whole_days: bool = False
    """Of times: whether all of them are at midnight."""


def look(stored: Stored) -> list[Looked]:
    """Every column of an opened result."""
    if stored.row_count == 0:
        return [
            Looked(position, column.name, "other", 0, 0)
            for position, column in enumerate(stored.columns)
        ]
    kinds = stored.kinds[:MOST_COLUMNS]
    texts = [text_of(column_name(at), kind) for at, kind in enumerate(kinds)]
    wanted = ", ".join(
        f"count(DISTINCT {text}), count(*) - count({text}), max(length({text})), "
        f"bool_and(regexp_matches({text}, '{_DATE}')), "
        f"bool_and(length({text}) <= 10 OR contains({text}, '00:00:00'))"
        for text in texts
    )
    with scratch() as connection:
        rows = rows_of(stored, range(len(texts)), most=LOOKED_AT)
        connection.from_arrow(rows).create_view("head")
        told = connection.execute(f"SELECT {wanted} FROM head").fetchall()[0]  # noqa: S608
    found: list[Looked] = []
    for position, column in enumerate(stored.columns[:MOST_COLUMNS]):
        distinct, nulls, longest, dated, whole_days = told[5 * position : 5 * position + 5]
        role = _role(TableColumn(column.name, column.type), distinct, longest or 0, bool(dated))
        found.append(
            Looked(position, column.name, role, distinct, nulls, whole_days=bool(whole_days))
        )
    return found


def _role(column: TableColumn, distinct: int, longest: int, dated: bool) -> Role:
    match column.kind:
        case "date" | "timestamp":
            return "time"
        case "integer" | "number":
            if _ID.search(column.name):
                return "id"
            return "order" if _ORDER.search(column.name) and column.kind == "integer" else "measure"
        case "boolean":
            return "category"
        case "text":
            if dated:
                return "time"
            return "id" if _ID.search(column.name) or longest > _LONG_TEXT else "category"
        case _:
            return "category" if column.kind == "time" else "other"
