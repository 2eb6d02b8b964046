"""Exactly one statement that only reads, of a database whose own parser nobody has here.

SQLGlot reads the text in the database's dialect, and the database gets just what SQLGlot has read
(`lexing`). Names before a bracket pass by an allow list, whatever SQLGlot makes of them; words that
turn a SELECT into something else are refused wherever they stand; and the tree has to be one
SELECT, whose tables are not the server's own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import QueryError, QueryRefused
from awhile.ask.engines.parameters import without_value
from awhile.ask.engines.sqlalchemy.lexing import (
    Lexis,
    marked,
    tokenized,
    without_comments,
    words,
)
from awhile.ask.engines.sqlalchemy.statement import Statement

__all__ = ["Rules", "checked"]

_LONGEST = 100_000
_ONE_SELECT = "exactly one SELECT (or WITH ... SELECT) is run here: the database is only read"
_NOT_ALLOWED = (
    "it is not on the list of functions that only compute; one of your own can be allowed by "
    "?functions= in the database's URL"
)
_QUOTED = "a function's name is written without quotes here, so that it can be told which it is"
_TELLS = "it tells of other people's queries, of secrets or of the machine, not the database's data"
_VARIABLE = "variables keep something between queries, or tell of the machine; write the value"

_BEGINNINGS = frozenset(("SELECT", "WITH", "VALUES"))
_SEQUENCES = (
    (("INTO",), f"it writes a table, a file or a variable; {_ONE_SELECT}"),
    (("FOR", "UPDATE"), f"it locks rows; {_ONE_SELECT}"),
    (("FOR", "SHARE"), f"it locks rows; {_ONE_SELECT}"),
    (("FOR", "NO", "KEY"), f"it locks rows; {_ONE_SELECT}"),
    (("FOR", "KEY"), f"it locks rows; {_ONE_SELECT}"),
    (("LOCK", "IN"), f"it locks rows; {_ONE_SELECT}"),
    (("PROCEDURE",), f"it calls a procedure; {_ONE_SELECT}"),
    (("NEXT", "VALUE", "FOR"), f"it moves a sequence on; {_ONE_SELECT}"),
    (("PREVIOUS", "VALUE", "FOR"), f"it asks a sequence; {_ONE_SELECT}"),
    (("NEXTVAL",), f"it moves a sequence on; {_ONE_SELECT}"),
)
_SIGNS = {
    TokenType.HINT: "a hint to the optimizer can change settings and limits; take it out",
    TokenType.PARAMETER: _VARIABLE,
    TokenType.SESSION_PARAMETER: _VARIABLE,
    TokenType.COLON_EQ: _VARIABLE,
}
_FORBIDDEN = (
    *(exp.Command, exp.DDL, exp.Delete, exp.Insert, exp.Into, exp.Lock, exp.Merge, exp.Pragma),
    *(exp.Set, exp.Update),
)
_SELECTS = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)


@dataclass(frozen=True, slots=True)
class Rules:
    """What passes in one dialect."""

    lexis: Lexis
    functions: frozenset[str]
    """Those that only compute, casefolded."""
    syntax: frozenset[str]
    """Words of the language that may stand before a bracket, casefolded."""
    hidden: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Schemas of the server's own, casefolded, and which of their tables may be read."""


def checked(
    sql: str,
    parameters: Mapping[str, Scalar],
    rules: Rules,
    allowed: frozenset[str],
    marks: Mapping[str, str],
) -> Statement:
    """The statement, if it is one SELECT that calls nothing but listed or `allowed` functions.

    `marks` is what is written for each parameter. Raises `QueryRefused`, and `QueryError` when it
    is not SQL that SQLGlot reads.
    """
    if len(sql) > _LONGEST:
        raise QueryRefused(sql[:20], f"it is longer than {_LONGEST} characters; shorten it")
    if "\0" in sql:
        raise QueryRefused("\\0", "a NUL character ends the text for the engine; remove it")
    tokens = tokenized(sql, rules.lexis)
    _check_one(tokens)
    text = without_comments(sql, tokens, rules.lexis)
    if parameters:
        text = marked(text, tokens, parameters, marks)
        tokens = tokenized(text, rules.lexis)
        text = without_comments(text, tokens, rules.lexis)
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        # Some servers take none at the end.
        text = text[: tokens.pop().start]
    _check_words(text, tokens)
    tree = _parsed(text, rules.lexis.dialect)
    if not isinstance(tree, _SELECTS) or tree.find(*_FORBIDDEN) is not None:
        raise QueryRefused(tokens[0].text.upper(), _ONE_SELECT)
    left = [each.name or None for each in tree.find_all(exp.Placeholder)]
    if missing := [name for name in dict.fromkeys(left) if f":{name}" not in marks.values()]:
        raise without_value(missing)
    _check_functions(text, tokens, set(_column_lists(tree)), rules, allowed)
    _check_schemas(tokens, rules.hidden)
    return Statement(text, frozenset(_tables(text, tree)))


def _check_one(tokens: Sequence[Token]) -> None:
    """It begins as a SELECT does, and only one thing is in it."""
    first = next((each for each in tokens if each.token_type != TokenType.L_PAREN), None)
    if first is None or first.token_type == TokenType.SEMICOLON:
        raise QueryRefused("", f"there is no statement in it; {_ONE_SELECT}")
    word = first.text.upper()
    if word not in _BEGINNINGS:
        # Some of the words that begin a statement are two.
        raise QueryRefused(word.split()[0] if word.strip() else word, _ONE_SELECT)
    ended = False
    for each in tokens:
        if each.token_type == TokenType.SEMICOLON:
            ended = True
        elif ended:
            raise QueryRefused(each.text.upper(), f"a second statement; {_ONE_SELECT}")


def _check_words(text: str, tokens: Sequence[Token]) -> None:
    said = words(text, tokens)
    for place, token in enumerate(tokens):
        if token.token_type in _SIGNS:
            raise QueryRefused(token.text[:40], _SIGNS[token.token_type])
        for sequence, why in _SEQUENCES:
            if tuple(said[place : place + len(sequence)]) == sequence:
                raise QueryRefused(" ".join(sequence), why)


def _parsed(text: str, dialect: str) -> exp.Expr:
    try:
        with _without_warnings():
            trees = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    except ParseError as error:
        told = error.errors[0] if error.errors else {}
        found = str(told.get("highlight") or "")
        why = str(told.get("description") or "it is no SQL").partition(" but got <")[0]
        line, end = told.get("line"), told.get("col")
        begin = end - len(found) + 1 if isinstance(end, int) else None
        raise QueryError(
            f"it cannot be read as {dialect} SQL, so it is not run: {why} at {found!r}",
            line if isinstance(line, int) else None,
            begin,
        ) from None
    except RecursionError:
        raise QueryRefused("(", "it is nested too deeply; flatten it") from None
    except Exception as error:  # noqa: BLE001 - of SQLGlot 30.30 also AttributeError, on odd texts
        raise QueryError(
            f"it cannot be read as {dialect} SQL, so it is not run ({type(error).__name__})"
        ) from None
    if len(trees) != 1:
        raise QueryRefused(text.strip()[:20], _ONE_SELECT)
    return trees[0]


@contextmanager
def _without_warnings() -> Generator[None]:
    """SQLGlot logs what it does not understand, with the text, which is nobody else's to read."""
    log = logging.getLogger("sqlglot")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _column_lists(tree: exp.Expr) -> Iterator[int]:
    """Where a name stands before a bracket that names columns: `WITH t(a, b)`, `AS t(a, b)`."""
    for alias in tree.find_all(exp.TableAlias):
        if alias.args.get("columns") and isinstance(alias.this, exp.Identifier):
            start = alias.this.meta.get("start")
            if isinstance(start, int):
                yield start


def _check_functions(
    text: str, tokens: Sequence[Token], lists: set[int], rules: Rules, allowed: frozenset[str]
) -> None:
    before = ""
    for token, following in pairwise(tokens):
        qualified, before = before == ".", token.text
        source = text[token.start : token.end + 1]
        if following.token_type != TokenType.L_PAREN or token.start in lists:
            continue
        if token.token_type == TokenType.IDENTIFIER:
            raise QueryRefused(token.text, _QUOTED)
        name = source.casefold()
        if not re.match(r"[^\W\d]", name):
            continue
        if name in allowed or (not qualified and (name in rules.functions or name in rules.syntax)):
            continue
        raise QueryRefused(source, _NOT_ALLOWED)


def _check_schemas(tokens: Sequence[Token], hidden: Mapping[str, frozenset[str]]) -> None:
    """Refuse the server's own tables wherever they might be named, in a tree or not."""
    for spot, dot, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        readable = hidden.get(spot.text.casefold())
        if dot.text == "." and readable is not None and name.text.casefold() not in readable:
            raise QueryRefused(f"{spot.text}.{name.text}", _TELLS)


def _tables(text: str, tree: exp.Expr) -> Iterator[str]:
    defined = {each.alias_or_name.casefold() for each in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        start = table.this.meta.get("start", 0) if isinstance(table.this, exp.Expr) else 0
        if isinstance(table.this, exp.Literal | exp.Var) or text[start : start + 1] == "'":
            raise QueryRefused(table.name, "a file or another place to read from is no table here")
        name = table.name.casefold()
        if isinstance(table.this, exp.Identifier) and not table.db and name not in defined:
            yield name
