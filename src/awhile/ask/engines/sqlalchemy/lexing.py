"""A text as SQLGlot reads it, with nothing left in it that SQLGlot would skip.

A database runs what is in a comment where its reading of comments is another (`/*! ... */` in
MySQL, `--1` there, `/* /* */`). So every comment is taken out, and where a text might be read in
two ways it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import QueryError, QueryRefused

__all__ = ["Lexis", "marked", "tokenized", "without_comments", "words"]

_QUOTES = frozenset("'\"`")
_JOINED = re.compile(r"[\w:]")
_WORD = re.compile(r"[A-Za-z_][\w$]*\Z")


@dataclass(frozen=True, slots=True)
class Lexis:
    """How a dialect's texts are cut into words."""

    dialect: str
    """SQLGlot's name."""
    skipped: re.Pattern[str]
    """All that may stand between two words: blanks, and comments that everyone reads alike."""
    quoted: re.Pattern[str] | None = None
    """What a quoted text or name has to look like, for the database itself, where that is known."""


def tokenized(sql: str, lexis: Lexis) -> list[Token]:
    """The words of a text. Raises `QueryError` for what is not SQL at all."""
    try:
        return list(sqlglot.tokenize(sql, dialect=lexis.dialect))
    except TokenError:
        # Its message repeats the whole text.
        raise QueryError("a text, a quoted name or a comment does not end") from None


def without_comments(sql: str, tokens: Sequence[Token], lexis: Lexis) -> str:
    """The text with each word and line in its place, and nothing else.

    Raises `QueryRefused` where the database could read it otherwise.
    """
    text, end = "", 0
    for token in tokens:
        text += _blank(sql[end : token.start], lexis) + sql[token.start : token.end + 1]
        end = token.end + 1
        if token.token_type != TokenType.HINT:  # which is refused as one
            _check_quotes(sql[token.start : end], lexis)
    return text + _blank(sql[end:], lexis)


def marked(
    text: str, tokens: Sequence[Token], names: Mapping[str, Scalar], marks: Mapping[str, str]
) -> str:
    """The text with each `:name` that has a mark written as that.

    Raises `QueryRefused` for a name that the text does not have.
    """
    made, end = "", 0
    used: set[str] = set()
    for colon, name in pairwise(tokens):
        if (
            text[colon.start : colon.end + 1] == ":"
            and name.start == colon.end + 1
            and colon.start >= end
            and not _JOINED.match(text[colon.start - 1 : colon.start])
            and name.token_type != TokenType.IDENTIFIER
            and name.text in names
        ):
            used.add(name.text)
            made += text[end : colon.start] + marks[name.text]
            end = name.end + 1
    for name in names:
        if name not in used:
            raise QueryRefused(f":{name}", "a value is given for it, and the SQL does not have it")
    return made + text[end:]


def words(text: str, tokens: Sequence[Token]) -> list[str]:
    """Each word in capitals; empty for what is quoted, a number or a sign."""
    sources = (text[token.start : token.end + 1] for token in tokens)
    return [source.upper() if _WORD.match(source) else "" for source in sources]


def _blank(between: str, lexis: Lexis) -> str:
    end = 0
    while end < len(between):
        found = lexis.skipped.match(between, end)
        if found is None or found.end() == end:
            raise QueryRefused(
                between[end : end + 5].strip(" \n"),
                "a comment, or what looks like one, may be read by the database as something to "
                "run; take it out",
            )
        end = found.end()
    return re.sub(r"[^\n]", " ", between)


def _check_quotes(source: str, lexis: Lexis) -> None:
    if lexis.quoted is not None and _QUOTES.intersection(source) and not lexis.quoted.match(source):
        raise QueryRefused(source[:40], "its quotes can be read in two ways; write it plainly")
