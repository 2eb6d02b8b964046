"""The plain reading of an intent: sentences a person can check without knowing SQL.

Source: ours. Written from the intent alone, never from the question, so that it tells what will
be computed and not what was hoped for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.intent import (
    Among,
    Change,
    ColumnRef,
    Comparison,
    During,
    Either,
    EntityDimension,
    Flag,
    Formula,
    Groups,
    Listing,
    Matching,
    Measure,
    Missing,
    Product,
    Ratio,
    Rows,
    Share,
    Span,
    TimeDimension,
    Totals,
    measures_of,
)
from awhile.ask.translators.names import column_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import (
        Condition,
        Dimension,
        Figure,
        Filter,
        Intent,
        Pairs,
        Threshold,
    )
    from awhile.ask.translators.marks import Operator, Part

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
_HAS: dict[Part, tuple[str, str]] = {
    "start": ("begin", " with"),
    "end": ("end", " with"),
    "anywhere": ("contain", ""),
}
_FUNCTIONS = {
    "sum": "total",
    "avg": "average",
    "median": "median",
    "min": "lowest",
    "max": "highest",
    "count_distinct": "number of different",
    "count": "number of",
    "stddev": "standard deviation of",
    "variance": "variance of",
    "itself": "",
}
_NOT_REAL_SALES = ("cancelled", "canceled", "returned", "refunded", "void", "failed", "rejected")


def reading_of(intent: Intent, figures: Figures) -> str:
    """What the SQL of this intent computes."""
    reading = _Reading(figures)
    if isinstance(intent, Groups):
        return reading.groups(intent)
    if isinstance(intent, Listing):
        return reading.listing(intent)
    return reading.pairs(intent)


class _Reading:
    """Writes the sentences for one schema."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures

    def groups(self, intent: Groups) -> str:
        said = [self.figure(each) for each in intent.figures]
        groups = " and ".join(self.dimension(each) for each in intent.dimensions)
        having = "".join(f", only those with {self.threshold(each)}" for each in intent.having)
        first = measures_of(intent.figures[0])[0]
        base = intent.dimensions[0].table if intent.include_empty else self.base(first)
        where = self.condition(intent.where, base)
        if intent.count_groups:
            text = f"The number of {self.plural(intent.dimensions[0])}{where}{having}."
        else:
            each = f" for each {groups}" if groups else ""
            text = _capital(f"{_listed(said)}{each}{where}{having}") + "."
            text += self.sorted(intent)
        text += self.along(intent)
        only = intent.dimensions[0] if len(intent.dimensions) == 1 else None
        text += self.shared(intent)
        if isinstance(first.per, EntityDimension) and self.may_lack(
            first.per.table, first.of.table
        ):
            text += f" {_capital(self.plural(first.per))} without any do not count."
        if intent.include_empty:
            text += " Those without any count as 0."
        elif isinstance(only, EntityDimension) and first.of.table != only.table:
            text += f" {_capital(self.plural(only))} without any are left out."
        if any(
            isinstance(each, TimeDimension) and each.unit == "weekday" for each in intent.dimensions
        ):
            text += " Weekdays are numbered, 1 is Monday."
        return text + self.caveats(intent)

    def may_lack(self, one: str, of: str) -> bool:
        """Whether rows of the one may have none of the others: an order has lines."""
        trade = self.figures.trade
        return one != of and not (trade and (one, of) == (trade.header, trade.lines))

    def base(self, measure: Measure) -> str:
        """The table whose rows conditions are on."""
        home, per = measure.of.table, measure.per
        if per is None or per.table in self.figures.joins.reach(home):
            return home
        return self.figures.joins.base([home, per.table]) or home

    def shared(self, intent: Groups) -> str:
        """What belongs to several groups counts in each of them."""
        for measure in (each for figure in intent.figures for each in measures_of(figure)):
            near = self.figures.joins.reach(measure.of.table)
            for each in intent.dimensions:
                if isinstance(each, EntityDimension) and each.table not in near and not measure.per:
                    one = self.figures.one(measure.of.table)
                    return (
                        f" Each {one} counts once for every {self.dimension(each)} it belongs to."
                    )
        return ""

    def sorted(self, intent: Groups) -> str:
        if intent.order is None or intent.over:
            return ""
        if isinstance(intent.order.by, ColumnRef):
            end = "last" if intent.order.descending else "first"
            return f" Sorted by {self.figures.called(intent.order.by)}, {end} first."
        end = "highest" if intent.order.descending else "lowest"
        by = f" by {self.figure(intent.order.by, short=True)}" if len(intent.figures) > 1 else ""
        each = " and ".join(self.dimension(one) for one in intent.within)
        inside = f" of each {each}" if each else ""
        if intent.limit == 1:
            return f" Only the {_place(intent.skip)}{end}{by}{inside} is shown."
        if intent.limit:
            return f" The {intent.limit} {end}{by}{inside} are shown, {end} first."
        return f" Sorted {end}{by} first."

    def along(self, intent: Groups) -> str:
        over = intent.over
        if over is None:
            return ""
        time = next(each for each in intent.dimensions if isinstance(each, TimeDimension))
        rest = " within each of the other groups" if len(intent.dimensions) > 1 else ""
        if over.kind == "running":
            return f" Added up from the first {time.unit} on{rest}."
        if over.kind == "moving":
            return (
                f" With the average of each {time.unit} and the {over.size - 1} before it that "
                f"have data{rest}; the first ones average fewer."
            )
        return (
            f" Each {time.unit} is compared with the one a {over.unit} earlier{rest}: the "
            "difference, and the growth as a fraction of the earlier one (0.1 is 10 percent more)."
        )

    def caveats(self, intent: Groups) -> str:
        """What a person might silently expect, and is not done: sorted out returns, discounts."""
        text = ""
        measures = [each for figure in intent.figures for each in measures_of(figure)]
        measures += [each.measure for each in intent.having]
        measures += [each.measure for each in intent.where.filters if isinstance(each, Totals)]
        money = [each.of for each in measures if isinstance(each.of, Product)]
        if money:
            card = self.figures.table(money[0].table)
            if any("discount" in column_words(column.name) for column in card.columns):
                text += " Discounts are not taken off."
        filtered = {each.ref for each in intent.where.filters}
        filtered |= {
            each.ref for measure in measures if measure.only for each in measure.only.filters
        }
        tables = [each.of.table for each in measures if each.function in ("sum", "avg")]
        if money and self.figures.trade:
            tables.append(self.figures.trade.header)
        for table in dict.fromkeys(tables):
            for column in self.figures.table(table).columns:
                odd = [v for v in column.sample_values if v.casefold() in _NOT_REAL_SALES]
                if odd and ColumnRef(table, column.name) not in filtered:
                    text += f" Rows whose {column.name} is {' or '.join(odd)} are included."
        return text

    def figure(self, figure: Figure, short: bool = False) -> str:
        match figure:
            case Measure():
                return self.measure(figure, short)
            case Share():
                return f"share of the {self.whole(figure.of, short)} (from 0 to 1)"
            case Ratio():
                top, bottom = figure.top, figure.bottom
                if figure.part:
                    return f"share (from 0 to 1) of the {self.plain(bottom, short)}{self.only(top)}"
                return (
                    f"{self.plain(top, short)}{self.only(top)} divided by the "
                    f"{self.plain(bottom, short)}{self.only(bottom)}"
                )
            case Change():
                now, before = self.when(figure.now), self.when(figure.before)
                return (
                    f"{self.plain(figure.now, short)} {now}, and {before}, with the difference and "
                    "the growth as a fraction of the earlier one (0.1 is 10 percent more)"
                )

    def plain(self, measure: Measure, short: bool) -> str:
        return self.measure(replace(measure, only=None), short)

    def whole(self, measure: Measure, short: bool) -> str:
        said = self.measure(measure, short)
        return said if said.startswith("total ") else f"total {said}"

    def only(self, measure: Measure) -> str:
        only = measure.only
        if only is None:
            return ""
        if only.never:
            return f" of those without any {_listed([_words(each) for each in only.related])}"
        if only.related:
            inside = _listed([self.filter(each) for each in only.filters])
            where = f" where {inside}" if inside else ""
            return f" of those with {_listed([_words(each) for each in only.related])}{where}"
        return f" for which {_listed([self.filter(each) for each in only.filters])}"

    def when(self, measure: Measure) -> str:
        during = measure.only.filters[0] if measure.only else None
        assert isinstance(during, During)
        return f"in {during.periods[0].dates}"

    def measure(self, measure: Measure, short: bool = False) -> str:
        of = measure.of
        if isinstance(of, Rows):
            what = f"number of {_words(of.table)}"
        elif isinstance(of, Product):
            formula = f" ({of.quantity.column} × {of.price.column} of {of.table})"
            what = "revenue" + ("" if short else formula)
        elif isinstance(of, Formula):
            what = of.name.replace("_", " ") + ("" if short else f" ({of.sql} of {of.table})")
            if measure.function in ("sum", "itself") and not measure.per:
                return what
        elif isinstance(of, Span):
            dates = f"{of.start.column} to {of.end.column}"
            what = f"number of calendar days from {dates} of {_words(of.table)}"
        else:
            what = f"{self.figures.called(of)} of {_words(of.table)}"
        if measure.per:
            whole = f"of the total {what}" if isinstance(of, ColumnRef) else what
            return f"{_FUNCTIONS[measure.function]} {whole} per {self.dimension(measure.per)}"
        if isinstance(of, Rows):
            return what
        said = _FUNCTIONS[measure.function]
        return what if what.startswith(f"{said} ") else f"{said} {what}"

    def dimension(self, dimension: Dimension) -> str:
        if isinstance(dimension, EntityDimension):
            return self.figures.one(dimension.table)
        if isinstance(dimension, TimeDimension):
            return f"{dimension.unit} of {dimension.ref.table}.{dimension.ref.column}"
        return f"{self.figures.called(dimension)} of {_words(dimension.table)}"

    def group(self, ref: ColumnRef) -> str:
        """What has one value of a column: a row, where it is the key."""
        key = self.figures.table(ref.table).primary_key
        return self.figures.one(ref.table) if key == (ref.column,) else self.dimension(ref)

    def plural(self, dimension: Dimension) -> str:
        return (
            _words(dimension.table)
            if isinstance(dimension, EntityDimension)
            else (f"groups by {self.dimension(dimension)}")
        )

    def threshold(self, each: Threshold | Totals) -> str:
        bound = f"{each.low:f}" + (f" and {each.high:f}" if each.high is not None else "")
        return f"a {self.measure(each.measure, short=True)} of {_OPERATORS[each.operator]} {bound}"

    def condition(self, condition: Condition, base: str) -> str:
        """Conditions on the rows themselves, then those on their related rows, as compiled."""
        near = self.figures.joins.reach(base)
        own = [self.filter(each) for each in condition.filters if each.ref.table in near]
        inside = [self.filter(each) for each in condition.filters if each.ref.table not in near]
        related = [table for table in condition.related if table not in near]
        text = f", only where {_listed(own)}" if own else ""
        if inside or related:
            names = _listed([_words(table) for table in related]) or "related rows"
            where = f" where {_listed(inside)}" if inside else ""
            text += (
                f", only those {'without any' if condition.never else 'that have'} {names}{where}"
            )
        return text

    def filter(self, each: Filter) -> str:
        name = f"{each.ref.table}.{each.ref.column}"
        match each:
            case Among():
                values = " or ".join(each.values)
                return f"{name} is {'not ' if each.negated else ''}{values}"
            case Flag():
                return f"{name} is {'false' if each.negated else 'true'}"
            case Comparison():
                high = f" and {each.high:f}" if each.high is not None else ""
                return f"{name} is {_OPERATORS[each.operator]} {each.low:f}{high}"
            case During():
                whole = all(period.start and period.end for period in each.periods)
                dates = " or ".join(period.dates for period in each.periods)
                return f"{name} is {'in ' if whole else ''}{dates}"
            case Matching():
                verb, rest = _HAS[each.where]
                does = f"does not {verb}" if each.negated else f"{verb}s"
                return f"{name} {does}{rest} {each.text!r}"
            case Missing():
                return f"{name} is {'known' if each.negated else 'empty'}"
            case Either():
                return " or ".join(map(self.filter, each.of))
            case Totals():
                one, only = self.figures.one(each.entity.table), each.measure.only
                where = f" where {_listed(list(map(self.filter, only.filters)))}" if only else ""
                if each.operator == ">" and not each.low and isinstance(each.measure.of, Rows):
                    return f"the {one} has {_words(each.measure.of.table)}{where}"
                counting = f", counting only{where}" if where else ""
                return f"the {one} has {self.threshold(each)}{counting}"

    def listing(self, intent: Listing) -> str:
        all_of_them = len(intent.columns) >= len(self.figures.table(intent.table).columns)
        what = (
            _words(intent.table)
            if all_of_them and not intent.distinct
            else (
                _listed([self.figures.called(each) for each in intent.columns])
                + f" of {_words(intent.table)}"
            )
        )
        head = "The different values of " if intent.distinct else "The "
        text = f"{head}{what}{self.condition(intent.where, intent.table)}."
        if intent.of_values:
            text += f" That is so for all {_words(intent.table)} of each of them."
        if intent.order and isinstance(intent.order.by, ColumnRef):
            end = "highest" if intent.order.descending else "lowest"
            column = intent.order.by.column
            inside = "".join(f" for each {self.group(one)}" for one in intent.within)
            if intent.limit == 1:
                place = _place(intent.skip)
                text += f" Only the one with the {place}{end} {column} is shown{inside}."
            elif intent.limit:
                text += f" The {intent.limit} with the {end} {column} are shown{inside}."
            else:
                text += f" Sorted by {column}, {end} first."
        return text

    def pairs(self, intent: Pairs) -> str:
        item, basket = _words(intent.item.table), self.figures.one(intent.basket_table)
        end = "most" if intent.descending else "least"
        return (
            f"Pairs of different {item} that appear in the same {basket}, with the number of such "
            f"{_words(intent.basket_table)}{self.condition(intent.where, intent.lines)}. "
            f"The {intent.limit} {end} frequent pairs are shown."
        )


def _place(skipped: int) -> str:
    """What is the highest but for so many."""
    return {0: "", 1: "second ", 2: "third "}.get(skipped, f"{skipped + 1}th ")


def _words(table: str) -> str:
    return table.rpartition(".")[2].replace("_", " ")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
