"""A model's SQL, with what is another database's idiom said as this one has it.

Source: ours. Models mix dialects, most of all about dates, and they write "now" where a person
means today's date. Some of it fails; some of it runs and gives a figure that nobody means: SQLite
takes one date from another by their years. Only what can mean one thing is written again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.dialects import TRUNCATED_TO, lite_start
from awhile.ask.translators.models.kinds import MOMENTS, Kinds, day_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from awhile.ask.schema import Schema

__all__ = ["localised"]

_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
_TODAY = {"CURDATE", "TODAY"}
_NOW = {"NOW"}
_HERE_OR_UTC = {"localtime", "utc"}
_TIME_OF_DAY = re.compile(r"%[fHIJklMpPRsST]")
"""Codes of SQLite's strftime that tell more than the day (sqlite.org/lang_datefunc.html)."""

_UNITS = {
    "SECOND": (1, "second"),
    "MINUTE": (1, "minute"),
    "HOUR": (1, "hour"),
    "DAY": (1, "day"),
    "WEEK": (7, "day"),
    "MONTH": (1, "month"),
    "QUARTER": (3, "month"),
    "YEAR": (1, "year"),
}
"""What SQLite's date functions shift by, and how many of them a unit is."""
_OF_A_DAY = {"second", "minute", "hour"}
_CLIPPED = {"month", "year"}
"""A month before 31 October is 30 September, everywhere but in SQLite: it needs a "floor"."""
_PARTS = {
    "YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S",
    "DOY": "%j", "DOW": "%w", "EPOCH": "%s",
}  # fmt: skip
_MOST_DIVISIONS = 200
"""Of whole numbers, whose surroundings are looked at."""
_WHOLE = re.compile(r"[+-]?\d{1,9}")
_DAYS = "dates are taken from each other in days, where SQLite takes their years"
_SHIFTS = exp.Add | exp.Sub | exp.DateAdd | exp.DateSub
_PLACES = (
    exp.Substring | exp.Left | exp.Right | exp.Pad | exp.Repeat | exp.Bracket
    | exp.GenerateSeries | exp.ExplodingGenerateSeries
)  # fmt: skip
"""What takes whole numbers alone."""
_PART_OF = exp.Year | exp.Month | exp.Day | exp.Hour | exp.Minute | exp.Second


def localised(tree: exp.Query, schema: Schema, today: date) -> list[str]:
    """Write what is another database's idiom as this one has it, in the tree itself.

    Args:
        tree: one SELECT, in which columns are where they belong.
        schema: the database.
        today: the day of the question, which is the day where whoever asks is.

    Returns:
        A sentence for each kind of thing that was written again.

    Raises:
        SqlglotError: names in it cannot be resolved.
    """
    writing = _Writing(Kinds(tree, schema), schema.dialect, today)
    for rewrite in (
        writing.difference_in,  # before a typed date is a text like any other
        writing.today_in,
        writing.idiom_in,
        writing.today_in,  # of a "now" that was in an idiom
        writing.difference_in,
        writing.last_day_in,
        writing.division_in,
    ):
        for node in reversed(list(tree.walk())):  # what is inside comes first
            rewrite(node)
    return list(dict.fromkeys(writing.repairs))


@dataclass(slots=True)
class _Writing:
    kinds: Kinds
    dialect: str
    today: date
    repairs: list[str] = field(default_factory=list[str])
    divisions: int = 0

    def today_in(self, node: exp.Expr) -> None:
        """The day of the question for what the database would take from its own clock."""
        said: exp.Expr | None = None
        if _is_today(node):
            said = self._day()
        elif self.dialect == "sqlite":
            said = self._of_lite_clock(node)
        if said is not None:
            node.replace(said)
            self.repairs.append(f"today is {self.today}, the day of the question")

    def difference_in(self, node: exp.Expr) -> None:
        """The days between two dates, where SQLite takes one number of a year from another.

        One from a mere text stays: that is how some reckon an age.
        """
        if self.dialect != "sqlite" or not isinstance(node, exp.Sub):
            return
        if all(self._is_date(one) and _is_more_than_text(one) for one in node.unnest_operands()):
            node.replace(_between(node.this, node.expression))
            self.repairs.append(_DAYS)

    def idiom_in(self, node: exp.Expr) -> None:
        """One function or operator that this database lacks, or takes otherwise."""
        said: tuple[exp.Expr, str] | None = None
        if self.dialect == "sqlite":
            said = self._for_lite(node)
        elif self.dialect == "duckdb":
            said = _for_duckdb(node)
        if said is not None:
            node.replace(said[0])
            self.repairs.append(said[1])
        elif self.dialect == "sqlite" and isinstance(node, exp.DateAdd | exp.DateDiff):
            # SQLGlot would write something of its own; the database should say that it has none.
            args = [node.this, node.expression, node.args.get("unit")]
            name = node.sql_names()[0]
            node.replace(_call(name, *(one for one in args if one is not None)))

    def last_day_in(self, node: exp.Expr) -> None:
        """All of the last day, where times are asked for up to a date."""
        if not isinstance(node, exp.Between) or not isinstance(node.this, exp.Column):
            return
        if self.kinds.of(node.this) != "timestamp" or node.args.get("symmetric"):
            return
        low, high = node.args["low"], node.args["high"]
        last = _bare_day(high)
        if last is None or last == date.max:
            return
        after = high.copy()
        next_day = exp.Literal.string((last + timedelta(days=1)).isoformat())
        if isinstance(after, exp.Literal):
            after = next_day
        else:
            after.set("this", next_day)
        both = exp.and_(
            exp.GTE(this=node.this, expression=low),
            exp.LT(this=node.this.copy(), expression=after),
            copy=False,
        )
        plain = isinstance(node.parent, exp.Where | exp.And | exp.Having)
        node.replace(both if plain else exp.paren(both, copy=False))
        self.repairs.append(f"{node.this.name} goes to the end of {last}, not to its start")

    def division_in(self, node: exp.Expr) -> None:
        """A fraction, where whole numbers would be divided to a whole one."""
        if not isinstance(node, exp.Div) or not node.args.get("typed"):
            return
        if not self.kinds.of(node.this) == self.kinds.of(node.expression) == "integer":
            return
        self.divisions += 1
        if self.divisions <= _MOST_DIVISIONS and not _meant_whole(node):
            # PostgreSQL rounds no DOUBLE PRECISION to so many places.
            fraction = "decimal" if self.dialect == "postgres" else "double"
            node.set("this", exp.cast(_bare(node.this), fraction, copy=False))
            name = _NAMES.get(self.dialect, "the database")
            self.repairs.append(f"a division gives its fraction, which {name} leaves out")

    def _day(self) -> exp.Expr:
        text = exp.Literal.string(self.today.isoformat())
        return text if self.dialect == "sqlite" else exp.cast(text, "date")

    def _of_lite_clock(self, node: exp.Expr) -> exp.Expr | None:
        """SQLite's day functions of "now", which is of the day in UTC."""
        match node:
            case exp.Date(this=None) if not node.expressions:
                return self._day()
            case exp.Date() if _is_now(node.this):
                return self._day()
            case exp.TimeToStr(this=exp.TsOrDsToTimestamp(this=when)) if _is_now(when):
                return self._formatted(node.args["format"], [])
            case exp.Anonymous():
                pass
            case _:
                return None
        name, args = node.name.upper(), list(node.expressions)
        if name == "STRFTIME" and len(args) > 1 and _is_now(args[1]):
            return self._formatted(args[0], args[2:])
        if name == "JULIANDAY" and not args:
            args = [exp.Literal.string("now")]
        if name in {"DATE", "JULIANDAY"} and args and _is_now(args[0]):
            changes = _without_zones(args[1:])
            return _call(name, self._day(), *changes) if changes or name != "DATE" else self._day()
        return None

    def _formatted(self, form: exp.Expr, changes: Sequence[exp.Expr]) -> exp.Expr | None:
        if not isinstance(form, exp.Literal) or _TIME_OF_DAY.search(form.name):
            return None
        return _call("STRFTIME", form, self._day(), *_without_zones(changes))

    def _for_lite(self, node: exp.Expr) -> tuple[exp.Expr, str] | None:
        said: exp.Expr | None
        match node:
            case exp.DateDiff():
                said = self._days(node)
                return (said, _DAYS) if said else None
            case _ if isinstance(node, _SHIFTS):
                said, what = self._shifted(node), "a shifted date"
            case exp.Extract():
                said, what = _part(node.name.upper(), node.expression), "a part of a date"
            case _ if isinstance(node, _PART_OF):
                said, what = _part(node.key.upper(), node.this), "a part of a date"
            case exp.DateTrunc() | exp.TimestampTrunc():
                unit = node.args["unit"].name.upper()
                said = lite_start(node.this, unit) if unit in TRUNCATED_TO else None
                what = "a start of a time"
            case exp.Cast():
                said, what = _lite_moment(node), "a date"
            case exp.Anonymous() if _is_moment(node):
                said, what = exp.CurrentTimestamp(), "the time of now"
            case exp.ILike():
                said, what = exp.Like(**node.args), "ILIKE"
            case _:
                return None
        return (said, f"{what} is written as SQLite has it") if said else None

    def _days(self, node: exp.DateDiff) -> exp.Expr | None:
        """MySQL's count of days, the later one first; or, after a unit, that of the others."""
        end, start, third = node.this, node.expression, node.args.get("unit")
        if third is not None and end.name.lower() != "day":
            return None
        if third is not None:
            end = exp.column(third.name) if isinstance(third, exp.Var) else third
        days = [one if self.kinds.of(one) == "date" else exp.Date(this=one) for one in (end, start)]
        return exp.cast(_between(*days), "int", copy=False)

    def _is_date(self, node: exp.Expr) -> bool:
        return self.kinds.of(node) in {"date", "timestamp"}

    def _shifted(self, node: exp.Expr) -> exp.Expr | None:
        """A date and an interval as SQLite's date function, with the interval for a modifier."""
        when, by = _bare(node.this), _bare(node.expression)
        if isinstance(node, exp.Add) and (isinstance(when, exp.Interval) or self._is_date(by)):
            when, by = by, when
        many, unit, count = 0, "", by
        if isinstance(by, exp.Interval):
            name = by.args["unit"].name if by.args.get("unit") else ""
            many, unit = _UNITS.get(name.upper().removesuffix("S"), (0, ""))
            count = by.this
        elif self.kinds.of(when) == "date" and self.kinds.of(by) == "integer":
            many, unit = 1, "day"  # as PostgreSQL, DuckDB and Oracle add whole numbers to dates
        if not many:
            return None
        change = _change(count, -many if isinstance(node, exp.Sub | exp.DateSub) else many, unit)
        if change is None:
            return None
        to_second = unit in _OF_A_DAY or self.kinds.of(when) == "timestamp"
        last = [exp.Literal.string("floor")] if unit in _CLIPPED else []
        return _call("DATETIME" if to_second else "DATE", when, change, *last)


def _change(count: exp.Expr, many: int, unit: str) -> exp.Expr | None:
    """So many times a count of units, as SQLite's date functions take it."""
    if isinstance(count, exp.Literal):
        if not _WHOLE.fullmatch(count.name):
            return None
        return exp.Literal.string(f"{many * int(count.name):+d} {unit}")
    times = exp.Mul(this=exp.Literal.number(many), expression=_wrapped(_bare(count)))
    return exp.DPipe(this=exp.paren(times, copy=False), expression=exp.Literal.string(f" {unit}"))


def _is_today(node: exp.Expr) -> bool:
    """Whether a database would take the day of its own clock for this."""
    match node:
        case exp.CurrentDate():
            return node.this is None
        case exp.Anonymous():
            return node.name.upper() in _TODAY and not node.expressions
        case exp.Date():
            return _is_moment(node.this) and not node.expressions
        case exp.Cast():
            return node.is_type("date") and _is_moment(node.this)
        case _:
            return False


def _is_more_than_text(node: exp.Expr) -> bool:
    typed = isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.Cast)
    return typed or node.find(exp.Column) is not None


def _is_moment(node: exp.Expr | None) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _NOW and not node.expressions
    return isinstance(node, exp.CurrentTimestamp)


def _is_now(node: exp.Expr | None) -> bool:
    return _is_moment(node) or _is_text(node, "now")


def _is_text(node: exp.Expr | None, text: str) -> bool:
    return isinstance(node, exp.Literal) and node.is_string and node.name.lower() == text


def _without_zones(changes: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Without what would move a day that is already the one where the person is."""
    return [one for one in changes if not any(_is_text(one, zone) for zone in _HERE_OR_UTC)]


def _bare(node: exp.Expr) -> exp.Expr:
    """Without the parentheses around it; those of a subquery are its own."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _call(name: str, *args: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(args))


def _between(end: exp.Expr, start: exp.Expr) -> exp.Expr:
    days = [_call("JULIANDAY", _bare(one)) for one in (end, start)]
    return exp.Sub(this=days[0], expression=days[1])


def _lite_moment(node: exp.Cast) -> exp.Expr | None:
    """A text, as SQLite keeps dates and times; its own cast would make a number of the year."""
    if node.is_type("date"):
        return node.this if day_of(node.this) else exp.Date(this=node.this)
    return _call("DATETIME", node.this) if node.is_type(*MOMENTS) else None


def _part(part: str, of: exp.Expr) -> exp.Expr | None:
    """A part of a date as a number; of the days between two, their number."""
    between = isinstance(_bare(of), exp.Sub)
    if between or part not in _PARTS:
        return exp.cast(of, "int", copy=False) if between and part == "DAY" else None
    return exp.cast(_call("STRFTIME", exp.Literal.string(_PARTS[part]), of), "int", copy=False)


def _for_duckdb(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    if not isinstance(node, exp.Anonymous) or node.name.upper() != "DATE_SUB":
        return None
    match node.expressions:
        case [when, exp.Interval() as by]:
            less = exp.Sub(this=_wrapped(when), expression=by)
            inside = isinstance(node.parent, exp.Binary | exp.Unary | exp.Cast | exp.Between)
            said = "an interval is taken from a date as DuckDB has it"
            return (exp.paren(less, copy=False) if inside else less), said
        case _:
            return None


def _wrapped(node: exp.Expr) -> exp.Expr:
    return exp.paren(node, copy=False) if isinstance(node, exp.Binary) else node


def _bare_day(node: exp.Expr) -> date | None:
    """The day that a bound is, when it names no time of it."""
    if isinstance(node, exp.Date) or (isinstance(node, exp.Cast) and node.is_type("date")):
        return day_of(node.this) if node.this else None
    return day_of(node)


def _meant_whole(div: exp.Div) -> bool:
    """Whether a whole number is wanted: a place in a row of rows, or a range of values."""
    by_a_number = isinstance(_bare(div.right), exp.Literal)
    node: exp.Expr = div
    while (above := node.parent) is not None:
        match above:
            case exp.Cast() if above.is_type(*exp.DataType.INTEGER_TYPES):
                return True
            case exp.Mod() | exp.IntDiv() | exp.Limit() | exp.Offset() | exp.EQ() | exp.In():
                return True
            case exp.Between() if node.arg_key != "this":
                return True
            case exp.Mul() if _bare(above.left) is div and above.right == div.right:
                return True  # 1987 / 10 * 10 is the 1980s
            case exp.Window() if node.arg_key == "partition_by":
                return True
            case exp.DPipe() | exp.Concat() if by_a_number:
                return True  # minutes, before a colon and seconds
            case exp.Cast() if by_a_number and above.is_type(*exp.DataType.TEXT_TYPES):
                return True
            case _ if isinstance(above, _PLACES):
                return True
            case exp.Select() if _sorts_by(above, node, div, by_a_number=by_a_number):
                return True
            case exp.Select() if node.arg_key != "expressions":
                return False
            case _:
                node = above
    return False


def _sorts_by(select: exp.Select, part: exp.Expr, div: exp.Div, *, by_a_number: bool) -> bool:
    """Whether a SELECT, or what is around it, puts rows together by the range that a value is in,
    or has the rest of the same division."""
    if any(key == div for group in _groups(select) for key in group.find_all(exp.Div)):
        return True
    if any(_same(rest, div) for rest in select.find_all(exp.Mod)):
        return True
    if part.arg_key != "expressions":
        return False
    if by_a_number and select.args.get("distinct"):
        return True
    name = part.alias.casefold()
    return bool(name) and any(
        column.name.casefold() == name
        for other in select.root().find_all(exp.Select)
        if other is not select
        for place in _groups(other, by_a_number=by_a_number)
        for column in place.find_all(exp.Column)
    )


def _groups(select: exp.Select, *, by_a_number: bool = False) -> Iterator[exp.Expr]:
    """What a SELECT puts rows together by; of ranges `by_a_number` also what has to be the same."""
    group = select.args.get("group")
    for key in group.expressions if group else ():
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(key.name) - 1
            yield select.selects[place] if 0 <= place < len(select.selects) else key
        elif isinstance(key, exp.Column) and not key.table:
            yield next((one for one in select.selects if one.alias == key.name), key)
        else:
            yield key
    for window in select.find_all(exp.Window):
        yield from window.args.get("partition_by") or ()
    if by_a_number:
        yield from select.find_all(exp.EQ, exp.In)
        yield from select.selects if select.args.get("distinct") else ()


def _same(rest: exp.Mod, div: exp.Div) -> bool:
    return _bare(rest.left) == _bare(div.left) and _bare(rest.right) == _bare(div.right)
