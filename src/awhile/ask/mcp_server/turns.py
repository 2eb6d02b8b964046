"""A run that waits for another to end well: how the statements of a script follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import anyio

from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.runtime.run import Run
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["turn"]

LOOK_SECONDS = 5.0
"""How often a run that waits looks at the other one by itself."""

UNHELD_SECONDS = 300.0
"""How long it waits for one that nobody runs. Older runs of one person are begun first, so that
takes a server that was stopped meanwhile, and no place anywhere for what it handed back."""


async def turn(tasks: Tasks, run: Run, after: str) -> str | None:
    """Wait until the run ``after`` has ended; why this one is not to run, or None if it is."""
    unheld_since: float | None = None
    run.report(message="Waiting for the statement before it")
    async with tasks.store.watch([after]) as watch:
        while True:
            record = await tasks.store.get(after)
            if record is None or record.owner != run.owner:
                return f"there is no run {after!r} of yours that it could follow"
            if record.status.ended:
                return _why_not(record)
            now = anyio.current_time()
            held = record.lease is not None or record.status is Status.INPUT_REQUIRED
            unheld_since = None if held else unheld_since or now
            if unheld_since is not None and now - unheld_since > UNHELD_SECONDS:
                return "the statement before it was not begun by any server"
            await watch.wait(LOOK_SECONDS)


def _why_not(before: TaskRecord) -> str | None:
    """Why a run that follows this one is not run; None if this one ended with a table."""
    if before.cancel_asked:
        return "the statement before it was stopped"
    answer = cast("Mapping[str, Any]", (before.result or {}).get("structuredContent") or {})
    if before.status is Status.COMPLETED and not before.is_error and "columns" in answer:
        return None
    if "not_run" in answer:
        return str(answer["not_run"])
    if "question_back" in answer:
        return "the statement before it asks something first"
    return "the statement before it failed"
