"""What kind of value an expression gives, where simple typing can tell.

Source: ours. Columns are those of the schema card, found through their table's name in the SELECT
they stand in, or through what a subquery or a WITH gives. Whatever is not certain is None.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from awhile.ask.translators.models.sources import as_it_is

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from awhile.ask.schema import ColumnKind, Schema, TableColumn

__all__ = ["MOMENTS", "Kinds", "day_of"]

MOMENTS = ("timestamp", "timestamptz", "timestampntz", "datetime")
"""SQLGlot's types of a date with its time."""

_MOST_LOOKED_AT = 20_000
"""Expressions: a WITH that names the one before it twice, and so on, has no end otherwise."""
_REAL = ("REAL", "FLOA", "DOUB")
"""SQLite keeps a fraction of columns with these in their type, and whole numbers of DECIMAL ones as
integers (sqlite.org/datatype3.html, 3.1)."""
_SMALL = ("INTEGER", "INT", "SMALLINT", "INT2", "INT4")
"""PostgreSQL adds these up to an integer, and BIGINT ones to a numeric."""
_SAME = exp.Paren | exp.Alias | exp.Neg | exp.Min | exp.Max | exp.Nullif | exp.Filter | exp.Window
_AS_TEXT = re.compile(r"\d{4}-\d\d-\d\d")
_DAY = "YYYY-MM-DD"
_NUMBERS: tuple[ColumnKind, ...] = ("integer", "number")
_FUNCTIONS: dict[str, ColumnKind] = {"DATE": "date", "DATETIME": "timestamp"}


class Kinds:
    """The kinds of the expressions of one statement.

    Raises `SqlglotError` where its names cannot be resolved.
    """

    def __init__(self, tree: exp.Query, schema: Schema) -> None:
        self._schema = schema
        self._lite = schema.dialect == "sqlite"
        self._scopes = {id(scope.expression): scope for scope in traverse_scope(tree)}
        self._left = _MOST_LOOKED_AT

    def of(self, node: exp.Expr | None) -> ColumnKind | None:
        """The kind of an expression's values; None where it is not certain."""
        self._left -= 1
        if self._left < 0:
            return None
        match node:
            case exp.Column():
                return self._of_column(node)
            case exp.Literal():
                return _of_literal(node)
            case exp.Sum():
                return self._of_sum(node.this)
            case exp.Min() | exp.Max() if node.expressions:
                return self._of_all([node.this, *node.expressions])
            case _ if isinstance(node, _SAME):
                return self.of(node.this)
            case exp.Count():
                return "integer"
            case exp.Distinct():
                return self._of_all(node.expressions)
            case exp.Coalesce():
                return self._of_all([node.this, *node.expressions])
            case exp.Case():
                results = [one.args["true"] for one in node.args["ifs"]]
                return self._of_all([*results, node.args.get("default")])
            case exp.If():
                return self._of_all([node.args["true"], node.args.get("false")])
            case exp.Add() | exp.Sub() | exp.Mul():
                both = self._of_all([node.this, node.expression])
                return both if both in _NUMBERS else None
            case exp.Subquery(this=exp.Select(expressions=[one])):
                return self.of(one)
            case exp.Predicate() | exp.Connector() | exp.Not() if self._lite:
                return "integer"  # SQLite's true and false are 1 and 0
            case _:
                return _of_moment(node)

    def _of_all(self, nodes: Sequence[exp.Expr | None]) -> ColumnKind | None:
        kinds: set[ColumnKind | None] = {
            self.of(one) for one in nodes if one and not isinstance(one, exp.Null)
        }
        return kinds.pop() if len(kinds) == 1 else None

    def _of_sum(self, of: exp.Expr) -> ColumnKind | None:
        kind = self.of(of)
        if kind != "integer" or self._schema.dialect != "postgres":
            return kind
        columns = [self._column(one) for one in _value_columns(of)]
        small = all(one is not None and one.type.upper() in _SMALL for one in columns)
        return "integer" if small and not of.find(exp.AggFunc) else "number"

    def _of_column(self, node: exp.Column) -> ColumnKind | None:
        column = self._found(node)
        if column is None or isinstance(column, exp.Expr):
            return self.of(column)
        kind = column.kind
        if self._lite and (
            kind == "boolean"
            or (kind == "number" and not any(one in column.type.upper() for one in _REAL))
        ):
            return "integer"
        if self._lite and column.minimum and not _AS_TEXT.match(column.minimum):
            return None  # kept as numbers of seconds or days, of which its functions know nothing
        return kind

    def _column(self, node: exp.Column) -> TableColumn | None:
        found = self._found(node)
        return None if isinstance(found, exp.Expr) else found

    def _found(self, node: exp.Column) -> TableColumn | exp.Expr | None:
        """What a column is: one of a table, or what a subquery gives by that name."""
        scope = self._scopes.get(id(node.find_ancestor(exp.Select)))
        if scope is None:
            return None
        of = node.table.casefold()
        found = [
            one
            for alias, (_, source) in scope.selected_sources.items()
            if (not of or alias.casefold() == of) and (one := self._given(source, node.name))
        ]
        return found[0] if len(found) == 1 else None

    def _given(self, source: exp.Expr | Scope, name: str) -> TableColumn | exp.Expr | None:
        if isinstance(source, exp.Table):
            table = as_it_is(source, self._schema)
            return table.column(name) if table else None
        if isinstance(source, Scope) and isinstance(source.expression, exp.Select):
            wanted = name.casefold()
            given = source.expression.selects
            return next((one for one in given if one.alias_or_name.casefold() == wanted), None)
        return None


def day_of(node: exp.Expr) -> date | None:
    """The day that a text of the form `2026-11-05` names."""
    if not isinstance(node, exp.Literal) or not node.is_string or len(node.name) != len(_DAY):
        return None
    try:
        return date.fromisoformat(node.name)
    except ValueError:
        return None


def _of_literal(node: exp.Literal) -> ColumnKind | None:
    if node.is_string:
        return "date" if day_of(node) else None
    return "integer" if node.is_int else "number"


def _of_moment(node: exp.Expr | None) -> ColumnKind | None:
    match node:
        case exp.CurrentDate() | exp.Date():
            return "date"
        case exp.CurrentTimestamp():
            return "timestamp"
        case exp.Cast() if node.is_type("date"):
            return "date"
        case exp.Cast() if node.is_type(*MOMENTS):
            return "timestamp"
        case exp.Anonymous():
            return _FUNCTIONS.get(node.name.upper())
        case _:
            return None


def _value_columns(value: exp.Expr) -> Iterator[exp.Column]:
    """The columns that a value is made of, without those of the conditions that choose it."""
    parts: Iterable[exp.Expr | None]
    match value:
        case exp.Column():
            yield value
            return
        case exp.Predicate() | exp.Connector() | exp.Not():
            return
        case exp.If():
            parts = (value.args["true"], value.args.get("false"))
        case exp.Case():
            parts = (*(one.args["true"] for one in value.args["ifs"]), value.args.get("default"))
        case _:
            parts = value.iter_expressions()
    for part in parts:
        if part is not None:
            yield from _value_columns(part)
