"""What a database contains, as plain values: the card the translators and the page read.

Source: ours. Values only; no engine is named here and nothing is read from a database.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Column",
    "ColumnKind",
    "Example",
    "ForeignKey",
    "NamedMeasure",
    "Schema",
    "Table",
    "TableColumn",
]

ColumnKind = Literal["integer", "number", "text", "date", "timestamp", "time", "boolean", "other"]
"""What a column can be used for, across engines: the question "may I sum this?" in one word."""

_KINDS: dict[str, ColumnKind] = {
    "TINYINT": "integer",
    "SMALLINT": "integer",
    "INTEGER": "integer",
    "INT": "integer",
    "BIGINT": "integer",
    "HUGEINT": "integer",
    "UTINYINT": "integer",
    "USMALLINT": "integer",
    "UINTEGER": "integer",
    "UBIGINT": "integer",
    "UHUGEINT": "integer",
    "BIGNUM": "integer",
    "INT2": "integer",
    "INT4": "integer",
    "INT8": "integer",
    "MEDIUMINT": "integer",
    "INT64": "integer",
    "YEAR": "integer",
    "DECIMAL": "number",
    "NUMERIC": "number",
    "DOUBLE": "number",
    "FLOAT": "number",
    "REAL": "number",
    "NUMBER": "number",
    "MONEY": "number",
    "FLOAT64": "number",
    "BIGNUMERIC": "number",
    "VARCHAR": "text",
    "TEXT": "text",
    "TINYTEXT": "text",
    "MEDIUMTEXT": "text",
    "LONGTEXT": "text",
    "NTEXT": "text",
    "STRING": "text",
    "VARCHAR2": "text",
    "NVARCHAR2": "text",
    "CHARACTER": "text",
    "CHAR": "text",
    "NCHAR": "text",
    "NVARCHAR": "text",
    "CLOB": "text",
    "CITEXT": "text",
    "ENUM": "text",
    "UUID": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMPTZ": "timestamp",
    "DATETIME": "timestamp",
    "DATETIME2": "timestamp",
    "SMALLDATETIME": "timestamp",
    "DATETIMEOFFSET": "timestamp",
    "TIMESTAMP_NTZ": "timestamp",
    "TIMESTAMP_LTZ": "timestamp",
    "TIMESTAMP_TZ": "timestamp",
    "TIME": "time",
    "BOOLEAN": "boolean",
    "BOOL": "boolean",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result: the name as the query gave it, and the engine's type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table.

    `type` is the engine's own name for it (`DECIMAL(10,2)`). `sample_values` are distinct values
    as text, sorted: every one of them when there are no more than `len(sample_values)` of them,
    otherwise some. `distinct_count` is None when it was not measured. `minimum` and `maximum` are
    text, known for dates and timestamps.

    A semantic file adds the rest: `said` is what people call it, the first to be shown; a `hidden`
    column is used for joins and else not offered; `value_words` are pairs of what people say and
    the value they mean.
    """

    name: str
    type: str
    nullable: bool = True
    comment: str | None = None
    sample_values: tuple[str, ...] = ()
    distinct_count: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    said: tuple[str, ...] = ()
    hidden: bool = False
    value_words: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> ColumnKind:
        """The family of the type; a list, struct or map is `other`."""
        if self.type.endswith("]"):
            return "other"
        return _KINDS.get(self.type.upper().partition("(")[0].partition(" ")[0], "other")


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table that holds this key point at `referenced_columns` of `table`.

    `declared` is False when the database does not state the key and it was inferred from names
    and types.
    """

    columns: tuple[str, ...]
    table: str
    referenced_columns: tuple[str, ...]
    declared: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view. `row_count` is None for a view, whose rows would have to be computed.

    `name` is what a FROM clause takes, unquoted; a table outside the default schema is
    `schema.name`. `primary_key` is empty when none is declared and none could be inferred.

    A semantic file adds the rest: `said` is what people call a row, the first to be shown;
    `labels` are the columns that name a row, `date` the one that its times are about; a `hidden`
    table is used for joins and else not offered.
    """

    name: str
    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    row_count: int | None = None
    comment: str | None = None
    said: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    date: str | None = None
    hidden: bool = False

    def column(self, name: str) -> TableColumn | None:
        """The column of that name, upper and lower case alike, or None."""
        wanted = name.casefold()
        return next((each for each in self.columns if each.name.casefold() == wanted), None)


@dataclass(frozen=True, slots=True)
class NamedMeasure:
    """A figure a semantic file names: `sql` over one row of `table`, taken together by `function`
    (`sum`, `avg`, …), or, where that is None, an aggregate of its own.
    """

    name: str
    table: str
    sql: str
    function: str | None = "sum"
    said: tuple[str, ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the SQL that answers it, as a person put it down or accepted it."""

    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything a question can be asked about.

    `database` is a short name to show (a file's stem); `dialect` is SQLGlot's name of the
    engine's SQL. `measures` and `examples` are those of the semantic file; with `from_last_day`
    times such as "last month" are relative to the last day of the data, and not to today.
    """

    tables: tuple[Table, ...]
    database: str = ""
    dialect: str = "duckdb"
    notes: tuple[str, ...] = field(default=())
    """Sentences about what is missing from the card, for example tables that were left out."""
    measures: tuple[NamedMeasure, ...] = ()
    examples: tuple[Example, ...] = ()
    from_last_day: bool = False

    def table(self, name: str) -> Table | None:
        """The table of that name, upper and lower case alike, or None."""
        wanted = name.casefold()
        return next((each for each in self.tables if each.name.casefold() == wanted), None)
