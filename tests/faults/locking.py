"""Two ways in which others keep a SQLite file from being written."""

from __future__ import annotations

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from awhile.stores.sqlite.connection import Connection


@contextmanager
def foreign_program(file: Path) -> Generator[None]:
    """As the ``sqlite3`` shell that somebody left in the middle of a transaction."""
    shell = Connection(file, reads_only=False)
    try:
        shell.run("BEGIN IMMEDIATE")
        yield
    finally:
        shell.close()


@contextmanager
def stopped_process(file: Path) -> Generator[None]:
    """As one of ours that was stopped (SIGSTOP) while it wrote."""
    with file.with_name(f"{file.name}-lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
