"""What one item of a group may do inside the write transaction."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from awhile.errors import TaskNotFound
from awhile.stores.bounds import queue_full
from awhile.stores.changes import Change
from awhile.stores.contract import PASSED_OVER
from awhile.stores.operated import Lost
from awhile.stores.rows import created_fields, event_fields, to_row
from awhile.stores.sqlite.lines import Lines
from awhile.stores.sqlite.reading import QUERIES, stored
from awhile.tasks import apply
from awhile.tasks import events as ev
from awhile.tasks.record import as_waiting
from awhile.tasks.state import belongs_in_history, is_news, worker_lost

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from awhile.errors import QueueFull
    from awhile.stores.bounds import Bounds
    from awhile.stores.contract import Held
    from awhile.stores.sqlite.connection import Connection
    from awhile.stores.sqlite.reading import Stored
    from awhile.stores.wanted import Wanted
    from awhile.tasks import Event, TaskRecord

T = TypeVar("T")

LOST_AT_ONCE = 500
"""How many lost tasks one transaction ends at most, so that other writers get their turn."""


class Transaction:
    """One open write transaction, shared by the items of a group.

    An item that raises an `AwhileError` does so before its first write, so the others' writes
    stand. Any other error undoes the whole group, and the writer runs its items again one by one.
    """

    def __init__(self, connection: Connection) -> None:
        self._on = connection
        self.began_at_rev = connection.number(QUERIES["counter"])
        self._rev = self.began_at_rev
        self.changed: list[Change] = []
        """Ascending."""
        self._entries: list[tuple[int, int, int, str, str]] = []
        """What histories get. Together at the end: each statement lets go of the interpreter's lock
        and waits for it, which a busy event loop makes its dearest part."""

    def finish(self) -> None:
        """Before the commit: write the histories, and remember the numbers given out."""
        self._write_histories()
        if self._rev != self.began_at_rev:
            self._on.run(QUERIES["move_counter"], {"rev": self._rev})

    def create(
        self, row: dict[str, Any], record: TaskRecord, fields: str, bounds: Bounds
    ) -> TaskRecord:
        """Keep a new task, or find the one its key already stands for."""
        if record.request_key is not None:
            found = self._on.row(
                QUERIES["task_of_request"],
                {"owner": record.owner, "tool": record.tool, "request_key": record.request_key},
            )
            if found is not None:
                return stored(found).record
        if record.lease is not None and self._holds_enough(record.owner, bounds):
            record = as_waiting(record)
            row, fields = to_row(record), created_fields(record)
        if record.lease is None:
            self._check_room(record, bounds)
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

    def claim(self, worker: str, wanted: Wanted, until_ms: int) -> list[TaskRecord]:
        """Take what may be taken: first what ran before, then fairly what waits."""
        at_ms = wanted.at_ms
        claimed = ev.Claimed(worker=worker, until_ms=until_ms)
        before: list[Stored] = []
        looked_at = wanted.limit + (PASSED_OVER if wanted.fit is not None else 0)
        for query in ("again", "to_reach"):
            for tool in wanted.tools:
                asked = {"tool": tool, "at_ms": at_ms, "limit": looked_at}
                before += [stored(row) for row in self._on.rows(QUERIES[query], asked)]
        before = [one for one in before if wanted.may_have(one.record)]
        before.sort(key=lambda one: one.ordinal)
        taken = [self._advance(one, claimed, at_ms) for one in before[: wanted.limit]]
        lines = Lines(self._on, wanted)
        while len(taken) < wanted.limit and (one := lines.next()) is not None:
            taken.append(self._advance(one, claimed, at_ms))
        return taken

    def end_lost(self, wanted: Wanted) -> list[Lost]:
        """End tasks whose worker is lost and that nobody may run again; returns them.

        Not those that this claim could take.
        """
        at_ms = wanted.at_ms
        asked = {"at_ms": at_ms, "limit": LOST_AT_ONCE}
        candidates = [stored(row) for row in self._on.rows(QUERIES["lost"], asked)]
        left = [stored(row) for row in self._on.rows(QUERIES["unreached"], {"at_ms": at_ms})]
        candidates += [
            one
            for one in left
            if not (one.record.tool in wanted.tools and wanted.may_have(one.record))
        ]
        lost = [one for one in candidates if worker_lost(one.record, at_ms)][:LOST_AT_ONCE]
        return [
            Lost(
                record=self._advance(one, ev.WorkerLost(), at_ms),
                worker=one.record.lease.worker if one.record.lease else None,
            )
            for one in lost
        ]

    def looked(self, task_ids: Collection[str], at_ms: int) -> None:
        """Remember that they were looked at."""
        for task_id in task_ids:
            self._on.run(QUERIES["looked"], {"task_id": task_id, "at_ms": at_ms})

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
        self._write_histories()  # or one that has expired would leave some of its own behind
        expired = self._on.rows(QUERIES["expired"], {"at_ms": at_ms, "limit": limit})
        ordinals = {"ordinals": json.dumps([ordinal for ordinal, _ in expired])}
        for query in ("delete_histories", "delete_tasks"):
            self._on.run(QUERIES[query], ordinals)
        return [task_id for _, task_id in expired]

    def run(self, work: Callable[[Connection], T]) -> T:
        """What changes no task: the notices."""
        return work(self._on)

    def _advance(self, before: Stored, event: Event, at_ms: int) -> TaskRecord:
        after = apply(before.record, event, at_ms)
        if after is before.record:
            return after
        seq, fields = before.history_seq, None
        if belongs_in_history(before.record, event, after):
            seq, fields = seq + 1, event_fields(event)
        row = to_row(after)
        if is_news(event):
            row["rev"] = self._next_rev(after.task_id)
            after = replace(after, rev=row["rev"])
        self._on.run(QUERIES["update_task"], {**row, "ordinal": before.ordinal, "history_seq": seq})
        if fields is not None:
            at_ms = max(at_ms, before.record.last_updated_at_ms)  # as `apply` sees it
            self._keep(before.ordinal, seq, at_ms, type(event).__name__, fields)
        return after

    def _keep(self, ordinal: int, seq: int, at_ms: int, kind: str, fields: str) -> None:
        self._entries.append((ordinal, seq, at_ms, kind, fields))

    def _write_histories(self) -> None:
        if self._entries:
            self._on.run(QUERIES["insert_histories"], {"entries": json.dumps(self._entries)})
            self._entries.clear()

    def _holds_enough(self, owner: str, bounds: Bounds) -> bool:
        most = bounds.running_per_owner
        if most is None:
            return False
        return self._on.number(QUERIES["held_of_owner"], {"owner": owner}) >= most

    def _check_room(self, record: TaskRecord, bounds: Bounds) -> None:
        owner = {"owner": record.owner}
        if bounds.queued_per_owner is not None:
            waiting = self._on.number(QUERIES["waiting_of_owner"], owner)
            if waiting >= bounds.queued_per_owner:
                raise self._full(record, waiting, own=True)
        if bounds.queued is not None:
            waiting = self._on.number(QUERIES["waiting"])
            if waiting >= bounds.queued:
                raise self._full(record, waiting, own=False)

    def _full(self, record: TaskRecord, waiting: int, *, own: bool) -> QueueFull:
        query = QUERIES["oldest_of_owner" if own else "oldest_in_line"]
        oldest = self._on.row(query, {"owner": record.owner} if own else None)
        made_ms = oldest[0] if oldest else record.created_at_ms
        waits_ms = record.created_at_ms - made_ms
        return queue_full(waiting=waiting, own=own, oldest_waits_ms=waits_ms)

    def _next_rev(self, task_id: str) -> int:
        self._rev += 1
        self.changed.append(Change(task_id, self._rev, self._rev))
        return self._rev


__all__ = ["LOST_AT_ONCE", "Transaction"]
