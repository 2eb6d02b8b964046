"""SQL that a model wrote, with columns put back into the tables that have them.

Source: ours. Most of a small model's mistakes are of a few kinds: a column taken from the wrong
table, a table that is used without a join or joined by a column that is not there, one that is
joined for nothing, and another database's idiom. The syntax tree and the foreign keys mend them,
where there is one way to do it. Whatever is changed is said: a text that was mended may run and
still be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from awhile.ask.translators.identifiers import identifier
from awhile.ask.translators.joins import Joins
from awhile.ask.translators.models.idioms import localised
from awhile.ask.translators.models.rejoining import rejoined, unrepeated
from awhile.ask.translators.models.slips import put_right
from awhile.ask.translators.models.sources import Sources, sources_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import date

    from awhile.ask.schema import Schema

__all__ = ["TOO_DEEP", "Mended", "Unreadable", "mended", "one_select"]

LONGEST_SQL = 20_000
"""Characters of SQL that are still read."""

TOO_DEEP = "it is nested too deeply"

_STUMBLES = (SqlglotError, RecursionError, AttributeError, LookupError, TypeError, ValueError)
"""What SQLGlot raises for a text that it cannot read: not all of it is its own."""


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
    except _STUMBLES as error:
        raise Unreadable(_why_not(error, dialect)) from error
    if len(trees) != 1:
        raise Unreadable(f"it holds {len(trees)} statements, and one is wanted")
    if not isinstance(trees[0], exp.Query):
        raise Unreadable(f"it is {trees[0].key.upper()}, and only a SELECT can be run")
    return trees[0]


def _why_not(error: Exception, dialect: str) -> str:
    """In the parser's words, where it has some for whoever wrote the text."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    said = str(error).splitlines() if isinstance(error, SqlglotError) else []
    return f"it cannot be read as {dialect} SQL{f' ({said[0]})' if said else ''}"


def mended(text: str, schema: Schema, today: date) -> Mended:
    """The SELECT with what can be mended in one way mended; the rest is left as it was written.

    A join is added only along a key from a table that is there to one that is looked up, which
    multiplies no rows, and where the model itself joined a table, by a column that is not there.

    Raises:
        Unreadable: the text is not one SELECT.
    """
    tree = one_select(text, schema.dialect)
    mending = _Mending(schema, Joins(schema))
    try:
        for scope in traverse_scope(tree):
            mending.mend(scope)
        mending.repairs += put_right(tree, schema)
        mending.repairs += localised(tree, schema, today)
        sql = tree.sql(dialect=schema.dialect, pretty=True) if mending.repairs else text
    except _STUMBLES:  # what it cannot resolve, the engine will name
        return Mended(text, one_select(text, schema.dialect), ())
    return Mended(sql, tree, tuple(dict.fromkeys(mending.repairs)))


@dataclass(slots=True)
class _Mending:
    schema: Schema
    joins: Joins
    repairs: list[str] = field(default_factory=list[str])

    def mend(self, scope: Scope) -> None:
        """One SELECT of the text, with the sources in its own FROM."""
        select = scope.expression
        if not isinstance(select, exp.Select) or select.args.get("from_") is None:
            return
        sources = sources_of(scope, self.schema, self.joins)
        if sources is None:
            return
        given = {one.alias.casefold() for one in select.expressions if one.alias}
        at_home = {
            id(one): here[0]
            for one in scope.find_all(exp.Column)
            if not one.table and len(here := sources.having(one.name)) == 1
        }
        self.repairs += rejoined(sources)
        columns = [one for one in scope.find_all(exp.Column) if _is_a_name(one)]
        for column in columns:
            if id(column) not in at_home:
                self._home(column, sources, given)
        for column in columns:  # what is joined may have columns of the same names
            alias = at_home.get(id(column))
            if alias and len(sources.having(column.name)) > 1 and not _says_given(column, given):
                column.set("table", sources.name(alias))
        self.repairs += unrepeated(sources, is_last=scope.is_root)

    def _home(self, column: exp.Column, sources: Sources, given: Collection[str]) -> None:
        of, name = column.table, column.name
        alias = sources.alias(of) if of else None
        if of and alias is None:
            if not sources.having(of) and not sources.is_around(column):  # a STRUCT has fields
                self._add(column, sources)
            return
        here = sources.having(name)
        if alias in here or (not of and (len(here) == 1 or name.casefold() in given)):
            return
        if (of or not here) and sources.is_around(column):
            return
        if alias and self._by_its_key(column, sources, [alias]):
            return
        if not here and self._by_its_key(column, sources, list(sources.tables)):
            return
        if here:
            ordered = column.find_ancestor(exp.Order) is not None
            one = here[0] if len(here) == 1 else sources.first_of_same(here, name, shown=ordered)
            if one is not None and not _says_itself(column, one, name):
                self._put(column, one, sources, of)
            return
        homes = [one for one in self.schema.tables if one.column(name)]
        if (way := sources.looked_up(homes)) is not None:
            home, start, hops = way
            column.set("table", sources.name(sources.look_up(start, hops)))
            self.repairs.append(f"{name} is a column of {home.name}, which is joined by its key")

    def _add(self, column: exp.Column, sources: Sources) -> None:
        """Join the table that a column is said to be of, where it is not there."""
        wanted = self.schema.table(column.table)
        if wanted is None or wanted.column(column.name) is None:
            return
        if (known := sources.alias_of(wanted.name)) is None:
            way = sources.looked_up([wanted])
            if way is None:
                return
            known = sources.look_up(way[1], way[2])
        column.set("table", sources.name(known))
        self.repairs.append(f"{wanted.name} was used without a join, and is joined by its key")

    def _by_its_key(self, column: exp.Column, sources: Sources, among: Sequence[str]) -> bool:
        """Put a key in place of what other tables call it when they point at it."""
        found = {
            (alias, key.referenced_columns[0])
            for alias in among
            for table in self.schema.tables
            for key in table.foreign_keys
            if key.table == sources.tables[alias].name
            and [one.casefold() for one in key.columns] == [column.name.casefold()]
        }
        if len(found) != 1:
            return False
        [(alias, own)] = found
        if _says_itself(column, alias, own):
            return False
        self.repairs.append(f"{column.name} is called {own} in {sources.tables[alias].name}")
        column.set("table", sources.name(alias))
        column.set("this", identifier(own, self.schema.dialect))
        return True

    def _put(self, column: exp.Column, alias: str, sources: Sources, of: str) -> None:
        name, table = column.name, sources.tables[alias]
        column.set("table", sources.name(alias))
        if of:
            known = sources.tables.get(sources.alias(of) or "")
            taken = known.name if known is not None else of
            self.repairs.append(f"{name} was taken from {taken}, and is a column of {table.name}")
        else:
            self.repairs.append(
                f"{name} is in several tables, joined by it: that of {table.name} is taken"
            )


def _is_a_name(column: exp.Column) -> bool:
    """Whether it can be a column: `*` is none, and what a comprehension names is its own."""
    starred = isinstance(column.this, exp.Star)
    return bool(column.name) and not starred and column.find_ancestor(exp.Comprehension) is None


def _says_given(column: exp.Column, given: Collection[str]) -> bool:
    """Whether it stands where what the SELECT gives by that name comes before any column."""
    after = column.find_ancestor(exp.Order, exp.Group, exp.Having, exp.Qualify)
    return after is not None and column.name.casefold() in given


def _says_itself(column: exp.Column, alias: str, name: str) -> bool:
    """Whether that column, put in its place, would be compared with itself."""
    both = column.parent
    return isinstance(both, exp.EQ) and any(
        isinstance(one, exp.Column)
        and one is not column
        and (one.table.casefold(), one.name.casefold()) == (alias.casefold(), name.casefold())
        for one in (both.this, both.expression)
    )
