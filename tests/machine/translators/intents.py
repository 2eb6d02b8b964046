"""Generated schemas and intents: whatever a plan can ask of the compiler, on hostile names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn
from awhile.ask.translators.figures import Figures
from awhile.ask.translators.intent import (
    Among,
    Change,
    ColumnRef,
    Comparison,
    Condition,
    Dimension,
    During,
    Either,
    EntityDimension,
    Figure,
    Filter,
    Flag,
    Groups,
    Intent,
    Listing,
    Matching,
    Measure,
    Missing,
    Order,
    Over,
    Ratio,
    Rows,
    Share,
    Span,
    Threshold,
    TimeDimension,
    Totals,
)
from awhile.ask.translators.joins import Joins
from awhile.ask.translators.marks import Operator
from awhile.ask.translators.periods import Period

__all__ = ["Asked", "asked"]

_NAMES = (
    "orders", "Order", "group", "select", "two words", 'quo"te', "ünï", "x;y", "--", "a'b",
    "Robert'); DROP TABLE students;--", "/*", "CamelCase", "under_score", "1st", "金額", "%s", "$1",
)  # fmt: skip
_VALUES = ("red", "a'b", '"', "'; DROP TABLE x; --", "%", "\\", "", "ünï", "{}", "$$")
_KINDS = {
    "text": "VARCHAR",
    "number": "DECIMAL(10,2)",
    "whole": "INTEGER",
    "day": "DATE",
    "moment": "TIMESTAMP",
    "is_so": "BOOLEAN",
    "year": "INTEGER",
}
_BELOW_OR_ABOVE: st.SearchStrategy[Operator] = st.sampled_from(("<", ">"))
_PLACES = st.sampled_from(("start", "end", "anywhere"))
_UNITS = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True)
class Asked:
    """A schema with an intent on it."""

    schema: Schema
    intent: Intent


@st.composite
def _schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=2, max_size=4, unique=True))
    tables: list[Table] = []
    for place, name in enumerate(names):
        own = draw(st.sampled_from(_NAMES))
        columns = [TableColumn("id", "INTEGER", False)]
        columns += [
            TableColumn(f"{kind} {own}", type_, draw(st.booleans()), None, _VALUES, len(_VALUES))
            for kind, type_ in _KINDS.items()
        ]
        keys: list[ForeignKey] = []
        for other in names[:place]:
            if draw(st.integers(0, 3)):
                key = f"{other}_id"
                columns.append(TableColumn(key, "INTEGER", draw(st.booleans())))
                keys.append(ForeignKey((key,), other, ("id",)))
        tables.append(Table(name, tuple(columns), ("id",), tuple(keys), 10))
    return Schema(tuple(tables), "generated")


def _ref(draw: st.DrawFn, schema: Schema, kind: str) -> ColumnRef:
    table = draw(st.sampled_from(schema.tables))
    return ColumnRef(
        table.name, next(c.name for c in table.columns if c.name.startswith(f"{kind} "))
    )


def _entity(draw: st.DrawFn, schema: Schema) -> EntityDimension:
    table = draw(st.sampled_from(schema.tables))
    label = next(c.name for c in table.columns if c.name.startswith("text "))
    return EntityDimension(table.name, ("id",), draw(st.sampled_from(((), (label,)))))


def _time(draw: st.DrawFn, schema: Schema) -> TimeDimension:
    kind = draw(st.sampled_from(("day", "moment", "year")))
    units = ("year",) if kind == "year" else _UNITS
    return TimeDimension(_ref(draw, schema, kind), draw(st.sampled_from(units)))


def _period(draw: st.DrawFn) -> Period:
    start = draw(st.dates(date(2000, 1, 1), date(2030, 1, 1)))
    end = start + timedelta(days=draw(st.integers(1, 400)))
    return draw(
        st.sampled_from((Period(start, end, "x"), Period(start, None, "x"), Period(None, end, "x")))
    )


def _span(draw: st.DrawFn, schema: Schema) -> Span:
    start = _ref(draw, schema, "day")
    card = schema.table(start.table)
    assert card is not None
    end = next(each.name for each in card.columns if each.name.startswith("moment "))
    return Span(start, ColumnRef(start.table, end))


def _measure(draw: st.DrawFn, schema: Schema, *, plain: bool = False) -> Measure:
    table = draw(st.sampled_from(schema.tables))
    functions = ("sum", "avg", "median", "min", "max")
    made = draw(
        st.sampled_from(
            (
                Measure("count", Rows(table.name)),
                Measure(draw(st.sampled_from(functions)), _ref(draw, schema, "number")),
                Measure("count_distinct", _ref(draw, schema, "text")),
                Measure("avg", _span(draw, schema)),
            )
        )
    )
    if plain or draw(st.booleans()):
        return made
    per = made.function in ("sum", "avg", "median") and not isinstance(made.of, Span)
    if isinstance(made.of, Rows) and draw(st.booleans()):
        return Measure("avg", made.of, per=_entity(draw, schema))
    if per and draw(st.booleans()):
        return Measure(made.function, made.of, per=_entity(draw, schema))
    return Measure(made.function, made.of, only=_condition(draw, schema, 1))


def _filter(draw: st.DrawFn, schema: Schema) -> Filter:
    number = Decimal(draw(st.integers(-1000, 1000))) / 10
    values = tuple(draw(st.lists(st.sampled_from(_VALUES), min_size=1, max_size=3, unique=True)))
    negated = draw(st.booleans())
    day = _ref(draw, schema, draw(st.sampled_from(("day", "moment", "year"))))
    periods = tuple(_period(draw) for _ in range(draw(st.integers(1, 2))))
    total = _measure(draw, schema, plain=True)
    if draw(st.booleans()):
        total = replace(total, only=Condition((During(day, periods),)))
    text = _ref(draw, schema, "text")
    own = next(each.name for each in schema.tables if each.name == text.table)
    either = Either((Among(text, values), Missing(ColumnRef(own, "id"), negated)))
    return draw(
        st.sampled_from(
            (
                Among(_ref(draw, schema, "text"), values, negated),
                Flag(_ref(draw, schema, "is_so"), negated),
                Comparison(_ref(draw, schema, "number"), ">=", number),
                Comparison(_ref(draw, schema, "whole"), "between", number, number + 5),
                During(day, periods),
                Missing(_ref(draw, schema, "text"), negated),
                Totals(_entity(draw, schema), total, draw(_BELOW_OR_ABOVE), number),
                either,
                Matching(text, draw(_PLACES), draw(st.sampled_from(_VALUES)), negated),
            )
        )
    )


def _condition(draw: st.DrawFn, schema: Schema, most: int = 2) -> Condition:
    filters = tuple(_filter(draw, schema) for _ in range(draw(st.integers(0, most))))
    related = tuple(
        draw(st.lists(st.sampled_from([t.name for t in schema.tables]), max_size=1, unique=True))
    )
    return Condition(filters, related, draw(st.booleans()))


def _figure(draw: st.DrawFn, schema: Schema) -> Figure:
    first, second = _measure(draw, schema), _measure(draw, schema)
    ref = _ref(draw, schema, "day")
    plain = _measure(draw, schema, plain=True)
    now, before = (Condition((During(ref, (_period(draw),)),)) for _ in range(2))
    change = Change(
        Measure(plain.function, plain.of, only=now), Measure(plain.function, plain.of, only=before)
    )
    share = Share(plain if first.per else first)
    return draw(st.sampled_from((first, share, Ratio(first, second), change)))


@st.composite
def _groups(draw: st.DrawFn, schema: Schema) -> Groups:
    figures = tuple(_figure(draw, schema) for _ in range(draw(st.integers(1, 2))))
    dims: list[Dimension] = []
    for _ in range(draw(st.integers(0, 2))):
        dims.append(
            draw(
                st.sampled_from(
                    (
                        _ref(draw, schema, "text"),
                        _entity(draw, schema),
                        _time(draw, schema),
                        TimeDimension(_ref(draw, schema, "moment"), "weekday"),
                        TimeDimension(_ref(draw, schema, "moment"), "hour"),
                    )
                )
            )
        )
    over = None
    if draw(st.booleans()):
        time = _time(draw, schema)
        dims = [time, *(each for each in dims if not isinstance(each, TimeDimension))]
        unit = "year" if time.ref.column.startswith("year ") else draw(st.sampled_from(_UNITS))
        over = draw(
            st.sampled_from((Over("running"), Over("moving", 3), Over("growth", unit=unit)))
        )
        figures = (_measure(draw, schema, plain=True),)
    plain = [each for each in figures if isinstance(each, Measure)]
    having = (Threshold(plain[0], ">", Decimal(3)),) if plain and draw(st.booleans()) else ()
    order = Order(figures[0], draw(st.booleans())) if dims and draw(st.booleans()) else None
    groups = tuple(dict.fromkeys(dims))
    ranked = order is not None and not over
    limit = draw(st.sampled_from((None, 5))) if not over else None
    return Groups(
        figures,
        groups,
        _condition(draw, schema),
        having if dims and not over else (),
        None if over else order,
        limit,
        draw(st.integers(0, 1)) if limit else 0,
        groups[:1] if ranked and limit and len(groups) > 1 and draw(st.booleans()) else (),
        over,
    )


@st.composite
def _listings(draw: st.DrawFn, schema: Schema) -> Listing:
    table = draw(st.sampled_from(schema.tables))
    columns = tuple(ColumnRef(table.name, column.name) for column in table.columns)
    some = columns[: draw(st.integers(1, len(columns)))]
    order = Order(draw(st.sampled_from(some)), draw(st.booleans()))
    where, distinct = _condition(draw, schema), draw(st.booleans())
    if not distinct and draw(st.booleans()):
        within = (_ref(draw, schema, "text"),)
        skip = draw(st.integers(0, 1))
        return Listing(table.name, some, False, False, where, order, 3, skip, within)
    near = Joins(schema).reach(table.name)
    never = where.never and any(each not in near for each in where.related)
    return Listing(
        table.name,
        some,
        distinct,
        distinct and never and draw(st.booleans()),
        where,
        draw(st.sampled_from((None, order))),
        draw(st.sampled_from((None, 3))),
    )


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """A schema and an intent whose tables and columns it has."""
    schema = draw(_schemas())
    made = draw(st.sampled_from((_groups, _groups, _listings)))
    about = schema
    if draw(st.integers(0, 3)):
        # Mostly of tables that belong together, or hardly any could be put in SQL.
        near = Joins(schema).reach(schema.tables[-1].name)
        about = replace(schema, tables=tuple(t for t in schema.tables if t.name in near))
    return Asked(schema, draw(made(about)))


def figures_of(schema: Schema) -> Figures:
    """What the schema lets one measure."""
    return Figures(schema, Joins(schema))
