"""What only the database can tell of a statement: whose functions its names stand for."""

from __future__ import annotations

import json

from awhile.ask.engines.errors import QueryRefused
from awhile.ask.engines.postgres.guard import Statement
from awhile.ask.engines.postgres.link import Server

__all__ = ["check_names"]

_OTHERS = b"""
SELECT p.proname, n.nspname
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
LEFT JOIN pg_catalog.pg_type AS t ON p.pronargs = 1 AND t.oid = p.proargtypes[0]
WHERE n.nspname <> 'pg_catalog'
  AND (p.proname IN (SELECT json_array_elements_text($1::json))
       OR (t.typtype = 'c' AND p.proname IN (SELECT json_array_elements_text($2::json))))
LIMIT 1
"""


def check_names(server: Server, statement: Statement, allowed: frozenset[str]) -> None:
    """Raise `QueryRefused` if a name may mean a function that is not PostgreSQL's own.

    `lower(x)` is `public.lower` where somebody has made one whose arguments fit better, and `o.f`
    of a row calls the function `f`.
    """
    functions = json.dumps(sorted(statement.functions - allowed))
    columns = json.dumps(sorted(statement.columns - allowed))
    for name, spot in server.rows(_OTHERS, [functions, columns]):
        raise QueryRefused(
            str(name),
            f"the schema {spot!r} has a function of that name, and none of a database's own is "
            "called; it can be allowed by ?functions= in the database's URL",
        )
