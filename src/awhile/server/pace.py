"""``tasks/get`` at a bearable rate: one caller's polls of one task are slowed, never refused.

A client that takes seconds for milliseconds polls every 2 ms (field case A14). It is answered all
the same, only later, with the task as it is by then. Clients that merely poll a little faster than
``pollIntervalMs`` cost little, and are left alone. Source: ours; 2025-11-25 has "Receivers SHOULD
implement rate limiting" (basic/utilities/tasks, Task Isolation and Access Control).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import HandlerResult, ServerRequestContext

    from awhile.server.params import TaskParams

    Handler = Callable[[ServerRequestContext[Any, Any], TaskParams], Awaitable[HandlerResult]]

POLLS_PER_SECOND = 20

LONGEST_DELAY_SECONDS = 2.0
"""The most that one answer is held back: less than any client waits for one. Who keeps more than
forty polls of one task open at once is therefore answered faster than `POLLS_PER_SECOND`."""

REMEMBERED = 10_000
"""Of how many pairs of caller and task the pace is known, of those polled last."""

_BURST_SECONDS = 1.0


class Pace:
    """Spaces polls out: a second's worth at once, and then one every twentieth of a second."""

    def __init__(self) -> None:
        # When each would have made up for its polls so far. By hash: an id may be of any length.
        self._due: OrderedDict[int, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._due)

    def delay(self, caller: str, task_id: str, now: float) -> float:
        """Take note of a poll at ``now``; how long to hold its answer back, in seconds."""
        key = hash((caller, task_id))
        self._forget(now)
        due = max(self._due.get(key, now), now)
        delay = min(max(due - now - _BURST_SECONDS, 0), LONGEST_DELAY_SECONDS)
        self._due[key] = min(
            due + 1 / POLLS_PER_SECOND, now + _BURST_SECONDS + LONGEST_DELAY_SECONDS
        )
        self._due.move_to_end(key)
        return delay

    def in_time(self, caller: str, task_id: str, now: float) -> bool:
        """Whether a poll's answer need not be held back; only then it is taken note of."""
        due = self._due.get(hash((caller, task_id)), now)
        return due <= now + _BURST_SECONDS and not self.delay(caller, task_id, now)

    def _forget(self, now: float) -> None:
        while self._due:
            key, due = next(iter(self._due.items()))
            if due > now and len(self._due) < REMEMBERED:
                return
            del self._due[key]


def paced(handler: Handler, pace: Pace, caller: Callable[..., str]) -> Handler:
    """The handler, held back where its caller polls a task too often.

    Held back first, so that what is answered is the task as it is then; and whatever the id, so
    that a foreign task takes as long as none.
    """

    async def handle(ctx: ServerRequestContext[Any, Any], params: TaskParams) -> HandlerResult:
        if delay := pace.delay(caller(ctx), params.task_id, anyio.current_time()):
            await anyio.sleep(delay)
        return await handler(ctx, params)

    return handle
