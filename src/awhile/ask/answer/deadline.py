"""One deadline over all the work of a run, in which waiting for a person does not count."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.ask.engines.errors import QueryInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Deadline"]

_LEAST_SECONDS = 0.001
"""What an engine is given when nothing is left: it stops at once, in its own way."""


class Deadline:
    """So many seconds of work; None: as long as it takes.

    It counts what is done inside `counting` and `spent`: understanding the question, estimating,
    and everything an engine does from waiting for a place to the last row.
    """

    def __init__(self, seconds: float | None, *, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self._used = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.seconds is None else max(self.seconds - self._used, _LEAST_SECONDS)

    @contextmanager
    def counting(self) -> Generator[None]:
        """Cut the block off at the deadline.

        Raises `QueryInterrupted`: the query itself had not begun.
        """
        with anyio.move_on_after(self.left) as scope, self.spent():
            yield
        if scope.cancelled_caught:
            raise QueryInterrupted("never_started", 0.0, self.seconds or 0.0)

    @contextmanager
    def spent(self) -> Generator[None]:
        """Count the block, which keeps to `left` by itself; say the whole time if it could not."""
        began = self._now()
        try:
            yield
        except QueryInterrupted as late:
            whole = self.seconds if self.seconds is not None else late.budget_seconds
            raise QueryInterrupted(late.how, late.seconds, whole, late.rows) from None
        finally:
            self._used += self._now() - began
