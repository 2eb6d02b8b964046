"""Views of a result: sorted and filtered, numbers as numbers and texts exactly."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from awhile.ask.results import page
from awhile.ask.results.numbers import order_key
from awhile.ask.results.pages import Page
from awhile.ask.results.views import Filter, Sort, Stop, Stopped, View, write_view
from tests.machine.results.writing import write_result

DECIMALS = some.one_of(
    some.integers(-(10**45), 10**45).map(str),
    some.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    some.floats(allow_nan=False).map(repr),
    some.sampled_from(["0", "-0.00", "1.5", "1.50", "-1.5", "-1.55", "1e5", "100000", ".5", "5."]),
)


@given(DECIMALS, DECIMALS)
def test_a_key_orders_numbers_of_any_size_as_they_are(one: str, other: str) -> None:
    keys = order_key(one), order_key(other)
    assert None not in keys
    first, second = Decimal(one), Decimal(other)
    assert (keys[0] < keys[1], keys[0] == keys[1]) == (first < second, first == second)  # type: ignore[operator]


def test_what_is_no_number_has_no_key() -> None:
    assert [order_key(text) for text in (None, "", "12 pcs", "1_000", "x'00'")] == [None] * 5


class Views:
    """Views of one result."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def page(self, view: View, offset: int = 0, limit: int = 1000) -> Page:
        part = self._path.with_suffix(".part")
        write_view(self._path, view, part, Stop())
        return page(part, offset, limit)

    def sorted(self, column: int, *, descending: bool = False) -> list[str | None]:
        return [row[column] for row in self.page(View(Sort(column, descending))).rows]

    def where(self, *filters: Filter) -> list[str | None]:
        return [row[0] for row in self.page(View(None, filters)).rows]


def of(tmp_path: Path, sql: str, types: list[str] | None = None) -> Views:
    return Views(write_result(tmp_path / "one.parquet", sql, types))


def test_d10_numbers_kept_as_text_sort_by_all_their_digits(tmp_path: Path) -> None:
    """Field case D10: neighbours beyond 2^53, and beyond every number type."""
    numbers = [
        "9007199254740993",
        "9007199254740992.5",
        "-170141183460469231731687303715884105728",
        "170141183460469231731687303715884105727",
        "1" * 60,
        "1" * 59 + "2",
        "-" + "1" * 60,
        "-Infinity",
        "Infinity",
        "NaN",
        "0.10",
        "1e-7",
    ]
    quoted = ", ".join(f"('{number}')" for number in [*numbers, "12 pcs"])
    views = of(tmp_path, f"SELECT * FROM (VALUES {quoted}, (NULL)) AS t(n)", ["NUMERIC"])
    finite = sorted((n for n in numbers if n[-1].isdigit()), key=Decimal)
    assert views.sorted(0) == [
        *("-Infinity", *finite, "Infinity", "NaN"),
        "12 pcs",
        None,
    ]
    assert views.sorted(0, descending=True) == [
        *("NaN", "Infinity", *reversed(finite), "-Infinity"),
        "12 pcs",
        None,
    ]


def test_equal_rows_keep_their_order_and_nulls_come_last(written: Path, tmp_path: Path) -> None:
    part = tmp_path / "view"
    for descending, first in ((False, [1, 11, 21]), (True, [9, 19, 29])):
        write_view(written, View(Sort(2, descending)), part, Stop())
        assert [row[0] for row in page(part, 0, 3).rows] == [str(n) for n in first]
        assert [row[0] for row in page(part, 45_000, 3).rows] == ["0", "10", "20"]


def test_dates_of_postgresql_sort_as_dates(tmp_path: Path) -> None:
    texts = ["2026-01-02", "0044-03-15 BC", "12026-01-02", "infinity", "-infinity", "0001-01-01"]
    values = ", ".join(f"('{text}')" for text in texts)
    views = of(tmp_path, f"SELECT * FROM (VALUES {values}) AS t(d)", ["DATE"])
    assert views.sorted(0) == [
        *("-infinity", "0044-03-15 BC", "0001-01-01", "2026-01-02", "12026-01-02", "infinity")
    ]
    assert views.where(Filter(0, "<", "0001-01-01")) == ["0044-03-15 BC", "-infinity"]


def test_a_view_keeps_every_type_name_and_note(tmp_path: Path) -> None:
    """Ours: it is read as the result itself is, and leaves as Parquet like it."""
    import pyarrow.parquet as pq

    path = write_result(
        tmp_path / "types.parquet",
        "SELECT 1::UTINYINT AS n, 2 AS n, 1.50::DECIMAL(9, 2), 0.1::FLOAT, TIME '24:00', "
        "TIMESTAMP_NS '2026-01-02 03:04:05.000000001', TIMESTAMP_MS '2026-01-02', "
        "TIMESTAMPTZ '2026-01-02 03:04:05+02', DATE '0044-03-15 (BC)', [1, NULL], [1, 2]::INT[2], "
        "{'a': [NULL]}, MAP {'k': 1}, 'x'::BLOB, NULL, true",
        truncated=True,
    )
    part = tmp_path / "view"
    write_view(path, View(Sort(1), (Filter(0, "=", "1"),)), part, Stop())
    assert page(part, 0, 1) == page(path, 0, 1)
    before, after = pq.ParquetFile(path), pq.ParquetFile(part)
    assert after.schema_arrow == before.schema_arrow
    assert after.metadata.metadata[b"awhile.columns"] == before.metadata.metadata[b"awhile.columns"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("operator", "value", "found"),
    [
        ("=", "1.50", ["1.50"]),
        ("=", "1.5", ["1.50"]),
        ("=", "1.501", []),
        ("!=", "1.5", ["-2.00", "10.25"]),
        ("<", "1.501", ["-2.00", "1.50"]),
        ("<=", "1.5", ["-2.00", "1.50"]),
        (">", "1.499", ["1.50", "10.25"]),
        (">=", "1.51", ["10.25"]),
        (">", "-1e400", ["-2.00", "1.50", "10.25"]),
        ("<", "9" * 60, ["-2.00", "1.50", "10.25"]),
        ("=", "9" * 60, []),
        (">", "NaN", []),
        ("contains", "0", ["-2.00", "1.50", "10.25"]),
        ("contains", ".2", ["10.25"]),
        ("is null", None, [None]),
        ("is not null", None, ["-2.00", "1.50", "10.25"]),
    ],
)
@pytest.mark.parametrize("kept_as", ["DECIMAL(9, 2)", "VARCHAR"])
def test_numbers_are_compared_as_numbers(
    kept_as: str, operator: str, value: str | None, found: list[str | None], tmp_path: Path
) -> None:
    views = of(
        tmp_path,
        f"SELECT v::{kept_as} FROM (VALUES ('-2.00'), ('1.50'), (NULL), ('10.25')) AS t(v)",
        ["NUMERIC(9,2)"],
    )
    assert views.where(Filter(0, operator, value)) == found  # type: ignore[arg-type]


def test_d10_two_numbers_that_a_double_confuses_are_told_apart(tmp_path: Path) -> None:
    """Field case D10."""
    views = of(tmp_path, "SELECT 9007199254740992 + range AS id FROM range(3)")
    assert views.where(Filter(0, "=", "9007199254740993")) == ["9007199254740993"]
    assert views.where(Filter(0, ">", "9007199254740993")) == ["9007199254740994"]


def test_texts_are_compared_exactly_and_searched_in_either_case(tmp_path: Path) -> None:
    views = of(
        tmp_path, "SELECT * FROM (VALUES ('Étude'), ('étude'), ('10'), ('9'), ('%'), ('')) AS t(s)"
    )
    assert views.where(Filter(0, "=", "étude")) == ["étude"]
    assert views.where(Filter(0, "contains", "ÉTU")) == ["Étude", "étude"]
    assert views.where(Filter(0, "contains", "%")) == ["%"]
    assert views.where(Filter(0, "<", "9")) == ["10", "%", ""]
    assert views.where(Filter(0, "=", "")) == [""]


def test_floats_instants_truths_and_bytes_are_compared_as_what_they_are(tmp_path: Path) -> None:
    views = of(
        tmp_path,
        "SELECT f::FLOAT, TIMESTAMP '2026-01-01' + to_days(f::INT), f > 1, hex(f::INT)::BLOB, [f] "
        "FROM (VALUES (0.1), (2.5), (-1)) AS t(f)",
    )
    assert views.where(Filter(0, "=", "0.1")) == ["0.1"]
    assert views.where(Filter(0, "<", "inf")) == ["0.1", "2.5", "-1.0"]
    assert views.where(Filter(1, ">=", "2026-01-01")) == ["0.1", "2.5"]
    assert views.where(Filter(2, "=", "true")) == ["2.5"]
    assert views.where(Filter(3, "contains", "30")) == ["0.1"]
    assert views.where(Filter(4, "contains", "[2.5]")) == ["2.5"]


def test_several_filters_hold_together_and_are_sorted(tmp_path: Path) -> None:
    views = of(tmp_path, "SELECT range, range % 3 AS r FROM range(20)")
    got = views.page(View(Sort(0, True), (Filter(1, "=", "2"), Filter(0, ">", "6"))))
    assert [row[0] for row in got.rows] == ["17", "14", "11", "8"]
    assert got.matching_rows == 4


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Filter(0, ">", "many"), "'many' is no number"),
        (Filter(1, "<", "soon"), "'soon' is no timestamp"),
        (Filter(0, "=", None), "there is none"),
    ],
)
def test_a_value_that_cannot_be_compared_is_refused(one: Filter, said: str, tmp_path: Path) -> None:
    views = of(tmp_path, "SELECT 1, TIMESTAMP '2026-01-01'")
    with pytest.raises(ValueError, match=said):
        views.where(one)


def test_a_column_that_does_not_exist_is_refused(written: Path, tmp_path: Path) -> None:
    for view in (View(Sort(4)), View(None, (Filter(-1, "is null"),))):
        with pytest.raises(IndexError, match="there are 4"):
            write_view(written, view, tmp_path / "view", Stop())


def test_a_view_that_is_not_wanted_any_more_is_not_finished(tmp_path: Path) -> None:
    """Ours: a sort is interrupted wherever it is, and leaves nothing beside what it wrote at."""
    path = write_result(
        tmp_path / "large.parquet", "SELECT hash(range)::VARCHAR AS h FROM range(400_000)", ["ANY"]
    )
    stop, ended = Stop(), threading.Event()
    failures: list[Exception] = []

    def work() -> None:
        try:
            write_view(path, View(Sort(0)), tmp_path / "view", stop)
        except Exception as error:  # noqa: BLE001 - looked at below
            failures.append(error)
        ended.set()

    threading.Thread(target=work).start()
    while not ended.wait(0.01):
        stop.ask()
    assert [type(failure) for failure in failures] == [Stopped]
