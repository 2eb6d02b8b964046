"""Finds what other processes committed: woken by its bell, and by a poll beside it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw

from awhile.stores.changes import Change
from awhile.stores.sqlite.bells import Bell
from awhile.stores.sqlite.connection import Connection
from awhile.stores.sqlite.reading import QUERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.stores.changes import Changes
    from awhile.stores.sqlite.files import StoreFiles

POLL_SECONDS = 0.02
"""Between looks when no bell rings; half of the 50 ms that watching promises."""

LOOK_LIMIT = 5_000
"""Changes read at once."""


class Listener:
    """One thread, started with the first watch, that publishes what others committed."""

    def __init__(self, files: StoreFiles, changes: Changes) -> None:
        self.changes = changes
        self.bell_name: str | None = None
        """This process's own bell, which it need not ring: it publishes its own commits."""
        self._files = files
        self._bell: Bell | None = None
        self._connection = Connection(files.database, reads_only=True)
        self._thread: threading.Thread | None = None
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to listen, or go on after a time in which nobody was subscribed."""
        if self._bell is not None:
            self._bell.ring()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="awhile-listener", daemon=True)
            self._thread.start()

    async def close(self) -> None:
        """End the thread."""
        self._over.set()
        if self._bell is not None:
            self._bell.ring()
        if self._thread is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._thread.join)
        # Not by the thread: it may end by its poll just before the ring above, whose descriptor
        # would then be closed, or another file's by now.
        if self._bell is not None:
            self._bell.close()
        self._connection.close()

    def look(self, connection: Connection) -> Sequence[Change]:
        """The changes that were not published yet."""
        return read_changes(connection, self.changes.seen, LOOK_LIMIT)

    def _run(self) -> None:
        try:
            self._bell = Bell(self._files.bells)
            self.bell_name = self._bell.name
        except OSError:  # no named pipes on this file system: the poll alone has to do
            self._bell = None
        while not self._over.is_set():
            if self.changes.active:
                self._look()
            if self._bell is None:
                self._over.wait(POLL_SECONDS)
            else:
                self._bell.wait(POLL_SECONDS if self.changes.active else None)

    def _look(self) -> None:
        try:
            if current_rev(self._connection) > self.changes.seen:
                self.changes.publish(self.look(self._connection))
        except apsw.Error:  # unreadable for a moment: the next look finds the same changes
            return


def current_rev(connection: Connection) -> int:
    """The number of the last change in the store."""
    return connection.number(QUERIES["counter"])


def read_changes(connection: Connection, after_rev: int, limit: int) -> list[Change]:
    """What changed after ``after_rev``, ascending."""
    asked = {"rev": after_rev, "limit": limit}
    return [
        Change(task_id, rev, rev) for task_id, rev in connection.rows(QUERIES["changed"], asked)
    ]


__all__ = ["LOOK_LIMIT", "POLL_SECONDS", "Listener", "current_rev", "read_changes"]
