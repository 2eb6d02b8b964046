"""What a model says in another database's idiom is written as this one has it, and says so."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import apsw
import duckdb
import pytest
import sqlglot
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sqlglot import exp

from awhile.ask.schema import Schema, Table, TableColumn
from awhile.ask.translators.models.mending import Unreadable, mended

TODAY = date(2026, 11, 5)

COLUMNS = {
    "visits": {
        "id": "INTEGER",
        "ward": "INTEGER",
        "cost": "DECIMAL(10, 2)",
        "weight": "DOUBLE",
        "came": "DATE",
        "went": "DATE",
        "seen": "TIMESTAMP",
        "note": "VARCHAR",
        "steps": "BIGINT",
    },
    "wards": {"id": "INTEGER", "beds": "INTEGER", "opened": "DATE"},
}
ROWS = {
    "visits": [
        (1, 1, 10, 2.0, "2026-01-01", "2026-01-31", "2026-01-31 00:00:00", "a", 3),
        (2, 1, 10, 3.0, "2026-02-01", "2026-03-01", "2026-01-31 18:00:00", "b", 4),
        (3, 2, 15, 4.0, "2026-10-31", "2026-11-04", "2026-02-01 09:30:00", "a", 5),
    ],
    "wards": [(1, 7, "1987-05-04"), (2, 4, "1991-12-31")],
}


def hospital(dialect: str) -> Schema:
    tables = (
        Table(name, tuple(TableColumn(each, kind) for each, kind in columns.items()))
        for name, columns in COLUMNS.items()
    )
    return Schema(tuple(tables), dialect=dialect)


class Database:
    """The same few rows in each of the engines that run in a test's own process."""

    def __init__(self) -> None:
        self._lite: Any = apsw.Connection(":memory:")
        self._duck: Any = duckdb.connect()
        for name, columns in COLUMNS.items():
            made = f"CREATE TABLE {name} ({', '.join(f'{one} {columns[one]}' for one in columns)})"
            self._lite.execute(made)
            self._duck.execute(made)
            for row in ROWS[name]:
                values = f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})"
                self._lite.execute(values, row)
                self._duck.execute(values, row)

    def value(self, sql: str, dialect: str) -> object:
        engine = self._lite if dialect == "sqlite" else self._duck
        [[value]] = engine.execute(sql).fetchall()
        return str(value) if isinstance(value, date) else value


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


def again(sql: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    found = mended(sql, hospital(dialect), TODAY)
    assert mended(found.sql, hospital(dialect), TODAY).repairs == ()
    return " ".join(found.sql.split()), found.repairs


DIVIDED = "a division gives its fraction, which SQLite leaves out"
SHIFTED = "a shifted date is written as SQLite has it"
PART = "a part of a date is written as SQLite has it"
START = "a start of a time is written as SQLite has it"
DAYS = "dates are taken from each other in days, where SQLite takes their years"
A_DATE = "a date is written as SQLite has it"
IS_TODAY = "today is 2026-11-05, the day of the question"
TO_THE_END = "seen goes to the end of 2026-01-31, not to its start"


@pytest.mark.parametrize(
    ("wrote", "value"),
    [
        ("COUNT(*) / COUNT(DISTINCT note) FROM visits", 1.5),
        ("COUNT(*) / 2 FROM visits", 1.5),
        ("ROUND(SUM(cost) / COUNT(*), 2) FROM visits", 11.67),
        ("SUM(CASE WHEN note = 'a' THEN 1 ELSE 0 END) / COUNT(*) * 4 FROM visits", 8 / 3),
        ("100 * SUM(note = 'a') / COUNT(*) FROM visits", 200 / 3),
        ("COUNT(CASE WHEN ward = 1 THEN 1 END) / NULLIF(COUNT(*), 0) FROM visits", 2 / 3),
        ("COUNT(*) FILTER (WHERE ward = 1) / COUNT(*) FROM visits", 2 / 3),
        ("SUM(v.steps) / (COUNT(*) + 2) FROM visits AS v", 2.4),
        ("MAX(steps - v.id) / MIN(w.beds) FROM visits AS v, wards AS w", 0.5),
        ("(SELECT COUNT(*) FROM wards) / (SELECT COUNT(*) FROM visits)", 2 / 3),
        ("a.n / b.n FROM (SELECT 3 AS n) AS a, (SELECT COUNT(*) AS n FROM wards) AS b", 1.5),
        ("COUNT(*) FROM visits WHERE id / 4 > 0.7", 1),
        ("MAX(s) FROM (SELECT id / 8 AS s FROM visits) AS t WHERE s < 1", 0.375),
        ("COUNT(*) FROM (SELECT id / ward AS n FROM visits) AS t WHERE n = 1.5", 1),
    ],
)
def test_whole_numbers_are_divided_with_their_fraction(
    wrote: str, value: float, database: Database
) -> None:
    wrote = f"SELECT {wrote}"
    assert database.value(wrote, "sqlite") != pytest.approx(value)
    sql, repairs = again(wrote, "sqlite")
    assert database.value(sql, "sqlite") == pytest.approx(value)
    assert repairs == (DIVIDED,)


def test_a_column_that_is_called_like_another_is_not_taken_for_it() -> None:
    wrote = "SELECT v.id / 2 FROM visits AS v(weight, id)"
    assert again(wrote, "postgres") == (wrote, ())


@pytest.mark.parametrize(
    ("wrote", "becomes"),
    [
        ("COUNT(*) / 2 FROM visits", "CAST(COUNT(*) AS DECIMAL) / 2 FROM visits"),
        ("SUM(ward) / 2 FROM visits", "CAST(SUM(ward) AS DECIMAL) / 2 FROM visits"),
        (
            "SUM(CASE WHEN note = 'a' THEN 1 ELSE 0 END) / COUNT(*) FROM visits",
            "CAST(SUM(CASE WHEN note = 'a' THEN 1 ELSE 0 END) AS DECIMAL) / COUNT(*) FROM visits",
        ),
        (  # where a DOUBLE PRECISION has no ROUND to so many places
            "ROUND(100 * COUNT(*) / SUM(ward), 1) FROM visits",
            "ROUND(CAST(100 * COUNT(*) AS DECIMAL) / SUM(ward), 1) FROM visits",
        ),
        ("SUM(steps) / 2 FROM visits", None),  # a sum of BIGINT is a NUMERIC
        ("SUM(cost) / COUNT(*) FROM visits", None),
    ],
)
def test_postgres_divides_them_so_too_but_not_its_numerics(wrote: str, becomes: str | None) -> None:
    sql, repairs = again(f"SELECT {wrote}", "postgres")
    assert sql == f"SELECT {becomes or wrote}"
    assert len(repairs) == (1 if becomes else 0)


@pytest.mark.parametrize(
    "wrote",
    [
        "SELECT CAST(COUNT(*) / 2 AS INTEGER) FROM visits",
        "SELECT CAST(COUNT(*) AS REAL) / 2, COUNT(*) * 1.0 / 2, weight / 2 FROM visits",
        "SELECT id / 10 * 10 AS tens, (id / 10) % 10 FROM visits",
        "SELECT id / 10, COUNT(*) FROM visits GROUP BY id / 10",
        "SELECT id / 10 AS tens, COUNT(*) FROM visits GROUP BY tens ORDER BY id / 10",
        "SELECT id / 10 AS tens, COUNT(*) FROM visits GROUP BY 1",
        "SELECT cost FROM visits LIMIT 1 OFFSET (SELECT (COUNT(*) - 1) / 2 FROM visits)",
        "SELECT id FROM visits WHERE id IN ((ward + 1) / 2, (ward + 2) / 2)",
        "SELECT id FROM visits WHERE id BETWEEN (ward + 1) / 2 AND (ward + 2) / 2",
        "SELECT (CAST(strftime('%m', came) AS INTEGER) + 2) / 3 AS quarter FROM visits",
        "WITH t AS (SELECT id / 10 AS tens FROM visits) SELECT tens, COUNT(*) FROM t GROUP BY 1",
        "SELECT tens, COUNT(*) FROM (SELECT id / ward AS tens FROM visits) AS t GROUP BY t.tens",
        "SELECT DISTINCT id / 10 FROM visits",
        "SELECT DISTINCT tens FROM (SELECT id / 10 AS tens FROM visits)",
        "SELECT t.steps FROM visits AS t, (SELECT (COUNT(*) + 1) / 2 AS half FROM visits) AS h "
        "WHERE t.id = h.half",
        "SELECT ROW_NUMBER() OVER (PARTITION BY id / 10 ORDER BY id) FROM visits",
        "SELECT steps / 60 || ':' || steps, CAST(steps / 60 AS TEXT) FROM visits",
        "SELECT steps / 60 AS minutes, (steps % 60) AS seconds FROM visits",
        "SELECT SUBSTRING(note, 1, id / 2) FROM visits",
        "SELECT unknown / id, v.id / 2, julianday(came) / 2 FROM visits",
        "SELECT AVG(id) / 2, LENGTH(note) / 2 FROM visits",
    ],
)
def test_a_whole_number_that_is_meant_stays(wrote: str) -> None:
    found = mended(wrote, hospital("sqlite"), TODAY)
    assert (found.sql, found.repairs) == (wrote, ())


@pytest.mark.parametrize(
    ("wrote", "value", "repair"),
    [
        ("came + INTERVAL 10 DAY", "2026-11-10", SHIFTED),
        ("came - INTERVAL '2' YEAR", "2024-10-31", SHIFTED),
        ("came - INTERVAL '1 month'", "2026-09-30", SHIFTED),
        ("INTERVAL '1' QUARTER + came", "2027-01-31", SHIFTED),
        ("came + INTERVAL 1 MONTH - INTERVAL 1 DAY", "2026-11-29", SHIFTED),
        ("came - INTERVAL -7 DAY", "2026-11-07", SHIFTED),
        ("DATE_ADD(came, INTERVAL 2 WEEK)", "2026-11-14", SHIFTED),
        ("DATE_SUB(came, INTERVAL 3 MONTH)", "2026-07-31", SHIFTED),
        ("came + INTERVAL 36 HOUR", "2026-11-01 12:00:00", SHIFTED),
        ("seen - INTERVAL 1 DAY", "2026-01-31 09:30:00", SHIFTED),
        ("EXTRACT(YEAR FROM came)", 2026, PART),
        ("YEAR(came)", 2026, PART),
        ("MONTH(came)", 10, PART),
        ("EXTRACT(HOUR FROM seen)", 9, PART),
        ("EXTRACT(DOW FROM came)", 6, PART),
        ("DATE_TRUNC('month', came)", "2026-10-01", START),
        ("DATE_TRUNC('year', seen)", "2026-01-01", START),
        ("DATE_TRUNC('day', seen)", "2026-02-01", START),
        ("DATE_TRUNC('quarter', came)", "2026-10-01", START),
        ("DATE_TRUNC('week', came)", "2026-10-26", START),
        ("came - DATE_TRUNC('month', went)", -1.0, [START, DAYS]),
        ("went - came", 4.0, DAYS),
        ("(MAX(went) - MIN(came)) / 2", 2.0, DAYS),
        ("seen + INTERVAL 1 DAY - came", -270.6041667, [SHIFTED, DAYS]),
        ("DATE '2026-11-06' - went", 2.0, [DAYS, A_DATE]),
        ("CURRENT_DATE - went", 1.0, [DAYS, IS_TODAY]),
        ("seen - came", -271.6041667, DAYS),
        ("DATEDIFF(went, came)", 4, DAYS),
        ("DATEDIFF(seen, '2026-01-31')", 1, DAYS),
        ("DATEDIFF('day', came, went)", 4, DAYS),
        ("DATEDIFF(day, v.came, v.went)", 4, DAYS),
        ("came - 1", "2026-10-30", SHIFTED),
        ("ward + came", "2026-11-02", SHIFTED),
        ("DATE_ADD(came, 3)", "2026-11-03", SHIFTED),
        ("came - INTERVAL id MONTH", "2026-07-31", SHIFTED),
        ("DATE_ADD(came, INTERVAL (ward + 1) WEEK)", "2026-11-21", SHIFTED),
        ("CAST(seen AS DATE)", "2026-02-01", A_DATE),
        ("came::timestamp", "2026-10-31 00:00:00", A_DATE),
        ("MAX(came) > DATE '2026-10-30'", 1, A_DATE),
        ("note ILIKE 'A' AND note NOT ILIKE 'b'", 1, "ILIKE is written as SQLite has it"),
        ("NOW() > seen", 1, "the time of now is written as SQLite has it"),
    ],
)
def test_dates_are_reckoned_as_sqlite_does(
    wrote: str, value: object, repair: str | list[str], database: Database
) -> None:
    sql, repairs = again(f"SELECT {wrote} FROM visits AS v WHERE id = 3", "sqlite")
    wanted = pytest.approx(value) if isinstance(value, float) else value
    assert database.value(sql, "sqlite") == wanted
    assert list(repairs) == ([repair] if isinstance(repair, str) else repair)


def test_what_a_repair_elsewhere_leaves_alone_is_refused_by_the_database_as_it_was_written(
    database: Database,
) -> None:
    for lacks in ("DATEDIFF('month', came, went)", "DATE_ADD(came, 'soon')"):
        sql, repairs = again(f"SELECT {lacks}, CURRENT_DATE FROM visits LIMIT 1", "sqlite")
        assert lacks.upper() in sql.upper()
        assert repairs == (IS_TODAY,)
        with pytest.raises(apsw.SQLError, match="no such function"):
            database.value(sql, "sqlite")


def test_dates_that_sqlite_keeps_as_numbers_are_left_to_be_numbers() -> None:
    kept = TableColumn("came", "DATE", minimum="1767225600"), TableColumn("went", "DATE")
    wrote = "SELECT went - came, came - 86400 FROM visits"
    found = mended(wrote, Schema((Table("visits", kept),), dialect="sqlite"), TODAY)
    assert (found.sql, found.repairs) == (wrote, ())


def test_the_days_between_two_dates_are_a_number_however_they_are_asked_for(
    database: Database,
) -> None:
    sql, repairs = again("SELECT EXTRACT(DAY FROM went - came) FROM visits WHERE id = 3", "sqlite")
    assert database.value(sql, "sqlite") == 4
    assert repairs == (DAYS, PART)


@pytest.mark.parametrize(
    "wrote",
    [
        "SELECT DATE(came, '+1 month'), JULIANDAY(went) - JULIANDAY(came) FROM visits",
        "SELECT note - came, seen - 1, came - weight, came - INTERVAL '1 2' DAY FROM visits",
        "SELECT DATEDIFF('month', came, went), DATE_ADD(came, 'soon') FROM visits",
        "SELECT '2026-11-05' - came, date(came, '-1 day') - '2000-01-01' FROM visits",
        "SELECT DATE_TRUNC('century', came), EXTRACT(WEEK FROM came) FROM visits",
        "SELECT DATETIME('now'), CURRENT_TIMESTAMP, STRFTIME('%H:%M', 'now'), 'now' FROM visits",
        "SELECT came FROM visits WHERE came BETWEEN '2026-01-01' AND '2026-01-31'",
        "SELECT came FROM visits WHERE seen BETWEEN '2026-01-01' AND '2026-01-31 12:00:00'",
        "SELECT came FROM visits WHERE seen BETWEEN '2026-01-01' AND '2026-02-30'",
        "SELECT came FROM visits WHERE seen BETWEEN '2026-01-01' AND '9999-12-31'",
        "SELECT came FROM visits WHERE seen BETWEEN '2026-01-01' AND "
        "DATE('2026-01-15', 'start of month', '+1 month', '-1 day')",
    ],
)
def test_what_sqlite_has_and_what_can_mean_more_than_one_thing_stays(wrote: str) -> None:
    found = mended(wrote, hospital("sqlite"), TODAY)
    assert (found.sql, found.repairs) == (wrote, ())


def test_duckdb_takes_an_interval_from_a_date_with_a_minus(database: Database) -> None:
    wrote = "SELECT MAX(came) FROM visits WHERE came < DATE_SUB(went, INTERVAL 1 MONTH)"
    with pytest.raises(duckdb.Error):
        database.value(wrote, "duckdb")
    sql, repairs = again(wrote.replace("1 MONTH", "2 DAY"), "duckdb")
    assert sql.endswith("WHERE came < ( went - INTERVAL '2' DAY )")
    assert database.value(sql, "duckdb") == "2026-10-31"
    assert repairs == ("an interval is taken from a date as DuckDB has it",)
    for stays in ("SELECT DATE_SUB('day', came, went) FROM visits", "SELECT 1 / 2, went - came"):
        assert again(stays, "duckdb") == (stays, ())


@pytest.mark.parametrize(
    ("dialect", "wrote", "value"),
    [
        ("sqlite", "CURRENT_DATE", "2026-11-05"),
        ("sqlite", "CURDATE()", "2026-11-05"),
        ("sqlite", "DATE('now')", "2026-11-05"),
        ("sqlite", "date()", "2026-11-05"),
        ("sqlite", "date('now', 'localtime')", "2026-11-05"),
        ("sqlite", "DATE('Now', '-7 days', 'localtime')", "2026-10-29"),
        ("sqlite", "DATE(CURRENT_TIMESTAMP)", "2026-11-05"),
        ("sqlite", "DATE(CURRENT_TIMESTAMP, '-7 days')", "2026-10-29"),
        ("sqlite", "julianday(CURRENT_TIMESTAMP) - julianday('2026-11-01')", 4.0),
        ("sqlite", "strftime('%Y', 'now')", "2026"),
        ("sqlite", "strftime('%Y')", "2026"),
        ("sqlite", "strftime('%Y-%m', 'now', '-1 year')", "2025-11"),
        ("sqlite", "strftime('%Y-%m', date('now', '-2 month'))", "2026-09"),
        ("sqlite", "julianday('now') - julianday('2026-11-01')", 4.0),
        ("duckdb", "CURRENT_DATE", "2026-11-05"),
        ("duckdb", "current_date() - 1", "2026-11-04"),
        ("duckdb", "TODAY()", "2026-11-05"),
        ("duckdb", "CURDATE()", "2026-11-05"),
        ("duckdb", "NOW()::DATE", "2026-11-05"),
    ],
)
def test_today_is_the_day_of_the_question(
    dialect: str, wrote: str, value: object, database: Database
) -> None:
    sql, repairs = again(f"SELECT {wrote} FROM wards WHERE id = 1", dialect)
    assert database.value(sql, dialect) == value
    assert repairs == (IS_TODAY,)


def test_today_in_postgres_and_mysql_is_a_date_of_their_own() -> None:
    for dialect, wrote in (("postgres", "NOW()::date"), ("mysql", "CURDATE()")):
        sql, repairs = again(f"SELECT id FROM visits WHERE came = {wrote}", dialect)
        assert sql == "SELECT id FROM visits WHERE came = CAST('2026-11-05' AS DATE)"
        assert repairs == (IS_TODAY,)


def test_a_moment_and_the_day_of_a_place_that_is_named_stay() -> None:
    for dialect, wrote in (
        ("postgres", "SELECT id FROM visits WHERE seen > NOW() - INTERVAL '1 hour'"),
        ("duckdb", "SELECT CURRENT_TIMESTAMP, NOW() FROM visits"),
        ("bigquery", "SELECT CURRENT_DATE('Asia/Tokyo')"),
    ):
        assert again(wrote, dialect) == (wrote, ())


@pytest.mark.parametrize(("dialect", "before"), [("sqlite", 0), ("duckdb", 1)])
@pytest.mark.parametrize(
    "bounds",
    [
        "BETWEEN '2026-01-01' AND '2026-01-31'",
        "BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'",
    ],
)
def test_times_up_to_a_date_are_those_of_that_whole_day(
    dialect: str, before: int, bounds: str, database: Database
) -> None:
    wrote = f"SELECT COUNT(*) FROM visits AS v WHERE v.seen {bounds} AND v.id > 0"
    assert database.value(wrote.replace("DATE '", "'"), dialect) == before
    sql, repairs = again(wrote, dialect)
    assert database.value(sql, dialect) == 2
    assert repairs[-1] == TO_THE_END
    sql, _ = again(wrote.replace("seen B", "seen NOT B"), dialect)
    assert database.value(sql, dialect) == 1


def test_times_up_to_a_date_keep_the_types_of_their_bounds() -> None:
    wrote = "SELECT id FROM visits WHERE seen BETWEEN '2026-01-01' AND '2026-01-31'::date"
    sql, repairs = again(wrote, "postgres")
    assert sql.endswith("WHERE seen >= '2026-01-01' AND seen < CAST('2026-02-01' AS DATE)")
    assert repairs == (TO_THE_END,)


def test_times_up_to_today_are_those_of_today_too() -> None:
    wrote = "SELECT id FROM visits WHERE seen BETWEEN date('now', '-7 days') AND date('now')"
    sql, repairs = again(wrote, "sqlite")
    assert sql.endswith("seen >= DATE('2026-11-05', '-7 days') AND seen < '2026-11-06'")
    assert repairs == (IS_TODAY, "seen goes to the end of 2026-11-05, not to its start")


_LEAVES = st.sampled_from(
    [
        "id", "v.ward", "cost", "weight", "came", "went", "v.seen", "note", "nothing", "w.opened",
        "1", "2.5", "'now'", "'2026-01-31'", "DATE '2026-02-28'", "CURRENT_DATE", "NOW()",
        "CURRENT_TIMESTAMP", "CURDATE()", "DATE('now')", "COUNT(*)", "SUM(v.ward)", "NULL",
        "(SELECT COUNT(*) FROM wards)", "julianday('now')", "strftime('%Y', 'now')",
    ]
)  # fmt: skip


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    forms = st.sampled_from(
        [
            "{} / {}", "({}) / {}", "{} - {}", "{} + {}", "{} * {}", "{} % ({})", "NULLIF({}, {})",
            "{} + INTERVAL 3 DAY", "{} - INTERVAL '1' MONTH", "DATE_SUB({}, INTERVAL 2 YEAR)",
            "DATE_ADD({}, INTERVAL 5 MINUTE)", "EXTRACT(DAY FROM {})", "YEAR({})",
            "DATE_TRUNC('month', {})", "CAST({} AS INTEGER)", "CAST({} AS DATE)", "MAX({})",
            "CASE WHEN {} > {} THEN 1 ELSE 0 END", "({} BETWEEN {} AND '2026-01-31')",
            "(v.seen BETWEEN {} AND {})", "DATE({}, '-1 day')", "COALESCE({}, {})",
            "(SELECT MAX({}) FROM visits AS v)", "NOT ({})", "DATEDIFF({}, {})", "{} - 7",
            "CAST({} AS TIMESTAMP)", "{} ILIKE {}", "{} / {} * 10",
        ]
    )  # fmt: skip
    return st.builds(str.format, forms, inner, inner, inner)


def _sentences() -> st.SearchStrategy[str]:
    expression = st.recursive(_LEAVES, _larger, max_leaves=6)
    return st.builds(
        "{} SELECT {} AS x, {} FROM visits AS v LEFT JOIN wards AS w ON w.id = v.ward "
        "WHERE {} GROUP BY {} ORDER BY {}".format,
        st.sampled_from(["", "WITH c AS (SELECT 1 AS n)"]),
        expression, expression, expression, expression, st.sampled_from(["x", "1", "id / 2"]),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(sql=_sentences(), dialect=st.sampled_from(["sqlite", "duckdb", "postgres", "mysql"]))
def test_whatever_is_written_stays_one_select_and_is_written_again_once(
    sql: str, dialect: str
) -> None:
    try:
        found = mended(sql, hospital(dialect), TODAY)
    except Unreadable:  # DATEDIFF needs a unit in some
        reject()
    [tree] = sqlglot.parse(found.sql, read=dialect)
    assert isinstance(tree, exp.Select)
    assert max(Counter(found.repairs).values(), default=1) == 1
    if not found.repairs:
        assert found.sql == sql
    once_more = mended(found.sql, hospital(dialect), TODAY)
    assert (once_more.sql, once_more.repairs) == (found.sql, ())
