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
UNION ALL
SELECT o.oprname, n.nspname
FROM pg_catalog.pg_operator AS o
JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
JOIN pg_catalog.pg_proc AS p ON p.oid = o.oprcode
WHERE n.nspname <> 'pg_catalog'
  AND o.oprname IN (SELECT json_array_elements_text($3::json))
  AND p.proname NOT IN (SELECT json_array_elements_text($5::json))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d
                  WHERE d.objid = o.oid AND d.deptype = 'e'
                    AND d.classid = 'pg_catalog.pg_operator'::regclass)
UNION ALL
SELECT t.typname, n.nspname
FROM pg_catalog.pg_type AS t
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE n.nspname <> 'pg_catalog'
  AND t.typname IN (SELECT json_array_elements_text($4::json))
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
                    AND p.proname NOT IN (SELECT json_array_elements_text($5::json))))
LIMIT 1
"""
"""Operators and types of extensions pass: whoever installed one had the powers to. (What they call
is what they are for; their functions by name are refused like all others that are not listed.)"""


def check_names(server: Server, statement: Statement, allowed: frozenset[str]) -> None:
    """Raise `QueryRefused` if a name may mean a function that is not PostgreSQL's own.

    `lower(x)` is `public.lower` where somebody has made one whose arguments fit better; `o.f` of a
    row calls the function `f`; an operator, a cast and a domain's check call theirs.
    """
    named = (
        statement.functions - allowed,
        statement.columns - allowed,
        statement.operators,
        statement.types,
        allowed,
    )
    for name, spot in server.rows(_OTHERS, [json.dumps(sorted(each)) for each in named]):
        raise QueryRefused(
            str(name),
            f"the schema {spot!r} has a function of that name or behind it, and none of a "
            "database's own is called; it can be allowed by ?functions= in the database's URL",
        )
