"""One go at writing what several callers asked for.

Rows are read, changed in Python, and written back only if they are still as they were read. So no
row stays locked while this process thinks (or is frozen), and of two processes that change one task
the one that comes second reads it again. Only creates that depend on how much is there already
hold a lock meanwhile: the queue's.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import psycopg

from awhile.errors import AwhileError, StoreError, TaskNotFound
from awhile.stores.asked import Asked
from awhile.stores.postgres.changing import (
    Change,
    Entry,
    change_values,
    create_values,
    stored,
)
from awhile.stores.postgres.explain import is_lost
from awhile.stores.postgres.room import Room, asked_of_room, is_bounded
from awhile.stores.postgres.values import Numbers, Texts
from awhile.stores.rows import created_fields, to_row
from awhile.tasks import TaskRecord

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from awhile.stores.bounds import Bounds
    from awhile.stores.postgres.changing import Stored
    from awhile.stores.postgres.connections import Connections, Raw
    from awhile.stores.postgres.listener import Listener
    from awhile.tasks import Event

FROZEN_MS = 5000
"""How long the server keeps the locks of a transaction whose process says nothing more."""


@dataclass(slots=True, eq=False)
class Create:
    """A task to be kept."""

    settled: asyncio.Future[TaskRecord]
    record: TaskRecord
    row: Mapping[str, Any]
    """The record's, with the ``fields`` of its first history entry."""
    bounds: Bounds
    uncertain: bool = False
    """It was sent, and no reply came: it may have been made."""
    asked: Asked = field(default_factory=Asked)
    extended_ms: int = 0
    """By how much its lease was extended, because it is written that much later than asked."""

    def written_now(self) -> Mapping[str, Any]:
        """The row as it is written now: its lease counts from here."""
        more_ms = self.asked.late_ms - self.extended_ms
        if more_ms > 0 and self.record.lease is not None:
            lease = replace(self.record.lease, until_ms=self.record.lease.until_ms + more_ms)
            self.record = replace(self.record, lease=lease)
            self.row = {**self.row, "lease_until_ms": lease.until_ms}
            self.extended_ms += more_ms
        return self.row

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What stands for one task only."""
        return _key(self.record)


@dataclass(slots=True, eq=False)
class Append:
    """An event to happen to a task."""

    settled: asyncio.Future[TaskRecord]
    task_id: str
    event: Event
    at_ms: int
    uncertain: list[tuple[int, Entry, TaskRecord]] = field(
        default_factory=list[tuple[int, Entry, TaskRecord]]
    )
    """What was sent without a reply: (ordinal, its history entry, the record after it, with the
    least ``rev`` that it can have got: later changes must not pass for seen)."""


Item = Create | Append


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What comes of an append if its task is written."""

    item: Append
    came_to: TaskRecord | AwhileError
    n: int | None = None
    """The number, in the transaction, of the last change its record shows."""
    entry: Entry | None = None


@dataclass(slots=True)
class _Found:
    """What was read before deciding."""

    tasks: dict[str, Stored] = field(default_factory=dict[str, "Stored"])
    made: dict[Append, TaskRecord] = field(default_factory=dict[Append, TaskRecord])
    """Appends that a try whose reply was lost has written after all."""
    by_key: dict[tuple[str, str, str | None], TaskRecord] = field(
        default_factory=dict[tuple[str, str, "str | None"], TaskRecord]
    )
    room: Room | None = None


class Group:
    """What is written together."""

    def __init__(self, connections: Connections, listener: Listener, items: Sequence[Item]) -> None:
        self._connections = connections
        self._listener = listener
        # By key, so that two processes which use the same keys at once do not wait in a circle.
        self._creates = sorted((one for one in items if isinstance(one, Create)), key=_order)
        self._appends = [one for one in items if isinstance(one, Append)]
        self._bounded = [one for one in self._creates if is_bounded(one.record, one.bounds)]
        self._n = 0
        self._changes: list[Change] = []
        self._outcomes: list[list[_Outcome]] = []

    async def write(self, on: Raw) -> Sequence[Item]:
        """Read, decide, write; settles the items, but for those it returns: to be tried again.

        Raises:
            psycopg.Error: nothing was written; or, where the connection was lost, perhaps it was,
                and the items know what to look for.
        """
        async with contextlib.AsyncExitStack() as transaction:
            if self._bounded:
                await transaction.enter_async_context(on.pipeline())
                await transaction.enter_async_context(on.transaction())
            found = await self._read(on)
            self._happen(found)
            creates = self._let_in(found)
            writing = [one for one in self._changes if one.row]
            first = self._n + 1
            asked: list[tuple[str, Mapping[str, Any]]] = []
            if creates:
                rows = [{**one.written_now(), "n": self._next()} for one in creates]
                asked.append(("create", create_values(rows)))
            if writing:
                asked.append(("change", change_values(writing)))
            try:
                if len(asked) > 1 and not self._bounded:
                    await transaction.enter_async_context(on.pipeline())
                    await transaction.enter_async_context(on.transaction())
                sent = [await self._connections.send(on, *each) for each in asked]
                await transaction.aclose()
                answers = [await each.fetchall() for each in sent]
            except BaseException as error:
                if not isinstance(error, psycopg.Error) or is_lost(error):
                    self._remember(creates)
                raise
        made: list[tuple[Create, int]] = []
        if creates:
            made = [(creates[n - first], rev) for n, rev in answers[0]]
        revs: dict[int, int] = dict(answers[-1]) if writing else {}
        self._publish(made, writing, revs)
        for one, rev in made:
            settle(one, replace(one.record, rev=rev))
        again = self._settle_changes(revs)
        done = {one for one, _ in made}
        return [*again, *await self._find([one for one in creates if one not in done], on)]

    async def _read(self, on: Raw) -> _Found:
        sent = [(one, *each) for one in self._appends for each in one.uncertain]
        asked: list[tuple[str, Mapping[str, Any]]] = []
        if self._bounded:
            space = self._connections.address.lock("queue")
            asked += [
                ("give_up_when_frozen", {"ms": str(FROZEN_MS)}),
                ("lock_queue", {"space": space}),
                ("room", asked_of_room([(one.record, one.bounds) for one in self._bounded])),
                ("tasks_of_requests", _requests(self._bounded)),
            ]
        if self._appends:
            ids = Texts({one.task_id for one in self._appends})
            asked.append(("tasks", {"task_ids": ids}))
        if sent:
            ordinals = Numbers([ordinal for _, ordinal, _, _ in sent])
            seqs = Numbers([entry.seq for _, _, entry, _ in sent])
            asked.append(("entries", {"ordinals": ordinals, "seqs": seqs}))
        answers = await self._connections.each(on, asked)
        found = _Found()
        for (name, _), rows in zip(asked, answers, strict=True):
            if name == "room":
                found.room = Room(rows)
            elif name == "tasks_of_requests":
                found.by_key = {_key(one.record): one.record for one in map(stored, rows)}
            elif name == "tasks":
                found.tasks = {one.record.task_id: one for one in map(stored, rows)}
            elif name == "entries":
                there = {(row[0], Entry(*row[1:])) for row in rows}
                found.made = {
                    one: record for one, ordinal, entry, record in sent if (ordinal, entry) in there
                }
        return found

    def _next(self) -> int:
        self._n += 1
        return self._n

    def _happen(self, found: _Found) -> None:
        """Let the events of the appends happen; settles those that are for nothing."""
        changes = {task_id: Change.of(one) for task_id, one in found.tasks.items()}
        outcomes: dict[str, list[_Outcome]] = {task_id: [] for task_id in changes}
        for one in self._appends:
            change = changes.get(one.task_id)
            if change is None:
                settle(one, TaskNotFound())
                continue
            if (done := found.made.get(one)) is not None:
                settle(one, done)
                continue
            try:
                entry = change.apply(one.event, one.at_ms, self._next())
                told = _Outcome(one, change.record, change.n, entry)
            except AwhileError as error:
                told = _Outcome(one, error)
            outcomes[one.task_id].append(told)
        self._changes, self._outcomes = list(changes.values()), list(outcomes.values())

    def _let_in(self, found: _Found) -> list[Create]:
        """The creates that are to be written; settles those that are not."""
        if found.room is None:
            return self._creates
        creates: list[Create] = []
        keys = set(found.by_key)
        for one in self._creates:
            if one in self._bounded and not (
                one.record.request_key is not None and one.key in keys
            ):
                try:
                    record = found.room.let_in(one.record, one.bounds)
                except AwhileError as error:
                    settle(one, error)
                    continue
                if record is not one.record:
                    one.record = record
                    one.row = {**to_row(record), "fields": created_fields(record)}
            keys.add(one.key)
            creates.append(one)
        return creates

    def _remember(self, creates: Sequence[Create]) -> None:
        for one in creates:
            one.uncertain = True
        for change, told in zip(self._changes, self._outcomes, strict=True):
            for each in told:
                if each.entry is not None and not isinstance(each.came_to, AwhileError):
                    after = replace(each.came_to, rev=each.came_to.rev + (each.n or 0))
                    each.item.uncertain.append((change.stored.ordinal, each.entry, after))

    def _publish(
        self,
        made: Sequence[tuple[Create, int]],
        writing: Sequence[Change],
        revs: Mapping[int, int],
    ) -> None:
        """Before the replies: who has one finds the change reported."""
        news = [(one.record.task_id, rev) for one, rev in made]
        news += [
            (one.record.task_id, revs[one.stored.ordinal])
            for one in writing
            if one.n is not None and one.stored.ordinal in revs
        ]
        self._listener.published(news)

    def _settle_changes(self, revs: Mapping[int, int]) -> list[Append]:
        again: list[Append] = []
        for change, told in zip(self._changes, self._outcomes, strict=True):
            if change.row and change.stored.ordinal not in revs:
                again += [each.item for each in told]
                continue
            for each in told:
                came_to = each.came_to
                if isinstance(came_to, AwhileError) or each.n is None or change.n is None:
                    settle(each.item, came_to)
                else:
                    rev = revs[change.stored.ordinal] - change.n + each.n
                    settle(each.item, replace(came_to, rev=rev))
        return again

    async def _find(self, creates: Sequence[Create], on: Raw) -> Sequence[Create]:
        """What became of creates that made nothing: the task is there already, or its id is."""
        if not creates:
            return []
        ids = Texts([one.record.task_id for one in creates])
        rows, others = await self._connections.each(
            on, [("tasks_of_requests", _requests(creates)), ("tasks", {"task_ids": ids})]
        )
        by_key = {_key(one.record): one.record for one in map(stored, rows)}
        by_id = {one.record.task_id: one.record for one in map(stored, others)}
        again: list[Create] = []
        for one in creates:
            task_id = one.record.task_id
            if one.uncertain and task_id in by_id:
                settle(one, by_id[task_id])
            elif one.key in by_key:
                settle(one, by_key[one.key])
            elif task_id in by_id:
                shown = self._connections.address.shown
                words = (
                    f"The store {shown!r} has a task {task_id!r} already. Create each task under "
                    "an id of its own."
                )
                settle(one, StoreError(words))
            else:
                again.append(one)  # it was deleted between the two looks
        return again


def settle(item: Item, outcome: TaskRecord | BaseException) -> None:
    """Tell the caller, if it still waits."""
    if item.settled.done():  # it was cancelled
        return
    if isinstance(outcome, BaseException):
        item.settled.set_exception(outcome)
    else:
        item.settled.set_result(outcome)


def _key(record: TaskRecord) -> tuple[str, str, str | None]:
    return record.owner, record.tool, record.request_key


def _order(one: Create) -> tuple[str, str, str]:
    owner, tool, key = one.key
    return ("", "", "") if key is None else (owner, tool, key)


def _requests(creates: Sequence[Create]) -> dict[str, Any]:
    keyed = [one.record for one in creates if one.record.request_key is not None]
    return {
        "owners": Texts([one.owner for one in keyed]),
        "tools": Texts([one.tool for one in keyed]),
        "keys": Texts([one.request_key for one in keyed]),
    }


__all__ = ["FROZEN_MS", "Append", "Create", "Group", "settle"]
