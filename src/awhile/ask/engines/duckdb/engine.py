"""The DuckDB engine as the rest of the program sees it: a bounded pool of worker processes."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from awhile.ask.engines.contract import (
    Budget,
    Capabilities,
    HowStopped,
    OnStopped,
    Progress,
    QueryResult,
    Report,
    Stage,
)
from awhile.ask.engines.duckdb.guard import check
from awhile.ask.engines.duckdb.messages import (
    Begun,
    Described,
    Failed,
    Fetched,
    Interrupt,
    Interrupted,
    NotOpened,
    Opened,
    Progressed,
    ToDescribe,
    ToOpen,
    ToRun,
    WorkerSettings,
)
from awhile.ask.engines.duckdb.stamp import stamp_of
from awhile.ask.engines.errors import (
    DatabaseNotOpened,
    EngineLost,
    QueryError,
    QueryInterrupted,
)
from awhile.ask.engines.parquet import part_of
from awhile.ask.schema import Schema
from awhile.processes import Child, ChildEnded, ProcessError
from awhile.processes.shield import shielded

__all__ = ["DuckDBEngine"]

_Answer = TypeVar("_Answer")

_DESCRIBE_SECONDS = 2.0
_SPILL_PREFIX = "awhile-duckdb-"


class DuckDBEngine:
    """One DuckDB file, read-only, locked down, in processes that can be killed.

    `side_by_side` queries run at once, each in a worker of its own, and one more worker is kept
    warm. A worker opens the file for its query and closes it `release_after_seconds` after the
    last, so that its owner can write in between. `grace_seconds` is how long an interrupt may
    take before the worker is killed. `memory_limit_bytes` is per worker; beyond it DuckDB spills
    to `spill_folder` (default: the system's temporary folder), which is emptied after a kill.
    """

    def __init__(
        self,
        database: Path,
        *,
        side_by_side: int = 2,
        grace_seconds: float = 1.5,
        memory_limit_bytes: int | None = None,
        threads: int | None = None,
        spill_folder: Path | None = None,
        release_after_seconds: float = 5.0,
    ) -> None:
        if side_by_side < 1:
            raise ValueError(
                f"side_by_side must be at least 1 or nothing runs, got {side_by_side!r}"
            )
        self._database = database
        self._grace_seconds = grace_seconds
        self._memory_limit_bytes = memory_limit_bytes or _memory_share(side_by_side)
        self._threads = threads
        self._spill_folder = spill_folder or Path(tempfile.gettempdir())
        self._release_after_seconds = release_after_seconds
        self._places = anyio.CapacityLimiter(side_by_side)
        self._spare: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._described: tuple[object, Schema] | None = None
        self._closed = False
        self._capabilities = Capabilities(
            name="DuckDB",
            dialect="duckdb",
            percent="estimate",
            stop_within_seconds=grace_seconds + 1.0,
            stop_is_proven=True,
            side_by_side=side_by_side,
        )

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def open(self) -> None:
        """Check that the file can be opened, and leave a worker warm.

        Raises `DatabaseNotOpened` with the reason and what to do about it.
        """
        self._closed = False
        self._described = None
        _sweep(self._spill_folder)
        try:
            await self._order(ToOpen(), Opened)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End every worker, busy ones included."""
        self._closed = True
        with shielded():
            for worker in [*self._spare, *self._busy]:
                await worker.kill()
            self._spare.clear()

    async def describe(self) -> Schema:
        """The schema card; read again only when the file has changed."""
        stamp = stamp_of(self._database)
        if self._described is None or self._described[0] != stamp:
            described = await self._order(ToDescribe(_DESCRIBE_SECONDS), Described)
            self._described = (stamp, described.schema)
        return self._described[1]

    def check(self, sql: str) -> None:
        check(sql)

    async def run(
        self,
        sql: str,
        *,
        report: Report,
        budget: Budget,
        destination: Path,
        on_stopped: OnStopped | None = None,
    ) -> QueryResult:
        self.check(sql)
        stopped: list[tuple[HowStopped, float]] = [("never_started", 0.0)]

        def note(how: HowStopped, seconds: float) -> None:
            stopped.append((how, seconds))

        with anyio.CancelScope() as scope:
            if budget.seconds is not None:
                scope.deadline = anyio.current_time() + budget.seconds
            try:
                return await self._run(sql, report, budget, destination, note)
            except anyio.get_cancelled_exc_class():
                if on_stopped is not None:
                    on_stopped(*stopped[-1])
                raise
        raise QueryInterrupted(*stopped[-1], budget_seconds=budget.seconds or 0.0)

    async def _run(
        self, sql: str, report: Report, budget: Budget, destination: Path, on_stopped: OnStopped
    ) -> QueryResult:
        began = time.monotonic()

        def tell(percent: float | None, rows: int, stage: Stage) -> None:
            report(Progress(percent, rows, time.monotonic() - began, stage))

        tell(None, 0, "waiting")
        async with self._places:
            order = ToRun(sql, budget.rows, budget.bytes, destination)
            fetched = await self._with_worker(
                lambda worker: worker.run(order, tell, self._grace_seconds, on_stopped)
            )
        return QueryResult(
            columns=fetched.columns,
            row_count=fetched.row_count,
            truncated=fetched.truncated,
            path=destination,
            elapsed_seconds=time.monotonic() - began,
        )

    async def _order(self, order: ToOpen | ToDescribe, expected: type[_Answer]) -> _Answer:
        answer = await self._with_worker(lambda worker: worker.answer(order))
        if not isinstance(answer, expected):
            raise EngineLost(f"the worker answered {order!r} with {answer!r}")
        return answer

    async def _with_worker(self, use: Callable[[_Worker], Awaitable[_Answer]]) -> _Answer:
        """What comes of an order; once more with a new worker where the first was gone before it
        took the order up."""
        worker = await self._take()
        try:
            return await self._use(worker, use)
        except ChildEnded as ended:
            if worker.begun or self._closed:
                raise _lost(ended) from None
        try:
            return await self._use(await self._start_worker(), use)
        except ChildEnded as ended:
            raise _lost(ended) from None

    async def _use(self, worker: _Worker, use: Callable[[_Worker], Awaitable[_Answer]]) -> _Answer:
        self._busy.add(worker)
        try:
            if not self._spare:
                # Only started here, not waited for: it warms up beside the query.
                self._spare.append(await self._start_worker())
            return await use(worker)
        finally:
            self._busy.discard(worker)
            with shielded():
                await self._give_back(worker)

    async def _take(self) -> _Worker:
        while self._spare:
            worker = self._spare.pop()
            if worker.usable:
                return worker
            with shielded():
                await worker.kill()
        return await self._start_worker()

    async def _give_back(self, worker: _Worker) -> None:
        if worker.usable and not self._closed:
            self._spare.append(worker)
        else:
            await worker.kill()

    async def _start_worker(self) -> _Worker:
        spill = Path(
            tempfile.mkdtemp(prefix=f"{_SPILL_PREFIX}{os.getpid()}-", dir=self._spill_folder)
        )
        settings = WorkerSettings(
            database=self._database,
            spill_folder=spill,
            memory_limit_bytes=self._memory_limit_bytes,
            threads=self._threads,
            release_after_seconds=self._release_after_seconds,
        )
        try:
            child = await Child.start("awhile.ask.engines.duckdb.worker:serve", settings)
        except BaseException:
            shutil.rmtree(spill, ignore_errors=True)
            raise
        return _Worker(child, settings)


class _Worker:
    """One worker process, from this side. It carries out one order at a time."""

    def __init__(self, child: Child, settings: WorkerSettings) -> None:
        self._child = child
        self._settings = settings
        self._lost = False
        self.begun = False
        """Whether the process has taken up the last order it was given."""

    @property
    def usable(self) -> bool:
        return not self._lost and self._child.running

    async def answer(self, order: ToOpen | ToDescribe) -> Opened | Described:
        """Carry out a short order; a cancelled one costs the process."""
        try:
            await self._begin(order)
            answer = await self._child.receive()
        except BaseException:
            self._lost = True
            raise
        if isinstance(answer, Opened | Described):
            return answer
        raise self._error(answer)

    async def run(
        self,
        order: ToRun,
        tell: Callable[[float | None, int, Stage], None],
        grace_seconds: float,
        on_stopped: OnStopped,
    ) -> Fetched:
        """Run a query. Cancelled, it returns only once the query has stopped."""
        try:
            await self._begin(order)
            tell(None, 0, "running")
            while True:
                match await self._child.receive():
                    case Progressed(percent, rows, stage):
                        tell(percent, rows, stage)
                    case Fetched() as fetched:
                        return fetched
                    case answer:
                        raise self._error(answer)
        except anyio.get_cancelled_exc_class():
            asked = time.monotonic()
            with shielded():
                how = await self._stop(grace_seconds)
                _remove(order.destination)
            on_stopped(how, time.monotonic() - asked)
            raise
        except ChildEnded:
            self._lost = True
            _remove(order.destination)
            raise

    async def _begin(self, order: ToOpen | ToDescribe | ToRun) -> None:
        """Hand over an order; returns once it is taken up."""
        self.begun = False
        await self._child.send(order)
        first = await self._child.receive()
        self.begun = True
        if not isinstance(first, Begun):
            raise self._error(first)

    async def _stop(self, grace_seconds: float) -> HowStopped:
        with anyio.move_on_after(grace_seconds), suppress(ChildEnded, ProcessError):
            await self._child.send(Interrupt())
            while True:
                match await self._child.receive():
                    case Begun() | Progressed():
                        pass
                    case _:
                        # Interrupted, or it had come to its end by itself: no longer running.
                        return "engine_confirmed"
        await self.kill()
        return "process_ended"

    async def kill(self) -> None:
        """End the process and remove what it spilled; returns once both are done."""
        self._lost = True
        await self._child.kill()
        await anyio.to_thread.run_sync(_remove_tree, self._settings.spill_folder)

    def _error(self, answer: object) -> Exception:
        match answer:
            case Failed(message, line, column):
                return QueryError(message, line, column)
            case NotOpened(message):
                return DatabaseNotOpened(_why_not_opened(self._settings.database, message))
            case Interrupted():
                return EngineLost("the query was interrupted by nobody; ask again")
            case _:
                self._lost = True
                return EngineLost(f"the worker sent {answer!r}, which is not part of an answer")


def _lost(ended: ChildEnded) -> EngineLost:
    return EngineLost(
        f"the process that ran the query is gone: {ended}; the database file is unharmed, ask again"
    )


def _remove(destination: Path) -> None:
    part_of(destination).unlink(missing_ok=True)
    destination.unlink(missing_ok=True)


def _remove_tree(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _why_not_opened(database: Path, message: str) -> str:
    """DuckDB's words about a file it would not open, with the next step."""
    if not database.exists():
        return f"there is no file {str(database)!r}; check the path"
    if database.is_dir():
        return f"{str(database)!r} is a folder; name the DuckDB file in it"
    if not os.access(database, os.R_OK):
        return f"the file {str(database)!r} may not be read by this user; change its permissions"
    if holder := re.search(r"Conflicting lock is held in (.*?\(PID \d+\))", message):
        return (
            f"{str(database)!r} is open for writing in another process, {holder[1]}; "
            "close it there, or open a copy of the file"
        )
    if "not a valid DuckDB database file" in message:
        return f"{str(database)!r} is not a DuckDB database; DuckDB would read it as another format"
    if "version number" in message:
        return (
            f"{str(database)!r} was made by another version of DuckDB than {version('duckdb')} can "
            f"read ({message}); upgrade the duckdb package, or export the database with the "
            "version that made it"
        )
    return f"{str(database)!r} could not be opened: {message}"


def _memory_share(side_by_side: int) -> int:
    """Six tenths of the machine's memory, divided among the queries that may run at once."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(total * 6 // 10 // side_by_side, 256 * 1024 * 1024)


def _sweep(folder: Path) -> None:
    """Remove what workers of killed programs spilled."""
    for left in folder.glob(f"{_SPILL_PREFIX}*"):
        owner = left.name.removeprefix(_SPILL_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists() and Path("/proc/self").exists():
            _remove_tree(left)
