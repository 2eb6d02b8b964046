"""Telling whether the database file is still the one that was read."""

from __future__ import annotations

from pathlib import Path

__all__ = ["stamp_of"]


def stamp_of(database: Path) -> tuple[int, int, int, int] | None:
    """Equal as long as it is the same file, unchanged; None while there is none."""
    try:
        found = database.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
