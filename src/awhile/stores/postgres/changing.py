"""What events make of rows that were read: the part of a write that is done in Python."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from awhile.stores.contract import Kept
from awhile.stores.postgres.values import Numbers, Texts, kept
from awhile.stores.rows import COLUMNS, event_fields, from_row, to_row
from awhile.tasks import apply
from awhile.tasks.state import belongs_in_history, is_news

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from awhile.tasks import Event, TaskRecord

_TEXT_COLUMNS = tuple(
    3 + COLUMNS.index(name)
    for name in (
        "task_id",
        "owner",
        "tool",
        "request_key",
        "status_message",
        "lease_worker",
        "cancel_reason",
    )
)
"""Where in a row there is text of others, which may have had a NUL in it. JSON escapes its own."""

_CREATED: Mapping[str, type[Texts] | type[Numbers]] = {
    "fields": Texts,
    "task_id": Texts,
    "owner": Texts,
    "tool": Texts,
    "arguments": Texts,
    "context": Texts,
    "request_key": Texts,
    "created_at_ms": Numbers,
    "max_attempts": Numbers,
    "unobserved_ms": Numbers,
    "looked_at_ms": Numbers,
}
"""What only a new row is given, beside `_CHANGED`."""

_CHANGED: Mapping[str, type[Texts] | type[Numbers]] = {
    "n": Numbers,
    "status": Texts,
    "status_message": Texts,
    "last_updated_at_ms": Numbers,
    "ended_at_ms": Numbers,
    "keep_ms": Numbers,
    "expires_at_ms": Numbers,
    "result": Texts,
    "is_error": Numbers,
    "error": Texts,
    "lease_worker": Texts,
    "lease_until_ms": Numbers,
    "generation": Numbers,
    "attempt": Numbers,
    "cancel_asked_at_ms": Numbers,
    "cancel_reason": Texts,
    "stopped_at_ms": Numbers,
    "stopped_how": Texts,
    "progress": Texts,
    "steps": Texts,
    "inputs": Texts,
    "journal": Texts,
}
"""What every change writes."""

_LOCATED: Mapping[str, type[Texts] | type[Numbers]] = {
    "ordinal": Numbers,
    "version": Texts,
    "history_seq": Numbers,
}
"""By what a changed row is found, beside `_CHANGED`."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A record and the columns beside it that are the store's own."""

    ordinal: int
    history_seq: int
    version: str
    """The row's ``xmin``: every write to it gives it another."""
    record: TaskRecord


def stored(row: Sequence[Any]) -> Stored:
    """What a row of ``:row`` holds."""
    texts = {at: kept(row[at]) for at in _TEXT_COLUMNS if row[at] is not None and "\x01" in row[at]}
    columns = [texts.get(at, value) for at, value in enumerate(row)][3:] if texts else row[3:]
    return Stored(ordinal=row[0], history_seq=row[1], version=row[2], record=from_row(columns))


def kept_entry(task_id: str, row: Sequence[Any]) -> Kept:
    """What a row of the query ``history`` holds."""
    seq, at_ms, kind, fields = row
    return Kept(task_id=task_id, seq=seq, at_ms=at_ms, kind=kind, fields=json.loads(fields))


@dataclass(frozen=True, slots=True)
class Entry:
    """One history entry to be written."""

    seq: int
    at_ms: int
    kind: str
    fields: str


@dataclass(slots=True)
class Change:
    """One task, as it was read and as it becomes: what a batch writes of it."""

    stored: Stored
    record: TaskRecord
    history_seq: int
    n: int | None = None
    """Counts the changes of a transaction; of the last one here that has a rev of its own."""
    row: dict[str, Any] = field(default_factory=dict[str, Any])
    entries: list[Entry] = field(default_factory=list[Entry])

    @classmethod
    def of(cls, found: Stored) -> Change:
        """Nothing has happened to it yet."""
        return cls(found, found.record, found.history_seq)

    def apply(self, event: Event, at_ms: int, n: int) -> Entry | None:
        """Let an event happen; returns its history entry. ``n`` numbers it in the transaction.

        Raises:
            IllegalEvent, Fenced, StoreError: as `awhile.tasks.apply` and `to_row`; nothing changed.
        """
        before = self.record
        after = apply(before, event, at_ms)
        if after is before:
            return None
        entry = None
        if belongs_in_history(before, event, after):
            seen_at_ms = max(at_ms, before.last_updated_at_ms)  # as `apply` sees it
            entry = Entry(
                self.history_seq + 1, seen_at_ms, type(event).__name__, event_fields(event)
            )
        row = to_row(after)
        self.record, self.row = after, row
        if is_news(event):
            self.n = n
        if entry is not None:
            self.history_seq = entry.seq
            self.entries.append(entry)
        return entry


def create_values(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The arrays of the statement ``create``."""
    kinds = {**_CREATED, **_CHANGED}
    return {name: _column(kind, [row[name] for row in rows]) for name, kind in kinds.items()}


def change_values(changes: Sequence[Change]) -> dict[str, Any]:
    """The arrays of the statement ``change``."""
    rows = [
        {
            **one.row,
            "n": one.n,
            "ordinal": one.stored.ordinal,
            "version": one.stored.version,
            "history_seq": one.history_seq,
        }
        for one in changes
    ]
    entries = [(one.stored.ordinal, each) for one in changes for each in one.entries]
    return {
        **{
            name: _column(kind, [row[name] for row in rows])
            for name, kind in {**_LOCATED, **_CHANGED}.items()
        },
        "h_ordinal": Numbers([ordinal for ordinal, _ in entries]),
        "h_seq": Numbers([each.seq for _, each in entries]),
        "h_at_ms": Numbers([each.at_ms for _, each in entries]),
        "h_kind": Texts([each.kind for _, each in entries]),
        "h_fields": Texts([each.fields for _, each in entries]),
    }


def _column(kind: type[Texts] | type[Numbers], values: list[Any]) -> Texts | Numbers:
    return kind(values)


__all__ = [
    "Change",
    "Entry",
    "Stored",
    "change_values",
    "create_values",
    "kept_entry",
    "stored",
]
