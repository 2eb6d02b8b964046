"""PIVOT statements that look their own values up, as texts whose tree DuckDB gives.

`PIVOT orders ON channel` is two statements to DuckDB: one that keeps the channels as a temporary
type, and a SELECT. It gives no tree of that, so what would run cannot be walked. With the values
written out it is a SELECT like any other. For the guard, and for the guard alone, a value stands in
for those that are looked up, and what they are looked up by becomes a SELECT of its own: every word
of the original is in one of these texts, so whatever it calls or reads is in their trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

__all__ = ["as_selects", "looks_up_values"]

_A_VALUE = b"a IN ('a')"
_MOST = 20
_ENDS = frozenset(("USING", "GROUP", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "ON", ";"))
_QUERIES = frozenset(("SELECT", "FROM", "WITH", "VALUES", "TABLE", "PIVOT", "UNPIVOT"))


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    word: str
    """In capitals; a name in quotes is none of the words that are looked for here."""


def looks_up_values(sql: str) -> bool:
    """Whether the text is more than one statement to DuckDB, although it is written as one."""
    try:
        return any(each.type == duckdb.StatementType.MULTI for each in _extracted(sql))
    except (duckdb.ParserException, ValueError):
        return False


def as_selects(sql: str) -> list[str]:
    """The text with a value wherever PIVOT would look values up, and behind it what it would look
    them up by. Empty for what has too many of them."""
    text = sql.encode()
    tokens = _tokens(sql)
    pivots = [at for at, token in enumerate(tokens) if token.word in ("PIVOT", "PIVOT_WIDER")]
    if len(pivots) > _MOST:
        return []
    places = sorted({place for pivot in pivots for place in _looked_up(tokens, pivot)})
    selects = [text]
    end = len(text)
    for place in reversed(places):
        if place.end > end:  # inside of one that is a text of its own by now
            continue
        looked_up = text[place.start : place.end]
        selects.append(looked_up if place.is_query else b"SELECT " + looked_up)
        value = b"'a'" if place.is_query else _A_VALUE
        selects[0] = selects[0][: place.start] + value + selects[0][place.end :]
        end = place.start
    further = [each for looked_up in selects[1:] for each in as_selects(looked_up.decode())]
    return [selects[0].decode(), *further]


def _extracted(sql: str) -> list[duckdb.Statement]:
    return duckdb.extract_statements(sql)


def _tokens(sql: str) -> list[_Token]:
    """The words and signs of the text, by DuckDB's own lexer; without comments."""
    text = sql.encode()
    found = duckdb.tokenize(sql)
    ends = [start for start, _ in found[1:]] + [len(text)]
    return [
        _Token(start, start + len(word), word.decode(errors="replace").upper())
        for (start, kind), end in zip(found, ends, strict=True)
        if kind != duckdb.token_type.comment and (word := text[start:end].rstrip())
    ]


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    start: int
    end: int
    is_query: bool
    """Whether it is the query in `ON column IN (SELECT …)`; else it is what stands alone."""


def _looked_up(tokens: list[_Token], pivot: int) -> list[_Place]:
    """What this PIVOT would look values up by."""
    places: list[_Place] = []
    depth, at = 0, pivot + 1
    while at < len(tokens):
        word = tokens[at].word
        depth += (word == "(") - (word == ")")
        if depth < 0 or (depth == 0 and word == ";"):
            break
        at = _behind_on(tokens, at + 1, places) if depth == 0 and word == "ON" else at + 1
    return places


def _behind_on(tokens: list[_Token], at: int, places: list[_Place]) -> int:
    """Add the places of one list behind ON; gives where the list ends."""
    begin, given = at, False
    while at <= len(tokens):
        word = tokens[at].word if at < len(tokens) else ";"
        if word in _ENDS or word in (")", ","):
            if at > begin and not given:
                places.append(_Place(tokens[begin].start, tokens[at - 1].end, is_query=False))
            if word != ",":
                break
            begin, given = at + 1, False
        elif word == "IN":
            given = True
        elif word == "(":
            closed = _closed(tokens, at)
            if given and closed > at + 1 and tokens[at + 1].word in _QUERIES:
                place = _Place(tokens[at + 1].start, tokens[closed - 1].end, is_query=True)
                places.append(place)
            at = closed
        at += 1
    return at


def _closed(tokens: list[_Token], at: int) -> int:
    """Where the bracket that is opened there is closed."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].word == "(") - (tokens[place].word == ")")
        if depth == 0:
            return place
    return len(tokens) - 1
