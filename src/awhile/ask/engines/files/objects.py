"""JSON and NDJSON: the columns of a file, found out once, and written down for `read_json`."""

# ruff: noqa: S608 - every name and text put into a statement is quoted

from __future__ import annotations

import re

import duckdb

from awhile.ask.engines.files.exactness import all_whole, would_lose_digits
from awhile.ask.engines.files.finding import some_of
from awhile.ask.engines.files.tables import Columns, Look, columns_argument
from awhile.ask.engines.quoting import literal

__all__ = ["look_at"]

_SAMPLE_ROWS = 102_400
_NUMBERED = re.compile(r"(.+)_\d+\Z", re.DOTALL)


def look_at(connection: duckdb.DuckDBPyConnection, location: str, *, whole: bool) -> Look:
    """How the file is read: by its first records, or by all of them (`whole`).

    Raises `duckdb.Error` for what is no such file at all.
    """
    rows = -1 if whole else _SAMPLE_ROWS
    found = _described(connection, f"read_json({literal(location)}, sample_size = {rows})")
    exact, said = _exact(connection, location, rows, found)
    if not whole:
        said.append(f"types by its first {_SAMPLE_ROWS:,} records")
    try:
        fixed = _described(connection, f"read_json({literal(location)}, {columns_argument(exact)})")
    except duckdb.Error:
        fixed = ()
    if fixed == exact and not _renamed(exact):
        return Look(exact, said=tuple(said))
    return Look(found, (("sample_size", str(rows)),), tuple(said), fixed=False)


def _renamed(columns: Columns) -> bool:
    """Whether a name may not be the file's: of two that differ only in case, DuckDB calls the
    second `name_1`, and by that name the reader would find nothing."""
    names = {name.casefold() for name, _ in columns}
    return any((found := _NUMBERED.match(name)) and found[1] in names for name in names)


def _described(connection: duckdb.DuckDBPyConnection, relation: str) -> Columns:
    rows = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    return tuple((str(row[0]), str(row[1])) for row in rows)


def _exact(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, columns: Columns
) -> tuple[Columns, list[str]]:
    """Without numbers that would be rounded; and why, in words."""
    doubles = [name for name, kind in columns if kind == "DOUBLE"]
    if not doubles:
        return columns, []
    wanted = [check(name) for name in doubles for check in (would_lose_digits, all_whole)]
    as_texts = columns_argument([(name, "VARCHAR") for name in doubles])
    limit = "" if rows < 0 else f" LIMIT {rows}"
    found = connection.execute(
        f"SELECT {', '.join(wanted)} FROM (FROM read_json({literal(location)}, {as_texts}){limit})"
    ).fetchone()
    assert found is not None
    kinds = {
        name: "HUGEINT" if whole else "VARCHAR"
        for name, loses, whole in zip(doubles, found[::2], found[1::2], strict=True)
        if loses
    }
    texts = [name for name, kind in kinds.items() if kind == "VARCHAR"]
    said = [f"text, because a number would lose digits: {some_of(texts)}"] if texts else []
    return tuple((name, kinds.get(name, kind)) for name, kind in columns), said
