"""Exactly one statement that only reads: behind the weak role and the read-only transaction.

The text is parsed by PostgreSQL's own parser (`pgparse`, which is libpg_query) into the tree the
server would see, and that tree is walked. Functions pass by an allow list, tables of the server's
own by a list of those that tell of other people or of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pgparse

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import QueryError, QueryRefused
from awhile.ask.engines.listed import listed
from awhile.ask.engines.parameters import bound, valued
from awhile.ask.engines.words import first_word

__all__ = ["Statement", "checked"]

_LONGEST = 200_000
_DEEPEST = 400
"""Brackets within one another; PostgreSQL's parser gives up long after."""

_ONE_SELECT = "exactly one SELECT (or WITH ... SELECT) is run here: the database is only read"
_NOT_ALLOWED = (
    "it is not on the list of functions that only compute; one of your own can be allowed by "
    "?functions= in the database's URL"
)
_TELLS = "it tells of other people's queries, of secrets or of the machine, not the database's data"

_FUNCTIONS = listed("awhile.ask.engines.postgres", "functions.txt")
_TABLES = listed("awhile.ask.engines.postgres", "tables.txt")
_NAMES = listed("awhile.ask.engines.postgres", "names.txt")
_NAMES_ALL = (
    "it names what others may read, too; information_schema.tables and .columns name what you may"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A text that may run, and what it names that only the database can resolve."""

    sql: str
    """As PostgreSQL takes it, its parameters numbered."""
    parameters: tuple[str, ...]
    """Their names, in the order of their numbers."""
    functions: frozenset[str]
    columns: frozenset[str]
    operators: frozenset[str]
    types: frozenset[str]


def checked(
    sql: str,
    parameters: Mapping[str, Scalar],
    allowed: frozenset[str] = frozenset(),
    *,
    private: bool = False,
) -> Statement:
    """The statement, if it is one SELECT that calls nothing but listed or `allowed` functions.

    `private`: not everybody may read the same, so what names everything is refused.

    Raises `QueryRefused`, and `QueryError` when it is not SQL at all.
    """
    if len(sql) > _LONGEST:
        raise QueryRefused(sql[:20], f"it is longer than {_LONGEST} characters; shorten it")
    if "\0" in sql:
        raise QueryRefused("\\0", "a NUL character ends the text for the engine; remove it")
    if _depth(sql) > _DEEPEST:
        raise QueryRefused("(", f"brackets are nested more than {_DEEPEST} deep; flatten it")
    names = tuple(parameters)
    for name, value in parameters.items():
        if isinstance(value, str) and "\0" in value:
            raise QueryRefused(f":{name}", "PostgreSQL has no text with a NUL character in it")
    text, tree = valued(sql, parameters, lambda given: _numbered(sql, tuple(given)))
    functions: set[str] = set()
    columns: set[str] = set()
    operators: set[str] = set()
    types: set[str] = set()
    for kind, node in _nodes(tree):
        if kind.endswith("Stmt") and kind != "SelectStmt":
            raise QueryRefused(kind.removesuffix("Stmt").upper(), _ONE_SELECT)
        match kind:
            case "SelectStmt" if "intoClause" in node:
                raise QueryRefused("INTO", f"it makes a table; {_ONE_SELECT}")
            case "SelectStmt" if "lockingClause" in node:
                raise QueryRefused("FOR", f"it locks rows; {_ONE_SELECT}")
            case "FuncCall":
                functions.add(_function(_strings(node["funcname"]), allowed))
            case "A_Expr" | "SubLink" | "SortBy":
                key = {"A_Expr": "name", "SubLink": "operName", "SortBy": "useOp"}[kind]
                operators.update(_operator(_strings(node.get(key, []))))
            case "TypeName" | "typeName":
                types.update(_type(_strings(node.get("names", []))))
            case "RangeVar":
                _check_table(node, private=private)
            case "ColumnRef" | "A_Indirection":
                columns.update(_strings(node.get("fields", node.get("indirection", []))))
            case _:
                pass
    return Statement(
        text,
        names,
        frozenset(functions),
        frozenset(columns),
        frozenset(operators),
        frozenset(types),
    )


def _numbered(sql: str, names: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The text with its parameters numbered, and its tree."""
    text = bound(sql, dict.fromkeys(names), lambda name: f"${names.index(name) + 1}")
    return text, _only_select(text)


def _only_select(sql: str) -> dict[str, Any]:
    try:
        found: list[dict[str, Any]] = pgparse.parse(sql)
    except pgparse.PGQueryError as error:
        at = error.position
        ahead = sql[: max(at - 1, 0)]
        line, column = ahead.count("\n") + 1, len(ahead) - (ahead.rfind("\n") + 1) + 1
        raise QueryError(str(error.message), line if at else None, column if at else None) from None
    except RecursionError:
        raise QueryRefused("(", "it is nested too deeply; flatten it") from None
    if not found:
        raise QueryRefused("", f"there is no statement in it; {_ONE_SELECT}")
    if len(found) > 1:
        raise QueryRefused(_word(sql, found[1]), f"a second statement; {_ONE_SELECT}")
    if _kind(found[0]) != "SelectStmt":
        raise QueryRefused(_word(sql, found[0]), _ONE_SELECT)
    return found[0]["stmt"]


def _function(name: list[str], allowed: frozenset[str]) -> str:
    spot, own = ("", name[0]) if len(name) == 1 else (name[-2], name[-1])
    if own in allowed:
        return own
    if own not in _FUNCTIONS or spot not in ("", "pg_catalog"):
        raise QueryRefused(own, _NOT_ALLOWED)
    return own


def _operator(name: list[str]) -> list[str]:
    """Its own name; nothing where it is said to be PostgreSQL's, or there is none."""
    if len(name) < 2:
        return name
    if name[0] != "pg_catalog":
        word = f"OPERATOR({'.'.join(name)})"
        raise QueryRefused(word, "only PostgreSQL's own operators may be")
    return []


def _type(name: list[str]) -> list[str]:
    """Its own name; nothing where it is PostgreSQL's (as the parser says of `int` and such)."""
    return [] if name[:1] == ["pg_catalog"] else name[-1:]


def _check_table(node: dict[str, Any], *, private: bool) -> None:
    name, spot = str(node.get("relname", "")), node.get("schemaname", "pg_catalog")
    if spot == "pg_catalog" and name in _TABLES:
        raise QueryRefused(name, _TELLS)
    if private and spot == "pg_catalog" and name in _NAMES:
        raise QueryRefused(name, _NAMES_ALL)
    if str(spot).startswith(("pg_toast", "pg_temp")):
        raise QueryRefused(f"{spot}.{name}", _TELLS)


def _kind(raw: dict[str, Any]) -> str:
    return next(iter(raw["stmt"]))


def _word(sql: str, raw: dict[str, Any]) -> str:
    """The word a statement begins with; its place is counted in bytes."""
    return first_word(sql.encode()[raw.get("stmt_location", 0) :].decode(errors="replace"))


def _depth(sql: str) -> int:
    """Opening brackets not closed again, at most; those in texts count, which does no harm."""
    deepest = depth = 0
    for letter in sql:
        if letter in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]":
            depth -= 1
    return deepest


def _strings(nodes: list[Any]) -> list[str]:
    return [node["String"]["sval"] for node in nodes if "String" in node]


def _nodes(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every node with the name of its kind; where it is known by its place alone, that."""
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        kind, each = waiting.pop()
        if isinstance(each, dict):
            node = cast("dict[str, Any]", each)
            yield kind, node
            waiting.extend(node.items())
        elif isinstance(each, list):
            waiting.extend((kind, one) for one in cast("list[Any]", each))
