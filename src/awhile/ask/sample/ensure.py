"""The sample warehouse on disk: made when it is missing or too old, otherwise reused."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from uuid import uuid4

from awhile.ask.sample.recipe import SIZES, fingerprint
from awhile.errors import SettingsError
from awhile.processes import call_in_child

__all__ = ["ensure_sample"]

Report = Callable[[float, float | None, str | None], None]

_TERMINATE_SECONDS = 1.0
_ABANDONED_SECONDS = 3600
"""A half-made sample that nobody has written to for this long belongs to a killed program."""


async def ensure_sample(folder: Path, size: str, today: date, report: Report) -> Path:
    """The path of a sample warehouse of `size` (`small` or `large`) in `folder`.

    A file is reused on the day it was made. On a later day the small one is made anew, which
    takes about 20 s on 2 cores, so that it always ends today; the large one, which takes minutes,
    is reused for 30 days. Older samples of the same size are removed once a new one is there.

    It is written by a child process under a temporary name, and renamed when it is whole:
    cancelling, or a kill, leaves no half-made sample. `report(done, total, message)` counts months.

    Raises `SettingsError` for an unknown size, `ChildRaised` when the disk is full or the like.
    """
    if size not in SIZES:
        raise SettingsError(f"no sample is called {size!r}; choose one of {', '.join(SIZES)}")
    found = _reusable(folder, size, today)
    if found is not None:
        return found
    path = _path(folder, size, today)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    _make_room(folder)
    try:
        await call_in_child(
            "awhile.ask.sample.generate:generate",
            {"path": part, "size": SIZES[size], "end_day": today},
            report=report,
            grace_seconds=_TERMINATE_SECONDS,
        )
        part.replace(path)
    finally:
        _remove(folder, f"{part.name}*")
    # A server that has an old one open keeps reading it: the name goes, the file stays for it.
    _remove(folder, f"sample-{size}-*.duckdb", but=path)
    return path


def _path(folder: Path, size: str, day: date) -> Path:
    return folder / f"sample-{size}-{day.isoformat()}-{fingerprint()}.duckdb"


def _reusable(folder: Path, size: str, today: date) -> Path | None:
    ages = range(SIZES[size].keep_days + 1)
    paths = (_path(folder, size, today - timedelta(days=age)) for age in ages)
    return next((path for path in paths if path.exists()), None)


def _make_room(folder: Path) -> None:
    """Make the folder, and remove what a killed program left half-made."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".sample-*.part*"):
        if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
            _remove(folder, left.name)


def _remove(folder: Path, pattern: str, but: Path | None = None) -> None:
    for path in folder.glob(pattern):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)  # what DuckDB spilled beside its file
        elif path != but:
            path.unlink(missing_ok=True)
