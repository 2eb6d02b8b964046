"""The schema card of a DuckDB file: its catalog, and as much statistics as there is time for."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from awhile.ask.engines.keys import with_inferred_keys
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["schema"]

_EVERY_VALUE = 500
"""A text column with no more distinct values than this has all of them on the card: enough for
a catalogue of products, small enough to search for every word of a question."""
_EXAMPLES = 5
_VALUE_CHARACTERS = 80
_EXACT_ROWS = 300_000
"""Up to here a column's distinct values are counted; beyond, they are looked for in a sample."""
_SLICES, _SLICE_ROWS = 8, 6_144
_READ_ALL_VALUES = 50
"""A column with so few values in the sample is read to its end, or a rare one (an order that is
still being processed) would be missing from the card: 15 ms for 3 million rows (measured)."""
_UNIQUE_ROWS = 1_000_000
"""Beyond this a column whose name makes it the key is believed rather than counted."""

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
    clock = _Clock(connection, seconds)
    tables: list[Table] = []
    for table, is_view in _catalog(connection):
        described = table
        if not is_view:
            counted = clock.rows(f"SELECT count(*) FROM {_quoted(table)}")
            described = replace(table, row_count=counted[0][0] if counted else None)
        tables.append(_with_statistics(clock, described))

    def is_unique(table: Table, column: str) -> bool:
        if table.row_count is None or table.row_count > _UNIQUE_ROWS:
            return True
        name = _identifier(column)
        counted = clock.rows(f"SELECT count(DISTINCT {name}) FROM {_quoted(table)}")
        return not counted or counted[0][0] == table.row_count

    keyed = with_inferred_keys(tuple(tables), is_unique)
    notes = ("some columns have no sample values: reading them took too long",)
    return Schema(keyed, database.stem, "duckdb", notes if clock.expired else ())


def _catalog(connection: duckdb.DuckDBPyConnection) -> list[tuple[Table, bool]]:
    keys: dict[tuple[str, str], tuple[str, ...]] = {}
    references: dict[tuple[str, str], list[ForeignKey]] = {}
    for spot, name, kind, columns, other, referenced in connection.execute(_CONSTRAINTS).fetchall():
        if kind == "PRIMARY KEY":
            keys[spot, name] = tuple(columns)
        else:
            key = ForeignKey(tuple(columns), _public_name(spot, other), tuple(referenced))
            references.setdefault((spot, name), []).append(key)
    gathered: dict[tuple[str, str], tuple[bool, str | None, list[TableColumn]]] = {}
    for row in connection.execute(_COLUMNS).fetchall():
        spot, name, is_view, comment, column, kind, nullable, column_comment = row
        _, _, columns = gathered.setdefault((spot, name), (is_view, comment, []))
        columns.append(TableColumn(column, kind, nullable, column_comment))
    return [
        (
            Table(
                name=_public_name(spot, name),
                columns=tuple(columns),
                primary_key=keys.get((spot, name), ()),
                foreign_keys=tuple(references.get((spot, name), ())),
                comment=comment,
            ),
            is_view,
        )
        for (spot, name), (is_view, comment, columns) in gathered.items()
    ]


def _public_name(spot: str, name: str) -> str:
    return name if spot == "main" else f"{spot}.{name}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(table: Table) -> str:
    spot, dot, name = table.name.partition(".")
    return f"{_identifier(spot)}.{_identifier(name)}" if dot else f"main.{_identifier(table.name)}"


def _with_statistics(clock: _Clock, table: Table) -> Table:
    source, exact = _quoted(table), True
    whole = None if table.row_count is None else source
    if table.row_count is None:
        source, exact = f"(FROM {source} LIMIT {_SLICES * _SLICE_ROWS})", False
    elif table.row_count > _EXACT_ROWS:
        # A filter on rowid reads only the row groups it names.
        step = table.row_count // _SLICES
        slices = " OR ".join(
            f"rowid BETWEEN {step * each} AND {step * each + _SLICE_ROWS - 1}"
            for each in range(_SLICES)
        )
        source, exact = f"(FROM {source} WHERE {slices})", False
    columns = _with_extremes(clock, table)
    return replace(
        table,
        columns=tuple(
            _with_values(clock, column, source, whole, exact=exact)
            if column.kind == "text"
            else column
            for column in columns
        ),
    )


def _with_extremes(clock: _Clock, table: Table) -> Sequence[TableColumn]:
    dated = [column for column in table.columns if column.kind in ("date", "timestamp")]
    if not dated or table.row_count is None:
        return table.columns
    wanted = ", ".join(
        f"min({name})::VARCHAR, max({name})::VARCHAR"
        for name in (_identifier(column.name) for column in dated)
    )
    rows = clock.rows(f"SELECT {wanted} FROM {_quoted(table)}")
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
    clock: _Clock, column: TableColumn, source: str, whole: str | None, *, exact: bool
) -> TableColumn:
    """The column with values found in `source`, or in `whole` when it seems to have few."""
    name = _identifier(column.name)
    counted = clock.rows(
        f"SELECT count(DISTINCT {name}), max(length({name}::VARCHAR)) FROM {source}"
    )
    if not counted:
        return column
    distinct, longest = counted[0]
    if not exact and 0 < distinct <= _READ_ALL_VALUES and whole is not None:
        return _with_values(clock, column, whole, whole, exact=True)
    few = distinct <= _EVERY_VALUE and (longest or 0) <= _VALUE_CHARACTERS
    # DISTINCT of the bare column works on DuckDB's dictionaries: 15 ms in place of 250 ms.
    values = clock.rows(
        f"SELECT left(v::VARCHAR, {_VALUE_CHARACTERS}) FROM "
        f"(SELECT DISTINCT {name} AS v FROM {source}) WHERE v IS NOT NULL "
        + (f"ORDER BY 1 LIMIT {_EVERY_VALUE}" if few else f"LIMIT {_EXAMPLES}")
    )
    return replace(
        column,
        sample_values=tuple(sorted(str(value) for (value,) in values)),
        distinct_count=distinct if exact else None,
    )


class _Clock:
    """Runs small queries until the time is up; then none any more.

    A query that is running when the time is up is interrupted and counts as unanswered.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self._connection = connection
        self._end = time.monotonic() + seconds
        self.expired = False

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        left = self._end - time.monotonic()
        if left <= 0:
            self.expired = True
            return []
        timer = threading.Timer(left, self._connection.interrupt)
        timer.start()
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.InterruptException:
            if time.monotonic() < self._end:
                raise
            self.expired = True
            return []
        except duckdb.Error:
            # A view over something that is gone, or a type this statistic has no sense for.
            return []
        finally:
            timer.cancel()
            timer.join()
