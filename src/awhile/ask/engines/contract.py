"""The seam every engine fills: run one SELECT, report, really stop.

Source: ours. Callers may rely on every sentence below for every engine; what differs between
engines is stated in `Capabilities`, as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from awhile.ask.engines.parameters import Scalar
from awhile.ask.schema import Column, Schema

__all__ = [
    "Budget",
    "Capabilities",
    "Column",
    "CutBy",
    "Engine",
    "EngineFromDatabase",
    "EngineFromFiles",
    "Estimate",
    "HowStopped",
    "OnStopped",
    "Progress",
    "QueryResult",
    "ReadsResults",
    "Report",
    "Scalar",
    "Stage",
]

Stage = Literal["waiting", "running", "fetching"]
"""`waiting` for a free worker, `running` before the first row, `fetching` while rows arrive."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can and cannot do, so that nothing is promised for it that it cannot keep."""

    name: str
    dialect: str
    """SQLGlot's name of the SQL it speaks."""
    percent: Literal["none", "of_rows", "estimate"]
    """What its percentage is worth: `none` is ever given, rows and elapsed time stand in; or
    `of_rows`, only while rows arrive and against the planner's guess of how many there will be;
    or the engine's own `estimate`, which need not be linear."""
    estimate: Literal["none", "rows_and_cost"]
    """What `estimate` answers before a query is run."""
    interrupt: Literal["prompt", "may_lag"]
    """How soon an interrupt takes effect: within a moment wherever the engine is, or not before
    some of its operations end. Whatever does not answer is killed within `stop_within_seconds`."""
    stop_within_seconds: float
    """The longest a cancelled query may go on, on an otherwise idle machine."""
    stop_is_proven: bool
    """Whether a cancelled `run` only re-raises once the query is known to have stopped."""
    side_by_side: int
    """How many queries run at once; further ones wait."""
    costs_money: bool = False
    """Whether its queries are usually paid for one by one, by what they read or how long they run:
    then they are not left running for nobody."""
    principals: bool = False
    """Whether a query can run with the rights of the person who asks (`run`'s `principal`)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the engine expects of a query: rows of its result, and a cost in its own unit."""

    rows: float
    cost: float


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a result is read: reading stops at whichever comes first.

    `rows` and `bytes` (of the values as Arrow holds them) cut the result, which is then marked
    truncated, and by which of them. `seconds` covers all of `Engine.run`: waiting for a place,
    connecting, loading, running, fetching and writing; when it is used up the query is stopped and
    `QueryInterrupted` is raised. None means no limit.
    """

    rows: int = 1_000_000
    bytes: int = 512 * 1024 * 1024
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.rows < 1 or self.bytes < 1 or (self.seconds is not None and self.seconds <= 0):
            raise ValueError(f"a budget must leave room for one row, got {self!r}")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a query is. `percent` (0-100) is the engine's own figure, None when it has none.

    `before`: of a query that waits for a place, how many will be given one before it.
    """

    percent: float | None
    rows: int
    elapsed_seconds: float
    stage: Stage
    before: int | None = None


CutBy = Literal["rows", "bytes"]
"""Which part of the budget ended the reading of a result."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A finished query. Columns are positional: two may share a name, and a name may be empty.

    `truncated` means that the query had more rows than the budget allowed (`cut_by`): `row_count`
    of them were read, and nobody counted the others. `path` is the Parquet file, readable by
    `awhile.ask.results`.
    """

    columns: tuple[Column, ...]
    row_count: int
    truncated: bool
    path: Path
    elapsed_seconds: float
    cut_by: CutBy | None = None


Report = Callable[[Progress], None]
HowStopped = Literal["never_started", "engine_confirmed", "process_ended", "not_stopped"]
"""How it is known that a query no longer runs: it had not begun; the engine answered that it has
ended; or the process that ran it is gone. `not_stopped`: nobody could confirm it, and the server
may go on with it."""
OnStopped = Callable[[HowStopped, float], None]
"""Called with how we know that the work has stopped, and the seconds from asking to knowing."""


class Engine(Protocol):
    """A database that answers one SELECT at a time, or several side by side."""

    @property
    def capabilities(self) -> Capabilities:
        """Constant for the life of the engine."""
        ...

    async def open(self) -> None:
        """Make ready to answer. Raises `DatabaseNotOpened` with the reason."""
        ...

    async def close(self) -> None:
        """Stop what runs and give everything back. Nothing of the engine is alive afterwards."""
        ...

    async def describe(self, *, principal: str | None = None) -> Schema:
        """What can be asked about, as `principal` may see it.

        Read once, and again when it has changed; the same object as long as it has not. Where it
        cannot be read again, the last one is given, and a note of it says so. Raises `EngineError`
        where there is none, and `QueryRefused` for a principal who may not ask.
        """
        ...

    async def changed(self, since: Schema, *, principal: str | None = None) -> bool:
        """Whether `describe` would now give another schema than `since`, for more than statistics.

        Costs little, so it may be asked every few seconds. Never raises.
        """
        ...

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        """Raise `QueryRefused` unless the text is exactly one permitted SELECT. Reads no data.

        What only the opened database can tell is told by `run`.
        """
        ...

    async def estimate(
        self,
        sql: str,
        *,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> Estimate | None:
        """What the query would cost, or None where the engine has no idea; it is not run.

        The database has looked at the text all the same: names that it does not have are told.
        Raises `QueryRefused`, `QueryError`, `EngineLost`.
        """
        ...

    async def run(
        self,
        sql: str,
        *,
        report: Report,
        budget: Budget,
        destination: Path,
        on_stopped: OnStopped | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> QueryResult:
        """Run one SELECT and write its rows to `destination`.

        The file appears whole or not at all. `report` is called on the event loop, at most about
        ten times a second. Cancelling the caller stops the query: the cancellation goes on only
        after the query has stopped, and just before that `on_stopped` is told how that is known.
        `parameters` are bound to the `:names` of the text. `principal` is who asks; an engine
        without the capability ignores it.

        Raises `QueryRefused`, `QueryError`, `QueryInterrupted`, `EngineLost`.
        """
        ...


@runtime_checkable
class ReadsResults(Engine, Protocol):
    """An engine that also reads results as they are kept, beside its database if it has one."""

    async def look_up(
        self,
        sql: str,
        tables: Mapping[str, Path],
        *,
        parameters: Mapping[str, Scalar] | None = None,
    ) -> None:
        """Have every name in the text looked up; it is not run. Raises what `run_over` does."""
        ...

    async def run_over(
        self,
        sql: str,
        tables: Mapping[str, Path],
        *,
        report: Report,
        budget: Budget,
        destination: Path,
        on_stopped: OnStopped | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> QueryResult:
        """Run one SELECT that may also read these files of results, by the names of their tables.

        No other query reads them, and this one no others. Everything else is as for `run`. Raises
        `DatabaseNotOpened` where one of them is gone.
        """
        ...


class EngineFromDatabase(Protocol):
    """What an entry point of the group `awhile.engines` has to be: usually the engine's class.

    Its name is the scheme of the URLs it takes, or the kind of file (`duckdb`, `sqlite`).
    """

    def from_database(
        self, database: str, *, side_by_side: int, memory_limit_bytes: int | None
    ) -> Engine:
        """The engine of that URL or path, not yet opened.

        `memory_limit_bytes` is for each query, where the engine runs on this machine; None leaves
        it to the engine. Raises `ValueError` with a sentence for what cannot be used.
        """
        ...


class EngineFromFiles(Protocol):
    """What the entry point `files` of the group `awhile.engines` has to be."""

    def from_files(
        self,
        paths: Sequence[Path],
        *,
        name: str,
        side_by_side: int,
        memory_limit_bytes: int | None,
        cache_folder: Path | None,
    ) -> Engine:
        """The engine of these data files and folders, not yet opened.

        `name` is what to call all of them together. What has to be converted is kept in
        `cache_folder`; None: for the life of the engine.
        """
        ...
