"""This side's clock."""

from __future__ import annotations

import time


def wall_clock_ms() -> int:
    """Unix milliseconds. Comparable between processes of this machine, not with a server's."""
    return time.time_ns() // 1_000_000


__all__ = ["wall_clock_ms"]
