"""The worker processes of the engines in this process, and of nothing else it has started."""

from __future__ import annotations

import psutil

__all__ = ["cpu_seconds", "workers"]


def workers() -> list[psutil.Process]:
    """Those that are there now."""
    found: list[psutil.Process] = []
    for child in psutil.Process().children():
        try:
            if any("awhile.processes" in word for word in child.cmdline()):
                found.append(child)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


def cpu_seconds() -> float:
    """Seconds of processor time that they have used so far."""
    used = 0.0
    for worker in workers():
        try:
            used += sum(worker.cpu_times()[:2])
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return used
