"""One connection to the file, with the settings every one of them needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

BUSY_TIMEOUT_MS = 10_000
"""How long to wait for a foreign program (the ``sqlite3`` shell) that has the file locked."""


class Connection:
    """A connection of apsw. Used by one thread at a time; every method may raise `apsw.Error`.

    What apsw's own stubs say of ``execute`` names a type that exists from Python 3.12 on, so below
    that everything it touches counts as unknown: hence the few typed methods here.
    """

    def __init__(self, database: Path, *, reads_only: bool) -> None:
        self._raw: Any = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
        self._execute: Callable[..., Any] = self._raw.execute
        self._raw.set_busy_timeout(BUSY_TIMEOUT_MS)
        # FULL: every commit is on the disk before it is confirmed. Apple's fsync alone is not.
        self.run(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; "
            "PRAGMA temp_store = MEMORY"
        )
        if reads_only:
            self.run("PRAGMA query_only = ON")

    def rows(self, query: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._execute(query, values).fetchall()

    def row(self, query: str, values: Mapping[str, Any] | None = None) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return self._execute(query, values).fetchone()

    def number(self, query: str, values: Mapping[str, Any] | None = None) -> int:
        """The one number a query answers."""
        return self._execute(query, values).get

    def run(self, statement: str, values: Mapping[str, Any] | None = None) -> None:
        """Run what answers nothing; a text may hold several statements."""
        self._execute(statement, values)

    def changed_rows(self) -> int:
        """How many rows the last statement that was run changed."""
        return self._raw.changes()

    @property
    def may_write(self) -> bool:
        """Whether the file may be written (else it was silently opened for reading)."""
        return not self._raw.readonly("main")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; SQLite itself ends it after some errors."""
        return self._raw.in_transaction

    def journal_mode_wal(self) -> str:
        """Ask for the write-ahead log; returns the mode the file is in then."""
        return self._raw.pragma("journal_mode", "wal")

    def close(self) -> None:
        """Give the file back."""
        self._raw.close()


__all__ = ["BUSY_TIMEOUT_MS", "Connection"]
