"""Reading a schema card by SQL: what every engine does alike.

A `Catalog` gathers tables from the rows of an engine's catalog; a `Survey` then asks their data as
much as there is time for. What differs between engines is the SQL.
"""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from awhile.ask.engines.keys import with_inferred_keys
from awhile.ask.engines.quoting import identifier
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["VALUE_CHARACTERS", "Catalog", "Listed", "Survey", "identity", "time_limit"]

VALUE_CHARACTERS = 80
_EVERY_VALUE = 500
"""A text column with no more distinct values than this has all of them on the card: enough for
a catalogue of products, small enough to search for every word of a question."""
_EXAMPLES = 5
_UNIQUE_ROWS = 1_000_000
"""Beyond this a column whose name makes it the key is believed rather than counted."""

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A table of a catalog, and `source`: what a FROM clause calls it, in quotes.

    The rows of a view are not counted: they would have to be computed.
    """

    table: Table
    source: str
    is_view: bool


@dataclass(slots=True)
class _Gathered:
    is_view: bool
    comment: str | None
    rows: int | None
    columns: list[TableColumn] = field(default_factory=list[TableColumn])


class Catalog:
    """Tables, gathered from a row a key and a row a column, in the order of the columns' rows.

    Names in `default_schema` stand alone; others are `schema.name`.
    """

    def __init__(self, default_schema: str) -> None:
        self._default_schema = default_schema
        self._tables: dict[tuple[str, str], _Gathered] = {}
        self._primary_keys: dict[tuple[str, str], tuple[str, ...]] = {}
        self._foreign_keys: dict[tuple[str, str], list[ForeignKey]] = {}

    def add_primary_key(self, schema: str, table: str, columns: Sequence[str]) -> None:
        self._primary_keys[schema, table] = tuple(columns)

    def add_foreign_key(
        self,
        schema: str,
        table: str,
        columns: Sequence[str],
        other: tuple[str, str],
        referenced: Sequence[str],
    ) -> None:
        """`other` is the schema and the name of the table that is pointed at."""
        key = ForeignKey(tuple(columns), self._name(*other), tuple(referenced))
        self._foreign_keys.setdefault((schema, table), []).append(key)

    def add_column(
        self,
        schema: str,
        table: str,
        column: TableColumn,
        *,
        is_view: bool,
        comment: str | None,
        rows: int | None = None,
    ) -> None:
        """`comment` is the table's; `rows` how many it has if they cannot be counted in time."""
        gathered = self._tables.setdefault((schema, table), _Gathered(is_view, comment, rows))
        gathered.columns.append(column)

    def tables(self) -> list[Listed]:
        return [
            Listed(
                Table(
                    name=self._name(*spot),
                    columns=tuple(found.columns),
                    primary_key=self._primary_keys.get(spot, ()),
                    foreign_keys=tuple(self._foreign_keys.get(spot, ())),
                    row_count=None if found.is_view else found.rows,
                    comment=found.comment,
                ),
                ".".join(map(identifier, spot)),
                found.is_view,
            )
            for spot, found in self._tables.items()
        ]

    def _name(self, schema: str, table: str) -> str:
        return table if schema == self._default_schema else f"{schema}.{table}"


def identity(listed: Sequence[Listed]) -> str:
    """Equal for two catalogs that say the same, whatever they guess about rows."""
    said = [replace(each, table=replace(each.table, row_count=None)) for each in listed]
    return hashlib.sha256(repr(said).encode(errors="surrogatepass")).hexdigest()


class Survey:
    """Asks the data small questions until the time is up; then none any more.

    `ask` runs one statement for at most so many seconds; None where it was not answered, because
    the time was up or this statistic makes no sense for that view or type.
    """

    def __init__(
        self,
        ask: Callable[[str, float], Rows | None],
        seconds: float,
        quoted: Callable[[str], str] = identifier,
    ) -> None:
        self._ask = ask
        self._quoted = quoted
        self._end = time.monotonic() + seconds
        self._expired = False

    def rows(self, sql: str) -> Rows:
        """What the statement gave; nothing where it was not answered."""
        left = self._end - time.monotonic()
        told = self._ask(sql, left) if left > 0 else None
        if told is None:
            self._expired = self._expired or time.monotonic() >= self._end
        return told or ()

    def schema(
        self,
        listed: Sequence[Listed],
        columns: Callable[[Table, str], Sequence[TableColumn]],
        *,
        database: str,
        dialect: str,
    ) -> Schema:
        """The card: rows counted, keys inferred; `columns` gives a table's with their statistics,
        of the table and its source. What there was no time for, a note says."""
        sources: dict[str, str] = {}
        tables: list[Table] = []
        for each in listed:
            table = each.table
            if not each.is_view:
                counted = self.rows(f"SELECT count(*) FROM {each.source}")
                table = replace(table, row_count=int(counted[0][0]) if counted else table.row_count)
            sources[table.name] = each.source
            tables.append(replace(table, columns=tuple(columns(table, each.source))))

        def is_unique(table: Table, column: str) -> bool:
            if table.row_count is None or table.row_count > _UNIQUE_ROWS:
                return True
            name, source = self._quoted(column), sources[table.name]
            counted = self.rows(f"SELECT count(DISTINCT {name}) FROM {source}")
            return not counted or int(counted[0][0]) == table.row_count

        keyed = with_inferred_keys(tuple(tables), is_unique)
        notes = ("some columns have no sample values: reading them took too long",)
        return Schema(keyed, database, dialect, notes if self._expired else ())

    def with_values(
        self, column: TableColumn, distinct: int, longest: int, sql: str, *, exact: bool = True
    ) -> TableColumn:
        """The column with every value where those are few and short, and some examples otherwise.

        `sql` gives its distinct values, cut to `VALUE_CHARACTERS`; an order or a limit is added to
        it. `distinct` is only a guess unless `exact`.
        """
        few = distinct <= _EVERY_VALUE and longest <= VALUE_CHARACTERS
        most = f"ORDER BY 1 LIMIT {_EVERY_VALUE}" if few else f"LIMIT {_EXAMPLES}"
        return replace(
            column,
            sample_values=tuple(sorted(str(value) for (value,) in self.rows(f"{sql} {most}"))),
            distinct_count=distinct if exact else None,
        )


@contextmanager
def time_limit(seconds: float, interrupt: Callable[[], None]) -> Generator[Callable[[], bool]]:
    """Call `interrupt` once the time is up, and never after the end of the block.

    Gives what tells whether the time is up: an interrupt before then is somebody else's.
    """
    end = time.monotonic() + seconds
    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield lambda: time.monotonic() >= end
    finally:
        timer.cancel()
        timer.join()
