"""What a SELECT computes, in plain words taken from its syntax tree.

Source: ours. A model's own account of its SQL may be of another query than the one it wrote; this
one cannot be. It is not elegant, and it is what will run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["said_of"]

_MOST = 6
"""Items of one kind that are told; of more, their number."""
_LONGEST = 120
"""Characters of one expression; the SQL itself is shown beside this."""


def said_of(tree: exp.Query, dialect: str) -> str:
    """A few sentences about one SELECT."""
    sentences: list[str] = []
    for cte in tree.ctes:
        sentences.append(f"First, as {cte.alias}: {_query(cte.this, dialect)}.")
    start = "Then it" if sentences else "It"
    sentences.append(f"{start} shows {_query(tree, dialect)}.")
    return " ".join(sentences)


def _query(tree: exp.Expr, dialect: str) -> str:
    if isinstance(tree, exp.Subquery):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        how = {exp.Union: "together with", exp.Except: "without", exp.Intersect: "also in"}
        word = next((text for kind, text in how.items() if isinstance(tree, kind)), "and")
        return f"{_query(tree.left, dialect)}, {word} {_query(tree.right, dialect)}"
    if not isinstance(tree, exp.Select):
        return _text(tree, dialect)
    parts = [_list((_column(one, dialect) for one in tree.expressions), "columns")]
    if tree.args.get("distinct"):
        parts[0] = f"each different {parts[0]}"
    if source := tree.args.get("from_"):
        joins = tree.args.get("joins") or ()
        tables = [_source(one.this, dialect) for one in (source, *joins)]
        parts.append(f"from {_list(tables, 'tables')}")
    if where := tree.args.get("where"):
        parts.append(f"only where {_text(where.this, dialect)}")
    if group := tree.args.get("group"):
        by = [_grouping(one, tree, dialect) for one in group.expressions]
        parts.append(f"for each {_list(by, 'groups')}" if by else "in groups")
    if having := tree.args.get("having"):
        parts.append(f"and of those only where {_text(having.this, dialect)}")
    if order := tree.args.get("order"):
        by = (_ordering(one, dialect) for one in order.expressions)
        parts.append(f"in the order of {_list(by, 'keys')}")
    if limit := tree.args.get("limit"):
        parts.append(f"at most {_text(limit.expression, dialect)} rows")
    return ", ".join(parts)


def _column(one: exp.Expr, dialect: str) -> str:
    if isinstance(one, exp.Star):
        return "all columns"
    if isinstance(one, exp.Alias):
        return f"{_text(one.this, dialect)} (called {one.alias})"
    return _text(one, dialect)


def _source(one: exp.Expr, dialect: str) -> str:
    if isinstance(one, exp.Table):
        return one.name
    if isinstance(one, exp.Subquery):
        return f"({_query(one, dialect)})"
    return _text(one, dialect)


def _grouping(one: exp.Expr, select: exp.Select, dialect: str) -> str:
    if isinstance(one, exp.Literal) and one.is_int:
        place = int(one.name) - 1
        if 0 <= place < len(select.expressions):
            one = select.expressions[place]
            one = one.this if isinstance(one, exp.Alias) else one
    return _text(one, dialect)


def _ordering(one: exp.Expr, dialect: str) -> str:
    if isinstance(one, exp.Ordered):
        largest = ", largest first" if one.args.get("desc") else ""
        return f"{_text(one.this, dialect)}{largest}"
    return _text(one, dialect)


def _list(items: Iterable[str], what: str) -> str:
    told = list(items)
    if len(told) > _MOST:
        return f"{len(told)} {what}"
    if not told:
        return f"no {what}"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _text(tree: exp.Expr, dialect: str) -> str:
    sql = " ".join(tree.sql(dialect=dialect, comments=False).split())
    return sql if len(sql) <= _LONGEST else f"{sql[:_LONGEST]} …"
