"""Functions the tests run inside child processes."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import anyio.lowlevel

from awhile.processes import ChildRun, Link, ProcessError


def echo(link: Link, greeting: str) -> None:
    link.send(greeting)
    while True:
        link.send(link.receive())


def say_and_fail(link: Link) -> None:
    print("about to give up")  # noqa: T201
    raise SystemExit(3)


def spin_holding_the_interpreter(link: Link) -> None:
    """One C call that never lets another thread run, the watcher included."""
    link.send(os.getpid())
    hashlib.sha256()
    sum(range(10**12))


def ignore_sigterm(link: Link) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    link.send("ready")
    time.sleep(600)


def with_a_grandchild(link: Link) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    link.send(process.pid)
    time.sleep(600)


def add(left: int, right: int) -> int:
    return left + right


def count(to: int, run: ChildRun) -> str:
    for done in range(1, to + 1):
        run.report(done, to, f"step {done}")
    return "counted"


async def add_slowly(left: int, right: int) -> int:
    await anyio.lowlevel.checkpoint()
    return left + right


class TooBig(Exception):
    pass


def refuse() -> None:
    raise TooBig("12 is too big")


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def unpicklable() -> object:
    return lambda: None


def tick(path: str) -> None:
    """A side effect every few milliseconds, in a loop that asks nobody."""
    with Path(path).open("a") as file:
        while True:
            file.write("x")
            file.flush()
            time.sleep(0.002)


def tick_until_told(path: str, run: ChildRun) -> str:
    with Path(path).open("a") as file:
        while not run.cancelled.wait(0.002):
            file.write("x")
            file.flush()
    return "stopped when told"


def hooked(path: str, run: ChildRun) -> None:
    """A 'database' that only its own interrupt stops."""
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True

    run.on_cancel(interrupt)
    run.report(0)
    while not interrupted:
        time.sleep(0.002)
    Path(path).write_text("interrupted")
    raise InterruptedError("the query was interrupted")


def deaf(path: str, run: ChildRun) -> None:
    """Takes a run and never looks at it; shrugs at SIGTERM too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tick(path)


class Unreadable:
    """Can be pickled, and not be unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return _refuse_to_be_read, ()


def _refuse_to_be_read() -> None:
    raise ValueError("unreadable on purpose")


def once_then_wait(run: ChildRun) -> str:
    try:
        outcome = run.once("job", lambda _key: "started")
    except ProcessError as refused:
        return str(refused)
    run.cancelled.wait(60)
    return outcome
