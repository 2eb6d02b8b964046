"""The points of charts, from stored results: exact, few enough, and nothing dropped unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.charts import NothingToDraw, Wanted, draw
from awhile.ask.charts.draw import MOST_BARS, MOST_POINTS, Chart
from tests.machine.results.writing import write_result


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return tmp_path / "result.parquet"


def drawn(stored: Path, sql: str, question: str | None = None, **wanted: object) -> Chart:
    write_result(stored, sql)
    return draw(stored, question=question, wanted=Wanted(**wanted))  # type: ignore[arg-type]


def test_a_line_has_its_days_as_they_are_and_its_values_exactly(stored: Path) -> None:
    chart = drawn(
        stored,
        "SELECT DATE '2011-12-29' + CAST(range AS INTEGER) AS day, "
        "9007199254740993 + range AS amount FROM range(3)",
    )
    assert (chart.choice.kind, chart.title) == ("line", "amount by day")
    assert [point[:2] for point in chart.points] == [
        ("2011-12-29", "9007199254740993"),
        ("2011-12-30", "9007199254740994"),  # a day that Pacific/Apia never had
        ("2011-12-31", "9007199254740995"),
    ]
    assert chart.notes == ()
    assert "Lowest 9007199254740993 at 2011-12-29" in chart.text


def test_months_written_as_texts_are_times(stored: Path) -> None:
    chart = drawn(stored, "SELECT '2026-0' || range AS month, range AS n FROM range(1, 9)")
    assert chart.x is not None
    assert chart.x.type == "time"
    assert chart.points[0] == ("2026-01-01", "1", None)


def test_several_rows_of_one_place_become_one_point_by_a_sum_that_the_title_tells(
    stored: Path,
) -> None:
    chart = drawn(
        stored,
        "SELECT DATE '2026-01-01' + CAST(range // 10 AS INTEGER) AS day, "
        "0.10::DECIMAL(9, 2) AS paid FROM range(100)",
    )
    assert chart.points[0] == ("2026-01-01", "1.00", None)
    assert chart.title == "sum of paid by day"


def test_series_are_lines_of_their_own(stored: Path) -> None:
    chart = drawn(
        stored,
        "SELECT DATE '2026-01-01' + CAST(range // 2 AS INTEGER) AS day, "
        "CASE range % 2 WHEN 0 THEN 'a' ELSE 'b' END AS kind, range AS n FROM range(8)",
    )
    assert chart.series == "kind"
    assert chart.points[:2] == (("2026-01-01", "0", "a"), ("2026-01-01", "1", "b"))


def test_too_many_instants_are_summed_up_by_larger_ones_and_it_is_said(stored: Path) -> None:
    chart = drawn(
        stored,
        "SELECT TIMESTAMP '2026-01-01' + to_minutes(CAST(range AS INTEGER)) AS at, 1 AS n "
        "FROM range(100000)",
    )
    assert len(chart.points) <= MOST_POINTS
    assert sum(int(point[1]) for point in chart.points) == 100_000
    assert any("by hour" in note for note in chart.notes)


def test_bars_stand_in_the_order_of_the_rows_and_only_the_largest_if_there_are_too_many(
    stored: Path,
) -> None:
    few = drawn(stored, "SELECT * FROM (VALUES ('b', 1), ('a', 3), ('c', 2)) t(name, n)")
    assert [point[0] for point in few.points] == ["b", "a", "c"]
    many = drawn(stored, "SELECT 'c' || range AS name, range AS n FROM range(100)")
    assert len(many.points) == MOST_BARS
    assert many.points[0][0] == "c99"
    assert many.notes == (f"The {MOST_BARS} largest of 100 are shown.",)


def test_rows_without_a_value_are_left_out_and_counted(stored: Path) -> None:
    chart = drawn(
        stored,
        "SELECT * FROM (VALUES ('a', 1.5::DOUBLE), ('b', NULL), (NULL, 2), ('d', 'nan'), "
        "('e', 'inf')) t(name, n)",
    )
    assert [point[0] for point in chart.points] == ["a"]
    assert chart.notes == ("4 rows without a value are left out.",)


def test_a_cloud_of_too_many_points_is_thinned_and_it_is_said(stored: Path) -> None:
    chart = drawn(stored, "SELECT range AS a, range * 2 AS b FROM range(10000)")
    assert chart.choice.kind == "scatter"
    assert len(chart.points) <= MOST_POINTS
    assert "Every 5th of 10,000 rows is shown." in chart.notes


def test_one_number_is_shown_with_all_its_digits(stored: Path) -> None:
    chart = drawn(stored, "SELECT 12345678901234575809.1234::DECIMAL(38, 4) AS total")
    assert chart.points == ((None, "12345678901234575809.1234", None),)
    assert chart.text == "total: 12345678901234575809.1234"


def test_rows_without_amounts_are_counted_by_what_they_share(stored: Path) -> None:
    chart = drawn(
        stored,
        "SELECT range AS order_id, 'name ' || range AS name, "
        "if(range % 3 = 0, 'Store', 'Website') AS channel FROM range(30)",
    )
    assert (chart.choice.kind, chart.title) == ("bar", "number of rows by channel")
    assert sorted(chart.points) == [("Store", "10", None), ("Website", "20", None)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS n WHERE false",
        "SELECT 'x' AS a, 'y' AS b",
        "SELECT 'a' AS name, NULL::INTEGER AS n FROM range(3)",
        "SELECT [1, 2] AS list",
    ],
)
def test_where_there_is_nothing_to_draw_it_is_said_why(stored: Path, sql: str) -> None:
    with pytest.raises(NothingToDraw):
        drawn(stored, sql)


def test_names_and_values_are_never_part_of_a_statement(stored: Path) -> None:
    chart = drawn(
        stored, """SELECT 'x'' ; DROP' AS "a""b; --", range AS "n' OR 1=1" FROM range(2)"""
    )
    assert chart.points == (("x' ; DROP", "1", None),)


def test_a_person_may_choose_the_columns_and_the_sum(stored: Path) -> None:
    sql = "SELECT 'k' || (range % 2) AS k, range AS n, range * 10 AS m FROM range(4)"
    chart = drawn(stored, sql, kind="bar", x=0, y=2, aggregate="max")
    assert chart.points == (("k1", "30", None), ("k0", "20", None))
    assert chart.title == "greatest m by k"
