"""What a question asks for, as a typed value: the only thing the compiler reads.

Source: ours. Every table and column here exists in the schema card; values come from the card or
from the question. Nothing here is SQL text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal

    from awhile.ask.translators.marks import Operator
    from awhile.ask.translators.periods import Period, Unit

__all__ = [
    "Among",
    "ColumnRef",
    "Comparison",
    "Condition",
    "Dimension",
    "During",
    "EntityDimension",
    "Expression",
    "Filter",
    "Function",
    "Groups",
    "Intent",
    "Listing",
    "Measure",
    "Missing",
    "Order",
    "Pairs",
    "Product",
    "Rows",
    "Threshold",
    "TimeDimension",
]

Function = Literal["sum", "count", "count_distinct", "avg", "median", "min", "max"]


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """One column of one table."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Product:
    """Quantity times price, both columns of one table."""

    quantity: ColumnRef
    price: ColumnRef

    @property
    def table(self) -> str:
        """The table both columns are in."""
        return self.quantity.table


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table, for counting."""

    table: str


Expression = ColumnRef | Product | Rows


@dataclass(frozen=True, slots=True)
class EntityDimension:
    """One group for each row of a table: its key, and the columns that name it."""

    table: str
    key: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimeDimension:
    """One group for each unit of time of a date column."""

    ref: ColumnRef
    unit: Unit | Literal["weekday", "hour"]

    @property
    def table(self) -> str:
        """The table of the date column."""
        return self.ref.table


Dimension = ColumnRef | EntityDimension | TimeDimension


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure over rows. With `per`, `of` is first summed (or counted) for each `per`.

    `share` turns it into a fraction, from 0 to 1: of the whole of all groups, or, with `part`,
    of all rows by those rows that satisfy `part`.
    """

    function: Function
    of: Expression
    per: EntityDimension | TimeDimension | None = None
    share: bool = False
    part: Filter | None = None


@dataclass(frozen=True, slots=True)
class Among:
    """The column has one of the values, or, `negated`, none of them."""

    ref: ColumnRef
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The column against a number, or two for `between` (both included)."""

    ref: ColumnRef
    operator: Operator
    low: Decimal
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class During:
    """The date column lies in the period."""

    ref: ColumnRef
    period: Period


@dataclass(frozen=True, slots=True)
class Missing:
    """The column is empty."""

    ref: ColumnRef


Filter = Among | Comparison | During | Missing


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows must satisfy.

    A filter on a table that is looked up from the base table applies to its row; filters on
    tables with many rows for one of the base apply together: some related row satisfies them
    all. `related` tables must have such a row too. With `never`, no such row may exist.
    """

    filters: tuple[Filter, ...] = ()
    related: tuple[str, ...] = ()
    never: bool = False


@dataclass(frozen=True, slots=True)
class Threshold:
    """A measure of each group against a number."""

    measure: Measure
    operator: Operator
    low: Decimal
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Sorted by one of the intent's measures, or by a column of a listing."""

    by: Measure | ColumnRef
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Groups:
    """Figures, for all rows or for each group.

    `include_empty` keeps groups without any row, counted as 0 (one entity dimension only).
    `count_groups` answers with how many groups there are instead of the groups.
    """

    measures: tuple[Measure, ...]
    dimensions: tuple[Dimension, ...] = ()
    where: Condition = field(default_factory=Condition)
    having: tuple[Threshold, ...] = ()
    order: Order | None = None
    limit: int | None = None
    include_empty: bool = False
    count_groups: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a table, or the distinct values of some of its columns."""

    table: str
    columns: tuple[ColumnRef, ...]
    distinct: bool = False
    where: Condition = field(default_factory=Condition)
    order: Order | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """How often two different items are in the same basket.

    `item` is the key of `lines` that names the item, `basket` the one that names the basket.
    """

    lines: str
    item: EntityDimension
    item_column: str
    basket_columns: tuple[str, ...]
    basket_table: str
    where: Condition = field(default_factory=Condition)
    descending: bool = True
    limit: int | None = None


Intent = Groups | Listing | Pairs
