"""How long one tool's work may take, and the clock that stops while a person is asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from awhile.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from awhile.tasks import TaskRecord

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
"""How long to wait before the store is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Durations in seconds; None: for as long as it takes.

    Attributes:
        give_up_seconds: how long after it was told to stop work is reported as not stoppable.
        work_seconds: how long one run may work; waiting for answers is no work.
        answer_seconds: how long one question waits for its answer.
    """

    give_up_seconds: float
    work_seconds: float | None = None
    answer_seconds: float | None = None


def spoken(duration_ms: int) -> str:
    """A duration as one would say it: "30 minutes", "1 hour", "90 seconds"."""
    seconds = duration_ms / 1000
    units = (("day", 86_400), ("hour", 3600), ("minute", 60))
    whole = (one for one in units if seconds >= one[1] and seconds % one[1] == 0)
    unit, length = next(whole, ("second", 1))
    number = f"{seconds / length:g}"
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def unseen_ms(record: TaskRecord, at_ms: int) -> int | None:
    """How long nobody has looked, beyond what the task allows; None if it allows any time."""
    if record.unobserved_ms is None:
        return None
    return at_ms - record.seen_at_ms - record.unobserved_ms


async def unseen(
    record: TaskRecord,
    get: Callable[[str], Awaitable[TaskRecord | None]],
    now_ms: Callable[[], int],
) -> int:
    """Return when nobody has looked for as long as the task allows: that long, milliseconds.

    A look is no change, so nobody is woken by one: it is read again whenever the time is up.
    """
    while True:
        over_ms = unseen_ms(record, now_ms())
        if over_ms is None or record.unobserved_ms is None:
            await anyio.sleep_forever()
        elif over_ms >= 0:
            return record.unobserved_ms
        else:
            await anyio.sleep(-over_ms / 1000)
            try:
                record = await get(record.task_id) or record
            except StoreError as error:
                logger.error("Whether somebody looked could not be read; trying again. %s", error)
                await anyio.sleep(RETRY_SECONDS)


async def worked_for(
    seconds: float,
    pauses: Callable[[], bool],
    until: Callable[[Callable[[], bool]], Awaitable[None]],
) -> None:
    """Return after ``seconds`` in which ``pauses`` was false.

    ``until`` waits for a condition to hold, and is woken whenever ``pauses`` may have changed.
    """
    left = seconds
    while True:
        await until(lambda: not pauses())
        began = anyio.current_time()
        with anyio.move_on_after(left) as clock:
            await until(pauses)
        if clock.cancelled_caught:
            return
        left -= anyio.current_time() - began
