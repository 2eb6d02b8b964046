"""Files opened in a worker: their catalog of views, read-only, with no path in reach."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from awhile.ask.engines.duckdb.reading import ReadOnlyFiles
from awhile.ask.engines.duckdb.session import DuckDBSession, Limits, connect, plain
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.files import catalog, describe, troubles
from awhile.ask.engines.files.cache import Cache
from awhile.ask.engines.files.finding import Found, find
from awhile.ask.engines.workers.messages import Fetched, ToRun
from awhile.ask.engines.workers.serving import Running, serve
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["FilesSession", "FilesSettings", "digest_of", "serve_files"]

_KEPT = 4
"""Catalogs of the last versions of the files; a worker may be about to open one of them."""
_WHOLE = "whole.json"
"""In the folder of catalogs: the files that have to be looked at to their end."""


@dataclass(frozen=True, slots=True)
class FilesSettings:
    """What a worker needs to know before its first order."""

    paths: tuple[Path, ...]
    name: str
    """What to call all of them together to a person."""
    catalogs: Path
    """Where the workers of one engine share the catalogs they make."""
    cache: Path
    """Where converted files are kept."""
    limits: Limits
    release_after_seconds: float


def serve_files(link: Link, settings: FilesSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(FilesSession, settings), settings.release_after_seconds)


def digest_of(found: Found, whole: frozenset[Path] = frozenset()) -> str:
    """Equal as long as they are the same files, unchanged, and found to be the same."""
    files = [(file.name, str(file.path), file.stamp) for file in found.files]
    told = repr((files, found.notes, sorted(map(str, whole))))
    return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:32]


class FilesSession(DuckDBSession):
    """The files as they are now. It is stale as soon as one of them has changed, gone, or come."""

    def __init__(self, settings: FilesSettings) -> None:
        self._settings = settings
        self._whole = _whole_ones(settings.catalogs)
        found = find(settings.paths)
        self._digest = digest_of(found, self._whole)
        self._folder = settings.catalogs / self._digest
        if not self._folder.is_dir():
            self._build(found)
        self._card = catalog.read_card(self._folder)
        self._files = ReadOnlyFiles(self._card.entries)
        super().__init__(settings.limits.spill_folder)

    def open(self) -> duckdb.DuckDBPyConnection:
        try:
            files = [self._files, *self.results.files]
            return connect(self._folder / catalog.DATABASE, self._settings.limits, files)
        except duckdb.Error as error:
            raise DatabaseNotOpened(
                f"the files could not be opened: {plain(error).message}"
            ) from None

    def has_changed(self) -> bool:
        whole = _whole_ones(self._settings.catalogs)
        try:
            return digest_of(find(self._settings.paths), whole) != self._digest
        except DatabaseNotOpened:
            return True

    def described(self, seconds: float) -> Schema:
        return describe.schema(
            self.connection, self._card, self._settings.name, seconds, self._trouble
        )

    def run(self, order: ToRun, running: Running) -> Fetched:
        self._files.begin()
        return super().run(order, running)

    def doubt(self) -> str | None:
        return self._files.changed()

    def said(self, error: duckdb.Error, sql: str = "", before: int = 0) -> QueryError:
        told = super().said(error, sql, before)
        why, self._files.trouble = self._files.trouble or self._files.changed(), None
        if why is not None:
            return QueryError(why)
        location = troubles.file_of(told.message)
        if location is None:
            return told
        message = self._in_words(told.message)
        if location in self._card.sampled and troubles.is_of_types(told.message):
            self._look_at_all_of(self._card.entries[location].path)
            message += (
                "; or ask again as it is: so far its first rows alone were looked at, and by then "
                "all of it is, so that such values have a place"
            )
        return QueryError(message)

    def _trouble(self, error: duckdb.Error) -> str:
        return self._in_words(plain(error).message)

    def _in_words(self, message: str) -> str:
        return troubles.in_words(message, self._card.entries)

    def _build(self, found: Found) -> None:
        part = self._settings.catalogs / f".{os.getpid()}-{time.monotonic_ns()}.part"
        part.mkdir()
        try:
            catalog.build(part, found, Cache(self._settings.cache), self._whole)
            part.rename(self._folder)
        except OSError:
            if not self._folder.is_dir():  # else another worker was faster
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        made = [each for each in self._settings.catalogs.iterdir() if not each.suffix]
        for earlier in sorted(made, key=_age)[_KEPT:]:
            shutil.rmtree(earlier, ignore_errors=True)

    def _look_at_all_of(self, path: Path) -> None:
        """From the next session on; this one is stale by then."""
        whole = sorted({*map(str, _whole_ones(self._settings.catalogs)), str(path)})
        part = self._settings.catalogs / f".{os.getpid()}-{_WHOLE}"
        part.write_text(json.dumps(whole), encoding="utf-8")
        part.replace(self._settings.catalogs / _WHOLE)


def _age(catalog: Path) -> float:
    try:
        return time.time() - catalog.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _whole_ones(catalogs: Path) -> frozenset[Path]:
    try:
        told: list[str] = json.loads((catalogs / _WHOLE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return frozenset()
    return frozenset(map(Path, told))
