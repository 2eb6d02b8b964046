"""What operators ask of the SQLite store; see `awhile.stores.operated`."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from awhile.stores.operated import OURS, QUEUED, RECENT_CHANGES, Count, Line, Notice, Overview
from awhile.stores.rows import from_row
from awhile.stores.statements import named_statements

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from awhile.stores.sqlite.connection import Connection

OPERATING = named_statements(
    (files("awhile.stores.sqlite") / "operating.sql").read_text(encoding="utf-8")
)


def overview(on: Connection, limit: int) -> Overview:
    """See `Operated.overview`."""
    waiting = [
        Count(tool=tool, state=QUEUED, tasks=tasks, oldest_ms=oldest_ms)
        for tool, tasks, oldest_ms in on.rows(OPERATING["waiting_by_tool"])
    ]
    held = [
        Count(tool=tool, state=state, tasks=tasks, oldest_ms=oldest_ms)
        for tool, state, tasks, oldest_ms in on.rows(OPERATING["held_by_tool"])
    ]
    asked = {"limit": limit}
    recent = {**asked, "changes": RECENT_CHANGES, "ours": OURS}
    return Overview(
        counts=[*waiting, *held],
        lines=[
            Line(tool=tool, owner=owner, waiting=tasks, oldest_ms=oldest_ms)
            for tool, owner, tasks, oldest_ms in on.rows(OPERATING["lines"], asked)
        ],
        held=[from_row(row[2:]) for row in on.rows(OPERATING["held"], asked)],
        endings=[from_row(row[2:]) for row in on.rows(OPERATING["endings"], recent)],
    )


def unstopped(on: Connection, owner: str | None, tool: str | None, limit: int) -> list[str]:
    """See `Operated.unstopped`."""
    asked = {"owner": owner, "tool": tool, "limit": limit}
    return [task_id for (task_id,) in on.rows(OPERATING["unstopped"], asked)]


def note_endings(on: Connection) -> None:
    """See `Notifies.note_endings`."""
    on.run(OPERATING["note_endings"])


def take_notices(on: Connection, at_ms: int, until_ms: int, limit: int) -> list[Notice]:
    """See `Notifies.take_notices`."""
    due = on.rows(OPERATING["notices_due"], {"at_ms": at_ms, "limit": limit})
    for row in due:
        on.run(OPERATING["notice_taken"], {"ordinal": row[1], "until_ms": until_ms})
    return [Notice(record=from_row(row[3:]), attempt=row[0] + 1) for row in due]


def settle_notices(on: Connection, told: Collection[str], again_ms: Mapping[str, int]) -> None:
    """See `Notifies.settle_notices`."""
    for task_id in told:
        on.run(OPERATING["notice_told"], {"task_id": task_id})
    for task_id, due_ms in again_ms.items():
        on.run(OPERATING["notice_again"], {"task_id": task_id, "due_ms": due_ms})


__all__ = [
    "OPERATING",
    "note_endings",
    "overview",
    "settle_notices",
    "take_notices",
    "unstopped",
]
