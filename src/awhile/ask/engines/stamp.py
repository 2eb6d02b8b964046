"""Telling whether a file is still the one that was read."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Stamp", "stamp_in", "stamp_of"]

Stamp = tuple[int, int, int, int]
"""Device, number, time of the last change in ns, and size: another stamp is another content."""


def stamp_in(told: os.stat_result) -> Stamp:
    """The stamp in what the system tells of a file."""
    return told.st_dev, told.st_ino, told.st_mtime_ns, told.st_size


def stamp_of(path: Path) -> Stamp | None:
    """Equal as long as it is the same file, unchanged; None while there is none."""
    try:
        return stamp_in(path.stat())
    except OSError:
        return None
