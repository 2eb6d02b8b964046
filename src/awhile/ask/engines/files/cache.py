"""Where files are kept that had to be converted before DuckDB could read them."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from awhile.ask.engines.files.finding import File

__all__ = ["Cache"]

_FORM = "1"
"""Of what is kept; another one makes everything be converted anew."""
_UNUSED_DAYS = 30
_DAY_SECONDS = 86_400
_PART_SECONDS = 3_600
"""An unfinished conversion this old is nobody's any more."""


class Cache:
    """Folders of converted files, one for each file and version of it, only for this user.

    A folder is there whole, or not at all. It is removed when its file has another version, or when
    nobody has used it for a month.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, file: File, convert: Callable[[Path], None]) -> Path:
        """The folder of what the file was converted to; `convert` fills it where it is missing."""
        whose = self._folder / hashlib.sha256(os.fsencode(file.path)).hexdigest()[:32]
        version = whose / "-".join((_FORM, *map(str, file.stamp)))
        if version.is_dir():
            os.utime(version)
            return version
        part = whose / f".{os.getpid()}-{time.monotonic_ns()}.part"
        part.mkdir(mode=0o700, parents=True)
        try:
            convert(part)
            for earlier in whose.iterdir():
                if earlier != part and not _being_written(earlier):
                    shutil.rmtree(earlier, ignore_errors=True)
            try:
                part.rename(version)
            except OSError:
                if not version.is_dir():  # else somebody else was faster
                    raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return version

    def sweep(self) -> None:
        """Remove what nobody has used for a month, and what was never finished."""
        for version in self._folder.glob("*/*"):
            unused = time.time() - version.stat().st_mtime
            if unused > _UNUSED_DAYS * _DAY_SECONDS or (
                version.suffix == ".part" and not _being_written(version)
            ):
                shutil.rmtree(version, ignore_errors=True)


def _being_written(folder: Path) -> bool:
    try:
        return folder.suffix == ".part" and time.time() - folder.stat().st_mtime < _PART_SECONDS
    except FileNotFoundError:
        return False
