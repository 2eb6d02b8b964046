"""Joins that a model wrote by columns that are not there, or of tables that nothing is asked of.

Source: ours, from what models write: a join of two tables by a column that only one of them has,
and a table joined on the way that is then not used, which repeats every row for each of its own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from sqlglot import exp

from awhile.ask.translators.models.sources import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from awhile.ask.translators.joins import Hop
    from awhile.ask.translators.models.sources import Sources

__all__ = ["rejoined", "unrepeated"]

_LONGEST_WAY = 2
"""Keys between two tables that a model has joined by none: over one table between them."""


def rejoined(sources: Sources) -> Iterator[str]:
    """Join by their keys what is joined by a column that is not there, where there is one way; a
    sentence for each."""
    before = [next(iter(sources.tables), "")]
    for join in list(sources.select.args.get("joins") or ()):
        alias = sources.alias(join.alias_or_name)
        if alias is None:
            return
        if wrong := _wrong(sources, join):
            way = _way(sources, before, alias)
            if way is not None:
                yield _rejoin(sources, join, wrong, way)
        before.append(alias)


def _wrong(sources: Sources, join: exp.Join) -> list[exp.EQ]:
    """The equations of a join that name a column which its table does not have."""
    found: list[exp.EQ] = []
    for each in conjuncts(join.args.get("on")):
        columns = list(each.find_all(exp.Column))
        if isinstance(each, exp.EQ) and len(columns) > 1:
            tables = [sources.tables.get(sources.alias(one.table) or "") for one in columns]
            pairs = zip(columns, tables, strict=True)
            if all(tables) and any(table and not sources.holds(table, one) for one, table in pairs):
                found.append(each)
    return found


def _way(
    sources: Sources, before: Sequence[str], alias: str
) -> tuple[str, str, tuple[Hop, ...]] | None:
    """From which alias, to which, and along which keys; None where there are two ways, or none, or
    one over a table that is in the FROM: it is joined further on, and how is not for this one."""
    end = sources.tables[alias].name
    ways = [
        (start, alias, hops)
        for start in before
        for hops in sources.joins.links(sources.tables[start].name, end, _LONGEST_WAY)
    ]
    ways.sort(key=lambda way: len(way[2]))
    if not ways or (len(ways) > 1 and len(ways[0][2]) == len(ways[1][2])):
        return None
    between = _between(sources.tables[ways[0][0]].name, ways[0][2])
    return None if any(map(sources.alias_of, between)) else ways[0]


def _between(start: str, hops: Sequence[Hop]) -> list[str]:
    """The tables that a way from one to another goes over."""
    return list(itertools.accumulate(hops[:-1], lambda at, hop: hop.other(at), initial=start))[1:]


def _rejoin(
    sources: Sources,
    join: exp.Join,
    wrong: Sequence[exp.EQ],
    way: tuple[str, str, tuple[Hop, ...]],
) -> str:
    at, end, hops = way
    between = _between(sources.tables[at].name, hops)
    conditions = [
        one for one in conjuncts(join.args["on"]) if all(one is not each for each in wrong)
    ]
    for hop, table in zip(hops, [*between, None], strict=True):
        to = sources.free_alias(table) if table else end
        held = hop.table == sources.tables[at].name
        condition = sources.keyed(hop.key, *((at, to) if held else (to, at)))
        if table:
            sources.add(table, to, condition, side=join.side or None, before=join)
        else:
            conditions.append(condition)
        at = to
    join.set("on", exp.and_(*conditions, copy=False))
    over = f" over {between[0]}" if between else ""
    return (
        f"{sources.tables[end].name} was joined by a column that is not there, and is joined by "
        f"keys{over}"
    )


def unrepeated(sources: Sources, *, is_last: bool) -> Iterator[str]:
    """Let a table that repeats rows and is asked for nothing only be there; a sentence for each.

    Where rows are counted, what is joined may be what is counted: that stays as it is. So do the
    rows of a SELECT that is not the last one, for what is around it may count them.
    """
    select = sources.select
    aggregates = any(True for _ in select.find_all(exp.AggFunc))
    joins: list[exp.Join] = list(select.args.get("joins") or ())
    if (
        any(map(_weighs_rows, select.find_all(exp.AggFunc)))
        or select.args.get("distinct")
        or not (aggregates or (is_last and not select.args.get("group")))
        or any(True for _ in select.find_all(exp.Star, exp.Window))
        # They name columns by no table; or keep rows that no condition afterwards may take away.
        or any(
            one.args.get("using") or one.method or one.side in ("RIGHT", "FULL") for one in joins
        )
    ):
        return
    for join in joins:
        alias = sources.alias(join.alias_or_name)
        on = join.args.get("on")
        if alias is None or on is None:
            continue
        if _used(sources, alias, join) or not _repeats(sources, alias, on):
            continue
        select.args["joins"].remove(join)
        table = sources.tables.pop(alias)
        told = "is left out"
        if not join.side:
            there = exp.select("1").from_(join.this.copy()).where(on.copy())
            select.where(exp.Exists(this=there), copy=False)
            told = "now only has to have a row that fits"
        yield f"{table.name} repeated rows, and nothing of it is asked for: it {told}"


def _weighs_rows(aggregate: exp.AggFunc) -> bool:
    """Whether a row that comes twice counts twice: that may be what is asked, as in the average
    price of what was sold."""
    return isinstance(aggregate, exp.Count | exp.CountIf | exp.Sum | exp.Avg) and not isinstance(
        aggregate.this, exp.Distinct
    )


def _used(sources: Sources, alias: str, join: exp.Join) -> bool:
    for column in sources.select.find_all(exp.Column):
        if column.find_ancestor(exp.Join) is join:
            continue
        if column.table:
            if sources.alias(column.table) == alias:
                return True
        elif sources.tables[alias].column(column.name):
            return True
    return False


def _repeats(sources: Sources, alias: str, on: exp.Expr) -> bool:
    """Whether a row may find several of that table: where it is found by a key, it does not."""
    table = sources.tables[alias]
    by = {
        column.name.casefold()
        for each in conjuncts(on)
        if isinstance(each, exp.EQ)
        for column in each.find_all(exp.Column)
        if sources.alias(column.table) == alias
    }
    keys = [table.primary_key] + [
        key.referenced_columns
        for one in sources.schema.tables
        for key in one.foreign_keys
        if key.table == table.name
    ]
    return bool(by) and not any(key and {one.casefold() for one in key} <= by for key in keys)
