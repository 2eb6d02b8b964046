"""Whatever text a guard is given, it refuses it, says what is wrong with it, or lets it pass."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awhile.ask.engines.duckdb import guard as duckdb_guard
from awhile.ask.engines.errors import EngineError
from awhile.ask.engines.postgres import guard as postgres_guard
from awhile.ask.engines.sqlite import guard as sqlite_guard

TOKENS = """
SELECT FROM WHERE WITH RECURSIVE AS MATERIALIZED ( ) ( ) , ; * . :: := -> $1 :x ? @ [ ] { } = 1
2.5 'a' "b" $$c$$ E'\\x' x'00' -- /* */ INSERT INTO DELETE UPDATE RETURNING VALUES TABLE PIVOT
UNPIVOT ON USING IN IN('a') ORDER BY LIMIT GROUP ALL DISTINCT TABLESAMPLE LATERAL ROWS JOIN
UNION EXCEPT OVER WINDOW FILTER orders o amount sum( count(*) lower( pg_sleep( getenv( COLUMNS(
unnest( range( CAST CASE WHEN THEN ELSE END NULL TRUE LIKE ESCAPE EXISTS NOT FOR SET COPY ATTACH
PRAGMA EXPLAIN SHOW DESCRIBE SUMMARIZE CALL EXECUTE é 😀
""".split()  # noqa: SIM905 - tokens, as they are written

SOUP = st.lists(st.sampled_from(TOKENS), max_size=14).map(" ".join)


@pytest.mark.parametrize(
    "check",
    [
        duckdb_guard.check,
        sqlite_guard.check,
        partial(postgres_guard.checked, parameters={}),
    ],
    ids=["duckdb", "sqlite", "postgres"],
)
@given(sql=SOUP | st.text(max_size=60))
@settings(max_examples=150)
def test_no_text_makes_a_guard_fail(check: Callable[..., object], sql: str) -> None:
    with contextlib.suppress(EngineError):
        check(sql)
