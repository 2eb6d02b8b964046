"""What a test of running bodies must not leave behind: threads, child processes, leases."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil

PATIENCE_SECONDS = 5

FOR_GOOD = {"child spawner"}
"""Threads that live as long as the process, on purpose."""


@contextmanager
def nothing_left_behind(folder: Path) -> Generator[None]:
    """Fail if the block leaves a thread, a child process, or a lease in a store of ``folder``."""
    threads, children = set(threading.enumerate()), _children()
    yield
    deadline = time.monotonic() + PATIENCE_SECONDS
    while left := [
        *(f"thread {one.name!r}" for one in set(threading.enumerate()) - threads if _counts(one)),
        *(f"process {pid}" for pid in _children() - children),
    ]:
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.01)
    assert [task for file in folder.glob("*.db") for task in _leased(file)] == []


def _counts(thread: threading.Thread) -> bool:
    return thread.is_alive() and thread.name not in FOR_GOOD


def _children() -> set[int]:
    """What lives below this process, but for a PostgreSQL of other tests and its comings and
    goings."""
    return {one.pid for one in psutil.Process().children(recursive=True) if _is_ours(one)}


def _is_ours(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE and process.name() != "postgres"
    return False


def _leased(file: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
        rows = store.execute("select task_id from task where lease_worker is not null").fetchall()
    return [f"the lease of {task_id} in {file.name}" for (task_id,) in rows]
