"""What SQLGlot does not write for an engine as that engine reads it.

SQLite has no dates, only texts that look like them (and sort like them), so a date is its text, and
parts of one come from SQLite's own date functions. PostgreSQL joins fully on nothing but equality.
What MySQL and MariaDB need is in `mysql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.mysql import for_mysql

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TRUNCATED_TO", "lite_start", "written"]

_TRUNCATED = {
    "DAY": (),
    # The Monday on or before: six days back, and on to the next Monday.
    "WEEK": ("-6 days", "weekday 1"),
    "MONTH": ("start of month",),
    "YEAR": ("start of year",),
}
TRUNCATED_TO = frozenset({*_TRUNCATED, "QUARTER"})
"""The units that a date can be the start of, in SQLGlot's words."""


def written(tree: exp.Select, dialect: str) -> str:
    """The text of a tree in an engine's dialect."""
    adapted: exp.Expr = tree
    if dialect == "sqlite":
        adapted = tree.transform(_for_sqlite)
    elif dialect == "postgres":
        adapted = tree.transform(_for_postgres)
    elif dialect == "mysql":
        adapted = for_mysql(tree)
    elif dialect == "duckdb":
        adapted = tree.transform(_for_duckdb)
    return adapted.sql(dialect=dialect, pretty=True)


def _for_duckdb(node: exp.Expr) -> exp.Expr:
    """The middle of two decimals lies between them: DuckDB's median would round it to theirs."""
    if not isinstance(node, exp.Median) or isinstance(node.this, exp.Cast):
        return node
    return exp.Median(this=exp.Cast(this=node.this, to=exp.DataType.build("double")))


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Cast(this=exp.TimestampTrunc() as trunc):
            return lite_start(trunc.this, trunc.args["unit"].name)
        case exp.Cast(this=exp.Literal() as day) if node.is_type("date"):
            return day
        case exp.DateDiff(this=exp.Cast() as end, expression=exp.Cast() as start):
            return _days(start.this, end.this)
        case exp.Extract():
            return _part(node.name, node.expression)
        case exp.Median():
            # SQLite's own since 3.51; it has no percentile_cont(x) within a group by default.
            return exp.Anonymous(this="median", expressions=[node.this])
        case _:
            return node


def _for_postgres(node: exp.Expr) -> exp.Expr:
    """Equal, or both unknown, as two equalities: of their texts, and of being unknown."""
    if isinstance(node, exp.DateDiff):
        # One date less another one is a number of days.
        return exp.Paren(this=exp.Sub(this=node.this, expression=node.expression))
    if not isinstance(node, exp.NullSafeEQ):
        return node
    sides = (node.this, node.expression)
    texts = [
        exp.Coalesce(
            this=exp.Cast(this=side.copy(), to=exp.DataType.build("text")),
            expressions=[exp.Literal.string("")],
        )
        for side in sides
    ]
    unknown = [exp.Paren(this=exp.Is(this=side.copy(), expression=exp.Null())) for side in sides]
    return exp.And(
        this=exp.EQ(this=texts[0], expression=texts[1]),
        expression=exp.EQ(this=unknown[0], expression=unknown[1]),
    )


def lite_start(value: exp.Expr, unit: str) -> exp.Expr:
    """The first day of the unit (one of `TRUNCATED_TO`) that a date is in, as SQLite has it."""
    if unit in _TRUNCATED:
        return _date(value, [exp.Literal.string(each) for each in _TRUNCATED[unit]])
    # A quarter: as many months back as the month is past its first.
    month = exp.Anonymous(this="strftime", expressions=[exp.Literal.string("%m"), value.copy()])
    past = exp.Mod(
        this=exp.Paren(this=exp.Add(this=month, expression=exp.Literal.number(2))),
        expression=exp.Literal.number(3),
    )
    back = exp.DPipe(
        this=exp.DPipe(this=exp.Literal.string("-"), expression=exp.Paren(this=past)),
        expression=exp.Literal.string(" months"),
    )
    return _date(value, [exp.Literal.string("start of month"), back])


def _date(value: exp.Expr, modifiers: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="date", expressions=[value, *modifiers])


def _days(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """The days from one date to another; both are whole ones, so nothing is cut off."""
    first, last = (
        exp.Anonymous(this="julianday", expressions=[_date(each, [])]) for each in (start, end)
    )
    days = exp.Paren(this=exp.Sub(this=last, expression=first))
    return exp.Cast(this=days, to=exp.DataType.build("int"))


def _part(part: str, value: exp.Expr) -> exp.Expr:
    code = "%H" if part == "HOUR" else "%w"
    text = exp.Anonymous(this="strftime", expressions=[exp.Literal.string(code), value])
    number = exp.Cast(this=text, to=exp.DataType.build("int"))
    if part == "HOUR":
        return number
    # From 0 for Sunday to 7 for it, Monday being 1.
    shifted = exp.Paren(this=exp.Add(this=number, expression=exp.Literal.number(6)))
    week = exp.Mod(this=shifted, expression=exp.Literal.number(7))
    return exp.Add(this=exp.Paren(this=week), expression=exp.Literal.number(1))
