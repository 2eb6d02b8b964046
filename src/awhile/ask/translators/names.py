"""The words in the names of tables and columns, also where a name hides them.

Source: ours. `sbcustcountry` in a table whose columns all begin with `sb` reads as "customer
country", `tktprty` as "ticket priority". A name is only taken apart when all of it is made of
known words; with one part unknown (`signupdate`) it is a second guess, `hidden_words`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.words import split_name, stem

if TYPE_CHECKING:
    from awhile.ask.schema import Table, TableColumn

__all__ = [
    "column_words",
    "date_words",
    "full_name",
    "hidden_words",
    "is_label",
    "one_of",
    "past_forms",
    "spoken",
    "table_words",
]

_SHORTEST_PREFIX, _FEWEST_COLUMNS = 2, 3
_SHORTEST_APART = 5
"""Shorter pieces are words or abbreviations of their own."""
_LONGEST_APART = 30
_SHORTEST_UNKNOWN = 3
_TIME_TAILS = ("timestamp", "time", "date", "day", "at", "on", "dt", "ts")
_LABELS = ("name", "title", "label", "full name", "display name")


@cache
def table_words(name: str) -> tuple[str, ...]:
    """The stems of a table's name, without the name of its schema."""
    return _stems(split_name(name.rpartition(".")[2]))


@cache
def one_of(table: str) -> str:
    """What to call one row of a table: `order_lines` is "order line", `tkt` is "ticket"."""
    pieces = split_name(table.rpartition(".")[2])
    words = [word for piece in pieces for word in _opened(piece)]
    return " ".join([*words[:-1], *(stem(word) for word in words[-1:])])


@cache
def column_words(name: str, table: str = "") -> tuple[str, ...]:
    """The stems of a column's name, abbreviations opened; `authorname` of `author` has two."""
    pieces = list(split_name(name))
    own = "".join(split_name(table.rpartition(".")[2]))
    for start in (own, stem(own)):
        if len(start) > 2 and len(pieces) == 1 and pieces[0] != start:
            rest = pieces[0].removeprefix(start)
            if rest != pieces[0] and (rest in _known() or len(rest) > 2):
                return (*table_words(table), *_stems((rest,)))
    return _stems(tuple(pieces))


def spoken(name: str) -> str:
    """A column's name as it may be said: abbreviations opened, but its words as they are."""
    pieces, words = split_name(name), column_words(name)
    if len(pieces) != len(words):
        return " ".join(words)
    pairs = zip(pieces, words, strict=True)
    return " ".join(piece if stem(piece) == word else word for piece, word in pairs)


@cache
def date_words(name: str, table: str = "") -> tuple[str, ...]:
    """The stems of a date column's name without its tail: `openedat`, `opened_at` and
    `opened_date` are all "opened"."""
    words = column_words(name, table)
    if len(words) > 1:
        return words[:-1] if words[-1] in _TIME_TAILS else words
    piece = "".join(words)
    for tail in _TIME_TAILS:
        rest = piece.removesuffix(tail)
        if rest != piece and len(rest) >= _SHORTEST_UNKNOWN:
            return _stems((rest,))
    return words


def past_forms(event: tuple[str, ...]) -> tuple[str, ...]:
    """The verbs a noun stands for, as they are said of the past: hire -> hired, send -> sent;
    bookings -> booked, rentals -> rented."""
    told = ENGLISH.pasts.get("".join(event))
    if told or not event:
        return told or ()
    word = event[0]
    if len(event) > 1 and event[-1].endswith("ed"):
        # `fda_appr_dt`
        return (event[-1], " ".join(event))
    for tail in ("ing", "ment", "al", "ation"):
        if word.endswith(tail) and len(word) > len(tail) + 2:
            root = word[: -len(tail)]
            return (root + "ed", root + "d")
    if word.endswith("ed"):
        return (word,)
    if len(word) <= _SHORTEST_UNKNOWN:
        return ()
    return (word + "d", word + "ed") if word.endswith("e") else (word + "ed", word + "d")


def full_name(table: str, column: str) -> str:
    """Words that name one column without doubt: "product unit price"."""
    own, words = table_words(table), column_words(column, table)
    return " ".join(words if words[: len(own)] == own else own + words)


def is_label(table: Table, column: TableColumn) -> bool:
    """Whether the column names the rows of its table."""
    words, own = column_words(column.name, table.name), table_words(table.name)
    if words[: len(own)] == own and len(words) > len(own):
        words = words[len(own) :]
    return column.kind == "text" and " ".join(words) in _LABELS


def hidden_words(table: Table) -> dict[str, tuple[str, ...]]:
    """The stems in each column's name that plain splitting does not show; most have none."""
    names = [column.name.casefold() for column in table.columns]
    prefix = _shared_prefix(names) if len(names) >= _FEWEST_COLUMNS else ""
    found: dict[str, tuple[str, ...]] = {}
    for column in table.columns:
        rest = column.name if not prefix else column.name[len(prefix) :].lstrip("_")
        words = [word for piece in split_name(rest) for word in _nearly_apart(piece)]
        opened = tuple(stem(w) for word in words for w in _opened(word))
        if opened and opened != column_words(column.name, table.name):
            found[column.name] = opened
    return found


def _stems(pieces: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        stem(word) for piece in pieces for part in _taken_apart(piece) for word in _opened(part)
    )


def _opened(word: str) -> list[str]:
    return ENGLISH.abbreviations.get(word, word).split()


def _known() -> frozenset[str]:
    return ENGLISH.name_words


def _shared_prefix(names: list[str]) -> str:
    """What all names begin with, when every one of them has a word left after it."""
    first, last = min(names), max(names)
    size = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    prefix = first[:size].rstrip("_")
    if len(prefix) < _SHORTEST_PREFIX:
        return ""
    whole = any("_" in name[: size + 1] for name in names)
    rests = [name[len(prefix) :].lstrip("_") for name in names]
    known = all(rest and (rest in _known() or len(_taken_apart(rest)) > 1) for rest in rests)
    return prefix if whole or known else ""


@cache
def _taken_apart(piece: str) -> tuple[str, ...]:
    """The fewest known words that make up all of `piece`; the piece itself when there are none."""
    if not _SHORTEST_APART <= len(piece) <= _LONGEST_APART or _is_known(piece):
        return (piece,)
    best: list[tuple[str, ...] | None] = [None] * (len(piece) + 1)
    best[0] = ()
    for end in range(1, len(piece) + 1):
        for start in range(end):
            head, word = best[start], piece[start:end]
            if head is not None and _is_known(word):
                longer = best[end]
                if longer is None or len(head) + 1 < len(longer):
                    best[end] = (*head, word)
    return best[-1] or (piece,)


@cache
def _nearly_apart(piece: str) -> tuple[str, ...]:
    """As `_taken_apart`, but the first part may be unknown: `signupdate`, `satscore`."""
    whole = _taken_apart(piece)
    if len(whole) > 1 or _is_known(piece) or not _SHORTEST_APART <= len(piece) <= _LONGEST_APART:
        return whole
    # The longest known part leaves the least to guess.
    cuts = range(_SHORTEST_UNKNOWN, len(piece) - 1)
    return next(((piece[:at], piece[at:]) for at in cuts if _is_known(piece[at:])), (piece,))


def _is_known(word: str) -> bool:
    return word in ENGLISH.abbreviations or word in _known() or stem(word) in _known()
