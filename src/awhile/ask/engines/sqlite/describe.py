"""The schema card of a SQLite file: its catalog, and as much statistics as there is time for."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from awhile.ask.engines.card import VALUE_CHARACTERS, Listed, Survey, time_limit
from awhile.ask.engines.quoting import identifier
from awhile.ask.engines.sqlite.asking import rows
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["connected", "schema"]

_ISO = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_DATED = ("date", "timestamp")


def connected(connection: apsw.Connection) -> frozenset[str]:
    """Everything a FROM clause can name in the schema, casefolded; its indexes made ready.

    A virtual table (a full-text or a spatial index) prepares what it writes with, too, when it is
    first named. That is its own business, and is done with before anybody's text is looked at.
    """
    found = rows(
        connection,
        "SELECT name, sql LIKE 'CREATE VIRTUAL TABLE%' FROM sqlite_schema "
        "WHERE type IN ('table', 'view')",
    )
    for name, is_virtual in found:
        if is_virtual:
            with suppress(apsw.Error):  # a module that is not here; who names the table is told
                rows(connection, f"SELECT 1 FROM {identifier(str(name))} LIMIT 0")
    return frozenset(str(name).casefold() for name, _ in found)


def schema(connection: apsw.Connection, database: Path, seconds: float) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says."""
    survey = Survey(partial(_asked, connection), seconds)

    def columns(table: Table, source: str) -> Sequence[TableColumn]:
        return [_column(survey, table, source, each) for each in table.columns]

    return survey.schema(_catalog(connection), columns, database=database.stem, dialect="sqlite")


def _asked(
    connection: apsw.Connection, sql: str, seconds: float
) -> Sequence[tuple[Any, ...]] | None:
    with time_limit(seconds, connection.interrupt) as is_up:
        try:
            return rows(connection, sql)
        except apsw.InterruptError:
            if not is_up():
                raise
        except (apsw.Error, UnicodeDecodeError):
            # A virtual table whose module is not here, or a text that is none.
            pass
    return None


def _catalog(connection: apsw.Connection) -> list[Listed]:
    listed = rows(
        connection,
        "SELECT l.name, l.type FROM pragma_table_list AS l JOIN sqlite_schema AS s USING (name) "
        "WHERE l.schema = 'main' AND l.type <> 'shadow' AND substr(l.name, 1, 7) <> 'sqlite_' "
        "ORDER BY l.type = 'view', s.rowid",
    )
    keys = {str(name): _primary_key(connection, str(name)) for name, _ in listed}
    tables: list[Listed] = []
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
        tables.append(Listed(table, identifier(str(name)), kind == "view"))
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


def _column(survey: Survey, table: Table, source: str, column: TableColumn) -> TableColumn:
    """The column with what its values say: SQLite's types are declared, and not enforced."""
    if table.row_count is None:
        return column
    name = identifier(column.name)
    if column.type == "ANY":
        kinds = survey.rows(f"SELECT DISTINCT typeof({name}) FROM {source} WHERE {name} NOT NULL")
        column = replace(column, type=kinds[0][0].upper() if len(kinds) == 1 else "ANY")
    if column.kind in _DATED or (column.kind == "text" and _seems_dated(survey, name, source)):
        return _dated(survey, column, name, source)
    return _with_values(survey, column, name, source) if column.kind == "text" else column


def _seems_dated(survey: Survey, name: str, source: str) -> bool:
    first = survey.rows(
        f"SELECT {name} GLOB '{_ISO}*' FROM {source} WHERE {name} NOT NULL AND {name} <> '' LIMIT 1"
    )
    return bool(first and first[0][0])


def _dated(survey: Survey, column: TableColumn, name: str, source: str) -> TableColumn:
    """Dates are dates only if every value is a text in ISO form; seconds since 1970 are numbers."""
    told = survey.rows(
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
        return _with_values(survey, column, name, source)
    found = [each for each in str(kinds).split(",") if each != "null"]
    return replace(column, type=found[0].upper() if len(found) == 1 else "ANY")


def _with_values(survey: Survey, column: TableColumn, name: str, source: str) -> TableColumn:
    counted = survey.rows(f"SELECT count(DISTINCT {name}), max(length({name})) FROM {source}")
    if not counted:
        return column
    distinct, longest = counted[0]
    values = (
        f"SELECT DISTINCT substr({name}, 1, {VALUE_CHARACTERS}) FROM {source} "
        f"WHERE typeof({name}) = 'text'"
    )
    return survey.with_values(column, distinct, longest or 0, values)
