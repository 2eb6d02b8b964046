"""The results of finished runs: kept, read page by page in any view, and gone with their run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import anyio
import anyio.to_thread

from awhile.ask.results.cache import Cache
from awhile.ask.results.pages import Page, page
from awhile.ask.results.ranged import RangedFile
from awhile.ask.results.storage import Folder, Storage, name_of
from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.views import Stop, View, write_view
from awhile.ask.results.workbook import write_workbook
from awhile.ask.results.working import apart, stoppable

__all__ = ["Opened", "Results"]

_T = TypeVar("_T")

_CACHE_BYTES = 2 * 1024 * 1024 * 1024
_SUFFIX = ".parquet"
_VIEWS_AT_ONCE = 2
"""Each may use half a gigabyte of memory, and a core."""
_FETCH_BYTES = 8 * 1024 * 1024
_WHOLE = View()


@dataclass(frozen=True, slots=True)
class Opened:
    """A result, or a view of it, to be read: as a file of this machine's, or by its parts.

    The counts and `truncated` are of the whole result, `version` differs between two that could be
    confused.
    `is_heavy`: some cells are so large that it is not to be read in this process (`Results.read`).
    """

    source: Source
    size: int
    version: str
    row_count: int
    column_count: int
    truncated: bool
    is_heavy: bool


class Results:
    """The results of runs, by run id.

    Args:
        storage: where they are.
        cache: where copies of them are for a while: of remote ones, and views.
    """

    def __init__(self, storage: Storage, cache: Cache) -> None:
        self._storage = storage
        self._cache = cache
        self._views = anyio.Semaphore(_VIEWS_AT_ONCE)
        self._workbooks = anyio.Semaphore(1)
        self._locks: dict[str, _Lock] = {}

    @property
    def storage(self) -> Storage:
        """Where they are, for what is noted beside them."""
        return self._storage

    @classmethod
    def in_folder(cls, folder: Path) -> Results:
        """Results in one folder of this machine, with their copies in a hidden one inside."""
        return cls(Folder(folder), Cache(folder / ".views", _CACHE_BYTES))

    def draft(self, run_id: str) -> Path:
        """A name of its own for the result of one execution, until `keep` makes it the run's.

        A run may be executed again while an earlier worker, frozen for a while, still believes it
        has it: that one must neither write nor remove what the later one wrote.
        """
        return self._storage.drafts.new(_name(run_id))

    async def keep(self, run_id: str, draft: Path) -> None:
        """Make a finished draft the result of the run: there whole, or not at all.

        Cancelled, it is not kept. Raises `OSError` where the storage does not do it.
        """

        def keep(stop: Stop) -> None:
            try:
                self._storage.keep(_name(run_id), draft, stop.check)
            finally:
                draft.unlink(missing_ok=True)

        await stoppable(keep)

    async def page(self, run_id: str, offset: int, limit: int, view: View = _WHOLE) -> Page:
        """Rows of a result, or of a view of it.

        The first page of a view writes a copy of the rows in that order (about a second for a
        million rows); later ones are read from it. Cancelled, that work has ended once this
        returns.

        Raises `FileNotFoundError`, `IndexError` for a column that does not exist, `ValueError` for
        a value that a column cannot be compared with.
        """
        opened = await self.open(run_id, view)
        return await self.read(
            run_id, opened, page, offset=offset, limit=limit, row_count=opened.row_count
        )

    async def read(
        self, run_id: str, opened: Opened, function: Callable[..., _T], **arguments: Any
    ) -> _T:
        """What a function of a module makes of an opened result, which it gets as its `source`.

        It runs in a thread; where some cells are very large, in a process of its own, so that this
        one's memory stays as it is.
        """
        if not opened.is_heavy:
            work = partial(function, source=opened.source, **arguments)
            return await anyio.to_thread.run_sync(work)
        source = await self._on_this_machine(run_id, opened)
        return await apart(function, source=source, **arguments)

    async def open(self, run_id: str, view: View = _WHOLE) -> Opened:
        """A result, or a view of it, to be read whole. Raises what `page` does."""
        opened = await anyio.to_thread.run_sync(self._opened, run_id)
        if view.is_whole:
            return opened
        async with self._locked(run_id):
            return await self._copy(run_id, opened, view)

    async def workbook(
        self, run_id: str, view: View, about: Mapping[str, str]
    ) -> tuple[BinaryIO, list[str]]:
        """A result as an Excel workbook, and what is not exact in it, in sentences.

        See `written`. Raises what `page` does, and `ValueError` for more columns than Excel has.
        """
        opened = await self.open(run_id, view)
        async with self._workbooks:
            return await self.written(run_id, opened, write_workbook, about=dict(about))

    async def written(
        self, run_id: str, opened: Opened, function: Callable[..., _T], **arguments: Any
    ) -> tuple[BinaryIO, _T]:
        """What a function of a module writes at its `target`, and what it returns.

        It runs in a process of its own, which ends when this is cancelled. The file has no name
        any more, and is gone when it is closed.
        """
        source = await self._on_this_machine(run_id, opened)
        with self._cache.part(f"{run_id}.leaving") as target:
            told = await apart(function, source=source, target=target, **arguments)
            return await anyio.to_thread.run_sync(partial(target.open, "rb")), told

    async def local(self, run_id: str) -> Path:
        """A result as a file of this machine's, also where it is kept elsewhere.

        Raises `FileNotFoundError`.
        """
        return await self._on_this_machine(run_id, await self.open(run_id))

    async def _on_this_machine(self, run_id: str, opened: Opened) -> Path:
        if isinstance(opened.source, Path):
            return opened.source
        return await stoppable(partial(self._fetched, run_id, opened))

    def _fetched(self, run_id: str, opened: Opened, stop: Stop) -> Path:
        """A copy on this machine of a result that is elsewhere."""
        name = f"{run_id}.{opened.version}.whole"
        if self._cache.used(name) is None:
            with self._cache.making(name) as part, part.open("wb") as copy:
                for start in range(0, opened.size, _FETCH_BYTES):
                    stop.check()
                    end = min(start + _FETCH_BYTES, opened.size)
                    copy.write(self._storage.part(_name(run_id), start, end))
        return self._cache.folder / name

    async def delete(self, run_ids: Collection[str]) -> None:
        """Delete results and the copies made of them; nothing happens where there are none."""
        await anyio.to_thread.run_sync(self._delete, run_ids)

    async def tidy(self, is_over: Callable[[str], Awaitable[bool]]) -> None:
        """Delete what killed processes left behind, and copies that are too many.

        `is_over` tells whether a run writes nothing any more.
        """
        drafts = self._storage.drafts
        for name in await anyio.to_thread.run_sync(drafts.untouched, _SUFFIX):
            if await is_over(name.removesuffix(_SUFFIX)):
                await anyio.to_thread.run_sync(drafts.delete, name)
        await anyio.to_thread.run_sync(self._cache.trim)

    async def run_ids(self) -> list[str]:
        """The runs whose results are kept."""
        names = await anyio.to_thread.run_sync(self._storage.names, _SUFFIX)
        return [name.removesuffix(_SUFFIX) for name in names]

    def _opened(self, run_id: str) -> Opened:
        found = self._storage.find(_name(run_id))
        if found is None:
            raise FileNotFoundError(f"no result is kept of run {run_id!r}")
        source: Source = found.path or RangedFile(
            self._storage, found, self._cache, f"{run_id}.{found.version}"
        )
        with Stored.open(source) as stored:
            return Opened(
                source=source,
                size=found.size,
                version=found.version,
                row_count=stored.row_count,
                column_count=len(stored.columns),
                truncated=stored.truncated,
                is_heavy=stored.is_heavy,
            )

    def _delete(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            self._storage.delete(_name(run_id))
            self._cache.delete(f"{run_id}.")

    async def _copy(self, run_id: str, opened: Opened, view: View) -> Opened:
        name = f"{run_id}.{opened.version}.{view.digest}.view"
        if self._cache.used(name) is None:
            async with self._views:
                await self._make(run_id, opened, view, name)

        def measure() -> Opened:
            path = self._cache.folder / name
            return replace(
                opened,
                source=path,
                size=path.stat().st_size,
                version=f"{opened.version}.{view.digest}",
            )

        return await anyio.to_thread.run_sync(measure)

    async def _make(self, run_id: str, opened: Opened, view: View, name: str) -> None:
        def make(stop: Stop) -> None:
            with self._cache.making(name) as part:
                write_view(opened.source, view, part, stop)

        if not opened.is_heavy:
            await stoppable(make)
            return
        source = await self._on_this_machine(run_id, opened)
        with self._cache.making(name) as part:
            await apart(write_view, source=source, view=view, part=part)

    @asynccontextmanager
    async def _locked(self, run_id: str) -> AsyncGenerator[None]:
        """One at a time for each result: two that want the same view make it once."""
        lock = self._locks.setdefault(run_id, _Lock())
        lock.wanted += 1
        try:
            async with lock.lock:
                yield
        finally:
            lock.wanted -= 1
            if not lock.wanted:
                del self._locks[run_id]


class _Lock:
    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.wanted = 0


def _name(run_id: str) -> str:
    return name_of(run_id, _SUFFIX)
