"""Reading parts of a result that is kept elsewhere, through what this machine has kept of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awhile.ask.results.cache import Cache
    from awhile.ask.results.storage import Found, Storage

__all__ = ["RangedFile"]

BLOCK_BYTES = 4 * 1024 * 1024


class RangedFile(io.RawIOBase):
    """A file of a storage, fetched block by block as it is read; blocks are kept in the cache."""

    def __init__(self, storage: Storage, found: Found, cache: Cache, prefix: str) -> None:
        super().__init__()
        self._storage = storage
        self._found = found
        self._cache = cache
        self._prefix = prefix
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._found.size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._found.size if size < 0 else min(self._at + size, self._found.size)
        parts: list[bytes] = []
        while self._at < end:
            number, skipped = divmod(self._at, BLOCK_BYTES)
            part = self._block(number)[skipped : skipped + end - self._at]
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)

    def _block(self, number: int) -> bytes:
        name = f"{self._prefix}.{number}.block"
        kept = self._cache.used(name)
        if kept is not None:
            return kept.read_bytes()
        start = number * BLOCK_BYTES
        end = min(start + BLOCK_BYTES, self._found.size)
        content = self._storage.part(self._found.name, start, end)
        if len(content) != end - start:
            raise OSError(f"{self._found.name!r} ended early: it was replaced; read it again.")
        with self._cache.making(name) as part:
            part.write_bytes(content)
        return content
