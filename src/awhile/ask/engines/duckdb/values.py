"""Which of DuckDB's values Arrow and Parquet hold exactly; the others become DuckDB's own text.

DuckDB itself writes that text, inside of the query: on the way to Arrow an interval longer than 292
years would come out as another one, an endless TIMESTAMP_S would fail, and a variant be its bytes
(measured with DuckDB 2.0.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import duckdb

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

__all__ = ["BEFORE", "as_kept", "type_name"]

_EXACT = frozenset((
    "boolean", "tinyint", "utinyint", "smallint", "usmallint", "integer", "uinteger", "bigint",
    "ubigint", "float", "double", "decimal", "varchar", "blob", "date", "time", "time_ns",
    "timestamp", "timestamp_ms", "timestamp_ns", "timestamp with time zone", "null",
))  # fmt: skip
_NESTED = frozenset(("list", "array", "struct", "map"))

_TYPE_CHARACTERS = 200
"""An ENUM of a thousand values would be its own type's name; longer names are cut to the word."""

BEFORE = "FROM ("
"""Stands before the query's own text there."""


def as_kept(sql: str, kinds: Sequence[DuckDBPyType]) -> str | None:
    """The query with the text of each column that has to be one; None where none has to."""
    exact = [_exact(kind) for kind in kinds]
    if all(exact):
        return None
    # By position: names may be empty, and two may be equal.
    wanted = [f"#{at}" if kept else f"#{at}::VARCHAR" for at, kept in enumerate(exact, start=1)]
    return f"{BEFORE}{_without_end(sql)}\n) AS awhile_rows SELECT {', '.join(wanted)}"


def type_name(kind: DuckDBPyType) -> str:
    """What DuckDB calls the type."""
    name = str(kind).replace('"NULL"', "NULL")
    return name if len(name) <= _TYPE_CHARACTERS else name.partition("(")[0]


def _exact(kind: DuckDBPyType) -> bool:
    if kind.id in _NESTED:
        inner = [
            cast("DuckDBPyType", child)
            for name, child in cast("list[tuple[str, Any]]", kind.children)
            if (kind.id, name) != ("array", "size")
        ]
        if kind.id == "map" and inner[0].id == "null":  # Arrow has no map without a type of key
            return False
        return all(_exact(child) for child in inner)
    # JSON is a VARCHAR by its id.
    return kind.id in _EXACT and str(kind) != "JSON"


def _without_end(sql: str) -> str:
    """The text without the semicolons and comments it ends with."""
    text = sql.encode()
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment and text[offset : offset + 1] != b";":
            break
        text = text[:offset]
    return text.decode()
