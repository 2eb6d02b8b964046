"""The exact text of stored values, as SQL that DuckDB computes over Arrow's columns.

Source: ours. A text is what the engine itself writes for the value, which loses nothing: of what is
stored as a text, that text; of the rest, what DuckDB writes for it as VARCHAR. With one exception:
binary values are hexadecimal digits, two a byte.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

__all__ = ["column_name", "is_binary", "runs_of_columns", "scratch", "text_of"]

_TOGETHER = 50
"""Columns in one query: DuckDB 2.0.1 takes time with the square of their number to plan it (a page
of 1,500 took 7 s), and refuses what is nested more than a thousand deep."""

_shared: duckdb.DuckDBPyConnection | None = None
_opening = threading.Lock()


@contextmanager
def scratch(**config: str) -> Generator[duckdb.DuckDBPyConnection]:
    """A connection that knows no file, and in which a time with a zone is in UTC.

    With a `config`, it is to a database of its own. Without, to one that all share, in which
    nothing may be made: to open one takes 13 ms, more than all else that a page needs.
    """
    with _own(config) if config else _cursor() as connection:
        connection.execute("SET TimeZone = 'UTC'; SET python_enable_replacements = false")
        yield connection


def _own(config: dict[str, str]) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": "1", **config})


def _cursor() -> duckdb.DuckDBPyConnection:
    global _shared
    with _opening:
        if _shared is None:
            _shared = _own({})
        return _shared.cursor()


def column_name(position: int) -> str:
    """What a column is called in there: names may be anything, and two may be alike."""
    return f"c{position}"


def runs_of_columns(count: int) -> list[range]:
    """The positions of that many columns, as many together as one query can well have."""
    return [range(at, min(at + _TOGETHER, count)) for at in range(0, count, _TOGETHER)]


def is_binary(kind: pa.DataType) -> bool:
    """Whether values are bytes."""
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def text_of(name: str, kind: pa.DataType) -> str:
    """The text of a column's values."""
    return f"lower(hex({name}))" if is_binary(kind) else f"{name}::VARCHAR"
