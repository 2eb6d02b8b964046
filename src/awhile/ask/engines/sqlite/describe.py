"""The schema card of a SQLite file: its catalog, and as much statistics as there is time for."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from awhile.ask.engines.keys import with_inferred_keys
from awhile.ask.engines.sqlite.asking import rows
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["schema", "table_names"]

_EVERY_VALUE = 500
"""A text column with no more distinct values than this has all of them on the card."""
_EXAMPLES = 5
_VALUE_CHARACTERS = 80
_UNIQUE_ROWS = 1_000_000
"""Beyond this a column whose name makes it the key is believed rather than counted."""

_ISO = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_DATED = ("date", "timestamp")


def table_names(connection: apsw.Connection) -> frozenset[str]:
    """Everything a FROM clause can name in the schema, casefolded."""
    found = rows(connection, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
    return frozenset(str(name).casefold() for (name,) in found)


def schema(connection: apsw.Connection, database: Path, seconds: float) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says."""
    clock = _Clock(connection, seconds)
    tables: list[Table] = []
    for table, is_view in _catalog(connection):
        described = table
        if not is_view:
            counted = clock.rows(f"SELECT count(*) FROM {_identifier(table.name)}")
            described = replace(table, row_count=counted[0][0] if counted else None)
        tables.append(
            replace(
                described,
                columns=tuple(_column(clock, described, each) for each in described.columns),
            )
        )

    def is_unique(table: Table, column: str) -> bool:
        if table.row_count is None or table.row_count > _UNIQUE_ROWS:
            return True
        name = _identifier(column)
        counted = clock.rows(f"SELECT count(DISTINCT {name}) FROM {_identifier(table.name)}")
        return not counted or counted[0][0] == table.row_count

    keyed = with_inferred_keys(tuple(tables), is_unique)
    notes = ("some columns have no sample values: reading them took too long",)
    return Schema(keyed, database.stem, "sqlite", notes if clock.expired else ())


def _catalog(connection: apsw.Connection) -> list[tuple[Table, bool]]:
    listed = rows(
        connection,
        "SELECT l.name, l.type FROM pragma_table_list AS l JOIN sqlite_schema AS s USING (name) "
        "WHERE l.schema = 'main' AND l.type <> 'shadow' AND substr(l.name, 1, 7) <> 'sqlite_' "
        "ORDER BY l.type = 'view', s.rowid",
    )
    keys = {str(name): _primary_key(connection, str(name)) for name, _ in listed}
    tables: list[tuple[Table, bool]] = []
    for name, kind in listed:
        columns = tuple(
            TableColumn(column, (declared or "").upper() or "ANY", not required)
            for column, declared, required in rows(
                connection,
                'SELECT name, type, "notnull" FROM pragma_table_xinfo(?) WHERE hidden <> 1',
                (name,),
            )
        )
        table = Table(
            name=str(name),
            columns=columns,
            primary_key=keys[str(name)],
            foreign_keys=_foreign_keys(connection, str(name), keys),
        )
        tables.append((table, kind == "view"))
    return tables


def _primary_key(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    found = rows(
        connection, "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk", (table,)
    )
    return tuple(str(name) for (name,) in found)


def _foreign_keys(
    connection: apsw.Connection, table: str, keys: dict[str, tuple[str, ...]]
) -> tuple[ForeignKey, ...]:
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    known = {name.casefold(): name for name in keys}
    for number, other, own, referenced in rows(
        connection,
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
        (table,),
    ):
        name = known.get(str(other).casefold())
        if name is not None:
            found.setdefault(int(number), []).append((name, str(own), referenced))
    return tuple(
        ForeignKey(
            tuple(own for _, own, _ in parts),
            parts[0][0],
            # Without columns, a reference means the other's primary key.
            keys[parts[0][0]]
            if parts[0][2] is None
            else tuple(str(referenced) for _, _, referenced in parts),
        )
        for _, parts in sorted(found.items())
    )


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column(clock: _Clock, table: Table, column: TableColumn) -> TableColumn:
    """The column with what its values say: SQLite's types are declared, and not enforced."""
    if table.row_count is None:
        return column
    name, source = _identifier(column.name), _identifier(table.name)
    if column.type == "ANY":
        kinds = clock.rows(f"SELECT DISTINCT typeof({name}) FROM {source} WHERE {name} NOT NULL")
        column = replace(column, type=kinds[0][0].upper() if len(kinds) == 1 else "ANY")
    if column.kind in _DATED or (column.kind == "text" and _seems_dated(clock, name, source)):
        return _dated(clock, column, name, source)
    return _with_values(clock, column, name, source) if column.kind == "text" else column


def _seems_dated(clock: _Clock, name: str, source: str) -> bool:
    first = clock.rows(
        f"SELECT {name} GLOB '{_ISO}*' FROM {source} WHERE {name} NOT NULL AND {name} <> '' LIMIT 1"
    )
    return bool(first and first[0][0])


def _dated(clock: _Clock, column: TableColumn, name: str, source: str) -> TableColumn:
    """Dates are dates only if every value is a text in ISO form; seconds since 1970 are numbers."""
    told = clock.rows(
        f"SELECT min({name}), max({name}), max(length({name})), count({name}), "
        f"sum(typeof({name}) = 'text' AND {name} GLOB '{_ISO}*'), group_concat(DISTINCT "
        f"typeof({name})) FROM {source}"
    )
    if not told or told[0][3] == 0:
        return column
    least, most, longest, values, iso, kinds = told[0]
    if values == iso:
        kind = "DATE" if longest == 10 else "TIMESTAMP"
        declared = column.type if column.kind in _DATED else kind
        return replace(column, type=declared, minimum=str(least), maximum=str(most))
    if column.kind == "text":
        return _with_values(clock, column, name, source)
    found = [each for each in str(kinds).split(",") if each != "null"]
    return replace(column, type=found[0].upper() if len(found) == 1 else "ANY")


def _with_values(clock: _Clock, column: TableColumn, name: str, source: str) -> TableColumn:
    counted = clock.rows(f"SELECT count(DISTINCT {name}), max(length({name})) FROM {source}")
    if not counted:
        return column
    distinct, longest = counted[0]
    few = distinct <= _EVERY_VALUE and (longest or 0) <= _VALUE_CHARACTERS
    values = clock.rows(
        f"SELECT DISTINCT substr({name}, 1, {_VALUE_CHARACTERS}) FROM {source} "
        f"WHERE typeof({name}) = 'text' "
        + (f"ORDER BY 1 LIMIT {_EVERY_VALUE}" if few else f"LIMIT {_EXAMPLES}")
    )
    return replace(
        column,
        sample_values=tuple(sorted(str(value) for (value,) in values)),
        distinct_count=distinct,
    )


class _Clock:
    """Runs small queries until the time is up; then none any more.

    A query that is running when the time is up is interrupted and counts as unanswered.
    """

    def __init__(self, connection: apsw.Connection, seconds: float) -> None:
        self._connection = connection
        self._end = time.monotonic() + seconds
        self.expired = False

    def rows(self, sql: str) -> Sequence[tuple[Any, ...]]:
        left = self._end - time.monotonic()
        if left <= 0:
            self.expired = True
            return []
        timer = threading.Timer(left, self._connection.interrupt)
        timer.start()
        try:
            return rows(self._connection, sql)
        except apsw.InterruptError:
            if time.monotonic() < self._end:
                raise
            self.expired = True
            return []
        except (apsw.Error, UnicodeDecodeError):
            # A virtual table whose module is not here, or a text that is none.
            return []
        finally:
            timer.cancel()
            timer.join()
