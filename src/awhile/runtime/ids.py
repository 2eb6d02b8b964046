"""Ids of tasks."""

from __future__ import annotations

import os

AT_ONCE = 64
"""How many ids are made at once. Each read of the system's randomness lets go of the interpreter's
lock, and then waits for it where threads are busy: 10 µs of a create's 680, not 0.8 (sampled)."""

_ready: list[str] = []
os.register_at_fork(after_in_child=_ready.clear)  # both would give out the same ones


def new_task_id() -> str:
    """An id nobody can guess: 128 random bits (ext-tasks, "Task ID unguessability")."""
    while True:
        try:
            return _ready.pop()
        except IndexError:
            fresh = os.urandom(16 * AT_ONCE).hex()
            _ready.extend(fresh[at : at + 32] for at in range(0, len(fresh), 32))


__all__ = ["new_task_id"]
