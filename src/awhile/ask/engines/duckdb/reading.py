"""The only way in which a worker's DuckDB reaches files: names of ours, opened for reading.

DuckDB itself may reach no path at all. It is given the names of this file system, each of them
stands for one file, and there is nothing in it that could write, make, move or remove one: what
DuckDB gets is a descriptor that was opened for reading, which the operating system holds it to.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fsspec import AbstractFileSystem

from awhile.ask.engines.stamp import Stamp, stamp_in, stamp_of

__all__ = ["PREFIX", "Entry", "ReadOnlyFiles", "location_of"]

PREFIX = "awhile-files://"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be read. `name` is what a person calls it."""

    name: str
    path: Path
    stamp: Stamp


def location_of(number: int, inside: tuple[str, ...]) -> str:
    """The name of a file here: nothing in it is a pattern of names, or ends a text."""
    return f"{PREFIX}{number}/{quote('/'.join(inside), safe='/=')}"


class ReadOnlyFiles(AbstractFileSystem):
    """The entries, by their locations. Anything else does not exist, and nothing can be written."""

    protocol = PREFIX.removesuffix("://")
    cachable = False

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        super().__init__()
        self._entries = entries
        self._opened: set[str] = set()
        self.trouble: str | None = None
        """Why the last file that could not be opened could not."""

    @property
    def prefix(self) -> str:
        """What every location here begins with."""
        return f"{self.protocol}://"

    def begin(self) -> None:
        """Forget what was opened so far: a query begins."""
        self._opened.clear()
        self.trouble = None

    def changed(self) -> str | None:
        """A sentence about one of the files opened since then that has changed."""
        for location in sorted(self._opened):
            entry = self._entries[location]
            if stamp_of(entry.path) != entry.stamp:
                return _changed(entry)
        return None

    def open(self, path: str, mode: str = "rb", **_: Any) -> _Descriptor:
        """Raises `OSError` for anything but reading an entry that is unchanged."""
        entry = self._entry(path)
        if mode != "rb":
            raise PermissionError(f"{entry.name!r} is only read here")
        try:
            # Not followed: what was a file when it was looked at may be a link by now.
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            self.trouble = _unreadable(entry, error)
            raise
        told = os.fstat(descriptor)
        if stamp_in(told) != entry.stamp or not stat.S_ISREG(told.st_mode):
            os.close(descriptor)
            self.trouble = _changed(entry)
            raise OSError(self.trouble)
        self._opened.add(path)
        return _Descriptor(descriptor, entry.stamp[3], partial(self._failed, entry))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Size and kind, as `fsspec` has them."""
        return {"name": path, "size": self._entry(path).stamp[3], "type": "file"}

    def modified(self, path: str) -> datetime:
        """When it was last changed."""
        return datetime.fromtimestamp(self._entry(path).stamp[2] / 1e9, UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        """The one file of that location; there are no patterns."""
        return [path] if path in self._entries else []

    def exists(self, path: str, **_: Any) -> bool:
        """Whether it is an entry."""
        return path in self._entries

    def isfile(self, path: str) -> bool:
        """Whether it is an entry."""
        return path in self._entries

    def isdir(self, path: str) -> bool:
        """There are no folders."""
        return False

    def _failed(self, entry: Entry, error: OSError | None) -> OSError:
        """What to raise for a read that failed, or (None) ended too early."""
        self.trouble = _changed(entry) if error is None else _unreadable(entry, error)
        return OSError(self.trouble)

    def _entry(self, path: str) -> Entry:
        try:
            return self._entries[path]
        except KeyError:
            raise FileNotFoundError(f"{path!r} is none of the files that are open here") from None


class _Descriptor:
    """An open file as DuckDB uses one: by `seek` and `read`, from several threads.

    DuckDB reads at a place by two calls, and one handle may be in use in two threads. A place that
    a thread has sought is therefore that thread's own, until somebody reads on where the last read
    ended: that is how a compressed file is read, by one thread after the other.
    """

    def __init__(
        self, descriptor: int, size: int, failed: Callable[[OSError | None], OSError]
    ) -> None:
        self._descriptor = descriptor
        self._size = size
        self._failed = failed
        self._at = 0
        self._reads_on = 0
        self._sought = threading.local()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Where this thread reads next; only from the start of the file."""
        if whence != os.SEEK_SET:
            raise OSError("only places counted from the start are known here")
        self._at = offset
        self._sought.place = (offset, self._reads_on)
        return offset

    def tell(self) -> int:
        """Where the last read ended, or the last seek led."""
        return self._at

    def read(self, size: int) -> bytes:
        """So many bytes, or those there are up to the end of the file.

        Raises `OSError` where the file ends too early: DuckDB would take the rest of its buffer for
        what is in the file.
        """
        place: tuple[int, int] | None = getattr(self._sought, "place", None)
        self._sought.place = None
        if place is not None and place[1] == self._reads_on:
            at = place[0]
        else:
            at = self._at
            self._reads_on += 1
        try:
            data = os.pread(self._descriptor, size, at)
        except OSError as error:
            raise self._failed(error) from None
        if len(data) < min(size, self._size - at):
            raise self._failed(None)
        self._at = at + len(data)
        return data

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Give the descriptor back; once more does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        # DuckDB closes no handle of a Python file system: it drops it (2.0.1).
        self.close()


def _unreadable(entry: Entry, error: OSError) -> str:
    return (
        f"{entry.name!r} can no longer be read ({error.strerror}); see to it that it is there, and "
        "ask again"
    )


def _changed(entry: Entry) -> str:
    return (
        f"{entry.name!r} was changed while it was open here, so what was read of it may be of two "
        "versions; ask again, and the new one is read"
    )
