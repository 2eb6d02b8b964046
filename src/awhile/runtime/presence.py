"""Which workers there are, busy or not, and how one is told to drain from outside.

A worker says that it is there by a row that has ended already and expires soon, and is told to
drain by another one, whose id it watches (as `awhile.runtime.roster` says which tools are known):
every store carries both as it carries a task's change. Source: ours.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from awhile.errors import AwhileError
from awhile.tasks import Status, TaskRecord

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping

    from awhile.stores.contract import Store, TaskStore

logger = logging.getLogger(__name__)

OWNER = "awhile:presence"
"""The owner of these rows; no caller's principal reads like it."""

SAY_SECONDS = 4.0
"""How often a worker says that it is there."""

SILENT_MS = 6_000
"""How old its last word is at most; then it is shown as silent, because it may have been killed."""

KEEP_MS = 30_000
"""How long a silent one is still shown."""

DRAIN_KEEP_MS = 24 * 60 * 60 * 1000
"""How long it can be read that, and when, a worker was told to drain."""

RETRY_SECONDS = 1.0

LAST_WORD_SECONDS = 1.0
"""How long a worker that ends tries to say so."""

MOST = 1000
"""How many of these rows are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What a worker said last.

    Attributes:
        name: its name, as leases have it.
        slots: how many bodies it runs at once; 0 if it takes no tasks.
        bodies: how many ran.
        tools: the tools it knows.
        draining: whether it takes nothing more and ends.
        since_ms: when it began (Unix milliseconds).
        said_ms: when it said this.
    """

    name: str
    slots: int
    bodies: int
    tools: Collection[str]
    draining: bool
    since_ms: int
    said_ms: int

    def silent_ms(self, at_ms: int) -> int:
        """For how long it has said nothing, where that is longer than it should be; else 0."""
        past_ms = at_ms - self.said_ms
        return past_ms if past_ms > SILENT_MS else 0


class Presence:
    """What one worker says of itself, and hears.

    Args:
        store: where the tasks are.
        name: the worker's name.
        says: what is to be known of it now.
        on_drain: called when an operator told this worker to drain.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        *,
        says: Callable[[], Mapping[str, Any]],
        on_drain: Callable[[], object],
        now_ms: Callable[[], int],
    ) -> None:
        self._store = store
        self._name = name
        self._says = says
        self._on_drain = on_drain
        self._now_ms = now_ms
        self._since_ms = now_ms()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Be there while the block runs; on leaving it, say that this worker is gone."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._say_again)
            beside.start_soon(self._hear)
            try:
                yield
            finally:
                beside.cancel_scope.cancel()
                with anyio.move_on_after(LAST_WORD_SECONDS, shield=True):
                    await self.say(gone=True)

    async def say(self, *, gone: bool = False) -> None:
        """Say now what is to be known. Never fails: the work matters more."""
        now = self._now_ms()
        said = {"name": self._name, "since_ms": self._since_ms, "gone": gone, **self._says()}
        row = _row(f"present-{secrets.token_hex(16)}", said, now, KEEP_MS)
        try:
            await self._store.create(row)
        except AwhileError as error:
            logger.error("It could not be said that this worker is there; trying again. %s", error)

    async def _say_again(self) -> None:
        while True:
            await self.say()
            await anyio.sleep(SAY_SECONDS)

    async def _hear(self) -> None:
        told = _drain_id(self._name)
        while True:
            try:
                async with self._store.watch([told]) as watch:
                    while await self._store.get(told) is None:
                        await watch.wait()
                break
            except AwhileError as error:
                logger.error("The store failed; listening again for being told to drain. %s", error)
                await anyio.sleep(RETRY_SECONDS)
        logger.warning("An operator told this worker (%s) to drain.", self._name)
        self._on_drain()


async def present(store: TaskStore, now_ms: int) -> list[Present]:
    """The workers that are there, by name."""
    heard: set[str] = set()
    there: list[Present] = []
    for one in await store.find(owner=OWNER, tools=[OWNER], limit=MOST):  # newest first
        name = str(one.arguments.get("name"))
        late = one.created_at_ms + KEEP_MS < now_ms
        if name not in heard and not late and not one.arguments.get("gone"):
            there.append(_read(name, one))
        heard.add(name)
    return sorted(there, key=lambda one: one.name)


def _read(name: str, one: TaskRecord) -> Present:
    return Present(
        name=name,
        slots=int(one.arguments.get("slots", 0)),
        bodies=int(one.arguments.get("bodies", 0)),
        tools=list(one.arguments.get("tools", ())),
        draining=bool(one.arguments.get("draining")),
        since_ms=int(one.arguments.get("since_ms", 0)),
        said_ms=one.created_at_ms,
    )


async def tell_to_drain(store: TaskStore, name: str, *, by: str, now_ms: int) -> bool:
    """Tell one worker to drain; False if it was told before."""
    row = _row(
        _drain_id(name), {"name": name, "by": by}, now_ms, DRAIN_KEEP_MS, tool="awhile:drain"
    )
    if await store.get(row.task_id) is not None:
        return False
    await store.create(row)
    return True


def _drain_id(name: str) -> str:
    return f"drain-{name}"


def _row(
    task_id: str, said: Mapping[str, Any], now_ms: int, keep_ms: int, *, tool: str = OWNER
) -> TaskRecord:
    return TaskRecord(
        task_id=task_id,
        owner=OWNER,
        tool=tool,
        arguments=said,
        status=Status.COMPLETED,
        created_at_ms=now_ms,
        last_updated_at_ms=now_ms,
        ended_at_ms=now_ms,
        keep_ms=keep_ms,
        result={},
    )


__all__ = ["OWNER", "Presence", "Present", "present", "tell_to_drain"]
