"""What engines have in common that run their queries in worker processes."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import anyio

from awhile.ask.engines.contract import (
    Budget,
    Capabilities,
    Estimate,
    HowStopped,
    OnStopped,
    Progress,
    QueryResult,
    Report,
    Scalar,
    Stage,
)
from awhile.ask.engines.errors import QueryError, QueryInterrupted
from awhile.ask.engines.workers.cards import Cards
from awhile.ask.engines.workers.messages import (
    Answered,
    Described,
    Looked,
    Opened,
    ToDescribe,
    ToEstimate,
    ToLook,
    ToOpen,
    ToRun,
)
from awhile.ask.engines.workers.pool import Pool, Worker
from awhile.ask.schema import Schema

__all__ = ["PooledEngine"]

_DESCRIBE_SECONDS = 2.0


class PooledEngine(ABC):
    """An `Engine` of worker processes; what differs is how one is started, and the guard."""

    def __init__(
        self,
        capabilities: Capabilities,
        *,
        grace_seconds: float,
        look_seconds: float | None = None,
    ) -> None:
        """`look_seconds`: how long a look at the catalog holds, where no `stamp` tells of more."""
        self._capabilities = capabilities
        self._pool = Pool(
            self.start_worker,
            side_by_side=capabilities.side_by_side,
            grace_seconds=grace_seconds,
        )
        self._cards = Cards(self._look, self._read, self.stamp, look_seconds=look_seconds)

    @abstractmethod
    async def start_worker(self) -> Worker:
        """A new worker process; it need not have opened the database."""

    @abstractmethod
    def stamp(self) -> object:
        """Equal as long as the database's files are unchanged."""

    @abstractmethod
    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        """See `Engine.check`."""

    def prepared(
        self, sql: str, parameters: Mapping[str, Scalar] | None
    ) -> tuple[str, Mapping[str, Scalar]]:
        """Check a text, and give it and its values as a worker takes them."""
        self.check(sql, parameters)
        return sql, parameters or {}

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def open(self) -> None:
        """Check that the database can be opened, and leave a worker warm.

        Raises `DatabaseNotOpened` with the reason and what to do about it.
        """
        self._pool.open()
        self._cards.clear()
        try:
            await self._pool.order(ToOpen(), Opened)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End every worker, busy ones included."""
        await self._pool.close()

    async def describe(self, *, principal: str | None = None) -> Schema:
        """See `Engine.describe`."""
        return await self._cards.get(self._seen_as(principal))

    async def changed(self, since: Schema, *, principal: str | None = None) -> bool:
        """See `Engine.changed`."""
        return await self._cards.changed(since, self._seen_as(principal))

    def _seen_as(self, principal: str | None) -> str | None:
        return principal if self._capabilities.principals else None

    async def _look(self, principal: str | None) -> str:
        return (await self._pool.order(ToLook(principal), Looked)).catalog

    async def _read(self, principal: str | None) -> tuple[str, Schema]:
        described = await self._pool.order(ToDescribe(_DESCRIBE_SECONDS, principal), Described)
        return described.catalog, described.schema

    async def estimate(
        self,
        sql: str,
        *,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> Estimate | None:
        """What the query would cost, where the engine can tell."""
        text, values = self.prepared(sql, parameters)
        order = ToEstimate(text, values, principal)
        try:
            return (await self._pool.order(order, Answered)).estimate
        except QueryError as error:
            self._doubt(error, principal)
            raise

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
        """See `Engine.run`."""
        text, values = self.prepared(sql, parameters)
        order = ToRun(
            text,
            budget.rows,
            budget.bytes,
            destination,
            budget.seconds,
            values,
            principal,
        )
        return await self.carry_out(order, report, on_stopped)

    async def carry_out(
        self, order: ToRun, report: Report, on_stopped: OnStopped | None
    ) -> QueryResult:
        """Run what has been checked, within its time."""
        stopped: list[tuple[HowStopped, float]] = [("never_started", 0.0)]
        read = 0

        def note(how: HowStopped, seconds: float) -> None:
            stopped.append((how, seconds))

        def tell(at: Progress) -> None:
            nonlocal read
            read = at.rows
            report(at)

        with anyio.CancelScope() as scope:
            if order.seconds is not None:
                scope.deadline = anyio.current_time() + order.seconds
            try:
                return await self._run(order, tell, note)
            except QueryError as error:
                self._doubt(error, order.principal)
                raise
            except anyio.get_cancelled_exc_class():
                if on_stopped is not None:
                    on_stopped(*stopped[-1])
                raise
        raise QueryInterrupted(*stopped[-1], budget_seconds=order.seconds or 0.0, rows=read)

    def _doubt(self, error: QueryError, principal: str | None) -> None:
        """A name that is not there may be one of a schema that has changed since."""
        if error.unknown_name:
            self._cards.suspect(self._seen_as(principal))

    async def _run(self, order: ToRun, report: Report, on_stopped: OnStopped) -> QueryResult:
        began = time.monotonic()

        def tell(percent: float | None, rows: int, stage: Stage) -> None:
            report(Progress(percent, rows, time.monotonic() - began, stage))

        def moved(before: int | None) -> None:
            report(Progress(None, 0, time.monotonic() - began, "waiting", before))

        fetched = await self._pool.run(order, tell, on_stopped, moved)
        return QueryResult(
            columns=fetched.columns,
            row_count=fetched.row_count,
            truncated=fetched.cut_by is not None,
            path=order.destination,
            elapsed_seconds=time.monotonic() - began,
            cut_by=fetched.cut_by,
        )
