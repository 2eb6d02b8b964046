"""Whose task is next: fair between owners, read from the lines that triggers keep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from awhile.stores.contract import PASSED_OVER, PLACE_LIMIT
from awhile.stores.sqlite.reading import QUERIES, stored

if TYPE_CHECKING:
    from awhile.stores.sqlite.connection import Connection
    from awhile.stores.sqlite.reading import Stored
    from awhile.stores.wanted import Wanted

NO_BOUND = 2**62
"""More than there are."""


def place_in_line(on: Connection, task_id: str) -> int | None:
    """See `TaskStore.place`.

    `Lines` takes by (level, age), where a task's level is how many tasks of its owner
    are held or come before it. So of every other owner those come first that are at a lower level,
    and the one at the same level if it is older.
    """
    stands = on.row(QUERIES["stands"], {"task_id": task_id, "limit": PLACE_LIMIT})
    if stands is None:
        return None
    ordinal, level = stands
    asked = {"level": level, "ordinal": ordinal, "limit": PLACE_LIMIT}
    owners: dict[str, tuple[int, int]] = {}
    for owner, running, waiting in on.rows(QUERIES["lines_before"], asked):  # a line for each tool
        owners[owner] = (running, waiting + owners.get(owner, (0, 0))[1])
    before = 0
    for owner, (running, waiting) in owners.items():
        lower = level - running
        before += min(waiting, lower)
        if lower < waiting:
            level_one = on.row(QUERIES["nth_in_line"], {"owner": owner, "nth": lower})
            before += level_one is not None and level_one[0] < ordinal
        if before >= PLACE_LIMIT:
            return PLACE_LIMIT
    return before


class Lines:
    """The queue, as one transaction that claims sees it."""

    def __init__(self, on: Connection, wanted: Wanted) -> None:
        self._on = on
        self._wanted = wanted
        per_owner = wanted.per_owner
        self._bounds: dict[str, Any] = {"per_owner": NO_BOUND if per_owner is None else per_owner}
        self._tools = set(wanted.tools)
        """Those whose lines may hold something."""
        self._behind: dict[tuple[str, str], int] = {}
        """Of the lines (tool, owner) that begin with what is not for this caller: where it was
        last that somebody was passed over."""
        self._passed = 0

    def next(self) -> Stored | None:
        """The next task. Claim it before asking for another: that moves the lines."""
        while self._passed <= PASSED_OVER:
            first = min([*self._heads(), *self._seconds()], default=None)
            if first is None:
                return None
            row = self._on.row(QUERIES["task_at"], {"ordinal": first[1]})
            assert row is not None  # the triggers keep the heads of the lines
            one = stored(row)
            if self._wanted.fits(one.record):
                return one
            self._passed += 1
            self._behind[one.record.tool, one.record.owner] = one.ordinal
        return None

    def _heads(self) -> list[tuple[int, int]]:
        """(tasks its owner holds, ordinal) of the first of each tool."""
        heads: list[tuple[int, int]] = []
        for tool in list(self._tools):
            passed = [owner for line, owner in self._behind if line == tool]
            without = json.dumps([*self._wanted.without, *passed])
            asked = {**self._bounds, "tool": tool, "without": without}
            row = self._on.row(QUERIES["next_in_line"], asked)
            if row is None:
                self._tools.discard(tool)
            else:
                heads.append((row[0], row[1]))
        return heads

    def _seconds(self) -> list[tuple[int, int]]:
        """The same of those who come first behind whom was passed over in their line."""
        seconds: list[tuple[int, int]] = []
        for (tool, owner), ordinal in self._behind.items():
            asked = {**self._bounds, "tool": tool, "owner": owner, "ordinal": ordinal}
            row = self._on.row(QUERIES["next_behind"], asked)
            if row is not None:
                seconds.append((row[0], row[1]))
        return seconds


__all__ = ["Lines", "place_in_line"]
