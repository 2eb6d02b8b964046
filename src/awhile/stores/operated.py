"""What operators, and what works for them, ask of a store beside the contract; its own protocols.

A store may be without: then `awhile top`, `awhile admin` and the webhook say that it is. Nothing
here reads or writes what a task was given or what came of it, so all of it works on a store whose
contents are sealed (`awhile.stores.sealing`), without the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from awhile.tasks import TaskRecord

OURS = "awhile:"
"""How the owners begin whose rows are messages between our own processes, nobody's tasks."""

QUEUED, STOPPING = "queued", "stopping"
"""What `Count.state` says beside the statuses."""

RECENT_CHANGES = 1000
"""How many of the last changes are looked through for endings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many living tasks of one tool are in one state.

    ``state``: `QUEUED` (nobody has it), `STOPPING` (its stop was asked, and it has not stopped
    yet), else the task's status.
    """

    tool: str
    state: str
    tasks: int
    oldest_ms: int
    """When the oldest of them was created (Unix milliseconds)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The tasks of one tool and owner that wait to be claimed."""

    tool: str
    owner: str
    waiting: int
    oldest_ms: int
    """When the first of them was created (Unix milliseconds)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A store at one instant.

    Records in it are brief: without what the task was given, asked, noted, and what came of it.
    """

    counts: Sequence[Count]
    lines: Sequence[Line]
    """The oldest first, as many as were asked for."""
    held: Sequence[TaskRecord]
    """What somebody holds, as many as were asked for; whose lease runs out soonest first."""
    endings: Sequence[TaskRecord]
    """What ended among the last `RECENT_CHANGES` changes, newest first, as many as asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """That a task has ended, to be told to whoever the operator named."""

    record: TaskRecord
    """Brief, as it is now."""
    attempt: int
    """1 the first time it is taken."""


@runtime_checkable
class Operated(Protocol):
    """What `awhile top`, `awhile admin` and the metrics read."""

    async def overview(self, *, limit: int = 100) -> Overview:
        """What there is. Its cost grows with the tasks that are living, not with those kept."""
        ...

    async def unstopped(
        self, *, owner: str | None = None, tool: str | None = None, limit: int = 500
    ) -> Sequence[str]:
        """Ids of living tasks that nobody has asked to stop yet; None: of any owner, any tool."""
        ...


@runtime_checkable
class Notifies(Protocol):
    """Keeps a notice of every ending until it was told: what the webhook sends is never lost."""

    async def note_endings(self) -> None:
        """From now on keep a notice of each task that ends, in the transaction that ends it,
        whichever process that is. A notice lives as long as its task. May be called again."""
        ...

    async def take_notices(
        self, *, at_ms: int, until_ms: int, limit: int = 100
    ) -> Sequence[Notice]:
        """Take up to ``limit`` notices that are due, longest due first. Each is due again at
        ``until_ms`` unless it is settled before: so one whose taker has died is sent by another."""
        ...

    async def settle_notices(
        self, *, told: Collection[str] = (), again_ms: Mapping[str, int] | None = None
    ) -> None:
        """Drop the notices of the tasks ``told``; have others due ``again_ms`` (by task id)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A task that `Store.claim` ended because its worker was lost."""

    record: TaskRecord
    """As it ended."""
    worker: str | None
    """Who lost it; None: nobody had it any more."""


@runtime_checkable
class TellsOfLost(Protocol):
    """Tells of each task that `Store.claim` ended because its worker was lost, once committed."""

    on_lost: Callable[[Lost], None] | None


__all__ = [
    "OURS",
    "QUEUED",
    "RECENT_CHANGES",
    "STOPPING",
    "Count",
    "Line",
    "Lost",
    "Notice",
    "Notifies",
    "Operated",
    "Overview",
    "TellsOfLost",
]
