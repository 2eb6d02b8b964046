"""What a question asks for, as a typed value: the only thing the compiler reads.

Source: ours. Every table and column here exists in the schema card; values come from the card or
from the question. Nothing here is SQL text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal

    from awhile.ask.translators.marks import Operator, Part
    from awhile.ask.translators.periods import Period, Unit

__all__ = [
    "Among",
    "Change",
    "ColumnRef",
    "Comparison",
    "Condition",
    "Dimension",
    "During",
    "Either",
    "EntityDimension",
    "Expression",
    "Figure",
    "Filter",
    "Flag",
    "Formula",
    "Function",
    "Groups",
    "Intent",
    "Listing",
    "Matching",
    "Measure",
    "Missing",
    "Order",
    "Over",
    "Pairs",
    "Product",
    "Ratio",
    "Rows",
    "Share",
    "Span",
    "Threshold",
    "TimeDimension",
    "Totals",
    "measures_of",
]

Function = Literal[
    "sum", "count", "count_distinct", "avg", "median", "min", "max", "stddev", "variance", "itself"
]
"""`itself` is for a formula that is an aggregate of its own."""


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


@dataclass(frozen=True, slots=True)
class Formula:
    """A measure of the semantic file: its SQL, over the columns of one table."""

    table: str
    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Span:
    """The days from one date of a row to another one of it."""

    start: ColumnRef
    end: ColumnRef

    @property
    def table(self) -> str:
        """The table both dates are in."""
        return self.start.table


Expression = ColumnRef | Product | Rows | Formula | Span


@dataclass(frozen=True, slots=True)
class EntityDimension:
    """One group for each row of a table: its key, and the columns that name it."""

    table: str
    key: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimeDimension:
    """One group for each unit of time of a date column, or of a column that holds years."""

    ref: ColumnRef
    unit: Unit | Literal["weekday", "hour"]

    @property
    def table(self) -> str:
        """The table of the date column."""
        return self.ref.table


Dimension = ColumnRef | EntityDimension | TimeDimension


@dataclass(frozen=True, slots=True)
class Among:
    """The column has one of the values, or, `negated`, none of them."""

    ref: ColumnRef
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """What the column says is so, or, `negated`, is not: `is_open`."""

    ref: ColumnRef
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
    """The date column lies in one of the periods."""

    ref: ColumnRef
    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The text has these letters at its start, end or anywhere, upper and lower case alike."""

    ref: ColumnRef
    where: Part
    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """The column is empty, or, `negated`, is not."""

    ref: ColumnRef
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """Rows of an entity for which a measure of theirs compares with a number."""

    entity: EntityDimension
    measure: Measure
    operator: Operator
    low: Decimal
    high: Decimal | None = None

    @property
    def ref(self) -> ColumnRef:
        """The key by which rows of the entity are known."""
        return ColumnRef(self.entity.table, self.entity.key[0])


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of several conditions on one table is so."""

    of: tuple[Filter, ...]

    @property
    def ref(self) -> ColumnRef:
        """A column of the table they are on."""
        return self.of[0].ref


Filter = Among | Flag | Comparison | During | Matching | Missing | Totals | Either


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
class Measure:
    """A figure over rows, `only` those that satisfy a condition of its own.

    With `per`, `of` is first summed (or counted) for each `per`.
    """

    function: Function
    of: Expression
    per: EntityDimension | TimeDimension | None = None
    only: Condition | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A measure as a fraction, from 0 to 1, of the whole of all groups."""

    of: Measure


@dataclass(frozen=True, slots=True)
class Ratio:
    """One measure divided by another. Where it is a `part` of it, it is told as a share."""

    top: Measure
    bottom: Measure
    part: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """A measure in two periods, side by side, and by how much it changed."""

    now: Measure
    before: Measure


Figure = Measure | Share | Ratio | Change


@dataclass(frozen=True, slots=True)
class Over:
    """What is made of measures along the groups of time.

    `running` adds up from the first; `moving` averages the last `size` groups; `growth` compares
    with the group one `unit` earlier.
    """

    kind: Literal["running", "moving", "growth"]
    size: int = 0
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """A measure of each group against a number."""

    measure: Measure
    operator: Operator
    low: Decimal
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """Sorted by one of the intent's figures, by one of its groups, or by a column of a listing."""

    by: Figure | ColumnRef
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Groups:
    """Figures, for all rows or for each group.

    `order`, `skip` (how many to leave out before) and `limit` are applied within each of the
    dimensions of `within`, if there are any.
    `include_empty` keeps groups without any row, counted as 0 (one entity dimension only).
    `count_groups` answers with how many groups there are instead of the groups.
    """

    figures: tuple[Figure, ...]
    dimensions: tuple[Dimension, ...] = ()
    where: Condition = field(default_factory=Condition)
    having: tuple[Threshold, ...] = ()
    order: Order | None = None
    limit: int | None = None
    skip: int = 0
    within: tuple[Dimension, ...] = ()
    over: Over | None = None
    include_empty: bool = False
    count_groups: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a table, or the distinct values of some of its columns.

    `order`, `skip` and `limit` are applied within each of the groups of rows with the same
    `within`.
    With `of_values`, what is ruled out may be so for no row with these values: "categories without
    orders" have no product with one.
    """

    table: str
    columns: tuple[ColumnRef, ...]
    distinct: bool = False
    of_values: bool = False
    where: Condition = field(default_factory=Condition)
    order: Order | None = None
    limit: int | None = None
    skip: int = 0
    within: tuple[ColumnRef, ...] = ()


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


def measures_of(figure: Figure) -> tuple[Measure, ...]:
    """The measures a figure is made of."""
    match figure:
        case Measure():
            return (figure,)
        case Share():
            return (figure.of,)
        case Ratio():
            return (figure.top, figure.bottom)
        case Change():
            return (figure.now, figure.before)
