"""The connections of one open store, and what is done when one breaks."""

from __future__ import annotations

import contextlib
import logging
import random
import re
import time
import weakref
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from awhile.stores.postgres.explain import explain, is_conflict, is_lost
from awhile.stores.postgres.values import adapters
from awhile.stores.rows import COLUMNS
from awhile.stores.statements import named_statements

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from awhile.stores.postgres.address import Address

logger = logging.getLogger("awhile.stores.postgres")

T = TypeVar("T")
Raw = psycopg.AsyncConnection[tuple[Any, ...]]
Cursor = psycopg.AsyncCursor[tuple[Any, ...]]

GIVE_UP_SECONDS = 15.0
"""How long an operation is tried again while the server cannot be reached: a restart or a failover
takes less, mostly, and then nobody but the clock notices."""

ANSWER_SECONDS = 20.0
"""After how long without an answer a connection counts as lost."""

PLANS = b"SET enable_seqscan = off; SET jit = off"
"""Where statements are prepared, the server keeps plans. Those of a young store, whose table has no
statistics yet, read all of it, and go on doing so as it grows (measured: 4,500 rows a task). Every
statement here has an index for what grows; what has none must not be compiled because of that."""

_LEFT_OUT = {
    "arguments": "'{}'",
    "context": "'{}'",
    "request_key": "NULL",
    "result": "NULL",
    "error": "NULL",
    "progress": "NULL",
    "steps": "'[]'",
    "inputs": "'{}'",
    "journal": "'{}'",
}
"""What an outline of a task shows instead."""


def _columns(left_out: Collection[str] = ()) -> str:
    own = ("ordinal", "history_seq", "xmin::text")
    return ", ".join((*own, *(_LEFT_OUT[one] if one in left_out else one for one in COLUMNS)))


def _statements(address: Address) -> dict[str, bytes]:
    """Every statement by its name, as psycopg wants it."""
    said: dict[str, bytes] = {}
    for name in ("queries.sql", "operating.sql"):
        text = (files("awhile.stores.postgres") / name).read_text(encoding="utf-8")
        for short, left_out in ((":row", ()), (":brief", ("result",)), (":outline", _LEFT_OUT)):
            text = re.sub(rf"{short}\b", _columns(left_out), text)
        for one, sql in named_statements(in_schema(text, address)).items():
            assert one not in said, one
            said[one] = re.sub(r"(?<!:):(\w+)", r"%(\1)b", sql).encode()
    return said


def in_schema(text: str, address: Address) -> str:
    """SQL as it stands in the files, in the schema of that address."""
    return text.replace("awhile.", f'"{address.schema}".')


class Connections:
    """A pool, on which one statement or one transaction runs at a time per connection."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.prepare = False
        """Whether statements are prepared: only where a connection is known to reach one session,
        and not one after the other through a pooler."""
        self._away_since: float | None = None
        """Since when the server cannot be reached, as `time.monotonic` counts; None: it can."""
        self._told_plans = weakref.WeakSet[Raw]()
        self._context = adapters()
        self._sql = _statements(address)
        self._pool = AsyncConnectionPool[Raw](
            address.conninfo,
            kwargs=self._options,
            min_size=1,
            max_size=address.pool_size,
            open=False,
            name=f"awhile {address.schema}",
            timeout=2.0,
            reconnect_timeout=1.0,  # then whoever needs a connection has another one tried
            num_workers=2,
        )

    @property
    def _options(self) -> dict[str, Any]:
        return {"autocommit": True, "prepare_threshold": None, "context": self._context}

    async def open(self) -> None:
        """Make the pool's first connection."""
        await self._pool.open()

    async def close(self) -> None:
        """Give all connections back."""
        with anyio.CancelScope(shield=True):
            await self._pool.close()

    async def connect(self) -> Raw:
        """A connection of its own, outside the pool."""
        return await psycopg.AsyncConnection.connect(self.address.conninfo, **self._options)

    def statement(self, name: str) -> bytes:
        """The SQL of that name, for psycopg."""
        return self._sql[name]

    async def send(self, on: Raw, name: str, values: Mapping[str, Any] | None = None) -> Cursor:
        """Run the statement of that name; in a pipeline, its rows come later."""
        return await on.execute(self._sql[name], values)

    async def rows(
        self, on: Raw, name: str, values: Mapping[str, Any] | None = None, *, prepare: bool = True
    ) -> list[tuple[Any, ...]]:
        """Run the statement of that name; returns its rows."""
        cursor = await on.execute(self._sql[name], values, prepare=None if prepare else False)
        return await cursor.fetchall()

    async def each(
        self, on: Raw, asked: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[tuple[Any, ...]]]:
        """Run several statements, sent together; returns each one's rows."""
        if len(asked) < 2:
            return [await self.rows(on, *one) for one in asked]
        async with on.pipeline():  # may be one inside another
            cursors = [await self.send(on, *one) for one in asked]
            return [await one.fetchall() for one in cursors]

    async def read(
        self, name: str, values: Mapping[str, Any] | None = None, *, prepare: bool = True
    ) -> list[tuple[Any, ...]]:
        """Run a statement that may be run again, trying anew when a connection breaks.

        Raises:
            StoreError: it could not be run.
        """
        return await self.retried(lambda on: self.rows(on, name, values, prepare=prepare))

    async def retried(self, act: Callable[[Raw], Awaitable[T]]) -> T:
        """Run ``act`` on a connection, again after a conflict or when the connection breaks.

        Raises:
            StoreError: it could not be run, or not within `GIVE_UP_SECONDS`.
        """
        deadline = time.monotonic() + GIVE_UP_SECONDS
        tries = 0
        while True:
            try:
                return await self.once(act)
            except Exception as error:
                if not (is_conflict(error) or is_lost(error)) or time.monotonic() > deadline:
                    if isinstance(error, (psycopg.Error, TimeoutError)):
                        raise explain(error, self.address) from error
                    raise
                await self.pause(error, tries)
                tries += 1

    async def once(self, act: Callable[[Raw], Awaitable[T]]) -> T:
        """Run ``act`` on a connection of the pool, one time.

        Raises:
            TimeoutError: no answer for `ANSWER_SECONDS`.
            psycopg.Error: as ``act``, or because there is no connection.
        """
        async with self._pool.connection() as on:
            on.prepare_threshold = 0 if self.prepare else None
            with anyio.move_on_after(ANSWER_SECONDS):
                if self.prepare and on not in self._told_plans:
                    await on.execute(PLANS, prepare=False)
                    self._told_plans.add(on)
                began = time.monotonic()
                answer = await act(on)
                self._tell_of_return(began)
                return answer
            await on.close()
            raise TimeoutError(f"no answer for {ANSWER_SECONDS:.0f} s")

    async def pause(self, error: Exception, tries: int) -> None:
        """After a failure: have the pool look at its connections, and back off (with jitter)."""
        if is_lost(error) and not isinstance(error, PoolTimeout):
            if self._away_since is None:
                self._away_since = time.monotonic()
                logger.warning("%s Trying on.", explain(error, self.address))
            with contextlib.suppress(psycopg.Error), anyio.move_on_after(2):
                await self._pool.check()
        await anyio.sleep(random.uniform(0.5, 1) * min(0.01 * 2**tries, 0.25))  # noqa: S311

    def _tell_of_return(self, asked: float) -> None:
        # What was asked before it went away may still be answered: a backend outlives a killed
        # postmaster by what it has in hand.
        if self._away_since is not None and asked > self._away_since:
            seconds, self._away_since = time.monotonic() - self._away_since, None
            logger.info("The store %r answers again, %.1f s later.", self.address.shown, seconds)


__all__ = ["ANSWER_SECONDS", "GIVE_UP_SECONDS", "Connections", "Raw", "in_schema"]
