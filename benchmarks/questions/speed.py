"""How long a big schema takes to learn, and a question on it: beside the targets.

In CPU time, which the load of others changes little.
"""

from __future__ import annotations

import statistics
import time
from datetime import date

from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn
from awhile.ask.translators.builtin import BuiltInTranslator

__all__ = ["TABLES", "Took", "measured", "schema"]

TABLES, COLUMNS, VALUES = 200, 20, 50
TARGET_LEARN_SECONDS, TARGET_QUESTION_MS = 0.5, 50.0
ROUNDS = 5
_TODAY = date(2026, 11, 5)
_QUESTIONS = (
    "how many thing7 are there",
    "number of thing150 by color 150",
    "thing3 created last month",
    "top 5 thing9 by amount 9",
    "average amount 44 by color 43",
    "share of thing12 by color 12",
    "growth of the number of thing20 by month",
    "thing7 without thing8",
)

Took = tuple[str, str, str, str]
"""What was measured, the figure, the target, and whether it was met."""


def schema(tables: int = TABLES) -> Schema:
    """So many tables, each pointing at the one before it."""
    return Schema(tuple(_table(at) for at in range(tables)), "wide")


def _table(at: int) -> Table:
    values = tuple(f"value {at} {each}" for each in range(VALUES))
    columns = [
        TableColumn("id", "INTEGER", False),
        TableColumn("before_id", "INTEGER", False),
        TableColumn(f"amount_{at}", "DECIMAL(10,2)"),
        TableColumn("created_at", "TIMESTAMP"),
        *(
            TableColumn(
                f"color_{at}" if not each else f"column_{at}_{each}", "VARCHAR", True, None, values
            )
            for each in range(COLUMNS - 4)
        ),
    ]
    keys = (ForeignKey(("before_id",), f"thing{at - 1}", ("id",)),) if at else ()
    return Table(f"thing{at}", tuple(columns), ("id",), keys, 1000)


def measured() -> list[Took]:
    """The figures, each the median of some rounds of the same."""
    learning: list[float] = []
    asking: dict[str, list[float]] = {question: [] for question in _QUESTIONS}
    for _ in range(ROUNDS):
        made = schema()
        translator = BuiltInTranslator()
        begun = time.process_time()
        translator.translate_now("how many", made, _TODAY)
        learning.append(time.process_time() - begun)
        for question in _QUESTIONS:
            begun = time.process_time()
            translator.translate_now(question, made, _TODAY)
            asking[question].append((time.process_time() - begun) * 1000)
    learn = statistics.median(learning)
    each = [statistics.median(rounds) for rounds in asking.values()]
    ask, slowest = statistics.median(each), max(each)
    return [
        (
            f"learning a schema of {TABLES} tables with {COLUMNS} columns, 16 of {VALUES} values",
            f"{learn:.2f} s",
            f"{TARGET_LEARN_SECONDS} s",
            _met(learn <= TARGET_LEARN_SECONDS),
        ),
        (
            "a question on it (the median one; the slowest one)",
            f"{ask:.1f} ms; {slowest:.0f} ms",
            f"{TARGET_QUESTION_MS:.0f} ms",
            _met(slowest <= TARGET_QUESTION_MS),
        ),
    ]


def _met(met: bool) -> str:
    return "met" if met else "MISSED"
