"""The schema card of a PostgreSQL database: what the role may read, and statistics while there is
time."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from awhile.ask.engines.card import VALUE_CHARACTERS, Catalog, Listed, Survey
from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.postgres.link import Server
from awhile.ask.engines.quoting import identifier
from awhile.ask.schema import Schema, Table, TableColumn

__all__ = ["catalog", "schema"]

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
    """Read the card, in a transaction that is open. Statistics stop after `seconds`, which a note
    then says."""
    survey = Survey(partial(_asked, server), seconds)

    def columns(table: Table, source: str) -> Sequence[TableColumn]:
        return [_column(survey, table, source, each) for each in table.columns]

    return survey.schema(catalog(server), columns, database=database, dialect="postgres")


def _asked(server: Server, sql: str, seconds: float) -> list[tuple[str | None, ...]] | None:
    """Within the transaction of the card, which goes on where this fails."""
    server.ask(b"SAVEPOINT statistic")
    try:
        server.limit({"statement_timeout": f"{int(seconds * 1000) + 1}ms"})
        return server.rows(sql.encode())
    except QueryError:
        # The time is up; or a view or type this statistic has no sense for.
        return None
    finally:
        server.ask(b"ROLLBACK TO SAVEPOINT statistic")


def catalog(server: Server) -> list[Listed]:
    """What the role may read, without a look at its rows."""
    found = Catalog("public")
    for row in server.rows(_KEYS):
        spot, name, kind, other_spot, other, own, referenced = (each or "" for each in row)
        if kind == "p":
            found.add_primary_key(spot, name, json.loads(own))
        else:
            target = (other_spot, other)
            found.add_foreign_key(spot, name, json.loads(own), target, json.loads(referenced))
    for row in server.rows(_COLUMNS):
        spot, name, kind, comment, column, declared, required, said, estimated = row
        found.add_column(
            spot or "",
            name or "",
            TableColumn(column or "", (declared or "").upper(), required == "f", said),
            is_view=kind in ("v", "f"),
            comment=comment,
            # The planner's own count stands in: every analyze makes it nearly right.
            rows=max(int(estimated or 0), 0) or None,
        )
    return found.tables()


def _column(survey: Survey, table: Table, source: str, column: TableColumn) -> TableColumn:
    if table.row_count is None:
        return column
    name = identifier(column.name)
    if column.kind in ("date", "timestamp"):
        found = survey.rows(f"SELECT min({name})::text, max({name})::text FROM {source}")
        return replace(column, minimum=found[0][0], maximum=found[0][1]) if found else column
    return _with_values(survey, column, name, source) if column.kind == "text" else column


def _with_values(survey: Survey, column: TableColumn, name: str, source: str) -> TableColumn:
    counted = survey.rows(
        f"SELECT count(v), max(length(v::text)) FROM (SELECT DISTINCT {name} AS v FROM {source}) d"
    )
    if not counted:
        return column
    distinct, longest = int(counted[0][0] or 0), int(counted[0][1] or 0)
    values = (
        f"SELECT DISTINCT left({name}::text, {VALUE_CHARACTERS}) FROM {source} "
        f"WHERE {name} IS NOT NULL"
    )
    return survey.with_values(column, distinct, longest, values)
