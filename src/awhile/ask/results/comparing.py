"""How the values of a column are ordered and compared, whatever they are stored as.

Source: ours. Texts are exact and numbers are numbers, also where they are stored as texts because
they have more digits than any number type: then `order_key` stands for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Literal

import duckdb
import pyarrow as pa

from awhile.ask.results.numbers import order_key
from awhile.ask.results.operators import Operator
from awhile.ask.results.texts import text_of
from awhile.ask.schema import Column, ColumnKind, TableColumn

__all__ = ["Comparison", "comparison"]

_NUMBERS = re.compile(
    r"(ANY|NUM(ERIC|BER)?|DEC(IMAL)?|FIXED|(UNSIGNED )?(BIG )?U?(TINY|SMALL|MEDIUM|BIG|HUGE)?"
    r"INT(EGER|\d)?|BIGNUM|REAL|DOUBLE|FLOAT\d?)\b"
)
"""Types whose values engines keep as text, all digits of them. `ANY` (SQLite's columns that hold
this and that) sorts as SQLite does: numbers first."""
_AS_TEXT: dict[str, str] = {
    "INTERVAL": "INTERVAL",
    "TIME WITH TIME ZONE": "TIMETZ",
}
"""Other types that are stored as text and do not sort as text, with the type that does."""
_DATED: dict[ColumnKind, str] = {"date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME"}
_DIGITS = Context(prec=200_000)
_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Comparison:
    """SQL over one column, for DuckDB.

    Attributes:
        name: the column.
        text: the value as it is shown.
        keys: what to order by, one after the other.
        kind: what it is compared as: `exact` is a whole number or a decimal of `scale` decimals,
            `number` one written as a text, whose `order_key` is the first of `keys`.
        as_type: the type of DuckDB's that a value is read as.
    """

    name: str
    text: str
    keys: tuple[str, ...]
    kind: Literal["text", "number", "exact", "float", "dated"] = "text"
    as_type: str = ""
    scale: int = 0

    def condition(
        self, connection: duckdb.DuckDBPyConnection, operator: Operator, value: str | None
    ) -> tuple[str, list[Any]]:
        """A condition with its parameters. NULL meets none but `is null`.

        Raises `ValueError` with a sentence for a value that the column cannot be compared with.
        """
        if operator in ("is null", "is not null"):
            return f"{self.name} {operator.upper()}", []
        if value is None:
            raise ValueError(f"{operator!r} compares with a value, and there is none")
        if operator == "contains":
            return f"contains(lower({self.text}), lower(?))", [value]
        sql = operator.replace("!=", "<>")
        match self.kind:
            case "text":
                return f"{self.text} {sql} ?", [value]
            case "number":
                _number(value)
                return f"{self.keys[0]} {sql} ?", [order_key(value)]
            case "float":
                _number(value)
                return f"{self.name} {sql} CAST(? AS {self.as_type})", [value.strip()]
            case "exact":
                return self._exact(operator, _number(value))
            case "dated":
                read = _dated("?", self.as_type)
                if connection.execute(f"SELECT {read}", [value]).fetchall() == [(None,)]:
                    raise ValueError(f"{value!r} is no {self.as_type.lower()} to compare with")
                return f"{self.keys[0]} {sql} {read}", [value]

    def _exact(self, operator: Operator, value: Decimal) -> tuple[str, list[Any]]:
        """For a column of so many decimals: a value between two of its steps equals none."""
        name = self.name
        if not value.is_finite():
            above = value > 0 if not value.is_nan() else True
            return _always(name, (operator in ("<", "<=")) == above and operator != "=")
        step = Decimal(1).scaleb(-self.scale)
        floor = value.quantize(step, rounding="ROUND_FLOOR", context=_DIGITS)
        if len(floor.as_tuple().digits) > _MOST_DIGITS:
            if operator in ("=", "!="):
                return _always(name, operator == "!=")
            return _always(name, (operator in ("<", "<=")) == (value > 0))
        if floor != value:
            if operator in ("=", "!="):
                return _always(name, operator == "!=")
            operator = "<=" if operator in ("<", "<=") else ">"
        sql = operator.replace("!=", "<>")
        return f"{name} {sql} CAST(? AS DECIMAL({_MOST_DIGITS}, {self.scale}))", [f"{floor:f}"]


def comparison(column: Column, kind: pa.DataType, name: str) -> Comparison:
    """How the values of a column are compared that is stored as `kind` and called `name` in SQL."""
    text, keys = text_of(name, kind), (name,)
    if pa.types.is_integer(kind):
        return Comparison(name, text, keys, "exact")
    if pa.types.is_decimal(kind):
        return Comparison(name, text, keys, "exact", scale=kind.scale)
    if pa.types.is_floating(kind):
        return Comparison(name, text, keys, "float", "FLOAT" if kind == pa.float32() else "DOUBLE")
    if pa.types.is_date32(kind):
        return Comparison(name, text, keys, "dated", "DATE")
    if pa.types.is_time(kind):
        return Comparison(name, text, keys, "dated", "TIME")
    if pa.types.is_timestamp(kind):
        as_type = "TIMESTAMP" if kind.tz is None else "TIMESTAMPTZ"
        return Comparison(name, text, keys, "dated", as_type)
    if pa.types.is_string(kind):
        return _stored_as_text(column, name)
    return Comparison(name, text, keys)


def _stored_as_text(column: Column, name: str) -> Comparison:
    declared = column.type.upper()
    if declared.endswith("]"):
        return Comparison(name, name, (name,))
    if _NUMBERS.match(declared):
        return Comparison(name, name, (f"key_of_{name}", name), "number")
    as_type = _AS_TEXT.get(declared.partition("(")[0].strip())
    if as_type is None:
        as_type = _DATED.get(TableColumn(column.name, declared).kind)
        if as_type == "TIMESTAMP" and "WITH TIME ZONE" in declared:
            as_type = "TIMESTAMPTZ"
    if as_type is not None:
        return Comparison(name, name, (_dated(name, as_type), name), "dated", as_type)
    return Comparison(name, name, (name,))


def _dated(text: str, as_type: str) -> str:
    """SQL that reads a day, an instant or a time; PostgreSQL writes BC at the end."""
    return f"TRY_CAST(regexp_replace({text}, '^(\\S+)(.*) BC$', '\\1 (BC)\\2') AS {as_type})"


def _always(name: str, met: bool) -> tuple[str, list[Any]]:
    return (f"{name} IS NOT NULL" if met else "false"), []


def _number(value: str) -> Decimal:
    try:
        return Decimal(value.strip())
    except InvalidOperation:
        raise ValueError(f"{value!r} is no number to compare with") from None
