"""What only the database can tell of a statement: whose functions its names stand for."""

from __future__ import annotations

import json

from awhile.ask.engines.errors import QueryRefused
from awhile.ask.engines.postgres.guard import Statement
from awhile.ask.engines.postgres.link import Server

__all__ = ["check_names"]

_FUNCTIONS = b"""
SELECT p.proname, n.nspname
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname <> 'pg_catalog'
  AND p.proname = ANY (ARRAY(SELECT json_array_elements_text($1::json)::name
                             UNION SELECT json_array_elements_text($2::json)::name))
  AND (p.proname = ANY (ARRAY(SELECT json_array_elements_text($1::json)::name))
       OR EXISTS (SELECT FROM pg_catalog.pg_type AS t
                  WHERE p.pronargs = 1 AND t.oid = p.proargtypes[0] AND t.typtype = 'c'))
LIMIT 1
"""
"""By the index on names: a database may have thousands of functions."""

_OPERATORS = b"""
SELECT o.oprname, n.nspname
FROM pg_catalog.pg_operator AS o
JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
JOIN pg_catalog.pg_proc AS p ON p.oid = o.oprcode
WHERE n.nspname <> 'pg_catalog'
  AND o.oprname = ANY (ARRAY(SELECT json_array_elements_text($1::json)::name))
  AND p.proname NOT IN (SELECT json_array_elements_text($2::json))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                  WHERE d.objid = o.oid AND d.deptype = 'e'
                    AND d.classid = 'pg_catalog.pg_operator'::regclass)
LIMIT 1
"""
"""Those of extensions pass: whoever installed one had the powers to."""

_TYPES = b"""
SELECT t.typname, n.nspname
FROM pg_catalog.pg_type AS t
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE n.nspname <> 'pg_catalog'
  AND t.typname = ANY (ARRAY(SELECT json_array_elements_text($1::json)::name))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                  WHERE d.objid = t.oid AND d.deptype = 'e'
                    AND d.classid = 'pg_catalog.pg_type'::regclass)
  AND (EXISTS (SELECT FROM pg_catalog.pg_constraint AS k
               JOIN pg_catalog.pg_depend AS d ON d.objid = k.oid
                AND d.classid = 'pg_catalog.pg_constraint'::regclass
                AND d.refclassid = 'pg_catalog.pg_proc'::regclass
               WHERE k.contypid = t.oid)
       OR EXISTS (SELECT FROM pg_catalog.pg_cast AS c
                  JOIN pg_catalog.pg_proc AS p ON p.oid = c.castfunc
                  JOIN pg_catalog.pg_namespace AS o ON o.oid = p.pronamespace
                  WHERE t.oid IN (c.castsource, c.casttarget) AND o.nspname <> 'pg_catalog'
                    AND p.proname NOT IN (SELECT json_array_elements_text($2::json))))
LIMIT 1
"""


def check_names(server: Server, statement: Statement, allowed: frozenset[str]) -> None:
    """Raise `QueryRefused` if a name may mean a function that is not PostgreSQL's own.

    `lower(x)` is `public.lower` where somebody has made one whose arguments fit better; `o.f` of a
    row calls the function `f`; an operator, a cast and a domain's check call theirs.
    """
    functions, columns = statement.functions - allowed, statement.columns - allowed
    asked = (
        (_FUNCTIONS, functions, columns),
        (_OPERATORS, statement.operators, allowed),
        (_TYPES, statement.types, allowed),
    )
    for sql, one, two in asked:
        if not one and (sql is not _FUNCTIONS or not two):
            continue
        for name, spot in server.rows(sql, [json.dumps(sorted(one)), json.dumps(sorted(two))]):
            raise QueryRefused(
                str(name),
                f"the schema {spot!r} has a function of that name or behind it, and none of a "
                "database's own is called; it can be allowed by ?functions= in the database's URL",
            )
