"""Time in words: "last month", "the past 90 days", "Q3 2025", "since March", "between … and …".

Source: ours. Every expression becomes a half-open range of days; `today` is an argument. Words
that could mean a calendar unit or a rolling one are told apart by the article, and the range is
always said back in dates: "last year" is the calendar year before this one, "the last year" and
"the past year" are the twelve months before today, and today.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from typing import TYPE_CHECKING, Literal

from awhile.ask.translators.language import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.words import Token

__all__ = ["Period", "Unit", "find_period"]

Unit = Literal["day", "week", "month", "quarter", "year"]

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3}
_LEADS = frozenset({"in", "during", "for", "of", "from", "within", "on"})


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, but without, `end`; None is open. `said` is what it means."""

    start: date | None
    end: date | None
    said: str

    @property
    def dates(self) -> str:
        """The range in words, both days inclusive."""
        if self.start and self.end:
            last = self.end - timedelta(days=1)
            return f"{self.start}" if last == self.start else f"{self.start} to {last}"
        if self.start:
            return f"{self.start} and later"
        return f"before {self.end}"


def find_period(tokens: Sequence[Token], at: int, today: date) -> tuple[int, Period] | None:
    """The longest time expression beginning at token `at`: how many tokens, and the range.

    None when there is none there, or when its dates leave the calendar.
    """
    words = tuple(token.norm for token in tokens[at : at + 14])
    try:
        return _led(words, today)
    except (ValueError, OverflowError):
        return None


def _led(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    """An expression with the word that leads it: since, between, in, over the."""
    if not words:
        return None
    lead = words[0]
    if lead == "between" or (lead == "from" and ("to" in words or "until" in words)):
        joiners = ("and",) if lead == "between" else ("to", "until", "till", "through")
        first = _point(words[1:], today)
        if first and words[1 + first[0] : 2 + first[0]] and words[1 + first[0]] in joiners:
            rest = words[2 + first[0] :]
            second = _point(rest, today)
            if second and first[1].start and second[1].end and first[1].start < second[1].end:
                length = 2 + first[0] + second[0]
                return length, Period(first[1].start, second[1].end, " ".join(words[:length]))
    if lead == "since" and words[1:4] in (("the", "beginning", "of"), ("the", "start", "of")):
        unit = _unit(words[5]) if len(words) > 5 and words[4] in ("the", "this") else None
        if unit:
            return 6, Period(_floor(today, unit), None, f"since this {unit} began")
    if lead in ("since", "after", "before", "until", "till"):
        found = _point(words[1:], today)
        if found is None:
            return None
        length, point = found[0] + 1, found[1]
        said = " ".join(words[:length])
        if lead == "since":
            return length, Period(point.start, None, said)
        if lead == "after":
            return length, Period(point.end, None, said)
        if lead == "before":
            return length, Period(None, point.start, said)
        return length, Period(None, point.end, said)
    if lead == "over":
        found = _relative(words[1:], today)
    elif lead in _LEADS:
        found = _point(words[1:], today)
    else:
        return _point(words, today, led=False)
    return (found[0] + 1, found[1]) if found else None


def _point(words: tuple[str, ...], today: date, led: bool = True) -> tuple[int, Period] | None:
    """One range without a leading preposition."""
    return (
        _relative(words, today)
        or _to_date(words, today)
        or _quarter_or_half(words, today)
        or _calendar(words, today, led)
    )


def _relative(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    if words[:1] == ("today",):
        return 1, _days(today, 1, "today")
    if words[:1] == ("yesterday",):
        return 1, _days(today - timedelta(days=1), 1, "yesterday")
    rolling = words[:1] == ("the",)
    rest = words[1:] if rolling else words
    used = int(rolling)
    if not rest:
        return None
    which = rest[0]
    if which in ("last", "past", "previous", "prior", "preceding") and len(rest) > 1:
        count, unit = _amount(rest[1]), _unit(rest[2]) if len(rest) > 2 else None
        if count and unit:
            return used + 3, _rolling(count, unit, today)
        unit = _unit(rest[1])
        if unit and rest[1] == unit:
            if which == "past" or (rolling and which == "last" and unit != "quarter"):
                return used + 2, _rolling(1, unit, today)
            end = _floor(today, unit)
            start = _floor(end - timedelta(days=1), unit)
            return used + 2, Period(start, end, f"the calendar {unit} before this one")
    if which in ("this", "current") and len(rest) > 1:
        unit = _unit(rest[1])
        if unit and rest[1] == unit:
            start = _floor(today, unit)
            return used + 2, Period(start, _add(start, 1, unit), f"this calendar {unit}")
    return None


def _to_date(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    tomorrow = today + timedelta(days=1)
    short: dict[str, Unit] = {"ytd": "year", "mtd": "month", "qtd": "quarter"}
    if words[:1] and words[0] in short:
        unit = short[words[0]]
        return 1, Period(_floor(today, unit), tomorrow, f"this {unit} up to today")
    if len(words) > 2 and words[1:3] == ("to", "date") and _unit(words[0]):
        unit = ENGLISH.units[words[0]]
        return 3, Period(_floor(today, unit), tomorrow, f"this {unit} up to today")
    if words[:3] == ("so", "far", "this") and len(words) > 3 and _unit(words[3]):
        unit = ENGLISH.units[words[3]]
        return 4, Period(_floor(today, unit), tomorrow, f"this {unit} up to today")
    return None


def _quarter_or_half(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    used, months, number = 0, 0, 0
    rest = words[1:] if words[:1] == ("the",) else words
    skipped = len(words) - len(rest)
    if rest and len(rest[0]) == 2 and rest[0][0] in "qh" and rest[0][1].isdigit():
        months, number, used = (3 if rest[0][0] == "q" else 6), int(rest[0][1]), 1
    elif len(rest) > 1 and rest[0] in _ORDINALS and rest[1] in ("quarter", "half"):
        months, number, used = (3 if rest[1] == "quarter" else 6), _ORDINALS[rest[0]], 2
    if not used or not 1 <= number <= 12 // months:
        return None
    name = f"{'Q' if months == 3 else 'H'}{number}"
    year, more = _year_after(rest[used:], today)
    if year is None:
        year = today.year
        if date(year, months * (number - 1) + 1, 1) > today:
            year -= 1
    start = date(year, months * (number - 1) + 1, 1)
    return skipped + used + more, Period(start, _add_months(start, months), f"{name} {year}")


def _calendar(words: tuple[str, ...], today: date, led: bool) -> tuple[int, Period] | None:
    if not words:
        return None
    first = words[0]
    if len(first) == 10 and first[4] == "-" and first[7] == "-":
        return 1, _days(date.fromisoformat(first), 1, first)
    if first in ENGLISH.months:
        return _month_first(words, today, led)
    if first.rstrip("sthndr").isdigit() and len(words) > 1 and words[1] in ENGLISH.months:
        day = int(first.rstrip("sthndr"))
        year, more = _year_after(words[2:], today)
        if 1 <= day <= 31:
            return 2 + more, _one_day(day, ENGLISH.months[words[1]], year, today)
    used = 3 if words[:2] == ("the", "year") else 2 if first == "year" else 1
    year = _as_year(words[used - 1]) if len(words) >= used else None
    if year is not None:
        return used, Period(date(year, 1, 1), date(year + 1, 1, 1), f"the year {year}")
    return None


def _month_first(words: tuple[str, ...], today: date, led: bool) -> tuple[int, Period] | None:
    name = words[0]
    month = ENGLISH.months[name]
    year, more = _year_after(words[1:], today)
    if year is None and len(words) > 1 and words[1].rstrip("sthndr").isdigit():
        day = int(words[1].rstrip("sthndr"))
        if 1 <= day <= 31:
            at = 3 if words[2:3] == (",",) else 2
            year, more = _year_after(words[at:], today)
            return (at + more if year else 2), _one_day(day, month, year, today)
    if year is None:
        if name in ENGLISH.unsure_months and not led:
            return None
        year = today.year if month <= today.month else today.year - 1
    start = date(year, month, 1)
    return 1 + more, Period(start, _add_months(start, 1), f"{start:%B} {year}")


def _one_day(day: int, month: int, year: int | None, today: date) -> Period:
    if year is None:
        year = today.year if (month, day) <= (today.month, today.day) else today.year - 1
    when = date(year, month, day)
    return _days(when, 1, f"{when}")


def _year_after(words: tuple[str, ...], today: date) -> tuple[int | None, int]:
    """A year that follows a month or a quarter, and how many words said it."""
    skip = 1 if words[:1] in (("of",), ("in",)) else 0
    rest = words[skip:]
    if rest and _as_year(rest[0]):
        return _as_year(rest[0]), skip + 1
    if rest[:2] == ("last", "year"):
        return today.year - 1, skip + 2
    if rest[:2] == ("this", "year"):
        return today.year, skip + 2
    return None, 0


def _as_year(word: str) -> int | None:
    return int(word) if len(word) == 4 and word.isdigit() and 1900 <= int(word) <= 2100 else None


def _amount(word: str) -> int | None:
    count = int(word) if word.isdigit() and len(word) < 6 else ENGLISH.numbers.get(word)
    return count or None


def _unit(word: str) -> Unit | None:
    return ENGLISH.units.get(word)


def _rolling(count: int, unit: Unit, today: date) -> Period:
    many = f"{count} {unit}s" if count > 1 else "12 months" if unit == "year" else f"one {unit}"
    start = _add(today, -count, unit)
    return Period(start, today + timedelta(days=1), f"the {many} before today, and today")


def _days(start: date, count: int, said: str) -> Period:
    return Period(start, start + timedelta(days=count), said)


def _floor(day: date, unit: Unit) -> date:
    if unit == "day":
        return day
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
    return day.replace(month=1, day=1)


def _add(day: date, count: int, unit: Unit) -> date:
    if unit == "day":
        return day + timedelta(days=count)
    if unit == "week":
        return day + timedelta(weeks=count)
    return _add_months(day, count * {"month": 1, "quarter": 3, "year": 12}[unit])


def _add_months(day: date, count: int) -> date:
    months = day.year * 12 + day.month - 1 + count
    year, month = divmod(months, 12)
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError(f"year {year!r} is outside the calendar")
    last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))
