"""Slips in a model's SELECT that leave it running, with a result that says nothing.

Source: ours, from what models write: figures of groups without what each group is, and a "without"
that contradicts itself, which no row can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.identifiers import known_table
from awhile.ask.translators.models.sources import conjuncts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from awhile.ask.schema import Schema

__all__ = ["put_right"]


def put_right(tree: exp.Query, schema: Schema) -> Iterator[str]:
    """Put the slips of one SELECT right, in the tree itself; a sentence for each."""
    for select in tree.find_all(exp.Select):
        yield from _without(select, schema)
    if isinstance(tree, exp.Select):
        yield from _groups(tree, schema.dialect)


def _groups(select: exp.Select, dialect: str) -> Iterator[str]:
    """Show what the rows are groups of, where figures alone are shown."""
    group = select.args.get("group")
    keys: list[exp.Expr] = list(group.expressions) if group else []
    figures = all(one.find(exp.AggFunc) for one in select.expressions)
    order = select.args.get("order")
    places = [*keys, *(one.this for one in order.expressions)] if order else keys
    if not keys or not figures or any(isinstance(one, exp.Literal | exp.Tuple) for one in places):
        return
    if any(key.find(exp.AggFunc, exp.Rollup, exp.Cube, exp.GroupingSets) for key in keys):
        return  # the first the database has to refuse, and the others are no values
    shown = {one.alias.casefold() for one in select.expressions}
    if any(key.name.casefold() in shown for key in keys if isinstance(key, exp.Column)):
        return
    if select.args.get("distinct"):  # each different figure, whatever it is of
        return
    select.set("expressions", [*(key.copy() for key in keys), *select.expressions])
    said = " and ".join(key.sql(dialect=dialect) for key in keys)
    yield f"each row is of one {said}, which is shown, too"


def _without(select: exp.Select, schema: Schema) -> Iterator[str]:
    """Look for what is not there under the conditions on it, not for what meets them and is not.

    ``FROM a LEFT JOIN b ON … WHERE b.x IS NULL AND b.y > 3`` finds nothing ever: a row without a b
    has no b.y. What is meant is a row without such a b.
    """
    where = select.args.get("where")
    if where is None:
        return
    for join in select.args.get("joins") or ():
        if join.side != "LEFT" or not isinstance(join.this, exp.Table) or not join.args.get("on"):
            continue
        alias = join.alias_or_name.casefold()
        conditions = conjuncts(where.this)
        never = _never_null(join, alias, schema)
        missing = [one for one in conditions if _is_null(one, alias, never)]
        of_it = [one for one in conditions if _needs(one, alias)]
        if not missing or not of_it:
            continue
        join.set("on", exp.and_(join.args["on"], *(one.copy() for one in of_it)))
        left = [one for one in conditions if all(one is not each for each in of_it)]
        where.set("this", exp.and_(*left))
        yield (
            f"a row without {join.this.name} is one without any that meets the conditions on it; "
            "as it was written there could be none"
        )


def _never_null(join: exp.Join, alias: str, schema: Schema) -> set[str]:
    """The columns that every row has which the join finds: its key, and those it is found by.

    Another one that is empty may well be what is asked for, in a row that is there.
    """
    known = known_table(join.this, schema)
    by = {
        column.name.casefold()
        for each in conjuncts(join.args.get("on"))
        if isinstance(each, exp.EQ)
        for column in (each.this, each.expression)
        if isinstance(column, exp.Column) and column.table.casefold() == alias
    }
    return by.union(one.casefold() for one in (known.primary_key if known else ()))


def _is_null(condition: exp.Expr, alias: str, never: Collection[str]) -> bool:
    return (
        isinstance(condition, exp.Is)
        and isinstance(condition.expression, exp.Null)
        and isinstance(condition.this, exp.Column)
        and condition.this.table.casefold() == alias
        and condition.this.name.casefold() in never
    )


def _needs(condition: exp.Expr, alias: str) -> bool:
    """Whether it is a comparison of that table's columns alone, which no missing row can meet."""
    if not isinstance(condition, exp.Binary | exp.Between | exp.In) or isinstance(
        condition, exp.Is | exp.Or | exp.NullSafeEQ
    ):
        return False
    columns = list(condition.find_all(exp.Column))
    plain = not any(True for _ in condition.find_all(exp.Coalesce, exp.Case, exp.Query, exp.Or))
    return plain and bool(columns) and all(one.table.casefold() == alias for one in columns)
