"""What this machine keeps of results to be quick: parts of remote ones, sorted and filtered copies.

All of it can be made again, so it is bounded, and the least recently used goes first. Several
processes may share the folder.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

__all__ = ["Cache"]

_IN_USE_SECONDS = 60.0
"""What was used as recently may be open, and stays however full it is."""

_LEFT_SECONDS = 3600.0
"""A part that nobody has written to for this long was left behind by a process that was killed."""

_PART = ".part"


class Cache:
    """A folder of files that are there whole or not at all.

    Args:
        folder: made when it is first needed; readable by this user only.
        most_bytes: how large all of it may become.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder = folder
        self._most_bytes = most_bytes

    def used(self, name: str) -> Path | None:
        """A file that is there; it counts as used now."""
        path = self.folder / name
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    @contextmanager
    def making(self, name: str) -> Generator[Path]:
        """A path to write at: in the end it is the file of that name, unless this raises.

        A folder of the same name with `.spill` after it may be used on the way.
        """
        with self.part(name) as part:
            yield part
            part.replace(self.folder / name)
        self.trim()

    @contextmanager
    def part(self, name: str) -> Generator[Path]:
        """A path to write at for as long as the block runs."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = self.folder / f".{name}.{uuid4().hex}{_PART}"
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)
            shutil.rmtree(spill_of(part), ignore_errors=True)

    def delete(self, prefix: str) -> None:
        """Delete every file whose name begins so."""
        for pattern in (f"{prefix}*", f".{prefix}*"):
            for path in self.folder.glob(pattern):
                _remove(path)

    def trim(self) -> None:
        """Delete what was used least recently until the rest fits; and what was left behind."""
        now = time.time()
        files: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("*"):
            try:
                seen = path.stat()
            except FileNotFoundError:
                continue
            if not path.name.startswith("."):
                files.append((seen.st_mtime, seen.st_size, path))
            elif _PART in path.name and seen.st_mtime < now - _LEFT_SECONDS:
                _remove(path)
        size = sum(each for _, each, _ in files)
        for used_at, each, path in sorted(files):
            if size <= self._most_bytes or used_at > now - _IN_USE_SECONDS:
                return
            path.unlink(missing_ok=True)
            size -= each


def spill_of(part: Path) -> Path:
    """The folder beside a part for what does not fit into memory while it is made."""
    return part.with_name(f"{part.name}.spill")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
