"""The files of a store: created for their owner alone, opened durably, migrated, or refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import apsw

from awhile.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from awhile.stores.sqlite.connection import Connection

APPLICATION_ID = 0x41776869
"""SQLite's mark of whose file it is: "Awhi"."""


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Where everything of one store is. SQLite puts its ``-wal`` and ``-shm`` beside them."""

    database: Path
    """Absolute."""

    @property
    def lock(self) -> Path:
        """What a write transaction holds."""
        return self.database.with_name(f"{self.database.name}-lock")

    @property
    def turn(self) -> Path:
        """What who waits for the lock holds."""
        return self.database.with_name(f"{self.database.name}-turn")

    @property
    def bells(self) -> Path:
        """The folder of the listeners' pipes."""
        return self.database.with_name(f"{self.database.name}-bells")

    def identity(self) -> tuple[int, int] | None:
        """Which file the database is, whatever its name; None while there is none."""
        try:
            found = self.database.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def create_folder(self) -> None:
        """Create the folder where it is missing, for its owner only.

        Raises:
            StoreError: it cannot be created.
        """
        try:
            self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_create(self.database, error) from error

    def create_database(self) -> None:
        """Create an empty file where there is none, for its owner only. Under the write lock.

        SQLite gives the files beside it the mode of this one, so it may not be the one to create
        it. A file that exists is not even opened: closing it again would take away every lock this
        process has on it (POSIX), those of another open store included, and SQLite would lose data.

        Raises:
            StoreError: it cannot be created.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            os.close(os.open(self.database, flags, 0o600))
            folder = os.open(self.database.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # else a power cut could take the file's name
            finally:
                os.close(folder)
        except FileExistsError:
            return
        except OSError as error:
            raise cannot_create(self.database, error) from error


def cannot_create(file: Path, error: OSError) -> StoreError:
    """What to tell of a file or folder the system refused to create."""
    return StoreError(
        f"The store's file {str(file)!r} cannot be created: {error.strerror}. Choose a file in a "
        "folder this user may write in."
    )


def prepare(connection: Connection, database: Path) -> None:
    """Bring the file to this version's schema. Called under the write lock.

    Raises:
        StoreError: the file is not a store, or a newer Awhile has written it.
    """
    if not connection.may_write:
        raise StoreError(
            f"The store {str(database)!r} may not be written by this user. Mend its permissions, "
            "or choose another file."
        )
    version = connection.number("PRAGMA user_version")
    application = connection.number("PRAGMA application_id")
    if application != APPLICATION_ID and connection.number("SELECT count(*) FROM sqlite_schema"):
        raise StoreError(
            f"{str(database)!r} is the SQLite database of another program, so nothing was changed "
            "in it. Choose another file for the store."
        )
    migrations = _migrations()
    if version > len(migrations):
        raise StoreError(
            f"The store {str(database)!r} has schema {version!r}, written by a newer Awhile; this "
            f"one knows schemas up to {len(migrations)!r}. Install the newer version "
            "again, or choose another file."
        )
    mode = connection.journal_mode_wal()
    if mode != "wal":
        raise StoreError(
            f"The store {str(database)!r} stays in journal mode {mode!r}, not 'wal': its file "
            "system has no shared memory. Keep it on a local file system."
        )
    for number, statements in enumerate(migrations[version:], start=version + 1):
        connection.run(
            f"BEGIN IMMEDIATE; {statements}; PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {number}; COMMIT"
        )


def explain(error: apsw.Error, database: Path) -> StoreError:
    """What a SQLite error means for whoever runs this, and what to do."""
    name = f"The store {str(database)!r}"
    for kind, words in _MEANINGS.items():
        if isinstance(error, kind):
            return StoreError(f"{name} {words} (SQLite: {error})")
    return StoreError(f"{name} could not do this: SQLite says {error}")


_MEANINGS: dict[type[apsw.Error], str] = {
    apsw.FullError: (
        "is on a full disk. This change was not kept; everything confirmed before is safe. "
        "Make room and try again."
    ),
    apsw.NotADBError: "is not an SQLite database. Choose another file for the store.",
    apsw.CorruptError: (
        "is damaged. Stop every process that uses it, keep a copy, and restore a backup or run "
        "`sqlite3 FILE .recover`."
    ),
    apsw.ReadOnlyError: (
        "may not be written here. Mend the permissions of the file and of its folder, or choose "
        "another file."
    ),
    apsw.CantOpenError: (
        "cannot be opened. It has to be a file, in a folder that this user may write in."
    ),
    apsw.PermissionsError: "may not be opened by this user. Mend its permissions.",
    apsw.BusyError: (
        "is locked by another program. End what has it open (`fuser` on the file names it) and "
        "try again."
    ),
    apsw.IOError: (
        "could not be read or written. This change was not confirmed; everything confirmed before "
        "is safe. Look at the disk and at the system's log."
    ),
    apsw.ConstraintError: "refused the change, which it cannot keep as it is.",
}


def _migrations() -> list[str]:
    folder = files("awhile.stores.sqlite") / "migrations"
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=str)
    for number, one in enumerate(found, start=1):
        if not one.name.startswith(f"{number:04}_"):
            raise AssertionError(f"Migration {one.name!r} is out of order: expected {number:04}_.")
    return [one.read_text(encoding="utf-8").strip().removesuffix(";") for one in found]


__all__ = ["APPLICATION_ID", "StoreFiles", "cannot_create", "explain", "prepare"]
