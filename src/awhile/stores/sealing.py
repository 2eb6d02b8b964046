"""Contents at rest: sealed (encrypted) or redacted before a store keeps them, whatever store it is.

`sealed` wraps a store. What a task was given, what it asked, was answered, noted and said, and what
came of it, is turned into something else on the way in, and back on the way out. What the store
works with stays as it is: ids, owners, tools, request keys, statuses, instants, leases. So a store
is queued, claimed, stopped, swept and looked over as ever, also by processes without the key, which
then see ``[[sealed:…]]``.

Rows that our own processes leave for each other are not sealed; nothing of a caller is in them.
"""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from awhile.errors import StoreError
from awhile.stores.bounds import NO_BOUNDS
from awhile.stores.operated import OURS, TellsOfLost
from awhile.stores.rows import check_text, encode
from awhile.tasks import events as ev

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Self

    from awhile.stores.bounds import Bounds
    from awhile.stores.contract import Detail, Kept, Store
    from awhile.stores.operated import Lost, Notice, Overview
    from awhile.tasks import Event, Status, TaskRecord

logger = logging.getLogger(__name__)

Redact = Callable[[str, Any], Any]
"""Given what it is (``arguments``, ``context``, ``result``, ``error``, ``request``, ``response``,
``outcome``, ``message``, ``reason``) and the value, returns what to keep instead. What it leaves
out is gone, also for whoever runs the task in another process, or asks for its result."""

_TOKEN = re.compile(r"\[\[sealed:([A-Za-z0-9_=-]+)\]\]")
_KEY = "awhile/sealed"
_COLUMNS = {"message": "status_message", "reason": "cancel_reason"}

UNREADABLE = "This cannot be read: it was sealed under a key that is not here."
"""What is shown of such a task in place of what it last said."""

LAST_MESSAGES = 1000
"""For how many tasks the last message is remembered, to be sealed once while it stays the same; and
of how many it is remembered that their being left was said."""


class Codec(Protocol):
    """Turns contents into what is kept, and back. Used from several threads.

    ``about`` is what the contents belong to (the task's id): authenticated, so that what was
    sealed for one task cannot pass as another's.
    """

    def seal(self, data: bytes, about: bytes) -> bytes:
        """What to keep instead."""
        ...

    def open(self, kept: bytes, about: bytes) -> bytes:
        """What was sealed.

        Raises:
            ValueError: it was sealed under a key that is not here, or was changed since.
        """
        ...


def sealed(store: Store, codec: Codec | None = None, *, redact: Redact | None = None) -> Store:
    """The store, with contents sealed by ``codec`` and, before that, redacted by ``redact``.

    What was kept unsealed before is read as it is; it is sealed when it is next written.
    """
    return cast("Store", Sealed(store, codec, redact))


def is_sealed(record: TaskRecord) -> bool:
    """Whether what was kept of a task is still sealed: who reads it so has not the key."""
    given = (record.arguments, record.context)
    noted = (note.outcome for note in record.journal.values())
    answered = (one.response for one in record.inputs.values())
    return any(map(_is_sealed, (*given, *noted, *answered)))


def _is_sealed(value: object) -> bool:
    return isinstance(value, Mapping) and set(cast("Mapping[str, Any]", value)) == {_KEY}


def without_seals(text: str) -> str:
    """Text for whoever has no key: short, where something in it is sealed."""
    return _TOKEN.sub("(sealed)", text)


class Left:
    """Says of each task that it is left to whoever has the key; once. From any thread."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}

    def readable(self, record: TaskRecord) -> bool:
        """Whether a process can read it that seals nothing; else that is said."""
        if not is_sealed(record):
            return True
        self.say(
            record,
            f"The contents of task {record.task_id!r} are sealed, and this process has no key. "
            "Give it AWHILE_SEAL_KEYS, as the others have it.",
        )
        return False

    def say(self, record: TaskRecord, why: object) -> None:
        """Say it, unless that was said before."""
        if record.task_id in self._said:
            return
        self._said[record.task_id] = None
        if len(self._said) > LAST_MESSAGES:
            del self._said[next(iter(self._said))]
        about = {"task_id": record.task_id}
        logger.error("%s Until then it is left to workers that have it.", why, extra=about)


class Sealed:
    """See `sealed`. What has nothing to be sealed is passed on."""

    def __init__(self, store: Store, codec: Codec | None, redact: Redact | None) -> None:
        self.inner = store
        self._codec = codec
        self._redact = redact
        self._last: dict[str, tuple[str, str]] = {}
        self._left = Left()
        self._on_lost: Callable[[Lost], None] | None = None

    async def __aenter__(self) -> Self:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.inner.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def on_lost(self) -> Callable[[Lost], None] | None:
        """See `TellsOfLost`."""
        return self._on_lost

    @on_lost.setter
    def on_lost(self, told: Callable[[Lost], None] | None) -> None:
        self._on_lost = told
        if isinstance(self.inner, TellsOfLost):
            self.inner.on_lost = (
                None
                if told is None
                else lambda one: told(replace(one, record=self._as_far_as_known(one.record)))
            )

    async def create(self, record: TaskRecord, *, bounds: Bounds = NO_BOUNDS) -> TaskRecord:
        """See `TaskStore.create`."""
        if record.owner.startswith(OURS):
            return await self.inner.create(record, bounds=bounds)
        return self._opened(await self.inner.create(self._closed(record), bounds=bounds))

    async def append(self, task_id: str, event: Event, at_ms: int) -> TaskRecord:
        """See `TaskStore.append`. What was written is no failure, readable here or not."""
        kept = self._closed_event(task_id, event)
        return self._told(await self.inner.append(task_id, kept, at_ms))

    async def get(self, task_id: str) -> TaskRecord | None:
        """See `TaskStore.get`."""
        found = await self.inner.get(task_id)
        return None if found is None else self._opened(found)

    async def find(
        self,
        *,
        owner: str,
        statuses: Collection[Status] | None = None,
        tools: Collection[str] | None = None,
        after_rev: int = 0,
        before: str | None = None,
        limit: int = 100,
        detail: Detail = "whole",
    ) -> Sequence[TaskRecord]:
        """See `TaskStore.find`."""
        found = await self.inner.find(
            owner=owner,
            statuses=statuses,
            tools=tools,
            after_rev=after_rev,
            before=before,
            limit=limit,
            detail=detail,
        )
        return [self._told(one) for one in found]

    async def history(
        self, task_id: str, *, after_seq: int = 0, limit: int = 1000
    ) -> Sequence[Kept]:
        """See `TaskStore.history`."""
        found = await self.inner.history(task_id, after_seq=after_seq, limit=limit)
        return [replace(one, fields=self._open(one.fields, task_id)) for one in found]

    async def claim(
        self, *, fit: Callable[[TaskRecord], bool] | None = None, **asked: Any
    ) -> Sequence[TaskRecord]:
        """See `Store.claim`. What cannot be read here is left to who has the key."""

        def readable(one: TaskRecord) -> bool:
            try:
                opened = self._opened(one)
            except StoreError as unreadable:
                self._left.say(one, unreadable)
                return False
            return fit is None or fit(opened)

        return [self._opened(one) for one in await self.inner.claim(**asked, fit=readable)]

    async def unclaimed(self, **asked: Any) -> Sequence[TaskRecord]:
        """See `Store.unclaimed`. What cannot be read here says as much as it can."""
        return [self._as_far_as_known(one) for one in await self.inner.unclaimed(**asked)]

    async def overview(self, **asked: Any) -> Overview:
        """See `Operated.overview`."""
        seen: Overview = await cast("Any", self.inner).overview(**asked)
        return replace(
            seen,
            held=[self._as_far_as_known(one) for one in seen.held],
            endings=[self._as_far_as_known(one) for one in seen.endings],
        )

    async def take_notices(self, **asked: Any) -> Sequence[Notice]:
        """See `Notifies.take_notices`. One that cannot be read here says as much as it can."""
        taken: Sequence[Notice] = await cast("Any", self.inner).take_notices(**asked)
        return [replace(one, record=self._as_far_as_known(one.record)) for one in taken]

    # --- on the way in --------------------------------------------------------------------

    def _closed(self, record: TaskRecord) -> TaskRecord:
        about = record.task_id
        said = {step.message for step in record.steps}
        words = record.status_message
        if words is not None and words in said:  # else it is one of our own sentences
            words = self._text("message", words, about)
        progress = record.progress
        return replace(
            record,
            arguments=self._mapping("arguments", record.arguments, about),
            context=self._mapping("context", record.context, about),
            status_message=words,
            progress=progress
            and replace(progress, message=self._text("message", progress.message, about)),
            steps=tuple(
                replace(step, message=self._text("message", step.message, about) or "")
                for step in record.steps
            ),
        )

    def _closed_event(self, about: str, event: Event) -> Event:
        match event:
            case ev.Reported(message=str(words)):
                return replace(event, message=self._message(words, about))
            case ev.Noted():
                return replace(event, outcome=self._value("outcome", event.outcome, about))
            case ev.InputAsked():
                return replace(event, request=self._mapping("request", event.request, about))
            case ev.InputAnswered():
                answers = {
                    key: self._value("response", one, about) for key, one in event.responses.items()
                }
                return replace(event, responses=answers)
            case ev.CancelAsked():
                return replace(event, reason=self._text("reason", event.reason, about))
            case ev.Completed():
                self._last.pop(about, None)
                result = self._mapping("result", event.result, about)
                if event.message == ev.Completed.message:
                    return replace(event, result=result)
                words = self._text("message", event.message, about) or ""
                return replace(event, result=result, message=words)
            case ev.Failed():
                self._last.pop(about, None)
                words = self._text("message", event.message, about) or ""
                return replace(
                    event, error=self._mapping("error", event.error, about), message=words
                )
            case _:
                return event

    def _message(self, words: str, about: str) -> str:
        """A message, sealed once while it stays the same: else each report would be a new step."""
        last = self._last.pop(about, None)
        if last is None or last[0] != words:
            last = words, self._text("message", words, about) or ""
        self._last[about] = last
        if len(self._last) > LAST_MESSAGES:
            del self._last[next(iter(self._last))]
        return last[1]

    def _text(self, what: str, words: str | None, about: str) -> str | None:
        if words is None:
            return None
        if not words.isascii():
            check_text(words, what=_COLUMNS.get(what, what))
        if self._redact is not None:
            words = str(self._redact(what, words))
        return words if self._codec is None else f"[[sealed:{self._seal(words, what, about)}]]"

    def _mapping(self, what: str, value: Mapping[str, Any], about: str) -> Mapping[str, Any]:
        return self._value(what, value, about) if value else value

    def _value(self, what: str, value: Any, about: str) -> Any:
        if self._redact is not None and value is not None:
            value = self._redact(what, value)
        if self._codec is None or value is None:
            return value
        return {_KEY: self._seal(value, what, about)}

    def _seal(self, value: Any, what: str, about: str) -> str:
        assert self._codec is not None
        kept = self._codec.seal(encode(value, what=what).encode(), about.encode())
        return base64.urlsafe_b64encode(kept).decode()

    # --- on the way out -------------------------------------------------------------------

    def _opened(self, record: TaskRecord) -> TaskRecord:
        about = record.task_id
        if self._codec is None or record.owner.startswith(OURS):
            return record
        progress = record.progress
        return replace(
            record,
            arguments=self._open(record.arguments, about),
            context=self._open(record.context, about),
            status_message=self._open(record.status_message, about),
            result=self._open(record.result, about),
            error=self._open(record.error, about),
            cancel_reason=self._open(record.cancel_reason, about),
            progress=progress and replace(progress, message=self._open(progress.message, about)),
            steps=tuple(
                replace(step, message=self._open(step.message, about)) for step in record.steps
            ),
            inputs={
                key: replace(
                    one,
                    request=self._open(one.request, about),
                    response=self._open(one.response, about),
                )
                for key, one in record.inputs.items()
            },
            journal={
                key: replace(note, outcome=self._open(note.outcome, about))
                for key, note in record.journal.items()
            },
        )

    def _as_far_as_known(self, record: TaskRecord) -> TaskRecord:
        """The same; still sealed, where the key is not here."""
        try:
            return self._opened(record)
        except StoreError:
            return record

    def _told(self, record: TaskRecord) -> TaskRecord:
        """The same; its outline, saying so, where the key is not here: one task that cannot be read
        must not hide the others of its owner, nor that it was told to stop."""
        try:
            return self._opened(record)
        except StoreError:
            return replace(
                record,
                arguments={},
                context={},
                status_message=UNREADABLE,
                result=None,
                error=None,
                cancel_reason=None,
                progress=None,
                steps=(),
                inputs={},
                journal={},
            )

    def _open(self, value: Any, about: str) -> Any:
        """What was sealed of a value, at any depth: a history entry has several such parts."""
        if self._codec is None or value is None:
            return value
        if isinstance(value, str):
            return _TOKEN.sub(lambda one: str(self._unseal(one[1], about)), value)
        if isinstance(value, list):
            return [self._open(one, about) for one in cast("list[Any]", value)]
        if isinstance(value, Mapping):
            parts = cast("Mapping[str, Any]", value)
            if _is_sealed(parts):
                return self._unseal(str(parts[_KEY]), about)
            return {key: self._open(one, about) for key, one in parts.items()}
        return value

    def _unseal(self, kept: str, about: str) -> Any:
        assert self._codec is not None
        with suppress(ValueError):
            data = base64.urlsafe_b64decode(kept)
            return json.loads(self._codec.open(data, about.encode()))
        raise StoreError(
            f"The contents of task {about!r} cannot be read: they were sealed under a key that is "
            "not here, or were changed since. Give this process that key, too."
        )


__all__ = [
    "UNREADABLE",
    "Codec",
    "Left",
    "Redact",
    "Sealed",
    "is_sealed",
    "sealed",
    "without_seals",
]
