"""What a server's author publishes, carried to the listeners of every process on the store.

An event is kept as a row that has ended already and expires soon: every store then carries it as it
carries a task's change, within its own promises, and needs nothing more. Source: ours.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from awhile.errors import AwhileError, SettingsError
from awhile.tasks import Status, TaskRecord

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from awhile.stores.contract import TaskStore

logger = logging.getLogger(__name__)

OWNER = "awhile:events"
"""The owner of events; no caller's principal reads like it."""

ID_PREFIX = "event-"
"""Task ids are hexadecimal, so an event is told by its id, unread."""

KEEP_MS = 60_000
"""How long an event is kept: readers are woken at once, so this only bounds how late one may be."""

RETRY_SECONDS = 1.0

_LISTS: Mapping[str, ServerEvent] = {
    "tools": ToolsListChanged(),
    "prompts": PromptsListChanged(),
    "resources": ResourcesListChanged(),
}


class StoreBus:
    """The SDK's ``SubscriptionBus`` over a task store. ``publish`` needs a running server."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}
        self._store: TaskStore | None = None

    async def publish(self, event: ServerEvent) -> None:
        """Tell every listener, in every process on this store, durably before this returns.

        Raises:
            SettingsError: the server's lifespan is not running.
            StoreError: the store could not take it; nobody was told.
        """
        if self._store is None:
            raise SettingsError(
                "Nothing can be published: the server's lifespan is not running. Publish from a "
                "tool, or from a task that your own lifespan starts."
            )
        now = self._now_ms()
        await self._store.create(
            TaskRecord(
                task_id=f"{ID_PREFIX}{secrets.token_hex(16)}",
                owner=OWNER,
                tool=OWNER,
                arguments=_written(event),
                status=Status.COMPLETED,
                created_at_ms=now,
                last_updated_at_ms=now,
                ended_at_ms=now,
                keep_ms=KEEP_MS,
                result={},
            )
        )

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Have ``listener`` called with every event; returns what ends that."""
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    @asynccontextmanager
    async def running(self, store: TaskStore) -> AsyncGenerator[None]:
        """Carry events while the block runs."""
        async with anyio.create_task_group() as beside:
            self._store = store
            await beside.start(self._carry, store)
            try:
                yield
            finally:
                self._store = None
                beside.cancel_scope.cancel()

    async def _carry(self, store: TaskStore, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        started = False
        while True:
            try:
                async with store.watch() as watch:
                    if not started:
                        task_status.started()
                        started = True
                    while True:
                        for one in await watch.wait():
                            if one.startswith(ID_PREFIX):
                                self._deliver(await store.get(one))
            except AwhileError as error:
                logger.error("The store failed; events are waited for again. %s", error)
                await anyio.sleep(RETRY_SECONDS)

    def _deliver(self, record: TaskRecord | None) -> None:
        event = None if record is None else _read(record.arguments)
        if event is not None:
            for listener in list(self._listeners.values()):
                listener(event)


def _written(event: ServerEvent) -> dict[str, str]:
    if isinstance(event, ResourceUpdated):
        return {"updated": event.uri}
    [name] = [name for name, one in _LISTS.items() if one == event]
    return {"list": name}


def _read(fields: Mapping[str, object]) -> ServerEvent | None:
    uri = fields.get("updated")
    if isinstance(uri, str):
        return ResourceUpdated(uri)
    return _LISTS.get(str(fields.get("list")))  # None: of a later version of this server
