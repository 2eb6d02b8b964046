"""Putting a semantic file on a schema card: names, measures, dates, joins, what is hidden.

Source: ours. Everything the file names has to be there; what is not is told with its line, all of
it at once. Hiding is a matter of words and of what is offered: it protects nothing, which is the
role's and the engine's task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from awhile.ask.schema import Example, ForeignKey, NamedMeasure
from awhile.ask.semantics.file import nearest, wrong
from awhile.ask.translators.identifiers import named_table

if TYPE_CHECKING:
    from awhile.ask.schema import Schema, Table, TableColumn
    from awhile.ask.semantics.file import ColumnWords, Entity, Join, Measure, Place, Semantics

__all__ = ["Check", "applied", "fitted"]

Check = Callable[[str], None]
"""Raises for a SQL text that the database's guard refuses, in a sentence."""


def applied(semantics: Semantics, schema: Schema, check: Check | None = None) -> Schema:
    """The card with what the file says; the SQL of its measures and examples passes `check`.

    Raises `SettingsError` with everything in the file that does not fit, and its line.
    """
    made = _Applying(semantics, schema, check)
    said = made.run()
    if made.problems:
        raise wrong(semantics.path, made.problems)
    return said


def fitted(semantics: Semantics, schema: Schema) -> Schema:
    """The card with what of the file fits: a person may not see every table, and tables change."""
    return _Applying(semantics, schema, None).run()


class _Applying:
    def __init__(self, semantics: Semantics, schema: Schema, check: Check | None) -> None:
        self.semantics = semantics
        self.content = semantics.content
        self.schema = schema
        self.check = check
        self.problems: list[tuple[int, str]] = []

    def run(self) -> Schema:
        entities = {
            table.name: entity
            for name, entity in self.content.entities.items()
            if (table := self.table(name, ("entities", name))) and entity
        }
        tables = tuple(
            self.with_entity(table, entities[table.name]) if table.name in entities else table
            for table in self.schema.tables
        )
        for at, join in enumerate(self.content.joins):
            tables = self.with_join(tables, join, ("joins", at))
        measures = tuple(
            made
            for name, measure in self.content.measures.items()
            if (made := self.measure(name, measure))
        )
        for at, example in enumerate(self.content.examples):
            self.allowed(example.sql, ("examples", at, "sql"))
        return replace(
            self.schema,
            tables=tables,
            measures=measures,
            examples=tuple(Example(each.question, each.sql) for each in self.content.examples),
            from_last_day=self.content.times != "today",
        )

    # Names ------------------------------------------------------------------------------------

    def tell(self, place: Place, problem: str) -> None:
        where = ".".join(str(each) for each in place)
        self.problems.append((self.semantics.line(place), f"{where}: {problem}"))

    def table(self, name: str, place: Place) -> Table | None:
        found = self.schema.table(name)
        if found is None:
            known = [table.name for table in self.schema.tables]
            self.tell(place, f"there is no table {name!r}{nearest(name, known)}")
        return found

    def column(self, table: Table, name: str, place: Place) -> TableColumn | None:
        found = table.column(name)
        if found is None:
            known = [column.name for column in table.columns]
            self.tell(place, f"{table.name} has no column {name!r}{nearest(name, known)}")
        return found

    # Entities ---------------------------------------------------------------------------------

    def with_entity(self, table: Table, entity: Entity) -> Table:
        place: Place = ("entities", table.name)
        labels = [self.column(table, name, (*place, "label")) for name in entity.labels]
        date = self.column(table, entity.date, (*place, "date")) if entity.date else None
        if date and date.kind not in ("date", "timestamp"):
            self.tell((*place, "date"), f"{date.name} holds no dates, but {date.type}")
        columns = {column.name: column for column in table.columns}
        for name, words in entity.columns.items():
            found = self.column(table, name, (*place, "columns", name))
            if found and words:
                columns[found.name] = self.with_words(found, words)
        said = (*((entity.name,) if entity.name else ()), *entity.synonyms)
        return replace(
            table,
            columns=tuple(columns.values()),
            comment=entity.description or table.comment,
            said=said,
            labels=tuple(each.name for each in labels if each),
            date=date.name if date else None,
            hidden=entity.hide,
        )

    def with_words(self, column: TableColumn, words: ColumnWords) -> TableColumn:
        said = (*((words.name,) if words.name else ()), *words.synonyms)
        return replace(
            column,
            said=said,
            comment=words.description or column.comment,
            hidden=words.hide,
            value_words=tuple((meaning, value) for value, meaning in words.values.items()),
        )

    # Joins ------------------------------------------------------------------------------------

    def with_join(self, tables: tuple[Table, ...], join: Join, place: Place) -> tuple[Table, ...]:
        ends: list[tuple[Table, TableColumn]] = []
        for key, end in (("from", join.source), ("to", join.target)):
            name, _, own = end.rpartition(".")
            table = self.table(name, (*place, key))
            column = self.column(table, own, (*place, key)) if table else None
            if table and column:
                ends.append((table, column))
        if len(ends) < 2:
            return tables
        (source, own), (target, other) = ends
        if own.kind != other.kind:
            self.tell(place, f"{own.type} and {other.type} cannot be the same key")
        key = ForeignKey((own.name,), target.name, (other.name,), declared=False)

        def joined(table: Table) -> Table:
            if table.name == target.name and not table.primary_key and not join.never:
                return replace(table, primary_key=(other.name,))
            if table.name != source.name:
                return table
            kept = tuple(each for each in table.foreign_keys if each.columns != key.columns)
            return replace(table, foreign_keys=kept if join.never else (*kept, key))

        return tuple(joined(table) for table in tables)

    # SQL --------------------------------------------------------------------------------------

    def measure(self, name: str, measure: Measure) -> NamedMeasure | None:
        place: Place = ("measures", name)
        table = self.table(measure.table, (*place, "table"))
        if table is None:
            return None
        try:
            tree = sqlglot.parse_one(measure.sql, read=self.schema.dialect)
        except SqlglotError as error:
            self.tell((*place, "sql"), f"it is no SQL expression: {str(error).splitlines()[0]}")
            return None
        if tree.find(exp.Query, exp.Subquery, exp.Window, exp.Command, exp.DDL):
            self.tell((*place, "sql"), "it has to be an expression over one row, without SELECT")
            return None
        for each in tree.find_all(exp.Column):
            if not each.table or each.table.casefold() == table.name.casefold():
                self.column(table, each.name, (*place, "sql"))
            else:
                self.tell((*place, "sql"), f"it is over {table.name} and may not name {each.sql()}")
        whole = tree.find(exp.AggFunc) is not None
        if whole and measure.aggregate:
            self.tell((*place, "aggregate"), "the SQL is an aggregate already; leave one of them")
        function = None if whole else measure.aggregate or "sum"
        figure = tree if whole else exp.Max(this=tree)
        tried = exp.Select().select(figure).from_(named_table(table.name, self.schema.dialect))
        self.allowed(tried.sql(dialect=self.schema.dialect), (*place, "sql"))
        return NamedMeasure(
            name, table.name, measure.sql, function, measure.synonyms, measure.description
        )

    def allowed(self, sql: str, place: Place) -> None:
        if self.check is None:
            return
        try:
            self.check(sql)
        except Exception as error:  # noqa: BLE001 - each engine refuses with its own error
            self.tell(place, f"the database does not take it: {error}")
