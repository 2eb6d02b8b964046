"""Which data files the paths of a command line mean: the files themselves, and those in folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.stamp import Stamp, stamp_in

__all__ = ["MOST_FILES", "SUFFIXES", "File", "Found", "Kind", "find", "kind_of", "some_of"]

Kind = Literal["parquet", "csv", "json", "excel"]

SUFFIXES: dict[str, Kind] = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "ndjson": "json",
    "jsonl": "json",
    "xlsx": "excel",
    "xlsm": "excel",
    "xlsb": "excel",
    "xls": "excel",
    "ods": "excel",
}
_COMPRESSED = (".csv.gz", ".tsv.gz", ".json.gz", ".ndjson.gz", ".jsonl.gz")
_KINDS = "Parquet, CSV, TSV, JSON, NDJSON or Excel"
_PARQUET = b"PAR1"

MOST_FILES = 5_000
"""Data files in all; to look at each of them again before a query takes 60 ms for as many."""
_MOST_ENTRIES = 50_000
"""Entries of a folder and of the folders in it, whatever they are."""
_NAMED = 5
"""So many names stand in a note or an error; of more, how many there are."""


@dataclass(frozen=True, slots=True)
class File:
    """A data file. `name` is what a person calls it, relative to where `folder` is given."""

    name: str
    path: Path
    """Without links: what is at this path is the file itself."""
    kind: Kind
    stamp: Stamp
    folder: str | None
    """The folder that was given, by name; None for a file that was given itself."""
    inside: tuple[str, ...]
    """The names that lead from that folder to the file, its own name last."""

    @property
    def size(self) -> int:
        return self.stamp[3]

    @property
    def compressed(self) -> bool:
        return self.path.suffix.lower() == ".gz" or self.inside[-1].lower().endswith(".gz")


@dataclass(slots=True)
class Found:
    """The files, in the order they were given (in a folder: of their names)."""

    files: list[File] = field(default_factory=list[File])
    notes: list[str] = field(default_factory=list[str])
    """Sentences about what was left out."""


def kind_of(name: str) -> Kind | None:
    """What a file's name says it is; None for anything but data."""
    lowered = name.lower()
    if lowered.endswith(_COMPRESSED):
        lowered = lowered.removesuffix(".gz")
    return SUFFIXES.get(lowered.rpartition(".")[2]) if "." in lowered else None


def find(paths: Sequence[Path]) -> Found:
    """The data files; each once, although it may be given twice.

    Raises `DatabaseNotOpened` for a path that cannot be used, and for more than `MOST_FILES`.
    """
    found = Found()
    for path in paths:
        try:
            real = path.resolve(strict=True)
            mode = real.stat().st_mode
        except (OSError, RuntimeError) as error:  # of a loop of links, before Python 3.13
            raise DatabaseNotOpened(_why_not_there(path, error)) from None
        if stat.S_ISDIR(mode):
            _Folder(path, real, found).search()
        else:
            found.files.append(_file(path, real))
    found.files = list({file.path: file for file in reversed(found.files)}.values())[::-1]
    if len(found.files) > MOST_FILES:
        raise DatabaseNotOpened(_too_many(f"{len(paths)} paths give"))
    if not found.files:
        raise DatabaseNotOpened(_nothing_in(paths, found))
    return found


def some_of(names: Sequence[str]) -> str:
    """A few of the names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return shown if more <= 0 else f"{shown} and {more:,} more"


def _file(path: Path, real: Path) -> File:
    kind = kind_of(path.name) or kind_of(real.name)
    try:
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            told = os.fstat(file.fileno())
            if not stat.S_ISREG(told.st_mode):
                raise DatabaseNotOpened(
                    f"{str(path)!r} is neither a file nor a folder; save what it gives into a file"
                )
            if kind is None and file.read(len(_PARQUET)) == _PARQUET:
                kind = "parquet"
    except OSError as error:
        raise DatabaseNotOpened(_why_not_there(path, error)) from None
    if kind is None:
        raise DatabaseNotOpened(
            f"{str(path)!r} is not known to be {_KINDS}; name it for what it is, as in "
            f"{path.stem + '.csv'!r}"
        )
    if told.st_size == 0:
        raise DatabaseNotOpened(
            f"{str(path)!r} is empty, so there is nothing to ask about; leave it out, or write it "
            "again"
        )
    name = _readable(path.name)
    return File(name, real, kind, stamp_in(told), None, (name,))


class _Folder:
    """The search of one folder. Links are followed as long as they stay inside of it."""

    def __init__(self, given: Path, real: Path, found: Found) -> None:
        self._given = given
        self._real = real
        self._name = _readable(given.name or real.name) or "files"
        self._found = found
        self._left_out: dict[str, list[str]] = {}
        self._entries = 0

    def search(self) -> None:
        files = sorted(self._files(self._real, ()), key=lambda file: file.inside)
        self._found.files.extend(files)
        if self._left_out:
            for why, names in self._left_out.items():
                self._found.notes.append(f"left out of {self._name!r}, {why}: {some_of(names)}")

    def _files(self, folder: Path, inside: tuple[str, ...]) -> Iterator[File]:
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if not inside:
                raise DatabaseNotOpened(_why_not_there(self._given, error)) from None
            self._leave_out("which may not be read", inside)
            return
        if _keeps_versions(folder, {entry.name for entry in listed}):
            if not inside:
                raise DatabaseNotOpened(
                    f"{str(self._given)!r} is a table of Delta, Iceberg or Hudi, whose files also "
                    "hold rows that were changed or deleted; export what is to be asked"
                )
            self._leave_out(
                "which are tables of Delta, Iceberg or Hudi, whose files also hold rows that were "
                "changed or deleted",
                inside,
            )
            return
        for entry in listed:
            self._entries += 1
            if self._entries > _MOST_ENTRIES:
                raise DatabaseNotOpened(_too_many(f"the folder {str(self._given)!r} has"))
            name = entry.name
            # As every tool of this field does: `_SUCCESS`, `.part-0.crc`, Excel's own `~$book`.
            if name.startswith((".", "_", "~$")):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._files(Path(entry.path), (*inside, _readable(name)))
            elif file := self._one(entry, (*inside, _readable(name))):
                yield file

    def _one(self, entry: os.DirEntry[str], inside: tuple[str, ...]) -> File | None:
        kind = kind_of(entry.name)
        real = Path(entry.path)
        try:
            if entry.is_symlink():
                real = real.resolve(strict=True)
            told = real.stat()
        except (OSError, RuntimeError):
            self._leave_out("which lead nowhere", inside)
            return None
        if not real.is_relative_to(self._real):
            self._leave_out("which are links to elsewhere (give them by themselves)", inside)
        elif kind is None or stat.S_ISDIR(told.st_mode):
            self._leave_out(f"which are not {_KINDS}, by their names", inside)
        elif not stat.S_ISREG(told.st_mode):
            self._leave_out("which are no files", inside)
        elif told.st_size == 0:
            self._leave_out("which are empty", inside)
        elif not os.access(real, os.R_OK):
            self._leave_out("which may not be read", inside)
        else:
            name = "/".join((self._name, *inside))
            return File(name, real, kind, stamp_in(told), self._name, inside)
        return None

    def _leave_out(self, why: str, inside: tuple[str, ...]) -> None:
        self._left_out.setdefault(why, []).append("/".join(inside))


def _keeps_versions(folder: Path, names: set[str]) -> bool:
    """Whether only a log tells which of the folder's files count."""
    if not names.isdisjoint(("_delta_log", ".hoodie")):
        return True
    return "metadata" in names and any((folder / "metadata").glob("*.metadata.json"))


def _readable(name: str) -> str:
    """A file's name as text: what of it is no UTF-8 is shown as that."""
    return os.fsencode(name).decode(errors="replace")


def _why_not_there(path: Path, error: OSError | RuntimeError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file or folder {str(path)!r}; check the path"
    if isinstance(error, PermissionError):
        return f"{str(path)!r} may not be read by this user; change its permissions"
    why = error.strerror if isinstance(error, OSError) else error
    return f"{str(path)!r} cannot be read: {why}"


def _too_many(which: str) -> str:
    return (
        f"{which} more files than are opened together ({MOST_FILES:,} data files, or "
        f"{_MOST_ENTRIES:,} entries of any kind); give a smaller folder, or some of the files"
    )


def _nothing_in(paths: Sequence[Path], found: Found) -> str:
    folders = ", ".join(repr(str(path)) for path in paths)
    why = "; ".join(found.notes) or "it is empty"
    return f"there is no {_KINDS} file in {folders} ({why}); give a folder or a file that has data"
