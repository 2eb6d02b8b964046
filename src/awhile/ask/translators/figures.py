"""What a schema lets one measure: revenue, units, prices, the default date, names of rows.

Source: ours. Found from names and types only, and always told in the reading. Where two finds are
equally good, nothing is chosen (`None` or several), and the question goes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from awhile.ask.translators.intent import (
    ColumnRef,
    EntityDimension,
    Formula,
    Function,
    Product,
)
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import MeasureNoun
from awhile.ask.translators.names import (
    column_words,
    date_words,
    is_label,
    one_of,
    spoken,
    table_words,
)
from awhile.ask.translators.words import split_name

if TYPE_CHECKING:
    from awhile.ask.schema import NamedMeasure, Schema, Table, TableColumn
    from awhile.ask.translators.joins import Joins

__all__ = ["Figures", "Trade", "day_of"]

_FUNCTIONS: dict[str, Function] = {
    "sum": "sum",
    "avg": "avg",
    "median": "median",
    "min": "min",
    "max": "max",
    "count": "count",
    "count_distinct": "count_distinct",
}
"""What a semantic file may say of a measure."""
_MONEY_FIRST = ("revenue", "turnover")
_MONEY = frozenset({"amount", "total", "revenue", "turnover", "subtotal", "sale", "value"})
_NOT_MONEY = frozenset(
    {
        "tax",
        "discount",
        "count",
        "number",
        "id",
        "freight",
        "shipping",
        "fee",
        "cost",
        "quantity",
        "unit",
        "percent",
        "rate",
        "point",
        "score",
    }
)
_HOW_MANY = ("num", "n", "nr", "count", "cnt")
_EVENT_WORDS = (
    "order",
    "sale",
    "purchase",
    "transaction",
    "invoice",
    "booking",
    "payment",
    "ticket",
    "receipt",
    "bill",
    "checkout",
)
_FIRST_DATES = (
    "order",
    "ordered",
    "sale",
    "sold",
    "purchase",
    "purchased",
    "placed",
    "booked",
    "transaction",
    "invoice",
    "invoiced",
    "date",
    "occurred",
    "created",
    "paid",
    "opened",
    "submitted",
    "reported",
    "registered",
)


@dataclass(frozen=True, slots=True)
class Trade:
    """Who buys what, when: the table of items sold, of purchases, of things, of buyers."""

    lines: str
    header: str
    item: str | None
    buyer: str | None


class Figures:
    """The measures and names of one schema."""

    def __init__(self, schema: Schema, joins: Joins) -> None:
        self.schema = schema
        self.joins = joins
        self._products = {
            table.name: found for table in schema.tables if (found := _product(table))
        }
        self._money = {
            table.name: found for table in schema.tables if (found := _money_column(table))
        }
        self.trade = self._find_trade()
        days = [day_of(c.maximum) for table in schema.tables for c in table.columns]
        self.last_day = max((day for day in days if day), default=None)
        """The last day any row is of, where that is known."""

    def one(self, table: str) -> str:
        """What to call one row of a table."""
        said = self.table(table).said
        return said[0] if said else one_of(table)

    def many(self, table: str) -> str:
        """What to call the rows of a table: its own name, which is mostly a plural."""
        return table.rpartition(".")[2].replace("_", " ")

    def called(self, ref: ColumnRef) -> str:
        """What to call a column."""
        said = self.column(ref).said
        return said[0] if said else spoken(ref.column)

    def table(self, name: str) -> Table:
        """The table of that exact name."""
        return next(each for each in self.schema.tables if each.name == name)

    def column(self, ref: ColumnRef) -> TableColumn:
        """The card's column of a reference."""
        return next(each for each in self.table(ref.table).columns if each.name == ref.column)

    def named(self, name: str) -> NamedMeasure:
        """The measure of the semantic file with that name."""
        return next(each for each in self.schema.measures if each.name == name)

    def formula(self, named: NamedMeasure) -> Formula:
        """The expression of a measure of the semantic file."""
        return Formula(named.table, named.name, named.sql)

    def function_of(self, named: NamedMeasure) -> Function:
        """How its values are taken together."""
        return _FUNCTIONS.get(named.function or "", "itself")

    def revenue(self) -> tuple[ColumnRef | Product | Formula, ...]:
        """What "revenue" can be: one expression when the schema leaves no choice, else several."""
        told = [
            self.formula(each)
            for each in self.schema.measures
            if each.function == "sum" and any(_is_revenue(said) for said in (each.name, *each.said))
        ]
        if told:
            return tuple(told)
        if len(self._products) == 1 and not self._named_revenue():
            return tuple(self._products.values())
        named = self._named_revenue()
        if named:
            return named
        money = tuple(self._money.values())
        sales = tuple(each for each in money if table_words(each.table)[-1:] == ("sale",))
        return tuple(self._products.values()) or (sales if len(sales) == 1 else money)

    def _named_revenue(self) -> tuple[ColumnRef, ...]:
        return tuple(
            ref
            for ref in self._money.values()
            if any(word in _MONEY_FIRST for word in column_words(ref.column, ref.table))
        )

    def units(self) -> tuple[ColumnRef, ...]:
        """The columns that count pieces sold."""
        found = tuple(each.quantity for each in self._products.values())
        return found or tuple(
            ColumnRef(table.name, column.name)
            for table in self.schema.tables
            for column in table.columns
            if column.kind in ("integer", "number")
            and column_words(column.name, table.name) == ("quantity",)
        )

    def adds_up(self, ref: ColumnRef) -> bool:
        """Whether values of the column may be added up: amounts and numbers of things."""
        words = set(column_words(ref.column, ref.table))
        if ref in self.units() or ref in self.revenue() or self.counts(ref):
            return True
        return bool(words & ENGLISH.additive) and not words & ENGLISH.not_additive

    def counts(self, ref: ColumnRef) -> bool:
        """Whether the column holds how many there are of what its name says: `citation_num`."""
        pieces = split_name(ref.column)
        if self.column(ref).kind not in ("integer", "number") or len(pieces) < 2:
            return False
        if set(column_words(ref.column, ref.table)) & ENGLISH.identifying:
            return False
        return pieces[0] in _HOW_MANY or pieces[-1] in _HOW_MANY

    def prices(self, table: str) -> tuple[ColumnRef, ...]:
        """The price columns of a table."""
        return tuple(
            ColumnRef(table, column.name)
            for column in self.table(table).columns
            if column.kind in ("integer", "number") and "price" in column_words(column.name, table)
        )

    def only_number(self, table: str) -> ColumnRef | None:
        """The one numeric column that is no key, where there is just one."""
        card = self.table(table)
        keys = set(card.primary_key) | {name for key in card.foreign_keys for name in key.columns}
        found = [
            column.name
            for column in card.columns
            if column.kind in ("integer", "number")
            and column.name not in keys
            and not {"id", "number", "line", "year"} & set(column_words(column.name, table))
            and not column.name.casefold().endswith("id")
        ]
        return ColumnRef(table, found[0]) if len(found) == 1 else None

    def dates(self, table: str) -> tuple[ColumnRef, ...]:
        """The date and timestamp columns of a table; only the first-named kind when one leads, or
        the one the semantic file names.
        """
        told = self.table(table).date
        if told:
            return (ColumnRef(table, told),)
        found = [
            ColumnRef(table, column.name)
            for column in self.table(table).columns
            if column.kind in ("date", "timestamp") and not column.hidden
        ]
        if len(found) > 1:
            own = table_words(table)
            for word in (*own, *(f"{each}ed" for each in own), *_FIRST_DATES):
                leading = [
                    each for each in found if date_words(each.column, each.table)[:1] == (word,)
                ]
                if len(leading) == 1:
                    return tuple(leading)
        if not found:
            found = [
                ColumnRef(table, column.name)
                for column in self.table(table).columns
                if self.is_year(ColumnRef(table, column.name))
            ]
        return tuple(found)

    def is_year(self, ref: ColumnRef) -> bool:
        """Whether the column holds years as numbers."""
        column = self.column(ref)
        return column.kind == "integer" and column_words(column.name)[-1:] == ("year",)

    def nearest_dates(self, table: str) -> tuple[ColumnRef, ...]:
        """The default dates for rows of a table: its own, else of the nearest it looks up."""
        by_steps: dict[int, list[ColumnRef]] = {}
        for name, steps in self.joins.reach(table).items():
            by_steps.setdefault(steps, []).extend(self.dates(name))
        for steps in sorted(by_steps):
            found = by_steps[steps]
            if self.trade and len(found) > 1 and steps:
                leading = [each for each in found if each.table == self.trade.header]
                found = leading or found
            if found:
                return tuple(found)
        return ()

    def entity(self, name: str) -> EntityDimension | None:
        """How the rows of a table are told apart and named; None without a key."""
        table = self.table(name)
        labels = table.labels
        if not labels:
            labels = tuple(column.name for column in table.columns if is_label(table, column))[:1]
        if not labels:
            stems = {column_words(column.name, table.name): column.name for column in table.columns}
            people = tuple(
                stems[words] for words in (("first", "name"), ("last", "name")) if words in stems
            )
            labels = people
        if not table.primary_key:
            return None
        return EntityDimension(name, table.primary_key, labels)

    def order_like(self, table: str) -> bool:
        """Whether rows of the table have a value: it is the header or the lines of the trade."""
        return self.trade is not None and table in (self.trade.header, self.trade.lines)

    def names(self) -> tuple[str, ...]:
        """The measures to tell a person about."""
        found: list[str] = []
        found.extend(each.name.replace("_", " ") for each in self.schema.measures)
        if len(self.revenue()) == 1 and not any(_is_revenue(each) for each in found):
            found.append("revenue")
        if self.units():
            found.append("units sold")
        if self.trade and self.revenue() and self.trade.header != self.trade.lines:
            found.append(f"{one_of(self.trade.header)} value")
        shown = [table for table in self.schema.tables if not table.hidden]
        found.extend(f"number of {self.many(table.name)}" for table in shown)
        for table in shown:
            found.extend(
                f"{self.called(ColumnRef(table.name, column.name))} of {self.many(table.name)}"
                for column in table.columns
                if self.measures(table, column) and not column.hidden
            )
        return tuple(found)

    def measures(self, table: Table, column: TableColumn) -> bool:
        """Whether a column holds amounts, and not what tells rows apart: a line's number, a year,
        a postal code."""
        keys = set(table.primary_key) | {n for key in table.foreign_keys for n in key.columns}
        if column.kind not in ("integer", "number") or column.name in keys:
            return False
        words = column_words(column.name, table.name)
        if self.is_year(ColumnRef(table.name, column.name)) or words[:1] in (("is",), ("has",)):
            return False
        ref = ColumnRef(table.name, column.name)
        tells_apart = {"id", "code", "zip", "postal", "latitude", "longitude", "position"}
        numbered = "number" in words and not self.counts(ref)
        return not numbered and not tells_apart.intersection(words)

    def _find_trade(self) -> Trade | None:
        revenue = self.revenue()
        if len(revenue) == 1:
            lines = revenue[0].table
        else:
            named = [
                table.name
                for table in self.schema.tables
                if set(table_words(table.name)[-1:]).intersection(_EVENT_WORDS)
            ]
            if len(named) != 1:
                return None
            lines = named[0]
        card = self.table(lines)
        targets = [key.table for key in self.joins.keys(lines)]
        headers = [
            name
            for name in targets
            if self.dates(name) and any(word in _EVENT_WORDS for word in table_words(name))
        ]
        header = headers[0] if len(headers) == 1 and not self.dates(lines) else lines
        buyers = [
            name
            for name in self.joins.reach(header)
            if any(word in ENGLISH.people for word in table_words(name))
        ]
        buyer = buyers[0] if len(buyers) == 1 else None
        items = [
            name
            for name in targets
            if name not in (header, buyer)
            and not any(w in ENGLISH.people for w in table_words(name))
        ]
        goods = [
            n
            for n in items
            if set(table_words(n)[-1:])
            & {"product", "item", "article", "book", "track", "sku", "good", "car"}
        ]
        item = items[0] if len(items) == 1 else (goods[0] if len(goods) == 1 else None)
        assert card.name == lines
        return Trade(lines, header, item, buyer)


def _is_revenue(said: str) -> bool:
    known = ENGLISH.grammar.get(tuple(said.casefold().replace("_", " ").split()))
    return known == MeasureNoun("revenue")


def day_of(text: str | None) -> date | None:
    """The day of a date or timestamp as a card has it, if it is one Python knows."""
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def _product(table: Table) -> Product | None:
    """Quantity times price where one table has just one of each."""
    keys = set(table.primary_key) | {name for key in table.foreign_keys for name in key.columns}
    numeric = [
        (column, column_words(column.name, table.name))
        for column in table.columns
        if column.kind in ("integer", "number") and column.name not in keys
    ]
    quantities = [c for c, words in numeric if words[-1:] == ("quantity",) or words == ("unit",)]
    prices = [c for c, words in numeric if words[-1:] == ("price",)]
    if len(prices) > 1:
        prices = [c for c in prices if "unit" in column_words(c.name, table.name)]
    if len(quantities) != 1 or len(prices) != 1:
        return None
    # A table that is looked up holds stock, not sales: only a table that points elsewhere sells.
    if not table.foreign_keys:
        return None
    return Product(ColumnRef(table.name, quantities[0].name), ColumnRef(table.name, prices[0].name))


def _money_column(table: Table) -> ColumnRef | None:
    keys = set(table.primary_key) | {name for key in table.foreign_keys for name in key.columns}
    found = [
        column.name
        for column in table.columns
        if column.kind in ("number", "integer")
        and column.name not in keys
        and (
            set(column_words(column.name, table.name)) & _MONEY
            or (_event_named(table) and "price" in column_words(column.name, table.name))
        )
        and not set(column_words(column.name, table.name)) & _NOT_MONEY
    ]
    if len(found) != 1 or not (table.foreign_keys or _event_named(table)):
        return None
    return ColumnRef(table.name, found[0])


def _event_named(table: Table) -> bool:
    return any(word in _EVENT_WORDS for word in table_words(table.name))
