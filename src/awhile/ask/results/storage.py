"""Where results, and what is noted beside them, are kept: whole files by name.

A folder of this machine (or one that several mount), or any storage that fsspec speaks to. Source:
ours. A name never shows a part of a file: it is there whole, or not at all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from awhile.errors import SettingsError

__all__ = ["Check", "Drafts", "Folder", "Found", "Storage", "name_of", "open_storage"]

_LEFT_SECONDS = 3600.0

Check = Callable[[], None]
"""Called now and then by what takes long; raises when it is to stop."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is there. `version` differs between two files that had the same name."""

    name: str
    size: int
    version: str
    path: Path | None
    """Where it can be opened, if that is on this machine."""


class Drafts:
    """Files of this machine's that are on their way to be kept; hidden, in one folder.

    The folder is made when the first is begun, and readable by this user only.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self, name: str) -> Path:
        """A path that nobody else has, for what will be a file of that name."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stem, dot, suffix = name.partition(".")
        return self._folder / f".{stem}.{uuid4().hex}{dot}{suffix}"

    def delete(self, name: str) -> None:
        """Delete what there is of drafts for that name."""
        stem, _, suffix = name.partition(".")
        for left in (f".{stem}.*.{suffix}", f".{stem}.*.{suffix}.part"):
            for path in self._folder.glob(left):
                path.unlink(missing_ok=True)

    def untouched(self, suffix: str) -> set[str]:
        """The names with this suffix that have drafts to which nobody has written for an hour."""
        long_ago = time.time() - _LEFT_SECONDS
        found: set[str] = set()
        for path in self._folder.glob(f".*{suffix}*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < long_ago:
                    found.add(f"{path.name[1:].partition('.')[0]}{suffix}")
        return found


class Storage(Protocol):
    """Files by name. Every method may block, and may be called from any thread.

    All but a missing file is an `OSError` with a sentence about the storage.
    """

    @property
    def drafts(self) -> Drafts:
        """Beside the files themselves where those are on this machine."""
        ...

    def keep(self, name: str, draft: Path, check: Check) -> Path | None:
        """Make a draft the file of that name; where it is on this machine afterwards, if it is.

        What `check` raises is raised, and nothing is kept then.
        """
        ...

    def write(self, name: str, content: bytes) -> None:
        """Keep a small file, in place of the one there may be."""
        ...

    def read(self, names: Collection[str]) -> Mapping[str, bytes]:
        """Small files, as far as they are there."""
        ...

    def find(self, name: str) -> Found | None:
        """The file of that name, or None."""
        ...

    def part(self, name: str, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`. Raises `FileNotFoundError`."""
        ...

    def names(self, suffix: str) -> list[str]:
        """The names there are that end like this."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file, and what was left behind of drafts of it; nothing if there is none."""
        ...


class Folder:
    """A folder, made when it is first written to. Readable by this user only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._drafts = Drafts(path)

    @property
    def drafts(self) -> Drafts:
        return self._drafts

    def keep(self, name: str, draft: Path, check: Check) -> Path:
        check()
        return draft.replace(self._path / name)

    def write(self, name: str, content: bytes) -> None:
        draft = self._drafts.new(name)
        try:
            draft.write_bytes(content)
            draft.replace(self._path / name)  # atomic also where there is one
        finally:
            draft.unlink(missing_ok=True)

    def read(self, names: Collection[str]) -> Mapping[str, bytes]:
        found: dict[str, bytes] = {}
        for name in names:
            try:
                found[name] = (self._path / name).read_bytes()
            except FileNotFoundError:
                continue
        return found

    def find(self, name: str) -> Found | None:
        path = self._path / name
        try:
            seen = path.stat()
        except FileNotFoundError:
            return None
        version = f"{seen.st_mtime_ns:x}-{seen.st_size:x}-{seen.st_ino:x}"
        return Found(name, seen.st_size, version, path)

    def part(self, name: str, start: int, end: int) -> bytes:
        with (self._path / name).open("rb") as file:
            file.seek(start)
            return file.read(end - start)

    def names(self, suffix: str) -> list[str]:
        try:
            found = os.listdir(self._path)  # noqa: PTH208 - names, of which there may be many
        except FileNotFoundError:
            return []
        return [name for name in found if name.endswith(suffix) and not name.startswith(".")]

    def delete(self, name: str) -> None:
        self._drafts.delete(name)
        (self._path / name).unlink(missing_ok=True)


def name_of(run_id: str, suffix: str) -> str:
    """What a run's file of one kind is called. Raises `ValueError` for what is no run id."""
    # Ids are letters and digits; anything else could name a file somewhere else.
    if not run_id.isalnum():
        raise ValueError(f"{run_id!r} is no run id; ids are letters and digits")
    return f"{run_id}{suffix}"


def open_storage(where: str | Path, drafts: Path) -> Storage:
    """The storage at a path or URL (`file:///…`, `s3://bucket/prefix`, `memory://…`).

    `drafts` is a folder of this machine for what is on its way to storage elsewhere.

    Raises `SettingsError` for what cannot be used, with the package that is missing.
    """
    if isinstance(where, Path) or "://" not in where:
        return Folder(Path(where))
    url = urlsplit(where)
    if url.scheme == "file":
        if url.netloc not in ("", "localhost"):
            raise SettingsError(
                f"results is {where!r}, whose {url.netloc!r} would be another machine; write "
                "file:///folder with three slashes for a folder of this one."
            )
        return Folder(Path(unquote(url.path)))
    from awhile.ask.results.remote import open_remote

    return open_remote(where, drafts)
