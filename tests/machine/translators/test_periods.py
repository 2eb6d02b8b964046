"""Time in words, as days; Thursday 5 November 2026 is today."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awhile.ask.translators.periods import find_period
from awhile.ask.translators.words import tokenise

TODAY = date(2026, 11, 5)


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("today", "2026-11-05", "2026-11-06"),
        ("yesterday", "2026-11-04", "2026-11-05"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("the last year", "2025-11-05", "2026-11-06"),
        ("the past year", "2025-11-05", "2026-11-06"),
        ("over the last year", "2025-11-05", "2026-11-06"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("in the last month", "2026-10-05", "2026-11-06"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("the last quarter", "2026-07-01", "2026-10-01"),
        ("last week", "2026-10-26", "2026-11-02"),
        ("past 90 days", "2026-08-07", "2026-11-06"),
        ("in the last three months", "2026-08-05", "2026-11-06"),
        ("in the past 2 weeks", "2026-10-22", "2026-11-06"),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("in the year 2025", "2025-01-01", "2026-01-01"),
        ("Q3", "2026-07-01", "2026-10-01"),
        ("in q2 2025", "2025-04-01", "2025-07-01"),
        ("the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("Q4 last year", "2025-10-01", "2026-01-01"),
        ("H1 2026", "2026-01-01", "2026-07-01"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("on March 4, 2025", "2025-03-04", "2025-03-05"),
        ("4 March 2025", "2025-03-04", "2025-03-05"),
        ("on 2025-02-28", "2025-02-28", "2025-03-01"),
        ("since March", "2026-03-01", None),
        ("after 2025", "2026-01-01", None),
        ("before 2025", None, "2025-01-01"),
        ("until June 2025", None, "2025-07-01"),
        ("since the beginning of the year", "2026-01-01", None),
        ("year to date", "2026-01-01", "2026-11-06"),
        ("so far this month", "2026-11-01", "2026-11-06"),
        ("between January and March 2026", "2026-01-01", "2026-04-01"),
        ("from 2025-01-10 to 2025-01-20", "2025-01-10", "2025-01-21"),
        ("between 2024 and 2025", "2024-01-01", "2026-01-01"),
    ],
)
def test_words_become_the_days_they_name(words: str, start: str | None, end: str | None) -> None:
    tokens = tokenise(words)
    found = find_period(tokens, 0, TODAY)
    assert found is not None
    length, period = found
    assert length == len(tokens)
    assert period.start == (date.fromisoformat(start) if start else None)
    assert period.end == (date.fromisoformat(end) if end else None)


@pytest.mark.parametrize(
    "words",
    [
        "may",
        "march",
        "12",
        "1800",
        "3000",
        "over 2000",
        "last product",
        "2025-13-41",
        "q7",
        "last 99999 years",
        "between march and",
        "the",
        "in",
    ],
)
def test_what_is_no_time_is_left_alone(words: str) -> None:
    assert find_period(tokenise(words), 0, TODAY) is None


def test_a_month_back_from_the_31st_ends_on_a_real_day() -> None:
    found = find_period(tokenise("past month"), 0, date(2026, 3, 31))
    assert found is not None
    assert found[1].start == date(2026, 2, 28)


def test_the_dates_said_back_are_both_inclusive() -> None:
    found = find_period(tokenise("last month"), 0, TODAY)
    assert found is not None
    assert found[1].dates == "2026-10-01 to 2026-10-31"


_SAID = (
    "last past this the previous 1 2 90 12 day days week months quarter year years in since before "
    "between and to from march may 2025 1999 q1 h2 first third of on date 2025-01-31 9999"
)
_WORDS = st.sampled_from(_SAID.split())


@given(st.lists(_WORDS, max_size=8), st.dates(date(1950, 1, 1), date(2090, 1, 1)))
def test_a_period_is_never_empty_and_never_longer_than_its_words(
    words: list[str], today: date
) -> None:
    tokens = tokenise(" ".join(words))
    found = find_period(tokens, 0, today)
    if found:
        length, period = found
        assert 0 < length <= len(tokens)
        assert period.start or period.end
        if period.start and period.end:
            assert period.end - period.start >= timedelta(days=1)
