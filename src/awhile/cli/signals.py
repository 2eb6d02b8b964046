"""How a program that serves ends: in an orderly way, whoever asks for it."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from typing import NoReturn

import anyio

STOP_SECONDS = 15.0
"""How long a server without a parent may take to end in order, beyond what work gets to end: open
calls are answered, bodies that ignore their stop are left behind, connections and the store are
closed. Each of that is bounded; a test adds it up. Then something hangs, and it just ends."""


def end_on_sigterm() -> None:
    """Have SIGTERM unwind this program, as SIGINT does; by default it would clean up nothing.

    uvicorn, which takes both while it serves, raises them again once it has stopped.
    """
    signal.signal(signal.SIGTERM, _end)


def end_at_once_on_signals() -> None:
    """Have SIGINT and SIGTERM end this program at once, without cleaning up.

    For stdio: the SDK reads standard input in a thread that nothing can interrupt, so unwinding
    would wait for the host's next line (`mcp` 2.3.0, ``stdio_server``; not gone after 10 s). What
    ran is found by its lease. A host that closes standard input first, as the specification asks,
    gets an orderly end. A release of the SDK whose read can be cancelled removes the need.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


LINGER = b"linger"
"""What a parent says, with a number of seconds behind it, before it lets go on purpose."""

LINGERS = b"lingers\n"
"""What is answered on standard output once that is taken."""


class LetGo:
    """That a parent lets go on purpose: what runs is to go on, and the program to end by itself."""

    def __init__(self) -> None:
        self.taken = False
        """Whether this program sees to its own end from here on."""
        self._reading, self._writing = os.pipe()
        self._heard = b""
        self._seconds = 0.0

    async def asked(self) -> float:
        """Wait until the parent says so; how long to go on with nothing to do, in seconds."""
        await anyio.wait_readable(self._reading)
        return self._seconds

    def take(self) -> None:
        """Tell the parent that it may go."""
        self.taken = True
        with suppress(BrokenPipeError):  # it has gone
            os.write(1, LINGERS)

    def hear(self, data: bytes) -> None:
        """Take what the parent says, in whichever thread."""
        self._heard += data
        word, _, seconds = self._heard.partition(b" ")
        if word == LINGER and seconds.endswith(b"\n"):
            self._seconds = float(seconds)
            os.write(self._writing, b".")


def end_with_stdin(drain_seconds: float, let_go: LetGo | None = None) -> None:
    """End when the parent lets go of standard input, or has died.

    ``drain_seconds``: what work gets to end by itself before that; 0 where it gets nothing.
    ``let_go``: takes what the parent says before; without it, nothing it says matters.
    """

    def wait() -> None:
        # Not through sys.stdin, whose lock a thread must not hold when the interpreter ends.
        while data := os.read(0, 4096):
            if let_go is not None:
                let_go.hear(data)
        if let_go is not None and let_go.taken:
            return
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(drain_seconds + STOP_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _end(*_: object) -> NoReturn:
    raise SystemExit(0)


__all__ = [
    "LINGER",
    "LINGERS",
    "LetGo",
    "end_at_once_on_signals",
    "end_on_sigterm",
    "end_with_stdin",
]
