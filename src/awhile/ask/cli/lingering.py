"""A server that was started for one command, and goes on for what was left running there."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from awhile.errors import StoreError
from awhile.server.principal import ANONYMOUS
from awhile.tasks import Status

if TYPE_CHECKING:
    from pathlib import Path

    from awhile.cli.signals import LetGo
    from awhile.server.tasks import Tasks

LEFT_LOG = "left-servers.log"
"""In the data folder: what such servers have to say once no terminal is theirs."""

LOOK_SECONDS = 1.0
"""How often it is looked whether anything still runs."""


async def linger(parent: LetGo, tasks: Tasks, log: Path) -> None:
    """Once the parent lets go on purpose: end this process when nothing has run on its store, and
    nobody has asked it anything, for as long as the parent said.

    What waits for somebody's answer does not keep it: that is asked again by the next server.
    """
    seconds = await parent.asked()
    await anyio.to_thread.run_sync(_speak_into, log)
    parent.take()
    still_since = anyio.current_time()
    while min(anyio.current_time() - still_since, tasks.answering.still_seconds) < seconds:
        await anyio.sleep(min(LOOK_SECONDS, seconds))
        if await _works(tasks):
            still_since = anyio.current_time()
    os.kill(os.getpid(), signal.SIGTERM)


async def _works(tasks: Tasks) -> bool:
    try:
        found = await tasks.store.find(
            owner=ANONYMOUS, statuses={Status.WORKING}, limit=1, detail="outline"
        )
    except StoreError:  # not known, so not over
        return True
    return bool(found)


def _speak_into(log: Path) -> None:
    """The terminal belongs to somebody else now."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 2)
    os.close(descriptor)


__all__ = ["LEFT_LOG", "linger"]
