"""What one item of a group may do inside the write transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from awhile.errors import TaskNotFound
from awhile.stores.contract import Kept
from awhile.stores.rows import event_fields, from_row, to_row
from awhile.stores.statements import named_statements
from awhile.tasks import apply
from awhile.tasks import events as ev
from awhile.tasks.state import belongs_in_history, may_claim, worker_lost

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from awhile.stores.contract import Held
    from awhile.stores.sqlite.connection import Connection
    from awhile.tasks import Event, TaskRecord

QUERIES = named_statements(
    (files("awhile.stores.sqlite") / "queries.sql").read_text(encoding="utf-8")
)

LOST_AT_ONCE = 500
"""How many lost tasks one transaction ends at most, so that other writers get their turn."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A record and the two columns beside it that are the store's own."""

    ordinal: int
    history_seq: int
    record: TaskRecord


def stored(row: Sequence[Any]) -> Stored:
    """What a row of ``task_row`` holds."""
    return Stored(ordinal=row[0], history_seq=row[1], record=from_row(row[2:]))


def kept(task_id: str, row: Sequence[Any]) -> Kept:
    """What a row of the query ``history`` holds."""
    seq, at_ms, kind, fields = row
    return Kept(task_id=task_id, seq=seq, at_ms=at_ms, kind=kind, fields=json.loads(fields))


class Transaction:
    """One open write transaction, shared by the items of a group.

    An item that raises an `AwhileError` does so before its first write, so the others' writes
    stand. Any other error undoes the whole group, and the writer runs its items again one by one.
    """

    def __init__(self, connection: Connection) -> None:
        self._on = connection
        self.began_at_rev = connection.number(QUERIES["counter"])
        self._rev = self.began_at_rev
        self.changed: list[tuple[str, int]] = []
        """(task id, rev), ascending."""

    def finish(self) -> None:
        """Before the commit: remember the numbers given out."""
        if self._rev != self.began_at_rev:
            self._on.run(QUERIES["move_counter"], {"rev": self._rev})

    def create(self, row: dict[str, Any], record: TaskRecord, fields: str) -> TaskRecord:
        """Keep a new task, or find the one its key already stands for."""
        if record.request_key is not None:
            found = self._on.row(
                QUERIES["task_of_request"],
                {"owner": record.owner, "tool": record.tool, "request_key": record.request_key},
            )
            if found is not None:
                return stored(found).record
        record = replace(record, rev=self._next_rev(record.task_id))
        ordinal = self._on.number(QUERIES["insert_task"], {**row, "rev": record.rev})
        self._keep(ordinal, 1, record.created_at_ms, "Created", fields)
        return record

    def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """Apply one event to one task."""
        found = self._on.row(QUERIES["one_task"], {"task_id": task_id})
        if found is None:
            raise TaskNotFound
        return self._advance(stored(found), event, at_ms)

    def claim(
        self, worker: str, tools: Collection[str], at_ms: int, until_ms: int, limit: int
    ) -> list[TaskRecord]:
        """Take the oldest tasks of these tools that may be taken."""
        candidates: list[Stored] = []
        for tool in tools:
            asked = {"tool": tool, "at_ms": at_ms, "limit": limit}
            candidates += [stored(row) for row in self._on.rows(QUERIES["claimable"], asked)]
        candidates.sort(key=lambda one: one.ordinal)
        claimed = ev.Claimed(worker=worker, until_ms=until_ms)
        return [
            self._advance(one, claimed, at_ms)
            for one in [one for one in candidates if may_claim(one.record, at_ms)][:limit]
        ]

    def end_lost(self, at_ms: int) -> int:
        """End tasks whose worker is lost and that nobody may run again; returns how many."""
        asked = {"at_ms": at_ms, "limit": LOST_AT_ONCE}
        candidates = [stored(row) for row in self._on.rows(QUERIES["lost"], asked)]
        lost = [one for one in candidates if worker_lost(one.record, at_ms)]
        for one in lost:
            self._advance(one, ev.WorkerLost(), at_ms)
        return len(lost)

    def renew(self, held: Sequence[Held], until_ms: int) -> list[Held]:
        """Extend leases; returns those no longer held."""
        gone: list[Held] = []
        for one in held:
            self._on.run(
                QUERIES["renew"],
                {"until_ms": until_ms, "task_id": one.task_id, "generation": one.generation},
            )
            if self._on.changed_rows() == 0:
                gone.append(one)
        return gone

    def sweep(self, at_ms: int, limit: int) -> list[str]:
        """Delete what has expired."""
        expired = self._on.rows(QUERIES["expired"], {"at_ms": at_ms, "limit": limit})
        for ordinal, _ in expired:
            self._on.run(QUERIES["delete_history"], {"ordinal": ordinal})
            self._on.run(QUERIES["delete_task"], {"ordinal": ordinal})
        return [task_id for _, task_id in expired]

    def _advance(self, before: Stored, event: Event, at_ms: int) -> TaskRecord:
        after = apply(before.record, event, at_ms)
        if after is before.record:
            return after
        seq, fields = before.history_seq, None
        if belongs_in_history(before.record, event, after):
            seq, fields = seq + 1, event_fields(event)
        row = to_row(after)
        if not isinstance(event, ev.LeaseRenewed):  # a renewal is nobody's news
            row["rev"] = self._next_rev(after.task_id)
            after = replace(after, rev=row["rev"])
        self._on.run(QUERIES["update_task"], {**row, "ordinal": before.ordinal, "history_seq": seq})
        if fields is not None:
            at_ms = max(at_ms, before.record.last_updated_at_ms)  # as `apply` sees it
            self._keep(before.ordinal, seq, at_ms, type(event).__name__, fields)
        return after

    def _keep(self, ordinal: int, seq: int, at_ms: int, kind: str, fields: str) -> None:
        self._on.run(
            QUERIES["insert_history"],
            {"ordinal": ordinal, "seq": seq, "at_ms": at_ms, "kind": kind, "fields": fields},
        )

    def _next_rev(self, task_id: str) -> int:
        self._rev += 1
        self.changed.append((task_id, self._rev))
        return self._rev


__all__ = ["LOST_AT_ONCE", "QUERIES", "Stored", "Transaction", "kept", "stored"]
