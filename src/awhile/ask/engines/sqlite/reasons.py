"""Why a SQLite file could not be opened, and what to do about it."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

__all__ = ["why_not_opened"]

_MAGIC = b"SQLite format 3\0"
_READ_VERSION = 19
"""The byte of the header that says which SQLite can read the file: 1 or 2 today."""


def why_not_opened(database: Path, error: apsw.Error) -> str:
    """SQLite's words about a file it would not open, with the next step."""
    name = repr(str(database))
    if not database.exists():
        return f"there is no file {name}; check the path"
    if database.is_dir():
        return f"{name} is a folder; name the SQLite file in it"
    if not os.access(database, os.R_OK):
        return f"the file {name} may not be read by this user; change its permissions"
    with database.open("rb") as file:
        head = file.read(100)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return (
            f"{name} is locked for writing by another program and was for some seconds; end its "
            "transaction there, or open a copy of the file"
        )
    newer = head[:16] == _MAGIC and head[_READ_VERSION] > 2
    if newer or "unsupported file format" in str(error):
        return (
            f"{name} was made by a newer version of SQLite than {apsw.sqlite_lib_version()} can "
            "read; upgrade the apsw package"
        )
    if head[:16] != _MAGIC:
        return (
            f"{name} is no SQLite database, or an encrypted one, which cannot be told from it; "
            "an encrypted one has to be decrypted into a copy first (SQLCipher: sqlcipher_export)"
        )
    if isinstance(error, apsw.CantOpenError) and head[_READ_VERSION] == 2:
        return (
            f"{name} is in WAL mode, and its folder may not be written by this user, where readers "
            "need the -shm file; give the folder write permission, or open a copy of the file"
        )
    return f"{name} could not be opened: {error}"
