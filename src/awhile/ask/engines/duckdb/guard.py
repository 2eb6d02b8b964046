"""Exactly one statement that only reads: the second line, behind the engine's own lock-down.

The text is parsed by DuckDB itself, into the tree that DuckDB would run, and that tree is walked.
A second parser would read some texts differently from the engine, which is how guards are got
around, and fail on others, which is how legitimate reads are refused: a column `update_time`, the
literal `'drop table'`, a comment with a semicolon, `x'01'` are all fine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

import duckdb

from awhile.ask.engines.duckdb.pivot import as_selects, looks_up_values
from awhile.ask.engines.errors import QueryError, QueryRefused
from awhile.ask.engines.parameters import Scalar, bound, digits_of, valued
from awhile.ask.engines.place import place_of
from awhile.ask.engines.words import first_word

__all__ = ["check", "tables_in"]

_LONGEST = 200_000
_MOST_DIGITS = 38
"""What has more becomes a DOUBLE, which has other digits, or is infinite."""
_LONGEST_RUN = 100
"""DuckDB 2.0.1's parser needs memory with the square of a run of opening brackets or signs that
comes to nothing: 2 GB for 4 000 of them (measured; random token patterns showed no other case)."""
_OPENERS = frozenset("(+-~!@")

_ONE_SELECT = "exactly one SELECT (or WITH ... SELECT) is run here: the database is only read"
_FILES = "it reads files or the network, and only this database may be read"
_SECRETS = "it shows secrets or the machine rather than the database's data"
_ACTS = "it waits, or changes the session or a sequence, rather than reading"
_HIDDEN = "it runs SQL hidden in a text, which cannot be checked"

_UNKNOWN = "it is not on the list of table functions that only read this database"

_READS = frozenset(
    ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE")
)  # of the tree's query nodes; since DuckDB 2.0 others, such as DELETE_QUERY_NODE, fit in a WITH
_FUNCTIONS = {
    **dict.fromkeys(
        (
            "read_csv", "read_csv_auto", "sniff_csv", "read_parquet", "parquet_scan",
            "parquet_metadata", "parquet_schema", "parquet_file_metadata", "parquet_kv_metadata",
            "parquet_bloom_probe", "parquet_full_metadata", "read_json", "read_json_auto",
            "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto",
            "read_ndjson_objects", "read_text", "read_blob", "read_xlsx", "read_duckdb", "glob",
            "arrow_scan", "arrow_scan_dumb", "pandas_scan", "delta_scan", "iceberg_scan",
            "sqlite_scan", "sqlite_attach", "postgres_scan", "postgres_scan_pushdown",
            "postgres_query", "postgres_execute", "postgres_attach", "mysql_query",
            "mysql_execute", "mysql_scan", "st_read", "http_get", "http_post",
        ),
        _FILES,
    ),
    **dict.fromkeys(
        (
            "getenv", "current_setting", "duckdb_databases", "duckdb_logs", "duckdb_secrets",
            "duckdb_settings", "duckdb_temporary_files", "pg_settings", "pragma_database_list",
            "which_secret",
        ),
        _SECRETS,
    ),
    **dict.fromkeys(("query", "query_table", "json_execute_serialized_sql"), _HIDDEN),
    **dict.fromkeys(
        ("setseed", "nextval", "currval", "setval", "write_log", "sleep_ms", "pg_sleep"), _ACTS
    ),
}  # fmt: skip
_TABLE_FUNCTIONS = frozenset((
    "collations", "duckdb_columns", "duckdb_constraints", "duckdb_dependencies",
    "duckdb_functions", "duckdb_indexes", "duckdb_keywords", "duckdb_schemas", "duckdb_sequences",
    "duckdb_table_sample", "duckdb_tables", "duckdb_types", "duckdb_views", "generate_series",
    "icu_calendar_names", "json_each", "json_tree", "pg_timezone_names", "pragma_collations",
    "pragma_database_size", "pragma_show", "pragma_storage_info", "pragma_table_info",
    "pragma_version", "range", "repeat", "repeat_row", "summary", "unnest",
))  # fmt: skip
"""Others reach files, the network or the session, and each version brings new ones."""

_VIEWS = frozenset(("duckdb_databases", "duckdb_logs", "pg_settings", "pragma_database_list"))
"""DuckDB's own views that show files of the machine, or settings."""

_parser: duckdb.DuckDBPyConnection | None = None
_parsing = threading.Lock()


def check(sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
    """Raise `QueryRefused` unless `sql` is one SELECT, `QueryError` when it is not SQL at all."""
    given = parameters or {}
    for name, value in given.items():
        if isinstance(value, Decimal) and sum(digits_of(value)) > _MOST_DIGITS:
            why = f"DuckDB's decimals have {_MOST_DIGITS} digits; give it as a number or a text"
            raise QueryRefused(f":{name}", why)
    if len(sql) > _LONGEST:
        raise QueryRefused(sql[:20], f"it is longer than {_LONGEST} characters; shorten it")
    if "\0" in sql:
        raise QueryRefused("\\0", "a NUL character ends the text for the engine; remove it")
    if _longest_run(sql) > _LONGEST_RUN:
        raise QueryRefused("(", f"more than {_LONGEST_RUN} brackets or signs follow one another")
    statements = valued(sql, given, lambda all_of_them: _statements(_marked(sql, all_of_them)))
    if not statements:
        raise QueryRefused("", f"there is no statement in it; {_ONE_SELECT}")
    if len(statements) > 1:
        raise QueryRefused(first_word(statements[1][1]), f"a second statement; {_ONE_SELECT}")
    kind, text = statements[0]
    if kind == duckdb.StatementType.SELECT:
        _check_select(text)
        return
    if kind != duckdb.StatementType.MULTI:
        raise QueryRefused(first_word(text), _ONE_SELECT)
    selects = as_selects(text)
    if not selects:
        why = "it looks its values up too many times in one statement; write them out: IN (1, 2)"
        raise QueryRefused("PIVOT", why)
    for select in selects:
        found = _statements(select)
        if [each for each, _ in found] != [duckdb.StatementType.SELECT]:
            raise QueryRefused(first_word(text), _ONE_SELECT)
        _check_select(select)


def _marked(sql: str, names: Mapping[str, Scalar]) -> str:
    return bound(sql, names, lambda name: f"${name}")


def _check_select(text: str) -> None:
    try:
        tree = json.loads(_tree(text))
    except RecursionError:
        raise QueryRefused(first_word(text), "it is nested too deeply; flatten it") from None
    if tree["error"]:
        raise QueryRefused(first_word(text), f"{_ONE_SELECT} ({tree['error_message']})")
    for node in _nodes(tree["statements"]):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _READS:
            raise QueryRefused(kind.partition("_")[0], _ONE_SELECT)
        if kind in ("FUNCTION", "WINDOW") or "function_name" in node:
            name = str(node.get("function_name", "")).casefold()
            if name in _FUNCTIONS:
                raise QueryRefused(name, _FUNCTIONS[name])
        if kind == "BASE_TABLE":
            _check_view(str(node.get("schema_name", "")), str(node.get("table_name", "")))
        if kind == "TABLE_FUNCTION":
            name = str(node.get("function", {}).get("function_name", "")).casefold()
            if name not in _TABLE_FUNCTIONS:
                raise QueryRefused(name, _FUNCTIONS.get(name, _UNKNOWN))


def tables_in(sql: str) -> frozenset[str] | None:
    """The tables that a text reads, casefolded, those of a schema as `schema.name`; None if it is
    nothing that DuckDB can take apart."""
    if len(sql) > _LONGEST or "\0" in sql or _longest_run(sql) > _LONGEST_RUN:
        return None
    named: set[str] = set()
    own: set[str] = set()
    for text in as_selects(sql) if looks_up_values(sql) else [sql]:
        try:
            tree = json.loads(_tree(text))
        except RecursionError:
            return None
        if tree["error"]:
            return None
        for node in _nodes(tree["statements"]):
            if node.get("type") == "BASE_TABLE":
                spot, name = str(node.get("schema_name") or ""), str(node.get("table_name") or "")
                named.add(f"{spot}.{name}".casefold() if spot else name.casefold())
            for each in node.get("cte_map", {}).get("map", ()):
                own.add(str(each["key"]).casefold())
    return frozenset(named - own)


def _check_view(schema: str, name: str) -> None:
    if schema in ("", "main", "pg_catalog") and name.casefold() in _VIEWS:
        raise QueryRefused(name, _SECRETS)


def _longest_run(sql: str) -> int:
    """The longest run of opening brackets and signs; DuckDB's own lexer tells what is a comment."""
    text = sql.encode()
    longest = run = 0
    for offset, kind in duckdb.tokenize(sql):
        if kind == duckdb.token_type.comment:
            continue
        run = run + 1 if chr(text[offset]) in _OPENERS else 0
        longest = max(longest, run)
    return longest


def _statements(sql: str) -> list[tuple[duckdb.StatementType, str]]:
    try:
        found = duckdb.extract_statements(sql)
    except duckdb.ParserException:
        told = json.loads(_tree(sql))
        line, column = place_of(sql, told.get("position"))
        message = f"Parser Error: {told.get('error_message', 'this is not SQL')}"
        raise QueryError(message, line, column) from None
    except duckdb.Error as error:
        raise QueryError(str(error)) from None
    try:
        return [(each.type, each.query) for each in found]
    except ValueError:
        # A kind of statement that the Python package has no name for (DuckDB 2.0.1 has some).
        raise QueryRefused(first_word(sql), _ONE_SELECT) from None


def _tree(sql: str) -> str:
    """DuckDB's own parse tree as JSON. The connection that does it has no file and no access."""
    global _parser
    with _parsing:
        if _parser is None:
            _parser = duckdb.connect(config={"threads": "1"})
            _parser.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            found = _parser.execute("SELECT json_serialize_sql($1::VARCHAR)", [sql]).fetchone()
        except duckdb.Error as error:
            raise QueryError(str(error)) from None
    return str(found[0]) if found else "{}"


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    waiting: list[Any] = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            node = cast("dict[str, Any]", each)
            yield node
            waiting.extend(node.values())
        elif isinstance(each, list):
            waiting.extend(cast("list[Any]", each))
