"""One run of the tool, cancelled: when that is answered, when it ends, what moves after it."""

from __future__ import annotations

from itertools import pairwise

import anyio

from awhile.probe.limits import Limits
from awhile.probe.measures.evidence import Stopped, Watched
from awhile.probe.measures.watching import create
from awhile.probe.sessions import Session
from awhile.probe.targets import Trial
from awhile.probe.views import View

LATEST_CANCEL_SECONDS = 2.0
"""How long a run goes on, at most, before it is cancelled."""

SETTLING_SECONDS = 1.0
"""How long an ended task is looked at, at the least, for what should not move any more."""

RESTING_SECONDS = 0.25
"""How long the witness gets to say what had happened before the ending was seen."""


async def stop(session: Session, trial: Trial, watched: Watched | None, limits: Limits) -> Stopped:
    """Start a task, let it work, cancel it, and see what comes of that.

    Raises:
        Missing: the call became no task.
        Spent: a bound was reached.
    """
    created, task = await create(session, trial, "start a task, to cancel it")
    task_id = str(task.get("taskId"))
    before = await _at_work(session, task_id, watched, limits)
    named = {"taskId": task_id}
    cancel = await session.ask("tasks/cancel", named, "cancel it")
    seen = Stopped(created, task, before, cancel)
    ended = await _until_ended(session, task_id, seen, limits)
    if not ended:
        return seen
    await _settle(session, trial, task_id, seen, _settling_seconds(watched, limits), limits)
    seen.again = await session.ask("tasks/cancel", named, "cancel it once more")
    _, view = await session.get(task_id, "see that this changed nothing")
    if view is not None:
        seen.after.append(view)
    return seen


async def _at_work(
    session: Session, task_id: str, watched: Watched | None, limits: Limits
) -> list[View]:
    """Let it work until it has told something, or a part of its natural time has passed."""
    natural = None if watched is None or watched.ended is None else watched.ended.at_ms
    whole = LATEST_CANCEL_SECONDS * 4
    if natural is not None and watched is not None:
        whole = (natural - watched.created.sent_at_ms) / 1000
    views: list[View] = []
    with anyio.move_on_after(min(whole / 2, LATEST_CANCEL_SECONDS)):
        while len({view.moment for view in views}) < 2:
            _, view = await session.get(task_id, "see it work")
            if view is None or view.ended or view.status == "input_required":
                if view is not None:
                    views.append(view)
                break
            views.append(view)
            await anyio.sleep(limits.measure_every_ms / 1000)
    return views


async def _until_ended(session: Session, task_id: str, seen: Stopped, limits: Limits) -> bool:
    with anyio.move_on_after(limits.stop_seconds):
        while True:
            exchange, view = await session.get(task_id, "see what came of the cancel")
            if session.gone(exchange):
                seen.gone = exchange
                return False
            if view is not None:
                seen.after.append(view)
                if view.ended:
                    return True
            await anyio.sleep(limits.measure_every_ms / 1000)
    return False


def _settling_seconds(watched: Watched | None, limits: Limits) -> float:
    """Long enough for two more steps, if the run before showed how long one takes."""
    if watched is None:
        return SETTLING_SECONDS
    changes = [
        after.at_ms - before.at_ms
        for before, after in pairwise(watched.measured)
        if before.moment != after.moment
    ]
    moments = [view.at_ms for view in watched.measured]
    span = (moments[-1] - moments[0]) if len(moments) > 1 else 0.0
    step = span / max(len(changes), 1)
    return min(max(2.5 * step / 1000, SETTLING_SECONDS), max(limits.linger_seconds, 0.5))


async def _settle(
    session: Session, trial: Trial, task_id: str, seen: Stopped, seconds: float, limits: Limits
) -> None:
    began = session.log.clock.now_ms()
    first = None
    if trial.witness is not None:
        await anyio.sleep(RESTING_SECONDS)
        first = await trial.witness()
    every = max(limits.measure_every_ms * 2, seconds * 1000 / 12) / 1000
    with anyio.move_on_after(seconds):
        while True:
            await anyio.sleep(every)
            exchange, view = await session.get(task_id, "see whether it stays so")
            if view is not None:
                seen.after.append(view)
            elif session.gone(exchange):
                seen.gone = exchange
                break
    seen.watched_ms = session.log.clock.now_ms() - began
    if trial.witness is not None and first is not None:
        seen.witness = (first, await trial.witness())


__all__ = ["stop"]
