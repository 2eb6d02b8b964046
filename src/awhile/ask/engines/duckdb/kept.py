"""Kept results as tables of one query, beside a database or alone.

DuckDB reaches them by the read-only descriptors that data files are reached by
(`awhile.ask.engines.duckdb.reading`), under names of their own, and as views that are the
connection's alone: nothing of them is in the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from awhile.ask.engines.duckdb.reading import Entry, ReadOnlyFiles
from awhile.ask.engines.duckdb.views import view_of
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.messages import ToEstimate, ToRun

__all__ = ["KeptResults", "ToEstimateOver", "ToRunOver", "named_by"]

_NONE: Mapping[str, Path] = {}

_TAKEN = """
SELECT count(*) FROM information_schema.tables
WHERE table_catalog = current_database() AND table_schema = 'main' AND lower(table_name) = $1
"""


@dataclass(frozen=True, slots=True)
class ToRunOver(ToRun):
    """Run one SELECT over these results too, by the names of their tables."""

    tables: Mapping[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class ToEstimateOver(ToEstimate):
    """Look one SELECT over these results up, without running it."""

    tables: Mapping[str, Path] = field(default_factory=dict[str, Path])


def named_by(order: ToRun | ToEstimate) -> Mapping[str, Path]:
    """The results that an order may read."""
    return order.tables if isinstance(order, ToRunOver | ToEstimateOver) else _NONE


class KeptResults:
    """Results by the names they have in SQL. Raises `DatabaseNotOpened` for one that is gone."""

    def __init__(self, tables: Mapping[str, Path] = _NONE) -> None:
        self.entries = {
            f"{_Files.protocol}://{number}.parquet": _entry(name, path)
            for number, (name, path) in enumerate(tables.items())
        }
        self._files = _Files(self.entries)

    @property
    def files(self) -> Sequence[ReadOnlyFiles]:
        """What a connection has to be given to read them; nothing for none."""
        return [self._files] if self.entries else []

    @property
    def trouble(self) -> str | None:
        """Why the last of them that could not be read could not."""
        return self._files.trouble

    def begin(self) -> None:
        """Forget the trouble there was: a query begins."""
        self._files.begin()

    def add_to(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make them tables of a connection that was given the files.

        Raises `duckdb.Error`; `DatabaseNotOpened` for one that is gone by now, and `QueryError`
        where the database has a table of that name by now, which a view would hide.
        """
        for location, entry in self.entries.items():
            if connection.execute(_TAKEN, [entry.name.lower()]).fetchone() != (0,):
                raise QueryError(
                    f"the database has a table called {entry.name} by now, so that name means no "
                    "result any more; ask again"
                )
            try:
                view = view_of(connection, entry.name, entry.path, location)
            except OSError:
                raise _gone(entry.name) from None
            connection.execute(view)


class _Files(ReadOnlyFiles):
    protocol = "awhile-results"


def _entry(name: str, path: Path) -> Entry:
    stamp = stamp_of(path)
    if stamp is None:
        raise _gone(name)
    return Entry(name, path, stamp)


def _gone(name: str) -> DatabaseNotOpened:
    return DatabaseNotOpened(f"the rows of {name} are gone; list_runs shows what is kept")
