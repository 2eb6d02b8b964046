"""One task as a row, one event as a history row, and back. Shared by every store that keeps rows.

Nested values are strict JSON text (no NaN, no infinity: no other program could read them back),
all instants are integers of Unix milliseconds (source: ours). Text, and not a database's own JSON
type, because a result is only ever read back whole: PostgreSQL took 16 ms to store a megabyte as
jsonb where text took less than half.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from awhile.errors import StoreError
from awhile.tasks import Input, Lease, Note, Progress, Status, Step, StoppedHow, TaskRecord
from awhile.tasks import events as ev

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = (
    "task_id",
    "owner",
    "tool",
    "arguments",
    "context",
    "request_key",
    "status",
    "status_message",
    "created_at_ms",
    "last_updated_at_ms",
    "ended_at_ms",
    "keep_ms",
    "result",
    "is_error",
    "error",
    "lease_worker",
    "lease_until_ms",
    "generation",
    "attempt",
    "max_attempts",
    "cancel_asked_at_ms",
    "cancel_reason",
    "stopped_at_ms",
    "stopped_how",
    "progress",
    "steps",
    "inputs",
    "journal",
    "unobserved_ms",
    "looked_at_ms",
    "rev",
)
"""What a record is read from, in the order `from_row` takes."""

DERIVED = ("expires_at_ms",)
"""Written beside them, so that the database can look for it; never read back."""

_TEXTS = (
    "task_id",
    "owner",
    "tool",
    "request_key",
    "status_message",
    "lease_worker",
    "cancel_reason",
)
"""Kept as they are, so they have to be Unicode."""

# ASCII escapes keep what UTF-8 cannot: a lone surrogate in a tool's output is stored, not lost.
_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode(value: Any, *, what: str) -> str:
    """Strict JSON text of ``value``; ``what`` names it in the error.

    Raises:
        StoreError: the value has no JSON form (NaN, infinity, a foreign type, a circle).
    """
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"The task's {what} cannot be kept as JSON ({error}): nothing was changed. "
            "Turn such values into text, numbers, lists or objects first; NaN and infinity "
            "have no JSON form."
        ) from error


def to_row(record: TaskRecord) -> dict[str, Any]:
    """The record's columns by name (`COLUMNS` and `DERIVED`).

    Raises:
        StoreError: a value in it has no JSON form.
    """
    lease, progress = record.lease, record.progress
    row: dict[str, Any] = {
        "task_id": record.task_id,
        "owner": record.owner,
        "tool": record.tool,
        "arguments": encode(record.arguments, what="arguments") if record.arguments else "{}",
        "context": encode(record.context, what="context") if record.context else "{}",
        "request_key": record.request_key,
        "status": record.status.value,
        "status_message": record.status_message,
        "created_at_ms": record.created_at_ms,
        "last_updated_at_ms": record.last_updated_at_ms,
        "ended_at_ms": record.ended_at_ms,
        "keep_ms": record.keep_ms,
        "result": None if record.result is None else encode(record.result, what="result"),
        "is_error": int(record.is_error),
        "error": None if record.error is None else encode(record.error, what="error"),
        "lease_worker": lease.worker if lease else None,
        "lease_until_ms": lease.until_ms if lease else None,
        "generation": record.generation,
        "attempt": record.attempt,
        "max_attempts": record.max_attempts,
        "cancel_asked_at_ms": record.cancel_asked_at_ms,
        "cancel_reason": record.cancel_reason,
        "stopped_at_ms": record.stopped_at_ms,
        "stopped_how": record.stopped_how.value if record.stopped_how else None,
        "progress": encode(_progress_json(progress), what="progress") if progress else None,
        "steps": encode(_steps_json(record.steps), what="steps") if record.steps else "[]",
        "inputs": encode(_inputs_json(record.inputs), what="inputs") if record.inputs else "{}",
        "journal": encode(_journal_json(record.journal), what="journal")
        if record.journal
        else "{}",
        "unobserved_ms": record.unobserved_ms,
        "looked_at_ms": record.looked_at_ms,
        "rev": record.rev,
        "expires_at_ms": record.expires_at_ms,
    }
    for name in _TEXTS:
        text = row[name]
        if text is not None and not text.isascii():
            check_text(text, what=name)
    return row


def from_row(row: Sequence[Any]) -> TaskRecord:
    """The record of a row that has `COLUMNS` in their order."""
    (
        task_id,
        owner,
        tool,
        arguments,
        context,
        request_key,
        status,
        status_message,
        created_at_ms,
        last_updated_at_ms,
        ended_at_ms,
        keep_ms,
        result,
        is_error,
        error,
        lease_worker,
        lease_until_ms,
        generation,
        attempt,
        max_attempts,
        cancel_asked_at_ms,
        cancel_reason,
        stopped_at_ms,
        stopped_how,
        progress,
        steps,
        inputs,
        journal,
        unobserved_ms,
        looked_at_ms,
        rev,
    ) = row
    return TaskRecord(
        task_id=task_id,
        owner=owner,
        tool=tool,
        arguments={} if arguments == "{}" else json.loads(arguments),
        context={} if context == "{}" else json.loads(context),
        request_key=request_key,
        status=Status(status),
        status_message=status_message,
        created_at_ms=created_at_ms,
        last_updated_at_ms=last_updated_at_ms,
        ended_at_ms=ended_at_ms,
        keep_ms=keep_ms,
        result=None if result is None else json.loads(result),
        is_error=bool(is_error),
        error=None if error is None else json.loads(error),
        lease=(
            None if lease_worker is None else Lease(worker=lease_worker, until_ms=lease_until_ms)
        ),
        generation=generation,
        attempt=attempt,
        max_attempts=max_attempts,
        cancel_asked_at_ms=cancel_asked_at_ms,
        cancel_reason=cancel_reason,
        stopped_at_ms=stopped_at_ms,
        stopped_how=None if stopped_how is None else StoppedHow(stopped_how),
        progress=None if progress is None else _progress(json.loads(progress)),
        steps=() if steps == "[]" else _steps(json.loads(steps)),
        inputs={} if inputs == "{}" else _inputs(json.loads(inputs)),
        journal={} if journal == "{}" else _journal(json.loads(journal)),
        unobserved_ms=unobserved_ms,
        looked_at_ms=looked_at_ms,
        rev=rev,
    )


def created_fields(record: TaskRecord) -> str:
    """The fields of history entry 1, ``Created``, as JSON text."""
    return encode(
        {
            "tool": record.tool,
            "message": record.status_message,
            "worker": record.lease.worker if record.lease else None,
            "steps": _steps_json(record.steps),
        },
        what="history",
    )


def event_fields(event: ev.Event) -> str:
    """The event's fields as JSON text for the history.

    Without a ``Completed``'s result and a ``Noted``'s outcome: those are in the record, and keeping
    them twice would double the cost of the largest writes there are.

    Raises:
        StoreError: a value in it has no JSON form.
    """
    said: dict[str, Any] = {
        one.name: _plain(getattr(event, one.name))
        for one in fields(event)
        if not (one.name == "result" and isinstance(event, ev.Completed))
        and not (one.name == "outcome" and isinstance(event, ev.Noted))
    }
    return encode(said, what="history")


def check_text(text: str, *, what: str) -> None:
    """Refuse text that no client could be told; ``what`` names it in the error.

    Raises:
        StoreError: it is not Unicode.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise StoreError(
            f"The task's {what} {text!r} cannot be kept: it is not Unicode, so no client could be "
            "told it. A file name read as bytes? Write it as `os.fsencode(name)!r`."
        ) from error


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _progress_json(progress: Progress) -> list[Any]:
    return [progress.at_ms, progress.done, progress.total, progress.message]


def _progress(parts: list[Any]) -> Progress:
    at_ms, done, total, message = parts
    return Progress(at_ms=at_ms, done=done, total=total, message=message)


def _steps_json(steps: Sequence[Step]) -> list[list[Any]]:
    return [[step.seq, step.at_ms, step.message] for step in steps]


def _steps(parts: list[list[Any]]) -> tuple[Step, ...]:
    return tuple(Step(seq=seq, at_ms=at_ms, message=message) for seq, at_ms, message in parts)


def _inputs_json(inputs: Mapping[str, Input]) -> dict[str, dict[str, Any]]:
    return {
        key: {
            "request": one.request,
            "asked_at_ms": one.asked_at_ms,
            "response": one.response,
            "closed_at_ms": one.closed_at_ms,
            "withdrawn": one.withdrawn,
            **({} if one.answer_by_ms is None else {"answer_by_ms": one.answer_by_ms}),
        }
        for key, one in inputs.items()
    }


def _journal_json(journal: Mapping[str, Note]) -> dict[str, list[Any]]:
    return {
        key: [note.at_ms, note.done, note.reachable, note.outcome] for key, note in journal.items()
    }


def _journal(parts: Mapping[str, list[Any]]) -> dict[str, Note]:
    return {
        key: Note(at_ms=at_ms, done=done, reachable=reachable, outcome=outcome)
        for key, (at_ms, done, reachable, outcome) in parts.items()
    }


def _inputs(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Input]:
    return {key: Input(**one) for key, one in parts.items()}


__all__ = [
    "COLUMNS",
    "DERIVED",
    "check_text",
    "created_fields",
    "encode",
    "event_fields",
    "from_row",
    "to_row",
]
