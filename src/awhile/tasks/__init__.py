"""The task itself: a pure record, the events that may happen to it, one transition table."""

from awhile.tasks.events import Event
from awhile.tasks.record import (
    Input,
    Lease,
    Note,
    Progress,
    Status,
    Step,
    StoppedHow,
    TaskRecord,
    new_record,
)
from awhile.tasks.state import apply

__all__ = [
    "Event",
    "Input",
    "Lease",
    "Note",
    "Progress",
    "Status",
    "Step",
    "StoppedHow",
    "TaskRecord",
    "apply",
    "new_record",
]
