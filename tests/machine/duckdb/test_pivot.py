"""PIVOT that looks its own values up: walked word by word, and gone with its query."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.engines.duckdb.guard import check, tables_in
from awhile.ask.engines.duckdb.pivot import as_selects, looks_up_values
from awhile.ask.engines.errors import QueryRefused
from tests.machine.files.opening import opened


def test_what_it_looks_up_by_becomes_texts_of_their_own() -> None:
    sql = "PIVOT t ON a || ',', b IN (SELECT x FROM u), c IN (1, 2) USING sum(d) GROUP BY e"
    assert looks_up_values(sql)
    assert as_selects(sql) == [
        "PIVOT t ON a IN ('a'), b IN ('a'), c IN (1, 2) USING sum(d) GROUP BY e",
        "SELECT x FROM u",
        "SELECT a || ','",
    ]
    assert tables_in(sql) == {"t", "u"}


@pytest.mark.parametrize(
    "sql",
    [
        'PIVOT "ON" ON "IN" USING count(*)',
        "PIVOT t ON a -- , b IN (\n USING count(*)",
        "PIVOT t ON a, /* USING */ b;",
        "FROM (PIVOT (PIVOT t ON a) ON b) JOIN (PIVOT u ON c) ON true",
        "PIVOT t ON coalesce(a, 'USING ON (')",
    ],
)
def test_quotes_comments_and_brackets_do_not_lead_astray(sql: str) -> None:
    assert looks_up_values(sql)
    check(sql)


def test_deep_inside_of_a_query_it_passes() -> None:
    check("FROM (" * 30 + "PIVOT t ON a" + ")" * 30)


def test_a_text_with_very_many_of_them_is_refused() -> None:
    """Each of them is looked for to the end of the text."""
    with pytest.raises(QueryRefused, match="write them out") as refused:
        check(f"SELECT * FROM {', '.join(['(PIVOT t ON a)'] * 30)}")
    assert refused.value.word == "PIVOT"


def test_the_next_query_finds_nothing_of_it(tmp_path: Path) -> None:
    """The values it has looked up are a temporary type of the session, which anybody's next query
    could read."""
    (tmp_path / "t.csv").write_text("a,b\nsecret,1\nother,2\n")
    with opened(tmp_path, named=["t.csv"]) as files:
        assert files.rows("PIVOT t ON a USING sum(b)") == [["2", "1"]]
        assert files.session.stale()
    with opened(tmp_path, named=["t.csv"]) as files:
        assert files.rows("SELECT type_name FROM duckdb_types() WHERE type_name ^@ '__pivot'") == []
        assert not files.session.stale()
