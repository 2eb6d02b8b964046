"""The handles this user's programs hold, in one small SQLite file several processes share.

A handle is written before `start()` returns it, so a program that dies the next moment, or loses
its own notes, still finds the work (ext-tasks: clients should persist task ids). The ending is
copied in when it is seen, because a server may delete a task after its time to live.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import platformdirs

from awhile.client.clock import wall_clock_ms
from awhile.client.era import ERAS
from awhile.client.known import Known
from awhile.errors import StoreError
from awhile.tasks import Status
from awhile.wire.snapshot import Snapshot
from awhile.wire.v2026_07_28 import PROTOCOL_VERSION, read_task, write_detailed

if TYPE_CHECKING:
    from collections.abc import Mapping

BUSY_MS = 5_000
"""How long one process waits for another's write; each takes a few milliseconds."""

MIGRATIONS = 2
"""How many numbered migrations `ledger.sql` has."""

KEEP_ENDED_MS = 30 * 24 * 60 * 60 * 1000
"""How long an ended handle and its result stay unless forgotten sooner: 30 days (source: ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One handle as the ledger has it. Instants are Unix milliseconds."""

    server: str
    task_id: str
    tool: str | None
    """None for a task that was resumed by an id from elsewhere."""
    arguments: Mapping[str, Any]
    created_at_ms: int
    updated_at_ms: int
    status: str
    """The last status seen, in the wire's words; after `gone` it may be out of date."""
    message: str | None
    cancel_asked_at_ms: int | None
    ending: Snapshot | None
    """The whole task, result or error included, once it was seen to have ended."""
    gone: bool
    """The server no longer kept it before its ending was seen."""
    era: str
    """The protocol revision it was started under."""

    @property
    def ended(self) -> bool:
        """Whether nothing more can come."""
        return self.gone or self.ending is not None


class Ledger:
    """The handles kept in one file. Its methods block for a few milliseconds; threads may share it.

    Raises:
        StoreError: the file cannot be opened, or not written within `BUSY_MS`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Arguments and results may be private; SQLite gives its side files the same mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            # apsw's stubs of `execute` name a type that Python 3.11 lacks: unknown to pyright.
            self._db: Any = apsw.Connection(str(self.path))
        except (OSError, apsw.Error) as broken:
            raise StoreError(
                f"The ledger of task handles {str(self.path)!r} cannot be opened: {broken}. Choose "
                "another path, or pass ledger=None to keep no handles."
            ) from broken
        self._db.set_busy_timeout(BUSY_MS)
        self._run("PRAGMA journal_mode = wal")
        self._run("PRAGMA synchronous = full")
        self._migrate()
        self._run(_statements()["prune"], before_ms=wall_clock_ms() - KEEP_ENDED_MS)

    @classmethod
    def default(cls) -> Ledger:
        """The user's own ledger, in the platform's data folder."""
        return cls(platformdirs.user_data_path("awhile", appauthor=False) / "handles.sqlite3")

    def close(self) -> None:
        """Close the file; what was written stays."""
        with self._lock:
            self._db.close()

    def add(
        self,
        server: str,
        task: Snapshot,
        *,
        tool: str | None,
        arguments: Mapping[str, Any],
        era: str = PROTOCOL_VERSION,
    ) -> None:
        """Keep a new handle; on return it is on the disk. A known one stays as it is."""
        self._run(
            _statements()["add"],
            server=server,
            task_id=task.task_id,
            tool=tool,
            arguments=json.dumps(dict(arguments)),
            created_at_ms=task.created_at_ms,
            status=task.status.value,
            message=task.status_message,
            era=era,
        )

    def note(
        self,
        server: str,
        task: Snapshot,
        *,
        cancel_asked_at_ms: int | None = None,
        gone: bool = False,
    ) -> None:
        """Keep how a task stands; an ended one with its result. An ending is never overwritten."""
        self._run(
            _statements()["note"],
            server=server,
            task_id=task.task_id,
            at_ms=wall_clock_ms(),
            status=task.status.value,
            message=task.status_message,
            cancel_asked_at_ms=cancel_asked_at_ms,
            ending=json.dumps(write_detailed(task)) if task.status.ended else None,
            gone=int(gone),
        )

    def find(self, server: str, task_id: str) -> Entry | None:
        """The handle, or None if this ledger never had it."""
        rows = self._run(_statements()["find"], server=server, task_id=task_id)
        return _entry(rows[0]) if rows else None

    def entries(self, server: str | None = None) -> list[Entry]:
        """All handles (of one server), newest first."""
        return [_entry(row) for row in self._run(_statements()["list"], server=server)]

    def forget(self, task_id: str, server: str | None = None) -> None:
        """Drop a handle. The task itself is not touched: the server knows nothing of this."""
        self._run(_statements()["forget"], task_id=task_id, server=server)

    def _migrate(self) -> None:
        """Bring the file to the present form, whatever version of this package made it."""
        self._run("BEGIN IMMEDIATE")
        [[version]] = self._run("PRAGMA user_version")
        for number in range(version + 1, MIGRATIONS + 1):
            self._run(_statements()[f"migration_{number}"])
            self._run(f"PRAGMA user_version = {number}")
        self._run("COMMIT")

    def _run(self, statement: str, **values: Any) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except apsw.Error as broken:
                raise StoreError(
                    f"The ledger of task handles {str(self.path)!r} failed: {broken}. Check the "
                    "disk; the tasks themselves are not affected."
                ) from broken


@cache
def _statements() -> Mapping[str, str]:
    text = files("awhile.client").joinpath("ledger.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _entry(row: Any) -> Entry:
    return Entry(
        server=row[0],
        task_id=row[1],
        tool=row[2],
        arguments=json.loads(row[3]),
        created_at_ms=row[4],
        updated_at_ms=row[5],
        status=row[6],
        message=row[7],
        cancel_asked_at_ms=row[8],
        ending=read_task(json.loads(row[9])) if row[9] else None,
        gone=bool(row[10]),
        era=row[11],
    )


def remembered(entry: Entry) -> Known:
    """What is known of a task from its handle alone."""
    era = ERAS.get(entry.era)
    # Its last change is known by this side's clock alone, which says nothing beside the server's.
    task = entry.ending or Snapshot(
        task_id=entry.task_id,
        status=Status(entry.status),
        status_message=entry.message,
        created_at_ms=entry.created_at_ms,
        last_updated_at_ms=entry.created_at_ms,
    )
    return Known(
        tool=entry.tool,
        task=task,
        started_at_ms=entry.created_at_ms,
        changed_at_ms=entry.updated_at_ms,
        cancel_asked_at_ms=entry.cancel_asked_at_ms,
        gone=entry.gone,
        cancel_proves_nothing=era is not None and era.cancel_proves_nothing,
    )


__all__ = ["Entry", "Ledger", "remembered"]
