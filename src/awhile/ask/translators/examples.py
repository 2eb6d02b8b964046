"""Sample questions that are known to translate: what an empty page offers.

Source: ours. Built from the schema card alone and each tried before it is offered. Whether a
question translates does not depend on the day, so no day is asked for.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Sql
from awhile.ask.translators.figures import Figures
from awhile.ask.translators.joins import Joins
from awhile.ask.translators.names import column_words, is_label, one_of
from awhile.ask.translators.words import split_name, stem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awhile.ask.schema import Schema

__all__ = ["examples"]

_SOME_DAY = date(2000, 1, 1)
_ENOUGH = 6
_FEW_VALUES = 40


def examples(schema: Schema) -> list[str]:
    """Up to six questions that translate on this schema, the quick ones and the slow one mixed."""
    translator = BuiltInTranslator()
    found: list[str] = []
    for question in _candidates(schema):
        if question not in found and len(found) < _ENOUGH:
            answer = translator.translate_now(question, schema, _SOME_DAY)
            if isinstance(answer, Sql):
                found.append(question)
    return found


def _candidates(schema: Schema) -> Iterator[str]:
    figures = Figures(schema, Joins(schema))
    trade = figures.trade
    if trade and trade.item:
        orders, one = _many(trade.header), _one(trade.item)
        yield f"sum up the last year of {orders} by {one}"
        yield f"which {_many(trade.item)} are bought together most often"
        yield f"top 10 {_many(trade.item)} by revenue last month"
        if trade.buyer:
            never = "who never ordered" if _one(trade.header) == "order" else f"without {orders}"
            yield f"{_many(trade.buyer)} {never}"
    for table in schema.tables:
        many = _many(table.name)
        for column in table.columns:
            few = column.distinct_count is not None and 1 < column.distinct_count <= _FEW_VALUES
            if column.kind == "text" and few and not is_label(table, column):
                by = " ".join(column_words(column.name))
                if trade and table.name == trade.buyer:
                    yield f"average {_one(trade.header)} value by {by}"
                yield f"number of {many} by {by}"
                break
    for table in schema.tables:
        many = _many(table.name)
        if figures.dates(table.name):
            yield f"number of {many} per month"
        number = figures.only_number(table.name)
        if number:
            yield f"average {' '.join(column_words(number.column))} of {many}"
    for table in schema.tables:
        yield f"how many {_many(table.name)} are there"


def _many(table: str) -> str:
    words = " ".join(split_name(table.rpartition(".")[2]))
    return words if any(stem(each) != each for each in words.split()) else f"{words}s"


def _one(table: str) -> str:
    return one_of(table)
