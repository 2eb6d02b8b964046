"""Figures as said into measures: which formula, over which rows, of what an average is taken.

Source: ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.dating import event_date, not_another
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.intent import (
    ColumnRef,
    Formula,
    Measure,
    Product,
    Rows,
    Span,
    TimeDimension,
)
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.names import column_words, full_name, one_of, table_words

if TYPE_CHECKING:
    from awhile.ask.translators.case import Case
    from awhile.ask.translators.draft import Figure, Grouping
    from awhile.ask.translators.intent import Dimension, Expression, Function

__all__ = ["dimension", "measure"]

_OF_EACH = ("avg", "median", "min", "max", "stddev", "variance")
_SPOKEN = {"avg": "average", "max": "highest", "min": "lowest", "median": "median"}


def measure(case: Case, figure: Figure, groupings: list[Grouping]) -> Measure:
    """The measure of a figure. An outer function takes its unit away from `groupings`.

    Raises `Doubt`.
    """
    if figure.kind == "count":
        _not_items(case, figure)
        inner = Measure("count", Rows(figure.table))
    elif figure.kind == "days" and figure.column and figure.until:
        if figure.outer:
            raise Stuck("too many functions one upon another", figure.mark.text)
        return Measure(figure.function or "avg", Span(figure.column, figure.until))
    elif figure.kind == "column" and figure.column:
        return _of_column(case, figure, figure.column, groupings)
    elif figure.kind == "value":
        return _of_value(case, figure)
    elif figure.kind == "named":
        inner = _named(case, figure)
    elif figure.kind == "revenue":
        inner = Measure("sum", _revenue(case, figure))
        case.note(figure.mark, _formula(inner.of))
    else:
        inner = Measure("sum", _units(case, figure))
        case.note(figure.mark, _formula(inner.of))
    return _outer(case, figure, inner, groupings)


def _named(case: Case, figure: Figure) -> Measure:
    named = case.figures.named(figure.measure)
    formula = case.figures.formula(named)
    case.note(figure.mark, f"{named.table}: {named.sql}, as the semantic file says")
    return Measure(figure.function or case.figures.function_of(named), formula)


def dimension(case: Case, grouping: Grouping) -> Dimension:
    """The dimension of a group as said. Raises `Doubt`."""
    if grouping.grain:
        ref = event_date(case, grouping.mark)
        not_another(case, grouping.mark, ref, grouped=True)
        if case.figures.is_year(ref) and grouping.grain.unit != "year":
            raise Stuck(f"{ref.table}.{ref.column} only holds years", grouping.mark.text)
        return TimeDimension(ref, grouping.grain.unit)
    if grouping.column:
        return grouping.column
    return case.entity(grouping.table, grouping.mark)


def _not_items(case: Case, figure: Figure) -> None:
    """ "More than 4 items" may be different products or pieces; "products" is plain."""
    trade = case.figures.trade
    word = figure.mark.text.casefold()
    if (
        trade
        and figure.table == trade.item
        and word in ("item", "items")
        and ("item" not in table_words(figure.table))
    ):
        plain = figure.table.replace("_", " ")
        raise Undecided(
            f"Do you mean different {plain}, or units?",
            (
                Choice(f"different {plain}", case.reworded(figure.mark.text, plain)),
                Choice("units", case.reworded(figure.mark.text, "units")),
            ),
            figure.mark.text,
        )


def _outer(case: Case, figure: Figure, inner: Measure, groupings: list[Grouping]) -> Measure:
    if figure.outer is None:
        return inner
    per = [each for each in groupings if each.per and not each.column]
    if len(per) != 1 or figure.share:
        raise _of_what(case, figure)
    groupings.remove(per[0])
    unit = dimension(case, per[0])
    if isinstance(unit, ColumnRef):
        raise _of_what(case, figure)
    return Measure(figure.outer, inner.of, per=unit)


def _of_what(case: Case, figure: Figure) -> Undecided:
    """ "average revenue by country" leaves open of what the average is taken."""
    said = _SPOKEN.get(figure.outer or figure.function or "avg", "average")
    words, trade = figure.mark.text, case.figures.trade
    choices: list[Choice] = []
    if trade and figure.kind == "revenue":
        one = f"{one_of(trade.header)} value"
        choices.append(Choice(f"{said} {one}", case.reworded(words, one)))
        question, place = case.draft.question, case.draft.question.casefold().find(said)
        if place >= 0:
            total = f"{question[:place]}total{question[place + len(said) :]}"
            choices.append(Choice(f"total {words}", total))
    return Undecided(f"The {said} of {words}, for each of what?", tuple(choices), words)


def _of_column(case: Case, figure: Figure, ref: ColumnRef, groupings: list[Grouping]) -> Measure:
    function: Function = figure.function or "sum"
    inner = Measure(function, ref)
    if figure.outer:
        return _outer(case, figure, inner, groupings)
    additive = ref in case.figures.units() or ref in case.figures.revenue()
    # An average price is one for each row, whatever else is bought in the same order.
    additive = additive and column_words(ref.column)[-1] not in ENGLISH.not_additive
    per = [each for each in groupings if each.per and each.table]
    own = [each for each in per if each.table == ref.table]
    if function in _OF_EACH and own and len(per) == 1:
        # "average words per message": each message has one number of them.
        groupings.remove(own[0])
        return inner
    if function in ("avg", "median") and additive and per:
        trade = case.figures.trade
        unit = per[0]
        if trade and unit.table in (trade.header, trade.buyer):
            groupings.remove(unit)
            return Measure(function, ref, per=case.entity(unit.table, unit.mark))
        raise _of_what(case, figure)
    if function in ("avg", "median") and case.figures.adds_up(ref) and len(per) == 1 and not own:
        raise _of_rows_or_totals(case, figure, per[0])
    return inner


def _of_rows_or_totals(case: Case, figure: Figure, unit: Grouping) -> Undecided:
    """ "average hours per employee": of each row, or of what they come to for each employee?"""
    words, one = figure.mark.text, unit.mark.text
    totals = case.reworded(words, f"total {words}")
    rows = re.sub(rf"\S+(\s+{re.escape(one)})", r"by\1", case.draft.question, count=1)
    return Undecided(
        f"Is it the average of the {words} of one row, or of the total of each {one}?",
        (Choice(f"of one row, by {one}", rows), Choice(f"of the total of each {one}", totals)),
        words,
    )


def _of_value(case: Case, figure: Figure) -> Measure:
    of = _revenue(case, figure)
    trade = case.trade(figure.mark.text)
    if figure.table not in (trade.header, trade.lines):
        raise Stuck("I do not know its value", figure.mark.text)
    if figure.function is None:
        one = figure.mark.text
        name = one if one.endswith(("size", "value")) else f"{one} value"
        raise Undecided(
            f"Do you mean the average or the total {name}?",
            tuple(
                Choice(f"{word} {name}", case.reworded(one, f"{word} {one}"))
                for word in ("average", "total", "median")
            ),
            one,
        )
    case.note(figure.mark, f"{_formula(of)}, added up for each row of {figure.table}")
    if figure.function == "sum" or of.table == figure.table:
        return Measure(figure.function, of)
    return Measure(figure.function, of, per=case.entity(figure.table, figure.mark))


def _revenue(case: Case, figure: Figure) -> Expression:
    found = case.figures.revenue()
    if not found:
        raise Stuck("no table here holds amounts of money I could add up", figure.mark.text)
    first, *others = found
    if others:
        words = figure.mark.text
        names = [full_name(e.table, e.column) for e in found if isinstance(e, ColumnRef)]
        raise Undecided(
            f"More than one figure could be the {words}. Which one do you mean?",
            tuple(Choice(each, case.reworded(words, f"total {each}")) for each in names),
            words,
        )
    return first


def _units(case: Case, figure: Figure) -> ColumnRef:
    found = case.figures.units()
    if len(found) != 1:
        raise Stuck("no one column here holds units sold", figure.mark.text)
    return found[0]


def _formula(of: Expression) -> str:
    if isinstance(of, Product):
        return f"{of.table}: {of.quantity.column} × {of.price.column}"
    if isinstance(of, Formula):
        return f"{of.table}: {of.sql}, as the semantic file says"
    return f"{of.table}.{of.column}" if isinstance(of, ColumnRef) else f"rows of {of.table}"
