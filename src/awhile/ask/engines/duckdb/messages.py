"""What the engine and its worker process say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from awhile.ask.engines.contract import Column, Stage
from awhile.ask.schema import Schema

__all__ = [
    "Begun",
    "Described",
    "Failed",
    "Fetched",
    "Interrupt",
    "Interrupted",
    "NotOpened",
    "Opened",
    "Progressed",
    "ToDescribe",
    "ToOpen",
    "ToRun",
    "WorkerSettings",
]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker needs to know before its first order. `threads` None leaves it to DuckDB."""

    database: Path
    spill_folder: Path
    memory_limit_bytes: int
    threads: int | None
    release_after_seconds: float


@dataclass(frozen=True, slots=True)
class ToOpen:
    """Open the file (it is closed again by itself when nothing follows)."""


@dataclass(frozen=True, slots=True)
class ToDescribe:
    """Read the schema card, spending about `seconds` on statistics."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ToRun:
    """Run one SELECT and write at most `rows` and `bytes` of it to `destination`."""

    sql: str
    rows: int
    bytes: int
    destination: Path


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the order that is being carried out; the answer is `Interrupted` or its ending."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The worker has taken up an order. Before this comes, nothing has been done about it."""


@dataclass(frozen=True, slots=True)
class Opened:
    pass


@dataclass(frozen=True, slots=True)
class NotOpened:
    """The file could not be opened; the engine's own words."""

    message: str


@dataclass(frozen=True, slots=True)
class Described:
    schema: Schema


@dataclass(frozen=True, slots=True)
class Progressed:
    percent: float | None
    rows: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class Fetched:
    columns: tuple[Column, ...]
    row_count: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Failed:
    message: str
    line: int | None
    column: int | None


@dataclass(frozen=True, slots=True)
class Interrupted:
    pass
