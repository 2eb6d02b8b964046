"""What is known of one task: the status, and the facts around it. Immutable; pure data.

All instants are Unix milliseconds, all durations milliseconds, named ``…_ms`` (source: ours; the
wire turns them into what each era says).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_KEEP_MS = 7 * 24 * 60 * 60 * 1000
"""How long a result lives after the end: 7 days (source: ours)."""

RECENT_STEPS = 50
"""How many progress messages stay in the record itself; the store's history keeps all of them."""


PLACES_COUNTED = 1000
"""Up to which place in line one is told exactly (source: ours)."""

WAITING = "Waiting to start."
"""What a task says that nobody has begun."""

WAITING_AGAIN = "Waiting to start again."
"""What one says that was handed back."""


class Status(StrEnum):
    """The five statuses of the Tasks extension; the values are the wire's words."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether this status is final."""
        return self in ENDED


ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


class StoppedHow(StrEnum):
    """How it is known that work has stopped (or that it has not)."""

    NEVER_STARTED = "never_started"
    """Nobody was running it when the cancel was asked, and nobody will."""
    COROUTINE_ENDED = "coroutine_ended"
    """The async body's coroutine has ended."""
    THREAD_RETURNED = "thread_returned"
    """The body's thread has returned."""
    ENGINE_CONFIRMED = "engine_confirmed"
    """The engine doing the work (a database) confirmed that it stopped."""
    PROCESS_ENDED = "process_ended"
    """The process doing the work has ended."""
    WORKER_LOST = "worker_lost"
    """The worker that ran it vanished after the cancel was asked; nobody runs it any more."""
    NOT_STOPPED = "not_stopped"
    """It could not be stopped and may still be having effects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who runs the task, and until when that holds without a renewal."""

    worker: str
    until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The last thing the body reported. ``total`` None means: no honest total is known."""

    at_ms: int
    done: float | None = None
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One changed progress message. ``seq`` counts from 1 without gaps over the task's life."""

    seq: int
    at_ms: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One question of the body. A key is used once in a task's whole life (ext-tasks)."""

    request: Mapping[str, Any]
    asked_at_ms: int
    answer_by_ms: int | None = None
    """Until when an answer is waited for; None: until it comes."""
    response: Any = None
    closed_at_ms: int | None = None
    """When it was answered or withdrawn; None while it is outstanding."""
    withdrawn: bool = False

    @property
    def outstanding(self) -> bool:
        """Whether an answer is still wanted."""
        return self.closed_at_ms is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One entry of the journal: what `Run.once` did for a body, so that it is not done twice."""

    at_ms: int
    done: bool = True
    """False: it was begun, and whether it came about is not known."""
    outcome: Any = None
    """What the function returned, as JSON has it, once it is done."""
    reachable: bool = False
    """Whether the tool declares how this can be stopped without its body (``stop``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One task, whole. Changed only by `awhile.tasks.state.apply`."""

    task_id: str
    owner: str
    """The principal that created it; only that principal may see or touch it."""
    tool: str
    arguments: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What running the tool again later needs to know of the original request; opaque here."""
    request_key: str | None = None
    """The caller's idempotency key: one task per (owner, tool, key)."""

    status: Status = Status.WORKING
    status_message: str | None = None
    created_at_ms: int
    last_updated_at_ms: int
    ended_at_ms: int | None = None
    keep_ms: int | None = DEFAULT_KEEP_MS
    """How long after its end the task is kept; None for ever."""

    result: Mapping[str, Any] | None = None
    is_error: bool = False
    """Whether a completed task's tool itself said no."""
    error: Mapping[str, Any] | None = None

    lease: Lease | None = None
    generation: int = 0
    """Counts leases; a worker's events are only taken at the generation it was given."""
    attempt: int = 0
    max_attempts: int = 1
    """1 means: never run again after its worker was lost."""

    cancel_asked_at_ms: int | None = None
    cancel_reason: str | None = None
    stopped_at_ms: int | None = None
    stopped_how: StoppedHow | None = None

    progress: Progress | None = None
    steps: tuple[Step, ...] = ()
    """The last `RECENT_STEPS` changed messages, oldest first."""
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])

    journal: Mapping[str, Note] = field(default_factory=dict[str, Note])
    """What was done once for all attempts (`Run.once`), by its key, in order."""
    unobserved_ms: int | None = None
    """How long the work may go on while nobody looks; None: for as long as it takes."""
    looked_at_ms: int | None = None
    """When its caller last looked, within a minute; None: not since it was created. A store writes
    it by itself (`TaskStore.looked`): it is no event and changes nothing a client can see."""

    rev: int = 0
    """The store's change counter when this was written; grows with every change in that store."""

    @property
    def ttl_ms(self) -> int | None:
        """From ``created_at_ms``: how long the task is kept. None while it lives, or for ever."""
        if self.ended_at_ms is None or self.keep_ms is None:
            return None
        return self.ended_at_ms - self.created_at_ms + self.keep_ms

    @property
    def expires_at_ms(self) -> int | None:
        """When the task may be deleted; None while it lives, or never."""
        return None if self.ttl_ms is None else self.created_at_ms + self.ttl_ms

    @property
    def reachable(self) -> bool:
        """Whether work it started elsewhere can be stopped without its body."""
        return any(note.reachable for note in self.journal.values())

    @property
    def seen_at_ms(self) -> int:
        """When its caller last looked, or made it."""
        return max(self.looked_at_ms or 0, self.created_at_ms)

    @property
    def outstanding(self) -> Mapping[str, Input]:
        """The questions still waiting for an answer."""
        return {key: one for key, one in self.inputs.items() if one.outstanding}

    @property
    def cancel_asked(self) -> bool:
        """Whether somebody asked for the work to be stopped."""
        return self.cancel_asked_at_ms is not None


def new_record(
    *,
    task_id: str,
    owner: str,
    tool: str,
    arguments: Mapping[str, Any],
    at_ms: int,
    context: Mapping[str, Any] | None = None,
    request_key: str | None = None,
    keep_ms: int | None = DEFAULT_KEEP_MS,
    max_attempts: int = 1,
    unobserved_ms: int | None = None,
    lease: Lease | None = None,
) -> TaskRecord:
    """A task at its beginning: with ``lease``, running there already; without, to be claimed."""
    return TaskRecord(
        task_id=task_id,
        owner=owner,
        tool=tool,
        arguments=arguments,
        context=context or {},
        request_key=request_key,
        status_message="Started." if lease else WAITING,
        created_at_ms=at_ms,
        last_updated_at_ms=at_ms,
        keep_ms=keep_ms,
        max_attempts=max_attempts,
        unobserved_ms=unobserved_ms,
        lease=lease,
        generation=1 if lease else 0,
        attempt=1 if lease else 0,
    )


def in_line(record: TaskRecord, before: int) -> str:
    """What a task that waits says of its place, with so many ``before`` it."""
    words = (record.status_message or WAITING).removesuffix(".")
    if before >= PLACES_COUNTED:
        return f"{words}: behind at least {PLACES_COUNTED:,} others."
    return f"{words}: {nth(before + 1)} in line."


def nth(number: int) -> str:
    """A number as one counts by it: 1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def as_waiting(record: TaskRecord) -> TaskRecord:
    """A task that was to begin at once, as one that waits to be claimed instead."""
    return replace(record, status_message=WAITING, lease=None, generation=0, attempt=0)


__all__ = [
    "DEFAULT_KEEP_MS",
    "ENDED",
    "PLACES_COUNTED",
    "RECENT_STEPS",
    "WAITING",
    "WAITING_AGAIN",
    "Input",
    "Lease",
    "Note",
    "Progress",
    "Status",
    "Step",
    "StoppedHow",
    "TaskRecord",
    "as_waiting",
    "in_line",
    "new_record",
    "nth",
]
