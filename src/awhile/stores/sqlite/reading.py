"""The statements of the store, and what their rows hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from awhile.stores.contract import Kept
from awhile.stores.rows import from_row
from awhile.stores.statements import named_statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.tasks import TaskRecord

QUERIES = named_statements(
    (files("awhile.stores.sqlite") / "queries.sql").read_text(encoding="utf-8")
)


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


__all__ = ["QUERIES", "Stored", "kept", "stored"]
