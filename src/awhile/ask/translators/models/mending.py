"""SQL that a model wrote, with columns put back into the tables that have them.

Source: ours. Most of a small model's mistakes are two: a column taken from the wrong table, and a
table that is used without a join. The syntax tree and the foreign keys mend both, where there is
one way to do it. Whatever is changed is said: a text that was mended may run and still be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from awhile.ask.translators.joins import Joins, TwoWays
from awhile.ask.translators.models.idioms import localised

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from awhile.ask.schema import ForeignKey, Schema, Table
    from awhile.ask.translators.joins import Hop

__all__ = ["Mended", "Unreadable", "mended", "one_select"]

LONGEST_SQL = 20_000
"""Characters of SQL that are still read."""


class Unreadable(Exception):
    """The text is not one SELECT; its words say what it is instead."""


@dataclass(frozen=True, slots=True)
class Mended:
    """One SELECT, its syntax tree, and a sentence for each thing that was changed in it."""

    sql: str
    tree: exp.Query
    repairs: tuple[str, ...]


def one_select(text: str, dialect: str) -> exp.Query:
    """The syntax tree of a text that is exactly one SELECT.

    Raises:
        Unreadable: it is something else, or more than one.
    """
    if len(text) > LONGEST_SQL:
        raise Unreadable(f"it is longer than {LONGEST_SQL:,} characters")
    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Unreadable(f"it cannot be read as {dialect} SQL ({first})") from error
    if len(trees) != 1:
        raise Unreadable(f"it holds {len(trees)} statements, and one is wanted")
    if not isinstance(trees[0], exp.Query):
        raise Unreadable(f"it is {trees[0].key.upper()}, and only a SELECT can be run")
    return trees[0]


def mended(text: str, schema: Schema, today: date) -> Mended:
    """The SELECT with what can be mended in one way mended; the rest is left as it was written.

    A join is added only along a key from a table that is there to one that is looked up, so it
    never multiplies rows.

    Raises:
        Unreadable: the text is not one SELECT.
    """
    tree = one_select(text, schema.dialect)
    mending = _Mending(schema)
    try:
        for scope in traverse_scope(tree):
            mending.mend(scope)
        mending.repairs += localised(tree, schema, today)
    except (SqlglotError, RecursionError):  # what it cannot resolve, the engine will name
        return Mended(text, tree, ())
    if not mending.repairs:
        return Mended(text, tree, ())
    sql = tree.sql(dialect=schema.dialect, pretty=True)
    return Mended(sql, tree, tuple(dict.fromkeys(mending.repairs)))


@dataclass(slots=True)
class _Mending:
    schema: Schema
    repairs: list[str] = field(default_factory=list[str])

    def mend(self, scope: Scope) -> None:
        """One SELECT of the text, with the sources in its own FROM."""
        select = scope.expression
        if not isinstance(select, exp.Select) or select.args.get("from_") is None:
            return
        sources = self._tables_of(scope)
        if len(sources) != len(scope.selected_sources):
            return  # what a CTE or a subquery gives is not in the card: nothing is certain here
        aliases = {alias.casefold() for alias in _aliases(select)}
        joined = _Joined(select, sources, Joins(self.schema), self.schema)
        for column in list(scope.columns):
            self._home(column, joined, aliases)

    def _home(self, column: exp.Column, joined: _Joined, aliases: set[str]) -> None:
        of, name = column.table, column.name
        table = joined.sources.get(of.casefold()) if of else None
        if not name or isinstance(column.this, exp.Star) or (table and table.column(name)):
            return
        if not of and (name.casefold() in aliases or joined.has(name)):
            return
        if of and table is None:
            wanted = self.schema.table(of)
            if wanted is None or wanted.column(name) is None or not (to := joined.reach(wanted)):
                return
            column.set("table", exp.to_identifier(to))
            self.repairs.append(f"{wanted.name} was used without a join, and is joined by its key")
            return
        here = joined.having(name)
        if len(here) == 1:
            column.set("table", exp.to_identifier(here[0]))
            self.repairs.append(
                f"{name} was taken from {_called(table, of)}, and is a column of "
                f"{joined.sources[here[0].casefold()].name}"
            )
        elif not here:
            homes = [one for one in self.schema.tables if one.column(name)]
            reached = [(one, to) for one in homes if (to := joined.can_reach(one))]
            if len(reached) == 1:
                home = reached[0][0]
                column.set("table", exp.to_identifier(joined.reach(home)))
                self.repairs.append(
                    f"{name} is a column of {home.name}, which is joined by its key"
                )

    def _tables_of(self, scope: Scope) -> dict[str, Table]:
        found: dict[str, Table] = {}
        for alias, (_, source) in scope.selected_sources.items():
            if isinstance(source, exp.Table):
                qualified = f"{source.db}.{source.name}" if source.db else source.name
                table = self.schema.table(qualified)
                if table is not None:
                    found[alias.casefold()] = table
        return found


@dataclass(slots=True)
class _Joined:
    """A SELECT, the tables in its FROM by their aliases, and those that could be added."""

    select: exp.Select
    sources: dict[str, Table]
    joins: Joins
    schema: Schema

    def has(self, name: str) -> bool:
        return any(table.column(name) for table in self.sources.values())

    def having(self, name: str) -> list[str]:
        return [alias for alias, table in self.sources.items() if table.column(name)]

    def can_reach(self, wanted: Table) -> bool:
        return bool(self._way(wanted))

    def reach(self, wanted: Table) -> str | None:
        """The alias of a table, joined if it was not there; None where no one way leads to it."""
        for alias, table in self.sources.items():
            if table.name == wanted.name:
                return alias
        way = self._way(wanted)
        if way is None:
            return None
        alias, hops = way
        for hop in hops:
            alias = self._add(alias, hop.key)
        return alias

    def _way(self, wanted: Table) -> tuple[str, tuple[Hop, ...]] | None:
        ways: list[tuple[str, tuple[Hop, ...]]] = []
        for alias, table in self.sources.items():
            if wanted.name in self.joins.reach(table.name):
                try:
                    ways.append((alias, self.joins.path(table.name, wanted.name)))
                except TwoWays:
                    return None
        ways.sort(key=lambda way: len(way[1]))
        if not ways or (len(ways) > 1 and len(ways[0][1]) == len(ways[1][1])):
            return None
        return ways[0]

    def _add(self, alias: str, key: ForeignKey) -> str:
        target = self.schema.table(key.table)
        assert target is not None  # `Joins` keeps keys to tables of the card alone
        for known, table in self.sources.items():
            if table is target:
                return known
        name = target.name.rpartition(".")[2]
        conditions = [
            exp.column(there, table=name).eq(exp.column(here, table=alias))
            for here, there in zip(key.columns, key.referenced_columns, strict=True)
        ]
        self.select.join(
            exp.to_table(target.name, dialect=self.schema.dialect),
            on=exp.and_(*conditions),
            join_type="left",
            copy=False,
        )
        self.sources[name.casefold()] = target
        return name


def _aliases(select: exp.Select) -> Iterable[str]:
    return (one.alias for one in select.expressions if one.alias)


def _called(table: Table | None, alias: str) -> str:
    return table.name if table is not None else alias or "no table"
