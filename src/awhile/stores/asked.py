"""How long a write has waited since it was asked for.

A store may make a write seconds after its caller said what time it is: once a lock is free, or the
server is back. A lease in it has to hold for as long as was meant, from when it is written; else it
has run out already, and whoever looks next ends work that is just beginning. (Measured: a worker
came back after its network had been silent, and each task it took was lost at once.)
"""

from __future__ import annotations

import time

AT_ONCE_MS = 500
"""What counts as no wait: a lease has to bear as much. Instants stay as they were given then."""


class Asked:
    """A write, from when it was asked for."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at = time.monotonic()

    @property
    def late_ms(self) -> int:
        """How much longer than given a lease has to hold that is written now."""
        waited_ms = round((time.monotonic() - self._at) * 1000)
        return waited_ms if waited_ms > AT_ONCE_MS else 0


__all__ = ["AT_ONCE_MS", "Asked"]
