"""How a program that serves ends: in an orderly way, whoever asks for it."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import NoReturn

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


def end_with_stdin(drain_seconds: float) -> None:
    """End when the parent lets go of standard input, or has died.

    ``drain_seconds``: what work gets to end by itself before that; 0 where it gets nothing.
    """

    def wait() -> None:
        # Not through sys.stdin, whose lock a thread must not hold when the interpreter ends.
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(drain_seconds + STOP_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _end(*_: object) -> NoReturn:
    raise SystemExit(0)


__all__ = ["end_at_once_on_signals", "end_on_sigterm", "end_with_stdin"]
