"""The thread that a worker's DuckDB lives in, and what the operating system denies it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from awhile.processes.landlock import deny_writing

__all__ = ["Confined"]

P = ParamSpec("P")
T = TypeVar("T")


class Confined:
    """Calls functions in one thread, which may write nothing but what is in `folder`.

    DuckDB's own threads are started from it, and are denied the same; the rest of the process,
    which writes results, is not. Where the kernel cannot deny it (`is_denied`: Linux with Landlock
    can), what DuckDB denies itself has to do.
    """

    def __init__(self, folder: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="duckdb")
        self.is_denied = self(deny_writing, folder)

    def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns or raises, called in that thread."""
        return self._thread.submit(function, *args, **kwargs).result()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()
