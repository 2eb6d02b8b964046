"""The worker process: opens the database, carries out one order at a time.

It runs in a child process (`awhile.processes`), so that it can be killed: no engine can promise
that an interrupt takes effect (DuckDB 2.0.1 took up to 15 s inside a sort; a kill takes 0.15 s).
"""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from awhile.ask.engines.contract import Column, CutBy, Estimate, Stage
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError, QueryRefused
from awhile.ask.engines.parquet import ParquetResult
from awhile.ask.engines.workers.messages import (
    Answered,
    Begun,
    Connected,
    Described,
    Failed,
    Fetched,
    Interrupt,
    Interrupted,
    Looked,
    NotOpened,
    Opened,
    Order,
    Progressed,
    Refused,
    ToDescribe,
    ToEnd,
    ToEstimate,
    ToLook,
    ToOpen,
    ToRun,
)
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["Running", "Session", "Stopped", "serve", "write_rows"]

_PROGRESS_SECONDS = 0.1
_INTERRUPT_AGAIN_SECONDS = 0.02
"""An interrupt that comes before the query has begun is lost (measured on DuckDB and SQLite), so
it is repeated until the order is over."""


class Stopped(Exception):
    """The query has ended because it was interrupted; raised by sessions.

    `confirmed` says whether it is known that nothing of it runs on a server any more.
    """

    def __init__(self, *, confirmed: bool = True) -> None:
        super().__init__()
        self.confirmed = confirmed


class Running:
    """A query that is being run, as the thread that reports on it sees it."""

    def __init__(self, stop_asked: threading.Event) -> None:
        self._stop_asked = stop_asked
        self.rows = 0
        self.stage: Stage = "running"

    @property
    def stop_asked(self) -> bool:
        return self._stop_asked.is_set()

    def check(self) -> None:
        """Raise `Stopped` if a stop was asked: for everywhere the engine itself does not look."""
        if self._stop_asked.is_set():
            raise Stopped


class Session(Protocol):
    """An opened database inside a worker. Everything but `interrupt` and `percent` is called from
    one thread; a session may raise `QueryError`, `QueryRefused` and `Stopped`."""

    @property
    def token(self) -> object:
        """What `end` of another worker's session needs to find our query; None: nothing does."""
        ...

    def stale(self) -> bool:
        """Whether it is of no more use: it is closed then, and the next order opens another."""
        ...

    def catalog(self, principal: str | None) -> str:
        """What identifies the catalog as that principal sees it (`awhile.ask.engines.card`)."""
        ...

    def describe(self, seconds: float, principal: str | None) -> Schema: ...

    def estimate(self, order: ToEstimate) -> Estimate | None: ...

    def run(self, order: ToRun, running: Running) -> Fetched: ...

    def percent(self, running: Running) -> float | None:
        """How far the running query is, never falling; called from another thread."""
        ...

    def interrupt(self) -> None:
        """Stop the running query, if there is one; called from another thread, repeatedly."""
        ...

    def end(self, token: object) -> None:
        """Returns once nothing of `token` runs any more; raises `QueryError` if that fails."""
        ...

    def close(self) -> None: ...


def serve(link: Link, open_session: Callable[[], Session], release_after_seconds: float) -> None:
    """Carry out orders for ever; the process ends with its parent or by a kill.

    The database is opened for an order, and closed when none has come for
    `release_after_seconds`. `open_session` raises `DatabaseNotOpened`.
    """
    _Worker(link, open_session, release_after_seconds).serve()


@dataclass(frozen=True, slots=True)
class _Given:
    """An order with the events of its own: none of them can be taken for the next order's."""

    order: Order
    stop_asked: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class _Worker:
    def __init__(
        self, link: Link, open_session: Callable[[], Session], release_after_seconds: float
    ) -> None:
        self._link = link
        self._open_session = open_session
        self._release_after_seconds = release_after_seconds
        self._orders: queue.SimpleQueue[_Given] = queue.SimpleQueue()
        self._session: Session | None = None
        self._interrupting = threading.Lock()
        """Held while an interrupt is on its way: none may arrive once the next order begins."""

    def serve(self) -> None:
        threading.Thread(target=self._listen, name="orders", daemon=True).start()
        while True:
            try:
                given = self._orders.get(timeout=self._release_after_seconds)
            except queue.Empty:
                # Whoever owns the database can write to it between our queries.
                self._release()
                continue
            self._link.send(Begun())
            try:
                answer = self._carry_out(given)
            finally:
                given.over.set()
            with self._interrupting:
                self._release_stale()
            self._link.send(answer)

    def _listen(self) -> None:
        given: _Given | None = None
        while True:
            message = self._link.receive()
            if isinstance(message, Order):
                given = _Given(message)
                self._orders.put(given)
            elif isinstance(message, Interrupt) and given is not None:
                given.stop_asked.set()
                threading.Thread(target=self._interrupt, args=(given,), daemon=True).start()

    def _interrupt(self, given: _Given) -> None:
        while not given.over.is_set():
            with self._interrupting:
                if self._session is not None and not given.over.is_set():
                    self._session.interrupt()
            given.over.wait(_INTERRUPT_AGAIN_SECONDS)

    def _release(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.close()

    def _release_stale(self) -> None:
        if self._session is not None and self._session.stale():
            self._release()

    def _carry_out(self, given: _Given) -> object:
        order = given.order
        self._release_stale()
        try:
            if self._session is None:
                self._session = self._open_session()
            session = self._session
            if session.token is not None:
                self._link.send(Connected(session.token))
            match order:
                case ToOpen():
                    return Opened()
                case ToDescribe(seconds, principal):
                    # In this order: what changes in between is found by the next look.
                    catalog = session.catalog(principal)
                    return Described(catalog, session.describe(seconds, principal))
                case ToLook(principal):
                    return Looked(session.catalog(principal))
                case ToEstimate():
                    return Answered(session.estimate(order))
                case ToEnd(token):
                    session.end(token)
                    return Answered(None)
                case ToRun():
                    return self._run(session, order, Running(given.stop_asked))
        except DatabaseNotOpened as error:
            return NotOpened(str(error))
        except Stopped as stopped:
            return Interrupted(stopped.confirmed)
        except QueryRefused as error:
            return Refused(error.word, error.why)
        except QueryError as error:
            return Failed(error.message, error.line, error.column, error.unknown_name)
        except (OSError, pa.ArrowException) as error:
            # An error while rows stream comes wrapped by Arrow; a full disk comes from Parquet.
            if given.stop_asked.is_set():
                return Interrupted()
            return Failed(_not_written(error))

    def _run(self, session: Session, order: ToRun, running: Running) -> Fetched:
        running.check()
        reports = _Reports(self._link, session, running)
        try:
            return session.run(order, running)
        finally:
            reports.end()


def _not_written(error: Exception) -> str:
    """What Python or Arrow says of rows on their way to the file, with what to do."""
    said = str(error)
    if any(os.strerror(code) in said for code in (errno.ENOSPC, errno.EDQUOT)):
        return "there is no room for its rows on the disk; make room, or ask for fewer"
    return f"its rows broke off: {said} ({type(error).__name__})"


def write_rows(
    order: ToRun,
    running: Running,
    columns: tuple[Column, ...],
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    *,
    columns_at_end: Callable[[], tuple[Column, ...]] | None = None,
) -> Fetched:
    """Write batches to the order's file until its budget is used up.

    The file is there whole, or not at all. `columns_at_end` gives the columns where a type is
    known only once the rows are.
    """
    rows = size = 0
    cut_by: CutBy | None = None
    with ParquetResult(order.destination, columns, schema) as result:
        for batch in batches:
            running.check()
            batch, cut_by = _within(batch, order.rows - rows, order.bytes - size)
            rows += batch.num_rows
            size += batch.nbytes
            result.write(batch)
            running.rows, running.stage = rows, "fetching"
            if cut_by is not None:
                break
        running.check()
        if columns_at_end is not None:
            columns = columns_at_end()
        result.finish(truncated=cut_by is not None, columns=columns)
    return Fetched(columns, rows, cut_by)


def _within(batch: pa.RecordBatch, rows: int, size: int) -> tuple[pa.RecordBatch, CutBy | None]:
    """As much of the batch as fits, and what left the rest out, if there is a rest."""
    fitting = min(batch.num_rows, rows)
    cut_by: CutBy | None = "rows" if fitting < batch.num_rows else None
    if batch.slice(0, fitting).nbytes > size:
        cut_by = "bytes"
        low, high = 0, fitting
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if batch.slice(0, middle).nbytes <= size else (low, middle - 1)
            )
        fitting = low
    return batch.slice(0, fitting), cut_by


class _Reports(threading.Thread):
    """Sends how far the query is, about ten times a second, while it runs."""

    def __init__(self, link: Link, session: Session, running: Running) -> None:
        super().__init__(name="progress", daemon=True)
        self._link = link
        self._session = session
        self._running = running
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(_PROGRESS_SECONDS):
            stage, rows = self._running.stage, self._running.rows
            self._link.send(Progressed(self._session.percent(self._running), rows, stage))

    def end(self) -> None:
        """Returns once nothing more will be sent."""
        self._over.set()
        self.join()
