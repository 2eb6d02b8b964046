"""A script taken apart: what is one statement and what only looks like the end of one."""

from __future__ import annotations

import pytest

from awhile.ask.answer.script import statements_in
from awhile.ask.engines.errors import QueryRefused


@pytest.mark.parametrize(
    ("dialect", "sql", "found"),
    [
        ("duckdb", "SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("duckdb", " ;; SELECT 1 ; -- the end; really\n", ["SELECT 1"]),
        (
            "duckdb",
            "SELECT ';' AS \"a;b\"; SELECT $$;$$",
            ["SELECT ';' AS \"a;b\"", "SELECT $$;$$"],
        ),
        (
            "duckdb",
            "SELECT 'it''s; fine', '\\'; SELECT 2",
            ["SELECT 'it''s; fine', '\\'", "SELECT 2"],
        ),
        ("postgres", "SELECT $t$a;$b$;$t$; SELECT 2", ["SELECT $t$a;$b$;$t$", "SELECT 2"]),
        ("postgres", r"SELECT e'\';'; SELECT 2", [r"SELECT e'\';'", "SELECT 2"]),
        (
            "postgres",
            "SELECT 1 /* a; /* b; */ c; */; SELECT 2",
            ["SELECT 1 /* a; /* b; */ c; */", "SELECT 2"],
        ),
        (
            "postgres",
            "-- first; one\nSELECT 1; SELECT 2 -- last;",
            ["-- first; one\nSELECT 1", "SELECT 2 -- last;"],
        ),
        (
            "sqlite",
            "SELECT [a;b], `c;d` FROM t; SELECT 2",
            ["SELECT [a;b], `c;d` FROM t", "SELECT 2"],
        ),
        (
            "mysql",
            r"SELECT 'it\'s; fine' # c;d" "\n; SELECT 2",
            [r"SELECT 'it\'s; fine' # c;d", "SELECT 2"],
        ),
        ("duckdb", "-- nothing; at all", []),
    ],
)
def test_a_semicolon_in_a_text_a_name_or_a_comment_divides_nothing(
    dialect: str, sql: str, found: list[str]
) -> None:
    assert statements_in(sql, dialect) == found


def test_what_has_no_end_is_refused() -> None:
    with pytest.raises(QueryRefused, match="does not end"):
        statements_in("SELECT 1; SELECT 'oops; SELECT 2", "postgres")
