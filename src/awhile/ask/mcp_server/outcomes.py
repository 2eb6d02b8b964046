"""What runs came to, for lists that do without their results."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import anyio.lowlevel

from awhile.ask.mcp_server.listed import outcome_of
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from awhile.ask.mcp_server import model
    from awhile.stores.contract import TaskStore
    from awhile.tasks import TaskRecord

REMEMBERED = 10_000
"""Of how many runs; those read first are forgotten first."""


class Outcomes:
    """Reads each result once: an ending is final, and what it came to is one word."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, model.Outcome | None] = OrderedDict()

    async def of(
        self, records: Iterable[TaskRecord], store: TaskStore
    ) -> Mapping[str, model.Outcome | None]:
        """Of those that were completed, by their id."""
        found: dict[str, model.Outcome | None] = {}
        for one in records:
            if one.status is not Status.COMPLETED:
                continue
            if one.task_id not in self._known:
                await anyio.lowlevel.checkpoint()  # a store may read in the loop's own thread
                whole = await store.get(one.task_id)
                self._known[one.task_id] = None if whole is None else outcome_of(whole)
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            found[one.task_id] = self._known[one.task_id]
        return found


__all__ = ["Outcomes"]
