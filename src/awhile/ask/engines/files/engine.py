"""The engine of files: Parquet, CSV, JSON and Excel, asked as the tables of one database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from awhile.ask.engines.duckdb.engine import DuckDBProcesses, remove_tree
from awhile.ask.engines.duckdb.session import Limits
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files.cache import Cache
from awhile.ask.engines.files.finding import find
from awhile.ask.engines.files.session import FilesSettings, digest_of
from awhile.ask.schema import Schema
from awhile.processes import Child

__all__ = ["FilesEngine"]

_CATALOGS = "catalogs"


class FilesEngine(DuckDBProcesses):
    """Data files and folders of them; each is read where it is, and never written.

    What has to be converted first (Excel, and text that is not UTF-8) is kept in `cache_folder` for
    as long as the file is the same; without one, for the life of this engine. The rest is as for
    `DuckDBProcesses`.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        name: str = "files",
        cache_folder: Path | None = None,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        threads: int | None = None,
        spill_folder: Path | None = None,
        release_after_seconds: float = 5.0,
    ) -> None:
        super().__init__(
            "DuckDB",
            side_by_side=side_by_side,
            grace_seconds=grace_seconds,
            memory_limit_bytes=memory_limit_bytes,
            threads=threads,
            spill_folder=spill_folder,
        )
        self._paths = tuple(paths)
        self._name = name
        self._cache_folder = cache_folder
        self._release_after_seconds = release_after_seconds
        self._private: Path | None = None
        self._seen: object = None

    @classmethod
    def from_files(
        cls,
        paths: Sequence[Path],
        *,
        name: str,
        side_by_side: int,
        memory_limit_bytes: int | None,
        cache_folder: Path | None,
    ) -> FilesEngine:
        """The engine of these files and folders (`EngineFromFiles`)."""
        return cls(
            paths,
            name=name,
            cache_folder=cache_folder,
            side_by_side=side_by_side,
            memory_limit_bytes=memory_limit_bytes,
        )

    async def open(self) -> None:
        """Look at the files, convert what has to be, and leave a worker warm.

        Raises `DatabaseNotOpened` with the reason and what to do about it.
        """
        if self._private is None:
            self._private = await anyio.to_thread.run_sync(self._new_folder)
        if self._cache_folder is not None:
            await anyio.to_thread.run_sync(Cache(self._cache_folder).sweep)
        await super().open()

    async def close(self) -> None:
        await super().close()
        if self._private is not None:
            private, self._private = self._private, None
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(remove_tree, private)

    async def describe(self, *, principal: str | None = None) -> Schema:
        await self._look_at_files()
        return await super().describe(principal=principal)

    async def changed(self, since: Schema, *, principal: str | None = None) -> bool:
        await self._look_at_files()
        return await super().changed(since, principal=principal)

    def stamp(self) -> object:
        return self._seen

    async def start_child(self, limits: Limits) -> Child:
        if self._private is None:
            raise DatabaseNotOpened("the files are not open; open the engine first")
        settings = FilesSettings(
            paths=self._paths,
            name=self._name,
            catalogs=self._private / _CATALOGS,
            cache=self._cache_folder or self._private / "converted",
            limits=limits,
            release_after_seconds=self._release_after_seconds,
        )
        return await Child.start("awhile.ask.engines.files.session:serve_files", settings)

    def _new_folder(self) -> Path:
        folder = self.private_folder()
        (folder / _CATALOGS).mkdir()
        return folder

    async def _look_at_files(self) -> None:
        # In a thread: a large folder, or one on a network drive, takes its time.
        self._seen = await anyio.to_thread.run_sync(self._look_at)

    def _look_at(self) -> object:
        try:
            return digest_of(find(self._paths))
        except DatabaseNotOpened as error:
            return str(error)
