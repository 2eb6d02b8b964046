"""Bounded waiting, shared by the tests of this folder."""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
import psutil


async def wait_until(predicate: Callable[[], bool], seconds: float) -> float:
    """Poll until true; the seconds it took. Fails the test when the time is up."""
    began = time.monotonic()
    while not predicate():
        assert time.monotonic() - began < seconds, f"not so within {seconds} s"
        await anyio.sleep(0.005)
    return time.monotonic() - began


def gone(pid: int) -> bool:
    """Whether the process no longer runs; one that waits to be reaped counts as gone."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
