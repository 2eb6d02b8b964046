"""CSV and TSV: how a file is read, found out once, and written down as arguments of `read_csv`.

DuckDB's own detection is asked, and not believed where it would show something else than what is in
the file: a line with too many values makes it take the whole file for one column; of dates such as
01/02/2025 it takes the day for the month, or the month for the day; a number with more digits than
a DOUBLE has is rounded.
"""

# ruff: noqa: S608 - every name and text put into a statement is quoted

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from awhile.ask.engines.files.exactness import would_lose_digits
from awhile.ask.engines.files.finding import some_of
from awhile.ask.engines.files.tables import Columns, Look, columns_argument
from awhile.ask.engines.quoting import identifier, literal

__all__ = ["look_at"]

_SAMPLE_ROWS = 102_400
_SEPARATORS = ",;\t|"
_SEPARATOR_HINT = re.compile(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])\r?\n")
"""Excel's own first line of a file."""
_DAY_FIRST = re.compile(r"%d([/-])%m\1%Y")
_SHORT_YEAR = re.compile(r"%y")
_GERMAN_SHORT_YEAR = re.compile(r"%d\.%m\.%y")


@dataclass(frozen=True, slots=True)
class _Sniffed:
    columns: Columns
    delimiter: str
    quote: str
    escape: str
    comment: str
    skip: int
    header: bool
    date_format: str | None
    timestamp_format: str | None
    decimal: str | None = None
    thousands: str | None = None

    def options(self) -> tuple[tuple[str, str], ...]:
        told: dict[str, str | None] = {
            "delim": literal(self.delimiter),
            "quote": literal(self.quote),
            "escape": literal(self.escape),
            "comment": literal(self.comment),
            "skip": str(self.skip),
            "header": str(self.header).lower(),
            "dateformat": self.date_format and literal(self.date_format),
            "timestampformat": self.timestamp_format and literal(self.timestamp_format),
            "decimal_separator": self.decimal and literal(self.decimal),
            "thousands": self.thousands and literal(self.thousands),
        }
        return tuple((name, value) for name, value in told.items() if value is not None)

    def numbers(self) -> set[str]:
        return {name for name, kind in self.columns if kind != "VARCHAR"}


def look_at(
    connection: duckdb.DuckDBPyConnection,
    location: str,
    head: bytes,
    *,
    whole: bool,
    by_tabs: bool = False,
) -> Look:
    """How the file is read: by its first rows, or by all of them (`whole`).

    `by_tabs`: whether its name says that tabs separate its values. Raises `duckdb.Error` for what
    is no such file at all.
    """
    rows = -1 if whole else _SAMPLE_ROWS
    sniffed = _sniffed(connection, location, rows, head, by_tabs=by_tabs)
    if sniffed.quote == "" and b'"' not in head:
        # None was needed so far; further on, a text may well be in quotes.
        sniffed = replace(sniffed, quote='"', escape='"')
    sniffed = _with_decimal_comma(connection, location, rows, sniffed)
    exact, why = _exact(connection, location, rows, sniffed)
    said = [*_said(exact), *why]
    if not whole:
        said.append(f"types by its first {_SAMPLE_ROWS:,} rows")
    return Look(exact.columns, exact.options(), tuple(said))


def _sniffed(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, head: bytes, *, by_tabs: bool
) -> _Sniffed:
    """What DuckDB finds, also where a line has too many values or too few.

    No separator fits all of the lines then: the whole file is taken for one column, or most of it
    for something that comes before the table. Without such lines the meaning is clear; they are
    still read, and reading says which one it is.
    """
    known: dict[str, str] = {}
    if hint := _SEPARATOR_HINT.match(head):
        known = {"skip": "1", "delim": literal(hint[1].decode())}
    elif by_tabs and b"\t" in head.partition(b"\n")[0]:
        known = {"delim": "'\t'"}
    try:
        sniffed = _sniff(connection, location, rows, **known)
    except duckdb.InvalidInputException:
        sniffed = None
    lines = head.count(b"\n") + (not head.endswith(b"\n"))
    if sniffed is None or _joined(sniffed) or 2 * sniffed.skip > max(lines, 2):
        lenient = {"skip": "0", **known, "ignore_errors": "true"}
        sniffed = _sniff(connection, location, rows, **lenient)
        if len(sniffed.columns) == 1 and not known:  # a column of texts, some of which have commas
            absent = (each for each in _SEPARATORS if each.encode() not in head)
            return replace(sniffed, delimiter=next(absent, "\x1f"))
    return sniffed


def _joined(sniffed: _Sniffed) -> bool:
    """Whether the only column's name is what ought to be several."""
    first = sniffed.columns[0][0]
    return len(sniffed.columns) == 1 and any(each in first for each in _SEPARATORS)


def _sniff(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, **options: str
) -> _Sniffed:
    told = "".join(f", {name} = {value}" for name, value in options.items())
    found = connection.execute(
        "SELECT Columns, Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, DateFormat, "
        f"TimestampFormat FROM sniff_csv({literal(location)}, sample_size = {rows}{told})"
    ).fetchone()
    assert found is not None
    columns, delimiter, quote, escape, comment, skip, header, date, timestamp = found
    return _Sniffed(
        tuple((each["name"], each["type"]) for each in columns),
        _character(delimiter),
        _character(quote),
        _character(escape),
        _character(comment),
        int(skip),
        bool(header),
        date,
        timestamp,
    )


def _character(told: str) -> str:
    return "" if told == "(empty)" else told


def _with_decimal_comma(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, sniffed: _Sniffed
) -> _Sniffed:
    """`1,50` and `1.234,50` are numbers where a comma does not separate values."""
    texts = [name for name, kind in sniffed.columns if kind == "VARCHAR"]
    if sniffed.delimiter == "," or not texts:
        return sniffed
    best, kinds = sniffed, dict(sniffed.columns)
    for thousands in (None, "."):
        if thousands and "DOUBLE" in kinds.values():  # 1.5 would become fifteen
            break
        options = {"delim": literal(sniffed.delimiter), "decimal_separator": "','"}
        if thousands:
            options["thousands"] = literal(thousands)
        try:
            other = _sniff(connection, location, rows, **options)
        except duckdb.Error:
            continue
        if other.numbers() > best.numbers():
            best = replace(
                sniffed,
                columns=other.columns,
                decimal=",",
                thousands=thousands,
            )
    gained = best.numbers() - sniffed.numbers()
    if not gained:
        return sniffed
    # Of a column in which all are like 1,234 nobody can tell whether those are thousands.
    wanted = ", ".join(
        f"bool_and(regexp_full_match({identifier(name)}, '-?[0-9]{{1,3}}(,[0-9]{{3}})+'))"
        for name in sorted(gained)
    )
    doubtful = _of_texts(connection, location, rows, best, wanted)
    kept = {name for name, doubt in zip(sorted(gained), doubtful, strict=True) if not doubt}
    if not kept:
        return sniffed
    columns = tuple(
        (name, "VARCHAR" if name in gained - kept else kind) for name, kind in best.columns
    )
    return replace(best, columns=columns)


def _exact(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, sniffed: _Sniffed
) -> tuple[_Sniffed, list[str]]:
    """Without types that would show something else than the file has; and why, in words."""
    checks: list[tuple[str, str, str]] = []
    for name, kind in sniffed.columns:
        form = {"DATE": sniffed.date_format, "TIMESTAMP": sniffed.timestamp_format}.get(kind)
        if form and _DAY_FIRST.match(form):
            first = f"try_cast(regexp_extract({identifier(name)}, '^[0-9]+') AS INTEGER)"
            checks.append((name, "date", f"coalesce(max({first}), 0) <= 12"))
        elif form and _SHORT_YEAR.search(form) and not _GERMAN_SHORT_YEAR.match(form):
            checks.append((name, "date", "true"))
        elif kind == "DOUBLE":
            checks.append((name, "number", would_lose_digits(name)))
    if not checks:
        return sniffed, []
    found = _of_texts(connection, location, rows, sniffed, ", ".join(sql for _, _, sql in checks))
    wrong = {name: what for (name, what, _), is_so in zip(checks, found, strict=True) if is_so}
    columns = tuple((name, "VARCHAR" if name in wrong else kind) for name, kind in sniffed.columns)
    kinds = {kind for _, kind in columns}
    why = [
        f"{words}: {some_of(names)}"
        for what, words in (
            ("date", "text, because nobody can tell day, month and year apart in it"),
            ("number", "text, because a number would lose digits"),
        )
        if (names := [name for name in wrong if wrong[name] == what])
    ]
    exact = replace(
        sniffed,
        columns=columns,
        date_format=sniffed.date_format if "DATE" in kinds else None,
        timestamp_format=sniffed.timestamp_format if "TIMESTAMP" in kinds else None,
    )
    return exact, why


def _of_texts(
    connection: duckdb.DuckDBPyConnection, location: str, rows: int, sniffed: _Sniffed, wanted: str
) -> tuple[Any, ...]:
    """What an aggregate says of the values as the texts they are in the file."""
    told = "".join(f", {name} = {value}" for name, value in sniffed.options())
    columns = columns_argument([(name, "VARCHAR") for name, _ in sniffed.columns])
    limit = "" if rows < 0 else f" LIMIT {rows}"
    found = connection.execute(
        f"SELECT {wanted} FROM (FROM read_csv({literal(location)}, auto_detect = false, "
        f"ignore_errors = true, {columns}{told}){limit})"
    ).fetchone()
    assert found is not None
    return found


def _said(sniffed: _Sniffed) -> list[str]:
    said: list[str] = []
    if sniffed.delimiter not in (",", "\t") and len(sniffed.columns) > 1:
        said.append(f"separated by {sniffed.delimiter!r}")
    if sniffed.decimal:
        said.append("with decimal commas")
    if sniffed.skip:
        said.append(f"without its first {sniffed.skip} line{'s' if sniffed.skip > 1 else ''}")
    if not sniffed.header:
        said.append("without a line of names")
    return said
