"""Exactly one statement that only reads: the second line, behind the engine's own lock-down.

The text is parsed, never searched: a column called `update_time`, the literal `'drop table'` and
a comment with a semicolon are all fine.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from awhile.ask.engines.errors import QueryRefused

__all__ = ["check"]

_ONE_SELECT = "only one SELECT (or WITH ... SELECT) is run here, because the database is read-only"
_FILES = "it reads files or the network, and only this database may be read"
_INNER = "it shows the engine's settings, files or secrets rather than the database's data"

_FILE_FUNCTIONS = frozenset((
    "read_csv", "read_csv_auto", "sniff_csv", "read_parquet", "parquet_scan",
    "parquet_metadata", "parquet_schema", "parquet_file_metadata", "parquet_kv_metadata",
    "parquet_bloom_probe", "parquet_full_metadata", "read_json", "read_json_auto",
    "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto",
    "read_ndjson_objects", "read_text", "read_blob", "read_xlsx", "read_duckdb", "glob",
    "arrow_scan", "arrow_scan_dumb", "pandas_scan", "python_map_function", "delta_scan",
    "iceberg_scan", "iceberg_metadata", "iceberg_snapshots", "sqlite_scan", "postgres_scan",
    "postgres_scan_pushdown", "postgres_query", "mysql_query", "mysql_scan",
    "postgres_execute", "mysql_execute", "sqlite_attach", "postgres_attach", "st_read",
    "st_read_meta", "st_readosm", "st_readshp", "http_get", "http_post",
))  # fmt: skip
_INNER_FUNCTIONS = frozenset((
    "getenv", "duckdb_secrets", "which_secret", "duckdb_settings", "duckdb_databases",
    "duckdb_temporary_files", "duckdb_logs", "duckdb_log_contexts",
    "duckdb_external_file_cache", "pragma_database_list", "pragma_platform",
    "duckdb_extensions", "current_setting", "write_log", "force_checkpoint", "checkpoint",
    "query", "query_table", "enable_logging", "set_config", "enable_profiling",
))  # fmt: skip
_WRITES = (
    exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Copy,
    exp.Attach, exp.Detach, exp.Command, exp.Set, exp.Pragma, exp.Use, exp.TruncateTable, exp.Into,
    exp.Transaction, exp.Commit, exp.Rollback, exp.Export, exp.Install, exp.LoadData,
)  # fmt: skip


def check(sql: str) -> None:
    """Raise `QueryRefused` unless `sql` is one SELECT over this database's own tables."""
    try:
        statements = [each for each in sqlglot.parse(sql, dialect="duckdb") if each is not None]
    except (SqlglotError, RecursionError) as error:
        raise QueryRefused(
            _first_word(sql), f"the text could not be read as SQL ({error})"
        ) from None
    found = [each for each in statements if not isinstance(each, exp.Semicolon)]
    if not found:
        raise QueryRefused(sql.strip()[:20], f"there is no statement in it; {_ONE_SELECT}")
    if len(found) > 1:
        raise QueryRefused(_word(found[1]), f"it begins a second statement; {_ONE_SELECT}")
    statement = found[0]
    if not isinstance(statement, exp.Query):
        raise QueryRefused(_word(statement), _ONE_SELECT)
    for node in statement.walk():
        if isinstance(node, _WRITES):
            raise QueryRefused(_word(node), _ONE_SELECT)
        if isinstance(node, exp.Func):
            _check_function(_function_name(node))
        if isinstance(node, exp.Table):
            _check_table(node)


def _check_function(name: str) -> None:
    if name in _FILE_FUNCTIONS:
        raise QueryRefused(name, _FILES)
    if name in _INNER_FUNCTIONS:
        raise QueryRefused(name, _INNER)


def _function_name(node: exp.Func) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.this).casefold()
    return node.sql_name().casefold()


def _check_table(node: exp.Table) -> None:
    inner = node.this
    if isinstance(inner, exp.Identifier):
        name = inner.name
        # FROM 'file.csv' is a table whose name is a path.
        if any(mark in name for mark in ("/", "\\", "*", "?", "://")) or name.casefold().endswith(
            (".csv", ".parquet", ".json", ".jsonl", ".ndjson", ".tsv", ".txt", ".gz", ".zst",
             ".xlsx", ".db", ".duckdb", ".sqlite")
        ):  # fmt: skip
            raise QueryRefused(name, _FILES)
        _check_function(name.casefold() if name.casefold() in _INNER_FUNCTIONS else "")


def _word(node: exp.Expr) -> str:
    if isinstance(node, exp.Command):
        return str(node.this).upper()
    return node.key.upper()


def _first_word(sql: str) -> str:
    return next(iter(sql.split()), "")[:40]
