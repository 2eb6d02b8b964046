"""The part of a schema card that a model is told of, as text.

Source: ours. Names and comments are whatever somebody wrote into the database: they go out on one
line each, with nothing hidden in them. Values of rows stay here unless their column is allowed.
What a semantic file says is told, too; what it hides only as far as joins need it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from awhile.ask.translators.joins import Joins
from awhile.ask.translators.names import column_words, table_words
from awhile.ask.translators.words import stem, tokenise
from awhile.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from awhile.ask.schema import NamedMeasure, Schema, Table, TableColumn

__all__ = ["LONGEST_CARD", "Card", "card_of", "tables_for"]

LONGEST_CARD = 12_000
"""Characters of a card; some 4,000 tokens, which a small model still reads."""

_LONGEST_COMMENT = 200
_MOST_VALUES = 8
_LONGEST_VALUE = 60
_ONLY_FOR_JOINS = "only for joins"
_FOR_NAMES = 6
"""One part in so many of a card is for the names of tables that it has no room to describe."""
_NAMED, _HELD = 3, 1
"""What a word of the question counts in a table's name, and in a column's."""


@dataclass(frozen=True, slots=True)
class Card:
    """The text, and the tables that it describes with the columns that it names."""

    text: str
    tables: tuple[Table, ...]


def card_of(
    schema: Schema, question: str, *, may_show: Collection[str] = (), longest: int = LONGEST_CARD
) -> Card:
    """The tables that matter to the question, as far as they fit, and the names of the others.

    Args:
        schema: the card they are taken from.
        question: what is asked, with what was asked before it.
        may_show: patterns (`customers.country`, `products.*`) of columns whose values may be told.
        longest: how many characters.
    """
    texts = {table.name: _table(schema, table, may_show) for table in tables_for(schema, question)}
    all_fit = sum(len(text) + 1 for text in texts.values()) <= longest
    room = longest if all_fit else longest - longest // _FOR_NAMES
    fitting: dict[str, str] = {}
    left_out: list[str] = []
    for name, text in texts.items():
        if len(text) < room:
            fitting[name] = text
            room -= len(text) + 1
        else:
            left_out.append(visible(name))
    # In one order for every question: what a model has read of a card it need not read again.
    chosen = [table for table in schema.tables if table.name in fitting]
    written = [fitting[table.name] for table in chosen]
    described = [replace(table, columns=tuple(_shown(schema, table))) for table in chosen]
    if left_out:
        others = f"-- further tables, not described here: {', '.join(left_out)}"
        room += longest // _FOR_NAMES
        written.append(others if len(others) <= room else f"{others[: room - 1]}…")
    return Card("\n".join(written), tuple(described))


def tables_for(schema: Schema, question: str) -> Sequence[Table]:
    """All tables, those first that the question has words of, and next what links those."""
    words = {stem(token.text.casefold()) for token in tokenise(question)}
    points = {table.name: _points(schema, table, words) for table in schema.tables}
    joins = Joins(schema)
    found = [name for name, count in points.items() if count]
    nearness = {
        table.name: min((joins.near(name).get(table.name, 99) for name in found), default=99)
        for table in schema.tables
    }
    return sorted(schema.tables, key=lambda one: (-points[one.name], nearness[one.name], one.name))


def _points(schema: Schema, table: Table, words: Collection[str]) -> int:
    names = {*table_words(table.name), *_said(table.said)}
    held = {word for column in table.columns for word in column_words(column.name, table.name)}
    held |= _said(name for column in table.columns for name in column.said)
    held |= _said(
        name for one in schema.measures if one.table == table.name for name in (one.name, *one.said)
    )
    return sum(_NAMED for word in names if word in words) + sum(
        _HELD for word in held if word in words
    )


def _said(names: Iterable[str]) -> set[str]:
    return {stem(token.text.casefold()) for name in names for token in tokenise(name)}


def _table(schema: Schema, table: Table, may_show: Collection[str]) -> str:
    about = [f"{table.row_count:,} rows"] if table.row_count is not None else []
    about += _names(table.said)
    about += [_ONLY_FOR_JOINS] if table.hidden else []
    about += [_comment(table.comment)] if table.comment else []
    about += [f"its times are those of {visible(table.date)}"] if table.date else []
    lines = [f"TABLE {visible(table.name)}{_aside(about)}"]
    lines += [_column(table, column, may_show) for column in _shown(schema, table)]
    if table.primary_key:
        lines.append(f"  PRIMARY KEY ({', '.join(map(visible, table.primary_key))})")
    for key in table.foreign_keys:
        here, there = (
            ", ".join(map(visible, one)) for one in (key.columns, key.referenced_columns)
        )
        lines.append(f"  FOREIGN KEY ({here}) REFERENCES {visible(key.table)} ({there})")
    lines += [_measure(one) for one in schema.measures if one.table == table.name]
    return "\n".join(lines) + "\n"


def _shown(schema: Schema, table: Table) -> list[TableColumn]:
    keys = _keys(schema, table)
    return [
        column
        for column in table.columns
        if column.name in keys or not (table.hidden or column.hidden)
    ]


def _keys(schema: Schema, table: Table) -> set[str]:
    """The columns of the table that joins need."""
    pointing = (key for one in schema.tables for key in one.foreign_keys if key.table == table.name)
    own = {column for key in table.foreign_keys for column in key.columns}
    return own.union(table.primary_key, *(key.referenced_columns for key in pointing))


def _measure(measure: NamedMeasure) -> str:
    sql = measure.sql
    if measure.function == "count_distinct":
        sql = f"count(DISTINCT {sql})"
    elif measure.function:
        sql = f"{measure.function}({sql})"
    about = [*_names(measure.said), *([_comment(measure.comment)] if measure.comment else [])]
    return f"  MEASURE {visible(measure.name)} = {visible(sql)}{_aside(about)}"


def _column(table: Table, column: TableColumn, may_show: Collection[str]) -> str:
    about = _names(column.said)
    about += [_ONLY_FOR_JOINS] if column.hidden and not table.hidden else []
    about += [_comment(column.comment)] if column.comment else []
    name = f"{table.name}.{column.name}".casefold()
    if any(fnmatchcase(name, pattern.casefold()) for pattern in may_show):
        if column.minimum is not None and column.maximum is not None:
            about.append(f"from {_value(column.minimum)} to {_value(column.maximum)}")
        if column.sample_values:
            values = ", ".join(map(_value, column.sample_values[:_MOST_VALUES]))
            whole = column.distinct_count is not None and column.distinct_count <= _MOST_VALUES
            about.append(f"{'its values' if whole else 'such as'} {values}")
        about += [
            f"{_value(value)} is called {_comment(name)}"
            for name, value in column.value_words[:_MOST_VALUES]
        ]
    return f"  {visible(column.name)} {visible(column.type)}{_aside(about)}"


def _names(said: Sequence[str]) -> list[str]:
    return [f"called {', '.join(map(_comment, said))}"] if said else []


def _aside(about: Sequence[str]) -> str:
    return f"  -- {'; '.join(about)}" if about else ""


def _comment(text: str) -> str:
    one = visible(text)
    return f'"{one if len(one) <= _LONGEST_COMMENT else one[:_LONGEST_COMMENT] + "…"}"'


def _value(text: str) -> str:
    one = visible(text)
    return repr(one if len(one) <= _LONGEST_VALUE else f"{one[:_LONGEST_VALUE]}…")
