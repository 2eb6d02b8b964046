"""A task as one answer showed it: its fields as they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from awhile.probe.exchanges import Exchange, Json, as_object

STATUSES = frozenset({"working", "input_required", "completed", "failed", "cancelled"})
ENDED = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class View:
    """One look at a task."""

    at_ms: float
    """When the answer was there."""
    task: Json
    """The task's own fields, as they came."""
    exchange: int
    """The number of the exchange."""

    @property
    def task_id(self) -> str:
        """Its id, whatever it is, as text."""
        return str(self.task.get("taskId"))

    @property
    def status(self) -> str:
        """The status word as it came, as text."""
        return str(self.task.get("status"))

    @property
    def ended(self) -> bool:
        """Whether the status is a terminal one."""
        return self.status in ENDED

    @property
    def message(self) -> str | None:
        """The status message."""
        found = self.task.get("statusMessage")
        return found if isinstance(found, str) else None

    @property
    def poll_ms(self) -> float | None:
        """The suggested interval, under either name."""
        return _number(self.task.get("pollIntervalMs", self.task.get("pollInterval")))

    @property
    def ttl_ms(self) -> float | None:
        """The time to live, under either name; None where it is unlimited or not told."""
        return _number(self.task.get("ttlMs", self.task.get("ttl")))

    @property
    def moment(self) -> tuple[str, str | None]:
        """Status and message: what a person is shown."""
        return self.status, self.message

    def tells(self, message: str) -> bool:
        """Whether this text is anywhere in it: in a history of steps, for one."""
        return any(leaf == message for leaf in leaves(self.task))


def view_of(exchange: Exchange) -> View | None:
    """The task in an answer to ``tasks/get`` or ``tasks/cancel``; None if there is none."""
    result = exchange.result
    if result is None or "taskId" not in result:
        return None
    return View(exchange.answered_at_ms or exchange.sent_at_ms, result, exchange.number)


def ids_in(listing: Exchange) -> list[Any]:
    """The ids in an answer to ``tasks/list``, whatever they are."""
    found: Any = (listing.result or {}).get("tasks")
    entries = cast("list[Any]", found) if isinstance(found, list) else []
    return [as_object(one).get("taskId") for one in entries]


def leaves(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in as_object(value).values():
            yield from leaves(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from leaves(one)


LONGEST_MS = 1e15
"""What is beyond that, in either direction, is no duration (source: ours)."""


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if -LONGEST_MS < value < LONGEST_MS else None


__all__ = ["ENDED", "STATUSES", "View", "ids_in", "leaves", "view_of"]
