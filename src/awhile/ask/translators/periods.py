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

__all__ = [
    "Period",
    "Unit",
    "a_year_before",
    "earlier",
    "find_period",
    "period_beside",
    "period_of",
    "period_of_data",
    "shifted",
]

Unit = Literal["day", "week", "month", "quarter", "year"]

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3}
_LAST_YEAR = (("last", "year"), ("previous", "year"))
_BESIDE = {"before": -1, "earlier": -1, "previous": -1, "after": 1, "later": 1, "following": 1}
_EDGES = (("end", "of"), ("beginning", "of"), ("start", "of"))


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, but without, `end`; None is open. `said` is what it means.

    `unit` is told where it is one whole unit of the calendar.
    """

    start: date | None
    end: date | None
    said: str

    @property
    def unit(self) -> Unit | None:
        """The unit of the calendar that it is one of, if it is."""
        units: tuple[Unit, ...] = ("year", "quarter", "month", "week", "day")
        if self.start is None or self.end is None:
            return None
        for unit in units:
            if _floor(self.start, unit) == self.start and self.end == _add(self.start, 1, unit):
                return unit
        return None

    @property
    def dates(self) -> str:
        """The range in words, both days inclusive."""
        if self.start and self.end:
            last = self.end - timedelta(days=1)
            return f"{self.start}" if last == self.start else f"{self.start} to {last}"
        if self.start:
            return f"{self.start} and later"
        return f"before {self.end}"


def find_period(
    tokens: Sequence[Token], at: int, today: date, ranges: bool = True
) -> tuple[int, Period] | None:
    """The longest time expression beginning at token `at`: how many tokens, and the range.

    None when there is none there, or when its dates leave the calendar. Without `ranges` the two
    ends of "between … and …" stay two times, to be compared.
    """
    words = tuple(token.norm for token in tokens[at : at + 14])
    if not ranges and words[:1] in (("between",), ("from",)):
        return None
    try:
        return _led(words, today)
    except (ValueError, OverflowError):
        return None


def period_of(words: tuple[str, ...], today: date) -> Period | None:
    """What all of these words mean on another day, or None."""
    try:
        found = _led(words, today)
    except (ValueError, OverflowError):
        return None
    return found[1] if found and found[0] == len(words) else None


def _led(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    """An expression with the word that leads it: since, between, in, over the."""
    if not words:
        return None
    lead = words[0]
    if lead == "between" or (lead == "from" and ("to" in words or "until" in words)):
        found = _between(words, today)
        if found:
            return found
    edge = words[2:4] if words[1:2] == ("the",) else words[1:3]
    if lead in ("since", "until", "till", "before", "after") and edge in _EDGES:
        found = _of_edge(words, today)
        if found:
            return found
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
    elif lead in ENGLISH.calendar["leads"]:
        found = _point(words[1:], today)
        after = words[1 + found[0] : 2 + found[0]] if found else ()
        if found and lead == "from" and after and after[0] in ENGLISH.calendar["onwards"]:
            return found[0] + 2, Period(found[1].start, None, " ".join(words[: found[0] + 2]))
    else:
        return _point(words, today, led=False)
    return (found[0] + 1, found[1]) if found else None


def _between(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    """ "between March and May 2025", "from 2024 to 2025": a year said last is of both."""
    lead = "".join(words[:1])
    joiners = ("and",) if lead == "between" else ("to", "until", "till", "through")
    first = _point(words[1:], today)
    if (
        not words
        or first is None
        or words[1 + first[0] : 2 + first[0]] not in [(each,) for each in joiners]
    ):
        return None
    second = _point(words[2 + first[0] :], today)
    if second is None:
        return None
    length = 2 + first[0] + second[0]
    begin = earlier(words[1 : 1 + first[0]], words[2 + first[0] : length], today) or first[1]
    start, end = begin.start, second[1].end
    if start is None or end is None or start >= end:
        return None
    return length, Period(start, end, " ".join(words[:length]))


def _of_edge(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    """ "since the beginning of the year", "until the end of 2024"."""
    used = 4 if words[1:2] == ("the",) else 3
    begins = words[used - 2 : used - 1] in (("beginning",), ("start",))
    rest = words[used:]
    found = _point(rest, today)
    if rest[:1] in (("the",), ("this",)) and len(rest) > 1 and _unit(rest[1]):
        unit = ENGLISH.units[rest[1]]
        start = _floor(today, unit)
        found = 2, Period(start, _add(start, 1, unit), f"this {unit}")
    if found is None:
        return None
    length, said = used + found[0], " ".join(words[: used + found[0]])
    edge = found[1].start if begins else found[1].end
    if words[:1] in (("since",), ("after",)):
        return length, Period(edge, None, said)
    return length, Period(None, edge, said)


def earlier(first: tuple[str, ...], second: tuple[str, ...], today: date) -> Period | None:
    """What `first` means beside `second`, whose year it shares: "Q1 and Q2 2025"."""
    years = [word for word in second if _as_year(word)]
    if not years or any(_as_year(word) for word in first):
        return None
    found = _led((*first, years[-1]), today)
    return found[1] if found and found[0] == len(first) + 1 else None


def period_beside(words: tuple[str, ...], last: Period) -> tuple[int, Period] | None:
    """A time relative to another one: "the year before", "the next month"."""
    used = 1 if words[:1] == ("the",) else 0
    first, second = (*words[used : used + 2], "", "")[:2]
    unit, step = _unit(first), _BESIDE.get(second)
    if unit is None:
        unit, step = _unit(second), _BESIDE.get(first) if used else None
    if unit is None or step is None or last.start is None or last.end is None:
        return None
    try:
        start, end = _add(last.start, step, unit), _add(last.end, step, unit)
    except (ValueError, OverflowError):
        return None
    return used + 2, Period(start, end, f"one {unit} {'before' if step < 0 else 'after'} that")


def a_year_before(period: Period) -> Period | None:
    """The same days of the year before, where a period has both ends."""
    if period.start is None or period.end is None:
        return None
    try:
        start, end = (_add(day, -1, "year") for day in (period.start, period.end))
    except (ValueError, OverflowError):
        return None
    return Period(start, end, f"the same {period.unit or 'days'} a year before")


def period_of_data(words: tuple[str, ...], last_day: date) -> Period | None:
    """A time relative to the last day there is data of: "latest month", "last 30 days"."""
    rest = tuple(word for word in words if word not in ("in", "the", "over", "during", "for", "of"))
    while rest[:1] and rest[0] in ("last", "latest", "most", "recent", "past"):
        rest = rest[1:]
    unit = _unit(rest[-1]) if rest else None
    if unit is None or len(rest) > 2:
        return None
    if len(rest) == 1:
        start = _floor(last_day, unit)
        return Period(start, _add(start, 1, unit), f"the last {unit} of the data")
    count = _amount("".join(rest[:1]))
    if count is None:
        return None
    end = last_day + timedelta(days=1)
    return Period(_add(end, -count, unit), end, f"the last {count} {unit}s of the data")


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
    found = _apart(rest, today)
    if found:
        return used + found[0], found[1]
    which = rest[0]
    if which in ("last", "past", "previous", "prior", "preceding") and len(rest) > 1:
        count, unit = _amount(rest[1]), _unit(rest[2]) if len(rest) > 2 else None
        if count and unit:
            whole = _whole(rest[3:], unit)
            if whole:
                end = _floor(today, unit)
                said = f"the {count} calendar {unit}s before this one"
                return used + 3 + whole, Period(_add(end, -count, unit), end, said)
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


def _apart(words: tuple[str, ...], today: date) -> tuple[int, Period] | None:
    """ "two weeks ago", "the month before last", "the same quarter last year"."""
    if len(words) < 3:
        return None
    first, second, third = words[:3]
    count, unit = 1 if first in ("a", "an") else _amount(first), _unit(second)
    if count and unit and third == "ago":
        start = _floor(_add(today, -count, unit), unit)
        many = f"{count} {unit}s" if count > 1 else f"one {unit}"
        return 3, Period(start, _add(start, 1, unit), f"the calendar {unit} {many} ago")
    before = _unit(first)
    if before and (second, third) == ("before", "last"):
        start = _floor(_add(_floor(today, before), -2, before), before)
        return 3, Period(
            start, _add(start, 1, before), f"the {before} before the last calendar one"
        )
    if first == "same" and unit and unit != "year" and words[2:4] in _LAST_YEAR:
        start = _floor(_add(today, -1, "year"), unit)
        return 4, Period(start, _add(start, 1, unit), f"the calendar {unit} a year before this one")
    return None


def _whole(words: tuple[str, ...], unit: Unit) -> int:
    """How many words say that the current unit of time does not count."""
    at = 1 if words[:1] == (",",) else 0
    for length in (2, 1):
        said = " ".join(words[at : at + length])
        rest = words[at + length : at + length + 3]
        rest = rest[1:] if rest[:1] == ("the",) else rest
        current = len(rest) > 1 and rest[0] in ("current", "this") and _unit(rest[1]) == unit
        if said in ENGLISH.calendar["excluding"] and current:
            the = words[at + length : at + length + 1] == ("the",)
            return at + length + 2 + the
    return 0


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


def shifted(day: date, count: int, unit: Unit, floor: bool = False) -> date:
    """The day so many units later, or, with `floor`, the first day of that unit."""
    moved = _add(day, count, unit)
    return _floor(moved, unit) if floor else moved


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
