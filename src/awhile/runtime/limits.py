"""How long one tool's work may take, and the clock that stops while a person is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Condition = Callable[[], bool]


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
