"""Bodies that run in processes of their own. A child imports them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from awhile import ChildRun


def tick(path: str) -> None:
    """Writes its pid, then a side effect every few milliseconds; asks nobody."""
    with Path(path).open("w") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        while True:
            file.write("x")
            file.flush()
            time.sleep(0.002)


def deaf(path: str) -> None:
    """The same, and shrugs at SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tick(path)


def until_told(path: str, run: ChildRun) -> None:
    """Ends by itself when told, saying that it did not finish."""
    with Path(path).open("w") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        while not run.cancelled.wait(0.002):
            file.write("x")
            file.flush()
    raise InterruptedError("told to stop")


def almost_done(path: str, run: ChildRun) -> str:
    """Has its result already when it is told."""
    Path(path).write_text(f"{os.getpid()}\nx")
    run.cancelled.wait()
    return "finished anyway"


def counted(to: int, run: ChildRun) -> str:
    """Reports and returns."""
    for done in range(1, to + 1):
        run.report(done, to, f"row {done}")
    return f"counted to {to}"


def divide(left: int, right: int) -> float:
    """Raises for a right of 0."""
    return left / right


def dies() -> None:
    """Its process ends under it."""
    print("about to die", flush=True)  # noqa: T201
    os.kill(os.getpid(), signal.SIGKILL)
