"""Whether a role is weak enough to be asked through, and the SQL that makes one that is.

A read-only transaction does not hold a superuser back: it reads files and starts programs of the
server's (`pg_read_file`, `COPY ... TO PROGRAM`; measured on PostgreSQL 15). So the role is the
first line, and such a one is refused when the engine is opened.
"""

from __future__ import annotations

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.postgres.link import Server
from awhile.ask.engines.quoting import identifier

__all__ = ["check_role", "fit_role"]

_POWERS = b"""
SELECT r.rolname,
       array_to_string(array_remove(ARRAY[
         CASE WHEN r.rolsuper THEN 'SUPERUSER' END,
         CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END,
         CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
         CASE WHEN r.rolreplication THEN 'REPLICATION' END
       ] || ARRAY(
         SELECT CASE WHEN m.rolsuper THEN 'membership in the superuser ' ELSE 'membership in ' END
                || m.rolname
         FROM pg_catalog.pg_roles AS m
         WHERE m.oid <> r.oid AND NOT r.rolsuper AND pg_catalog.pg_has_role(r.oid, m.oid, 'MEMBER')
           AND (m.rolsuper OR m.rolcreaterole OR m.rolreplication OR m.rolname IN (
             'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
             'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_write_all_data',
             'pg_create_subscription', 'pg_use_reserved_connections'))
         ORDER BY 1
       ), NULL), ', ')
FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user
"""

_SCHEMAS = b"""
SELECT DISTINCT n.nspname
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_'
  AND n.nspname <> 'information_schema'
ORDER BY 1
"""


def check_role(server: Server, database: str) -> None:
    """Raise `DatabaseNotOpened` if the current role can do more than read tables."""
    [(role, powers)] = server.rows(_POWERS)
    if powers:
        schemas = [str(name) for (name,) in server.rows(_SCHEMAS)] or ["public"]
        raise DatabaseNotOpened(
            f"the role {role!r} can do more than read tables ({powers}), so a query could reach "
            "files, programs or other roles of the server; connect as one that cannot; this "
            f"SQL makes one\n\n{fit_role(database, schemas)}"
        )


def fit_role(database: str, schemas: list[str]) -> str:
    """The SQL for a role that can read every table of these schemas, and nothing else."""
    lines = [
        "CREATE ROLE awhile_reader LOGIN PASSWORD 'choose one' NOSUPERUSER NOCREATEDB "
        "NOCREATEROLE NOREPLICATION NOBYPASSRLS;",
        f"GRANT CONNECT ON DATABASE {identifier(database)} TO awhile_reader;",
        "ALTER ROLE awhile_reader SET default_transaction_read_only = on;",
    ]
    for each in map(identifier, schemas):
        lines += [
            f"GRANT USAGE ON SCHEMA {each} TO awhile_reader;",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {each} TO awhile_reader;",
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {each} GRANT SELECT ON TABLES TO awhile_reader;",
        ]
    return "\n".join(lines)
