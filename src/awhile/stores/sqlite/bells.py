"""How a process that committed wakes the others on the same file: a named pipe for each listener.

A ring carries nothing but "look again", so a lost or a forged one costs at most a look; the poll
beside it finds what a process committed that died before it rang. Named pipes and not Unix sockets:
a socket's path may have 108 bytes at most, which a test's temporary folder already exceeds, and an
open for writing says at once (ENXIO) that the listener is dead, so its pipe can be cleared away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Bell:
    """This process's own pipe, to be waited on by one thread."""

    def __init__(self, folder: Path) -> None:
        """Hang the bell up.

        Raises:
            OSError: this file system has no named pipes, or the folder cannot be written.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._path = folder / self.name
        hidden = folder / f".{self.name}"
        os.mkfifo(hidden, 0o600)
        try:
            # For reading and writing, so that it never reads as closed. Only then is it given its
            # name: a pipe that nobody has open is taken for a dead process's and removed.
            self._file = os.open(hidden, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            hidden.rename(self._path)
            self._poll = select.poll()
            self._poll.register(self._file, select.POLLIN)
        except OSError:
            hidden.unlink(missing_ok=True)
            raise

    def wait(self, timeout_seconds: float | None) -> None:
        """Return when it was rung since the last wait, or when the time is over."""
        if self._poll.poll(None if timeout_seconds is None else timeout_seconds * 1000):
            with contextlib.suppress(BlockingIOError):
                os.read(self._file, 65_536)

    def ring(self) -> None:
        """Ring this very bell, from another thread of this process."""
        with contextlib.suppress(BlockingIOError):  # full: it has been rung often enough
            os.write(self._file, b"!")

    def close(self) -> None:
        """Take it down."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def ring_all(folder: Path, *, but: str | None) -> None:
    """Ring every bell in the folder except one's own; take down those of dead processes.

    Never raises: a ring that fails leaves the listener to its poll.
    """
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names, not paths: this runs at every commit
    except OSError:
        return
    for name in names:
        if name == but or name.startswith("."):
            continue
        path = folder / name
        try:
            file = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.ENXIO:
                with contextlib.suppress(OSError):
                    path.unlink()
            continue
        with contextlib.suppress(OSError):
            os.write(file, b"!")
        os.close(file)


__all__ = ["Bell", "ring_all"]
