"""The plain reading of an intent: sentences a person can check without knowing SQL.

Source: ours. Written from the intent alone, never from the question, so that it tells what will
be computed and not what was hoped for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Comparison,
    During,
    EntityDimension,
    Groups,
    Listing,
    Missing,
    Product,
    Rows,
    TimeDimension,
)
from awhile.ask.translators.names import column_words, table_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import (
        Condition,
        Dimension,
        Filter,
        Intent,
        Measure,
        Pairs,
        Threshold,
    )
    from awhile.ask.translators.marks import Operator

__all__ = ["reading_of"]

_OPERATORS: dict[Operator, str] = {
    "=": "exactly",
    "<>": "not",
    ">": "more than",
    ">=": "at least",
    "<": "less than",
    "<=": "at most",
    "between": "between",
}
_FUNCTIONS = {
    "sum": "total",
    "avg": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "count_distinct": "number of different",
    "count": "number of",
}
_NOT_REAL_SALES = ("cancelled", "canceled", "returned", "refunded", "void", "failed", "rejected")


def reading_of(intent: Intent, figures: Figures) -> str:
    """What the SQL of this intent computes."""
    if isinstance(intent, Groups):
        return _groups(intent, figures)
    if isinstance(intent, Listing):
        return _listing(intent, figures)
    return _pairs(intent, figures)


def _groups(intent: Groups, figures: Figures) -> str:
    said = [_measure(each) for each in intent.measures]
    groups = " and ".join(_dimension(each) for each in intent.dimensions)
    having = "".join(f", only those with {_threshold(each)}" for each in intent.having)
    where = _condition(
        intent.where,
        intent.dimensions[0].table if intent.include_empty else intent.measures[0].of.table,
        figures,
    )
    if intent.count_groups:
        text = f"The number of {_plural(intent.dimensions[0])}{where}{having}."
    else:
        each = f" for each {groups}" if groups else ""
        text = _capital(f"{_listed(said)}{each}{where}{having}") + "."
        if intent.order and not isinstance(intent.order.by, ColumnRef):
            end = "highest" if intent.order.descending else "lowest"
            by = f" by {_measure(intent.order.by, short=True)}" if len(said) > 1 else ""
            if intent.limit == 1:
                text += f" Only the {end}{by} is shown."
            elif intent.limit:
                text += f" The {intent.limit} {end}{by} are shown, {end} first."
            else:
                text += f" Sorted {end}{by} first."
    if intent.include_empty:
        text += " Those without any count as 0."
    elif (
        len(intent.dimensions) == 1
        and isinstance(intent.dimensions[0], EntityDimension)
        and (intent.measures[0].of.table != intent.dimensions[0].table)
    ):
        text += f" {_capital(_plural(intent.dimensions[0]))} without any are left out."
    if any(
        isinstance(each, TimeDimension) and each.unit == "weekday" for each in intent.dimensions
    ):
        text += " Weekdays are numbered, 1 is Monday."
    return text + _caveats(intent, figures)


def _caveats(intent: Groups, figures: Figures) -> str:
    """What a person might silently expect, and is not done: sorted out returns, discounts."""
    text = ""
    money = [each.of for each in intent.measures if isinstance(each.of, Product)]
    if money:
        card = figures.table(money[0].table)
        if any("discount" in column_words(column.name) for column in card.columns):
            text += " Discounts are not taken off."
    filtered = {each.ref for each in intent.where.filters}
    tables = [each.of.table for each in intent.measures if each.function in ("sum", "avg")]
    if money and figures.trade:
        tables.append(figures.trade.header)
    for table in dict.fromkeys(tables):
        for column in figures.table(table).columns:
            odd = [v for v in column.sample_values if v.casefold() in _NOT_REAL_SALES]
            if odd and ColumnRef(table, column.name) not in filtered:
                text += f" Rows whose {column.name} is {' or '.join(odd)} are included."
    return text


def _measure(measure: Measure, short: bool = False) -> str:
    of = measure.of
    if isinstance(of, Rows):
        what = f"number of {_words(of.table)}"
    elif isinstance(of, Product):
        formula = f" ({of.quantity.column} × {of.price.column} of {of.table})"
        what = "revenue" + ("" if short else formula)
    else:
        what = f"{' '.join(column_words(of.column))} of {_words(of.table)}"
    if measure.per:
        whole = f"of the total {what}" if isinstance(of, ColumnRef) else what
        return f"{_FUNCTIONS[measure.function]} {whole} per {_dimension(measure.per)}"
    if measure.part:
        return f"share (from 0 to 1) of the {what} for which {_filter(measure.part)}"
    if measure.share:
        return f"share of the total {what} (from 0 to 1)"
    if isinstance(of, Rows):
        return what
    said = _FUNCTIONS[measure.function]
    return what if what.startswith(f"{said} ") else f"{said} {what}"


def _dimension(dimension: Dimension) -> str:
    if isinstance(dimension, EntityDimension):
        return " ".join(table_words(dimension.table))
    if isinstance(dimension, TimeDimension):
        return f"{dimension.unit} of {dimension.ref.table}.{dimension.ref.column}"
    return f"{' '.join(column_words(dimension.column))} of {_words(dimension.table)}"


def _plural(dimension: Dimension) -> str:
    return (
        _words(dimension.table)
        if isinstance(dimension, EntityDimension)
        else (f"groups by {_dimension(dimension)}")
    )


def _threshold(each: Threshold) -> str:
    bound = f"{each.low:f}" + (f" and {each.high:f}" if each.high is not None else "")
    return f"a {_measure(each.measure, short=True)} of {_OPERATORS[each.operator]} {bound}"


def _condition(condition: Condition, base: str, figures: Figures) -> str:
    """Conditions on the rows themselves, then those on their related rows, as compiled."""
    near = figures.joins.reach(base)
    own = [_filter(each) for each in condition.filters if each.ref.table in near]
    inside = [_filter(each) for each in condition.filters if each.ref.table not in near]
    related = [table for table in condition.related if table not in near]
    text = f", only where {_listed(own)}" if own else ""
    if inside or related:
        names = _listed([_words(table) for table in related]) or "related rows"
        where = f" where {_listed(inside)}" if inside else ""
        text += f", only those {'without any' if condition.never else 'that have'} {names}{where}"
    return text


def _filter(each: Filter) -> str:
    name = f"{each.ref.table}.{each.ref.column}"
    match each:
        case Among():
            values = " or ".join(each.values)
            return f"{name} is {'not ' if each.negated else ''}{values}"
        case Comparison():
            high = f" and {each.high:f}" if each.high is not None else ""
            return f"{name} is {_OPERATORS[each.operator]} {each.low:f}{high}"
        case During():
            return (
                f"{name} is in {each.period.dates}"
                if each.period.start and (each.period.end)
                else f"{name} is {each.period.dates}"
            )
        case Missing():
            return f"{name} is empty"


def _listing(intent: Listing, figures: Figures) -> str:
    all_of_them = len(intent.columns) >= len(figures.table(intent.table).columns)
    what = (
        _words(intent.table)
        if all_of_them and not intent.distinct
        else (
            _listed([" ".join(column_words(each.column)) for each in intent.columns])
            + f" of {_words(intent.table)}"
        )
    )
    head = "The different values of " if intent.distinct else "The "
    text = f"{head}{what}{_condition(intent.where, intent.table, figures)}."
    if intent.order and isinstance(intent.order.by, ColumnRef):
        end = "highest" if intent.order.descending else "lowest"
        column = intent.order.by.column
        if intent.limit == 1:
            text += f" Only the one with the {end} {column} is shown."
        elif intent.limit:
            text += f" The {intent.limit} with the {end} {column} are shown."
        else:
            text += f" Sorted by {column}, {end} first."
    return text


def _pairs(intent: Pairs, figures: Figures) -> str:
    item, basket = _words(intent.item.table), " ".join(table_words(intent.basket_table))
    end = "most" if intent.descending else "least"
    return (
        f"Pairs of different {item} that appear in the same {basket}, with the number of such "
        f"{_words(intent.basket_table)}{_condition(intent.where, intent.lines, figures)}. "
        f"The {intent.limit} {end} frequent pairs are shown."
    )


def _words(table: str) -> str:
    return table.rpartition(".")[2].replace("_", " ")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
