"""The code a worker can run, as it asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.limits import Limits
    from awhile.runtime.outside import Stop
    from awhile.runtime.run import Run
    from awhile.tasks import TaskRecord


class Program(Protocol):
    """Which tools a worker knows, and the body of one of their tasks."""

    @property
    def tools(self) -> Collection[str]:
        """The names of the tools whose tasks this worker takes."""
        ...

    def body(self, record: TaskRecord) -> Callable[[Run], Awaitable[Returned | Raised]]:
        """The body that runs this task, without the request that created it."""
        ...

    def may_ask(self, record: TaskRecord) -> bool:
        """Whether the task's caller can answer questions of its body."""
        ...

    def limits(self, tool: str) -> Limits:
        """How long the tool's work may take."""
        ...

    def stop(self, tool: str) -> Stop | None:
        """What stops what the tool's bodies started elsewhere, if anything does."""
        ...


__all__ = ["Program"]
