"""One writing process at a time, in turn.

SQLite's own answer to a second writer is to back off and try again, which starves somebody: with
four writing processes it took 80 to 743 ms at worst. Here each write transaction holds a ``flock``.
A second file, the turn, makes it fair: who waits for the lock holds the turn, so a process that has
just let go of the lock has to queue behind it (source: ours).
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

from awhile.errors import StoreError
from awhile.stores.sqlite.files import cannot_create

if TYPE_CHECKING:
    from pathlib import Path

WAIT_SECONDS = 30.0
"""How long a write waits for another process before it gives up."""

_EAGER_SECONDS = 0.05
_EAGER_STEP_SECONDS = 0.0002
_PATIENT_STEP_SECONDS = 0.005


class WriteLock:
    """The lock around write transactions, a context manager. Not for several threads at once.

    Raises on entry:
        StoreError: another process kept the lock for `WAIT_SECONDS`, or this file system has no
            working ``flock``.
    """

    def __init__(self, lock: Path, turn: Path) -> None:
        self._path = lock
        self._lock = _open(lock)
        self._turn = _open(turn)

    def __enter__(self) -> None:
        self._acquire(self._turn)
        try:
            self._acquire(self._lock)
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give the files back."""
        os.close(self._lock)
        os.close(self._turn)

    def _acquire(self, file: int) -> None:
        # Not a blocking flock: that could neither be given up when the holder is frozen (a stopped
        # process, a suspended container) nor be woken to close the store.
        started = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = time.monotonic() - started
            except OSError as error:
                raise StoreError(
                    f"{str(self._path)!r} cannot be locked ({error.strerror}): the store has to be "
                    "on a local file system, not on a network share. Keep it elsewhere, or use "
                    "PostgreSQL to share one store between machines."
                ) from error
            else:
                return
            if waited > WAIT_SECONDS:
                raise StoreError(
                    f"Another process has held {str(self._path)!r} for {waited:.0f} s, so nothing "
                    "could be written. Look for a stopped process that has this store open "
                    "(`fuser` on that file names it), continue or end it, and try again."
                )
            time.sleep(_EAGER_STEP_SECONDS if waited < _EAGER_SECONDS else _PATIENT_STEP_SECONDS)


def _open(file: Path) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot_create(file, error) from error


__all__ = ["WAIT_SECONDS", "WriteLock"]
