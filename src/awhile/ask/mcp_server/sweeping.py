"""Deleting what is kept of runs whose task is gone."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from awhile.runtime.worker import wall_clock_ms

if TYPE_CHECKING:
    from awhile.ask.answer.labels import Labels
    from awhile.ask.answer.shares import Shares
    from awhile.ask.answer.statements import Statements
    from awhile.ask.results.names import ResultNames
    from awhile.ask.results.results import Results
    from awhile.server.tasks import Tasks

__all__ = ["SWEEP_SECONDS", "sweep", "sweep_once"]

SWEEP_SECONDS = 600.0
"""How often that is done."""

_RUN_ID = re.compile("[0-9a-f]{32}")
"""What else is in a folder that somebody chose for results is not ours to delete."""

logger = logging.getLogger(__name__)


async def sweep(
    tasks: Tasks,
    results: Results,
    statements: Statements,
    labels: Labels,
    shares: Shares,
    names: ResultNames,
) -> None:
    """Sweep now and then, until cancelled. A storage that fails is tried again next time."""
    while True:
        await anyio.sleep(SWEEP_SECONDS)
        try:
            await sweep_once(tasks, results, statements, labels, shares, names)
        except OSError as broken:
            logger.warning("Old results were not swept: %s", broken)


async def sweep_once(
    tasks: Tasks,
    results: Results,
    statements: Statements,
    labels: Labels,
    shares: Shares,
    names: ResultNames,
) -> None:
    """Delete what is kept of runs whose task is gone, expired shares, and what crashes left."""
    known = {
        *await anyio.to_thread.run_sync(statements.run_ids),
        *await anyio.to_thread.run_sync(labels.run_ids),
        *await anyio.to_thread.run_sync(shares.run_ids),
        *await anyio.to_thread.run_sync(names.run_ids),
        *await results.run_ids(),
    }
    gone = {
        run_id
        for run_id in known
        if _RUN_ID.fullmatch(run_id) and await tasks.store.get(run_id) is None
    }

    async def is_over(run_id: str) -> bool:
        record = await tasks.store.get(run_id)
        return record is None or record.status.ended

    def forget() -> None:
        for run_id in gone:
            labels.delete(run_id)
            statements.delete(run_id)
        shares.tidy(gone, now_ms=wall_clock_ms())
        names.delete(gone)

    await results.delete(gone)
    await anyio.to_thread.run_sync(forget)
    await results.tidy(is_over)
