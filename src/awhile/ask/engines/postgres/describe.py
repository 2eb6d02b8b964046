"""The schema card of a PostgreSQL database: what the role may read, and statistics while there is
time."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import json
import time
from dataclasses import replace

from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.keys import with_inferred_keys
from awhile.ask.engines.postgres.link import Server
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["schema"]

_EVERY_VALUE = 500
_EXAMPLES = 5
_VALUE_CHARACTERS = 80
_UNIQUE_ROWS = 1_000_000

_COLUMNS = b"""
SELECT n.nspname, c.relname, c.relkind, pg_catalog.obj_description(c.oid, 'pg_class'),
       a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
       pg_catalog.col_description(c.oid, a.attnum), c.reltuples::bigint
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY c.relkind = 'v', n.nspname <> 'public', n.nspname, c.oid, a.attnum
"""

_KEYS = b"""
SELECT n.nspname, c.relname, k.contype, o.nspname, f.relname,
       to_json(ARRAY(SELECT a.attname FROM unnest(k.conkey) WITH ORDINALITY AS u(num, place)
             JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.num
             ORDER BY u.place)),
       to_json(ARRAY(SELECT a.attname FROM unnest(k.confkey) WITH ORDINALITY AS u(num, place)
             JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.num
             ORDER BY u.place))
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_class AS f ON f.oid = k.confrelid
LEFT JOIN pg_catalog.pg_namespace AS o ON o.oid = f.relnamespace
WHERE k.contype IN ('p', 'f')
ORDER BY k.oid
"""


def schema(server: Server, database: str, seconds: float) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says."""
    clock = _Clock(server, seconds)
    tables: list[Table] = []
    for table, kind, estimated in _catalog(server):
        described = table
        if kind in ("r", "p", "m"):
            counted = clock.rows(f"SELECT count(*) FROM {_quoted(table)}")
            # The planner's own count stands in: every analyze makes it nearly right.
            rows = int(counted[0][0] or 0) if counted else max(estimated, 0) or None
            described = replace(table, row_count=rows)
        columns = tuple(_column(clock, described, each) for each in described.columns)
        tables.append(replace(described, columns=columns))

    def is_unique(table: Table, column: str) -> bool:
        if table.row_count is None or table.row_count > _UNIQUE_ROWS:
            return True
        name = _identifier(column)
        counted = clock.rows(f"SELECT count(DISTINCT {name}) FROM {_quoted(table)}")
        return not counted or int(counted[0][0] or 0) == table.row_count

    keyed = with_inferred_keys(tuple(tables), is_unique)
    notes = ("some columns have no sample values: reading them took too long",)
    return Schema(keyed, database, "postgres", notes if clock.expired else ())


def _catalog(server: Server) -> list[tuple[Table, str, int]]:
    keys: dict[tuple[str, str], tuple[str, ...]] = {}
    references: dict[tuple[str, str], list[ForeignKey]] = {}
    for row in server.rows(_KEYS):
        spot, name, kind, other_spot, other, own, referenced = (each or "" for each in row)
        if kind == "p":
            keys[spot, name] = tuple(json.loads(own))
        else:
            key = ForeignKey(
                tuple(json.loads(own)),
                _public_name(other_spot, other),
                tuple(json.loads(referenced)),
            )
            references.setdefault((spot, name), []).append(key)
    gathered: dict[tuple[str, str], tuple[str, str | None, int, list[TableColumn]]] = {}
    for row in server.rows(_COLUMNS):
        spot, name, kind, comment, column, declared, required, said, estimated = row
        found = gathered.setdefault(
            (spot or "", name or ""), (kind or "", comment, int(estimated or 0), [])
        )
        found[3].append(TableColumn(column or "", (declared or "").upper(), required == "f", said))
    return [
        (
            Table(
                name=_public_name(spot, name),
                columns=tuple(columns),
                primary_key=keys.get((spot, name), ()),
                foreign_keys=tuple(references.get((spot, name), ())),
                comment=comment,
            ),
            kind,
            estimated,
        )
        for (spot, name), (kind, comment, estimated, columns) in gathered.items()
    ]


def _public_name(spot: str, name: str) -> str:
    return name if spot == "public" else f"{spot}.{name}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(table: Table) -> str:
    spot, dot, name = table.name.partition(".")
    return f"{_identifier(spot)}.{_identifier(name)}" if dot else f"public.{_identifier(spot)}"


def _column(clock: _Clock, table: Table, column: TableColumn) -> TableColumn:
    if table.row_count is None:
        return column
    name, source = _identifier(column.name), _quoted(table)
    if column.kind in ("date", "timestamp"):
        found = clock.rows(f"SELECT min({name})::text, max({name})::text FROM {source}")
        return replace(column, minimum=found[0][0], maximum=found[0][1]) if found else column
    return _with_values(clock, column, name, source) if column.kind == "text" else column


def _with_values(clock: _Clock, column: TableColumn, name: str, source: str) -> TableColumn:
    counted = clock.rows(
        f"SELECT count(v), max(length(v::text)) FROM (SELECT DISTINCT {name} AS v FROM {source}) d"
    )
    if not counted:
        return column
    distinct, longest = int(counted[0][0] or 0), int(counted[0][1] or 0)
    few = distinct <= _EVERY_VALUE and longest <= _VALUE_CHARACTERS
    values = clock.rows(
        f"SELECT DISTINCT left({name}::text, {_VALUE_CHARACTERS}) FROM {source} "
        f"WHERE {name} IS NOT NULL "
        + (f"ORDER BY 1 LIMIT {_EVERY_VALUE}" if few else f"LIMIT {_EXAMPLES}")
    )
    return replace(
        column,
        sample_values=tuple(sorted(str(value) for (value,) in values)),
        distinct_count=distinct,
    )


class _Clock:
    """Runs small queries until the time is up; then none any more.

    Each is a read-only transaction of its own, which the server ends when the time is up.
    """

    def __init__(self, server: Server, seconds: float) -> None:
        self._server = server
        self._end = time.monotonic() + seconds
        self.expired = False

    def rows(self, sql: str) -> list[tuple[str | None, ...]]:
        left = self._end - time.monotonic()
        if left <= 0:
            self.expired = True
            return []
        self._server.ask(b"BEGIN TRANSACTION READ ONLY")
        try:
            self._server.limit({"statement_timeout": f"{int(left * 1000) + 1}ms"})
            return self._server.rows(sql.encode())
        except QueryError:
            # The time is up; or a view or type this statistic has no sense for.
            self.expired = self.expired or time.monotonic() >= self._end
            return []
        finally:
            self._server.ask(b"ROLLBACK")
