"""The tables in the FROM of one SELECT that a model wrote, and those that keys lead to.

Source: ours.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from awhile.ask.translators.identifiers import identifier, known_table, named_table
from awhile.ask.translators.joins import TwoWays

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from awhile.ask.schema import ForeignKey, Schema, Table
    from awhile.ask.translators.joins import Hop, Joins

__all__ = ["Sources", "as_it_is", "conjuncts", "sources_of"]


_MOST_TABLES = 30
"""In one FROM, with those that are joined in mending; the ways between more are too many."""
_OF_EVERY_TABLE = {
    "duckdb": ("rowid",),
    "postgres": ("ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"),
    "sqlite": ("rowid", "oid", "_rowid_"),
}
"""Columns of every table, which are not on its card."""


def sources_of(scope: Scope, schema: Schema, joins: Joins) -> Sources | None:
    """Those of a scope; None where one of them is no table of the schema, as it is there: what a
    subquery or a WITH gives is not in the card, and nothing is certain. None, too, where what a
    WITH gives is called like a table, which then cannot be joined by its name."""
    select = scope.expression
    assert isinstance(select, exp.Select)
    tables: dict[str, Table] = {}
    written: dict[str, exp.Identifier] = {}
    if len(scope.selected_sources) > _MOST_TABLES or any(map(schema.table, scope.cte_sources)):
        return None
    for alias, (_, source) in scope.selected_sources.items():
        if not isinstance(source, exp.Table) or (table := as_it_is(source, schema)) is None:
            return None
        tables[alias] = table
        written[alias] = source.args["alias"].this if source.alias else source.this
    if len(tables) != 1 + len(select.args.get("joins") or ()):
        return None  # a SEMI or ANTI JOIN, whose table is there for its condition alone
    return Sources(select, tables, written, schema, joins, tuple(_around(scope)))


def as_it_is(source: exp.Table, schema: Schema) -> Table | None:
    """The table of the schema that one in a FROM is; None where its columns are turned round or
    called otherwise there."""
    if source.args.get("pivots") or source.alias_column_names:
        return None
    return known_table(source, schema)


def _around(scope: Scope) -> Iterator[tuple[str, exp.Expr | Scope]]:
    """What a subquery may name beside what is in its own FROM, by its aliases."""
    while (parent := scope.parent) is not None:
        if not scope.is_cte:  # what is in a WITH sees what is around it, and not the FROM after it
            for alias, (_, source) in parent.selected_sources.items():
                if source is not scope:
                    yield alias, source
        scope = parent


@dataclass(slots=True)
class Sources:
    """A SELECT and the tables in its FROM by their aliases, in their order there."""

    select: exp.Select
    tables: dict[str, Table]
    written: dict[str, exp.Identifier]
    """The aliases as the SELECT has them: what is not in quotes has no upper case in some."""
    schema: Schema
    joins: Joins
    around: Sequence[tuple[str, exp.Expr | Scope]] = ()
    """What a subquery may name of the SELECTs around it."""

    def alias(self, name: str) -> str | None:
        """The alias that a name before a dot means, upper and lower case alike."""
        return next((one for one in self.tables if one.casefold() == name.casefold()), None)

    def name(self, alias: str) -> exp.Identifier:
        """An alias as it is written; of a table that is joined in mending, as the schema has it."""
        known = self.written.get(alias)
        return known.copy() if known else identifier(alias, self.schema.dialect)

    def holds(self, table: Table, column: exp.Column) -> bool:
        """Whether a table has that column, or every table of the database."""
        every = _OF_EVERY_TABLE.get(self.schema.dialect, ())
        return table.column(column.name) is not None or column.name.casefold() in every

    def having(self, column: str) -> list[str]:
        """The aliases of the tables with a column of that name."""
        return [alias for alias, table in self.tables.items() if table.column(column)]

    def is_around(self, column: exp.Column) -> bool:
        """Whether a column that is not of these tables can be one of what is around the SELECT."""
        of = column.table.casefold()
        return any(
            of in ("", alias.casefold()) and self._may_give(source, column.name)
            for alias, source in self.around
        )

    def _may_give(self, source: exp.Expr | Scope, column: str) -> bool:
        if isinstance(source, exp.Table):
            table = as_it_is(source, self.schema)
            return table is None or table.column(column) is not None
        if isinstance(source, Scope) and isinstance(source.expression, exp.Query):
            names = [one.casefold() for one in source.expression.named_selects]
            return "*" in names or column.casefold() in names
        return True

    def first_of_same(
        self, aliases: Sequence[str], column: str, *, shown: bool = False
    ) -> str | None:
        """One of the aliases, where the joins make that column of all of them one value: the first,
        or rather that whose column is `shown`, which may be empty where the others are not."""
        same = {aliases[0]}
        pairs = [
            {first, second}
            for first, second, name in self._equal()
            if name == column.casefold() and {first, second} <= set(aliases)
        ]
        for _ in pairs:
            same = same.union(*(pair for pair in pairs if pair & same))
        if same != set(aliases):
            return None
        given = [
            self.alias(one.table)
            for one in self.select.selects
            if shown and isinstance(one, exp.Column) and one.name.casefold() == column.casefold()
        ]
        return next((one for one in given if one in aliases), aliases[0])

    def _equal(self) -> Iterator[tuple[str, str, str]]:
        """Two aliases and a column that a join makes equal in both."""
        for join in self.select.args.get("joins") or ():
            if join.side in ("RIGHT", "FULL"):
                continue
            for each in conjuncts(join.args.get("on")):
                match each:
                    case exp.EQ(this=exp.Column() as left, expression=exp.Column() as right) if (
                        left.name.casefold() == right.name.casefold()
                    ):
                        first, second = self.alias(left.table), self.alias(right.table)
                        if first and second:
                            yield first, second, left.name.casefold()
                    case _:
                        pass

    def looked_up(self, wanted: Sequence[Table]) -> tuple[Table, str, tuple[Hop, ...]] | None:
        """The nearest of the wanted tables that keys lead to from one here, that one's alias, and
        the keys; None where two are equally near."""
        ways: list[tuple[int, Table, str, tuple[Hop, ...]]] = []
        if len(self.tables) >= _MOST_TABLES:
            return None
        for table in wanted:
            for alias, source in self.tables.items():
                if table.name not in self.joins.reach(source.name):
                    continue
                try:
                    hops = self.joins.path(source.name, table.name)
                except TwoWays:
                    return None
                ways.append((len(hops), table, alias, hops))
        ways.sort(key=lambda way: way[0])
        if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
            return None
        return ways[0][1:]

    def look_up(self, alias: str, hops: Iterable[Hop]) -> str:
        """Join what keys lead to from an alias, where it is not there yet; the last one's alias."""
        for hop in hops:
            alias = self._look_up(alias, hop.key)
        return alias

    def _look_up(self, alias: str, key: ForeignKey) -> str:
        if (known := self.alias_of(key.table)) is not None:
            return known
        name = self.free_alias(key.table)
        self.add(key.table, name, self.keyed(key, alias, name), side="LEFT")
        return name

    def alias_of(self, table: str) -> str | None:
        """The first alias of a table of the schema, where it is in the FROM."""
        return next((alias for alias, one in self.tables.items() if one.name == table), None)

    def free_alias(self, table: str) -> str:
        """What a table that is joined can be called: as it is, where nothing that the SELECT may
        name is called so."""
        taken = {one.casefold() for one in (*self.tables, *(alias for alias, _ in self.around))}
        name = table.rpartition(".")[2]
        numbered = (f"{name}_{number}" for number in itertools.count(2))
        return next(one for one in itertools.chain([name], numbered) if one.casefold() not in taken)

    def add(
        self,
        table: str,
        alias: str,
        on: exp.Expr,
        *,
        side: str | None = None,
        before: exp.Join | None = None,
    ) -> None:
        """Join a table of the schema under a free alias; after all others, or before one."""
        other = alias if alias != table.rpartition(".")[2] else None
        source = named_table(table, self.schema.dialect, other)
        joins: list[exp.Join] = list(self.select.args.get("joins") or ())
        place = joins.index(before) if before is not None else len(joins)
        joins.insert(place, exp.Join(this=source, on=on, side=side))
        self.select.set("joins", joins)
        known = self.schema.table(table)
        assert known is not None  # `Joins` keeps keys of tables of the card alone
        self.tables[alias] = known

    def keyed(self, key: ForeignKey, holder: str, target: str) -> exp.Expr:
        """The condition of a join along a key, of the aliases that hold it and are pointed at."""
        return exp.and_(
            *(
                self._column(target, there).eq(self._column(holder, here))
                for here, there in zip(key.columns, key.referenced_columns, strict=True)
            )
        )

    def _column(self, alias: str, name: str) -> exp.Column:
        return exp.Column(this=identifier(name, self.schema.dialect), table=self.name(alias))


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that all have to hold."""
    if condition is None:
        return []
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
