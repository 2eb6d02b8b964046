"""The schema card of a DuckDB file: its catalog, and as much statistics as there is time for."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from awhile.ask.engines.card import VALUE_CHARACTERS, Catalog, Listed, Survey, time_limit
from awhile.ask.engines.quoting import identifier
from awhile.ask.schema import Schema, Table, TableColumn

__all__ = ["SAMPLE_ROWS", "asked", "catalog", "schema", "with_statistics"]

_EXACT_ROWS = 300_000
"""Up to here a column's distinct values are counted; beyond, they are looked for in a sample."""
_SLICES, _SLICE_ROWS = 8, 6_144
SAMPLE_ROWS = _SLICES * _SLICE_ROWS
_READ_ALL_VALUES = 50
"""A column with so few values in the sample is read to its end, or a rare one (an order that is
still being processed) would be missing from the card: 15 ms for 3 million rows (measured)."""

_COLUMNS = """
SELECT c.schema_name, c.table_name, v.view_name IS NOT NULL, coalesce(t.comment, v.comment),
       c.column_name, c.data_type, c.is_nullable, c.comment
FROM duckdb_columns() AS c
LEFT JOIN duckdb_tables() AS t USING (database_name, schema_name, table_name)
LEFT JOIN duckdb_views() AS v
       ON (v.database_name, v.schema_name, v.view_name)
        = (c.database_name, c.schema_name, c.table_name)
WHERE c.database_name = current_database() AND NOT c.internal
ORDER BY v.view_name IS NOT NULL, c.schema_name, c.table_oid, c.column_index
"""

_CONSTRAINTS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names,
       referenced_table, referenced_column_names
FROM duckdb_constraints()
WHERE database_name = current_database()
  AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
ORDER BY constraint_index
"""


def schema(connection: duckdb.DuckDBPyConnection, database: Path, seconds: float) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says."""
    survey = Survey(partial(asked, connection), seconds)
    return survey.schema(
        catalog(connection),
        partial(with_statistics, survey),
        database=database.stem,
        dialect="duckdb",
    )


def asked(
    connection: duckdb.DuckDBPyConnection, sql: str, seconds: float
) -> list[tuple[Any, ...]] | None:
    """What a statement gives within so many seconds; None for one that fails or takes longer."""
    with time_limit(seconds, connection.interrupt) as is_up:
        try:
            return connection.execute(sql).fetchall()
        except duckdb.InterruptException:
            if not is_up():
                raise
        except duckdb.Error:
            # A view over something that is gone, or a type this statistic has no sense for.
            pass
    return None


def catalog(connection: duckdb.DuckDBPyConnection) -> list[Listed]:
    """Its tables and views, without a look at their rows."""
    found = Catalog("main")
    for spot, name, kind, columns, other, referenced in connection.execute(_CONSTRAINTS).fetchall():
        if kind == "PRIMARY KEY":
            found.add_primary_key(spot, name, columns)
        else:
            found.add_foreign_key(spot, name, columns, (spot, other), referenced)
    for row in connection.execute(_COLUMNS).fetchall():
        spot, name, is_view, comment, column, kind, nullable, said = row
        described = TableColumn(column, kind, nullable, said)
        found.add_column(spot, name, described, is_view=is_view, comment=comment)
    return found.tables()


def with_statistics(
    survey: Survey, table: Table, source: str, sample: str | None = None
) -> Sequence[TableColumn]:
    """The columns with what their values say.

    Where there are too many rows to look at all of them, it is `sample` that is looked at; None:
    for a table of DuckDB's own, slices of it, and for what has no number of rows, its beginning.
    """
    columns = _with_extremes(survey, table, source)
    whole = None if table.row_count is None else source
    exact = True
    if table.row_count is None:
        source, exact = sample or f"(FROM {source} LIMIT {SAMPLE_ROWS})", False
    elif table.row_count > _EXACT_ROWS:
        source, exact = sample or _slices(source, table.row_count), False
    return [
        _with_values(survey, column, source, whole, exact=exact)
        if column.kind == "text"
        else column
        for column in columns
    ]


def _slices(source: str, rows: int) -> str:
    """Rows from all over a table. A filter on rowid reads only the row groups it names."""
    step = rows // _SLICES
    slices = " OR ".join(
        f"rowid BETWEEN {step * each} AND {step * each + _SLICE_ROWS - 1}"
        for each in range(_SLICES)
    )
    return f"(FROM {source} WHERE {slices})"


def _with_extremes(survey: Survey, table: Table, source: str) -> Sequence[TableColumn]:
    dated = [column for column in table.columns if column.kind in ("date", "timestamp")]
    if not dated or table.row_count is None:
        return table.columns
    wanted = ", ".join(
        f"min({name})::VARCHAR, max({name})::VARCHAR"
        for name in (identifier(column.name) for column in dated)
    )
    rows = survey.rows(f"SELECT {wanted} FROM {source}")
    if not rows:
        return table.columns
    found = {
        column.name: (rows[0][2 * place], rows[0][2 * place + 1])
        for place, column in enumerate(dated)
    }
    return [
        replace(column, minimum=found[column.name][0], maximum=found[column.name][1])
        if column.name in found
        else column
        for column in table.columns
    ]


def _with_values(
    survey: Survey, column: TableColumn, source: str, whole: str | None, *, exact: bool
) -> TableColumn:
    """The column with values found in `source`, or in `whole` when it seems to have few."""
    name = identifier(column.name)
    counted = survey.rows(
        f"SELECT count(DISTINCT {name}), max(length({name}::VARCHAR)) FROM {source}"
    )
    if not counted:
        return column
    distinct, longest = counted[0]
    if not exact and 0 < distinct <= _READ_ALL_VALUES and whole is not None:
        return _with_values(survey, column, whole, whole, exact=True)
    # DISTINCT of the bare column works on DuckDB's dictionaries: 15 ms in place of 250 ms.
    values = (
        f"SELECT left(v::VARCHAR, {VALUE_CHARACTERS}) FROM "
        f"(SELECT DISTINCT {name} AS v FROM {source}) WHERE v IS NOT NULL"
    )
    return survey.with_values(column, distinct, longest or 0, values, exact=exact)
