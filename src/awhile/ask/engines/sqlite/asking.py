"""Asking SQLite, typed: what apsw's own stubs say names a type of Python 3.12."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import apsw.ext

__all__ = ["compiled", "cursor", "rows"]


def cursor(
    connection: apsw.Connection,
    sql: str,
    values: Mapping[str, Any] | Sequence[Any] | None = None,
) -> Any:
    """The cursor of a statement that has begun. Raises `apsw.Error`."""
    raw: Any = connection
    return raw.execute(sql, values)


def rows(
    connection: apsw.Connection, sql: str, values: Sequence[Any] | None = None
) -> list[tuple[Any, ...]]:
    """Every row of a statement. Raises `apsw.Error`."""
    return cursor(connection, sql, values).fetchall()


def compiled(connection: apsw.Connection, sql: str) -> apsw.ext.QueryDetails:
    """What SQLite says of the first statement of a text, which is not run. Raises `apsw.Error`."""
    raw: Any = apsw.ext
    return raw.query_info(connection, sql)
