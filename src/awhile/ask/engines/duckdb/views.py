"""From a kept result to a view of it: names as they are kept, and types that lose nothing.

A result keeps as text what Parquet has no type for, and all that other engines give as text: a
column of PostgreSQL's NUMERIC is one. Such a column becomes numbers, days or instants again where
every value in it is one exactly; else it stays the text it is. Source: ours.
"""

# ruff: noqa: S608 - every name and text put into a statement is quoted

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from awhile.ask.engines.parquet import COLUMNS_KEY
from awhile.ask.engines.quoting import identifier, literal
from awhile.ask.schema import TableColumn

__all__ = ["view_of"]

_NUMBERS = re.compile(
    r"(ANY|NUM(ERIC|BER)?|DEC(IMAL)?|FIXED|(UNSIGNED )?(BIG )?U?(TINY|SMALL|MEDIUM|BIG|HUGE)?"
    r"INT(EGER|\d)?|BIGNUM|REAL|DOUBLE|FLOAT\d?)\b"
)
"""Types whose values engines keep as text, all digits of them."""
_FLOATS = ("REAL", "DOUBLE", "FLOAT")
_WHOLE = ("BIGINT", "HUGEINT", "UHUGEINT")
"""What holds whole numbers, the first that holds all of them."""
_MOST_DIGITS = 38
_PLAIN = "-?[0-9]+([.][0-9]+)?"
_FRACTION = "[.][0-9]{7}"
"""Of a second, finer than a TIMESTAMP."""
_ZONED = "([+-][0-9:]+|Z)$"


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    """In the file, where no two are alike."""
    declared: str
    is_text: bool


def view_of(connection: duckdb.DuckDBPyConnection, name: str, path: Path, location: str) -> str:
    """The statement that makes a temporary view of the result at `path`, `location` to DuckDB.

    Reads each column of numbers or times that is kept as text, once.
    """
    source = f"read_parquet({literal(location)}, hive_partitioning = false)"
    selected = [_selected(connection, source, column) for column in _columns(path)]
    return f"CREATE TEMP VIEW {identifier(name)} AS SELECT {', '.join(selected)} FROM {source}"


def _columns(path: Path) -> list[_Column]:
    with pq.ParquetFile(path) as file:
        told = file.metadata.metadata or {}
        described: list[dict[str, Any]] = json.loads(told[COLUMNS_KEY.encode()])
        return [
            _Column(field.name, str(one["type"]).upper(), pa.types.is_string(field.type))
            for field, one in zip(file.schema_arrow, described, strict=True)
        ]


def _selected(connection: duckdb.DuckDBPyConnection, source: str, column: _Column) -> str:
    name = identifier(column.name)
    kind = _kind(connection, source, name, column) if column.is_text else None
    return name if kind is None else f"CAST({name} AS {kind}) AS {name}"


def _kind(
    connection: duckdb.DuckDBPyConnection, source: str, name: str, column: _Column
) -> str | None:
    """The type that every value of a column of texts has exactly; None: it stays text."""
    if column.declared.endswith("]"):
        return None
    if _NUMBERS.match(column.declared):
        return _number(connection, source, name, column.declared)
    match TableColumn(column.name, column.declared).kind:
        case "date":
            wanted, but = "DATE", "false"
        case "timestamp":
            zoned = "WITH TIME ZONE" in column.declared or column.declared == "TIMESTAMPTZ"
            wanted = "TIMESTAMPTZ" if zoned else "TIMESTAMP"
            but = f"regexp_matches({name}, '{_FRACTION}')"
            if not zoned:
                but += f" OR regexp_matches({name}, ' .*{_ZONED}')"
        case "boolean":
            wanted, but = "BOOLEAN", f"{name} NOT IN ('t', 'f', 'true', 'false')"
        case _:
            return None
    fits = f"bool_and(TRY_CAST({name} AS {wanted}) IS NOT NULL AND NOT ({but}))"
    return wanted if _asked(connection, source, name, fits)[0] else None


def _number(
    connection: duckdb.DuckDBPyConnection, source: str, name: str, declared: str
) -> str | None:
    point = f"strpos({name}, '.')"
    decimals = f"if({point} = 0, 0, length({name}) - {point})"
    fits = [f"bool_and(TRY_CAST({name} AS {kind}) IS NOT NULL)" for kind in _WHOLE]
    plain, digits, scale, in_double, *whole = _asked(
        connection,
        source,
        name,
        f"bool_and(regexp_full_match({name}, '{_PLAIN}'))",
        f"max(length(ltrim(regexp_extract({name}, '[0-9]+'), '0')))",
        f"max({decimals})",
        f"bool_and(TRY_CAST({name} AS DOUBLE) IS NOT NULL)",
        *fits,
    )
    if plain and scale == 0:
        return next((kind for kind, all_fit in zip(_WHOLE, whole, strict=True) if all_fit), None)
    if plain and digits + scale <= _MOST_DIGITS:
        return f"DECIMAL({_MOST_DIGITS}, {scale})"
    # What was written of a DOUBLE (1e-05, inf) is read as the same again.
    return "DOUBLE" if in_double and declared.startswith(_FLOATS) else None


def _asked(
    connection: duckdb.DuckDBPyConnection, source: str, name: str, *aggregates: str
) -> tuple[Any, ...]:
    """Aggregates over the values there are; all None where there are none."""
    found = connection.execute(
        f"SELECT {', '.join(aggregates)} FROM {source} WHERE {name} IS NOT NULL"
    ).fetchone()
    return found or ()
