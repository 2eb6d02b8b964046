"""What an operator sees and does of a running program, beside its work: one context manager."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from awhile.runtime.presence import Presence
from awhile.runtime.webhook import Webhook, WebhookSender
from awhile.telemetry.gauges import Gauges, Process

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection

    from awhile.runtime.worker import Worker
    from awhile.server.tasks import Tasks
    from awhile.stores.contract import Store
    from awhile.stores.sealing import Codec


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """What an operator decides beside where tasks are kept.

    Attributes:
        on_drain: called when this process is told to drain from outside (``awhile admin drain``);
            ``awhile serve`` and ``awhile worker`` end then, as on SIGTERM. None: the program only
            takes no more work (`Tasks.drain`).
        webhook: who is told of each task that ended; None: nobody.
        codec: what seals contents before they are kept; None: they are kept as they are.
    """

    on_drain: Callable[[], None] | None = None
    webhook: Webhook | None = None
    codec: Codec | None = None


@asynccontextmanager
async def operated(
    tasks: Tasks, store: Store, worker: Worker, tools: Collection[str]
) -> AsyncGenerator[None]:
    """Be seen and heard while the block runs.

    Raises:
        SettingsError: there is a webhook, and the store keeps no notices.
        StoreError: the store cannot say that it keeps them.
    """
    where, now_ms = tasks.deployment, worker.now_ms
    process = Process(
        worker=worker.name,
        slots=worker.slots,
        bodies=lambda: worker.bodies,
        listeners=lambda: tasks.listeners,
    )

    def says() -> dict[str, Any]:
        return {
            "slots": where.slots,
            "bodies": worker.bodies,
            "tools": sorted(tools),
            "draining": tasks.draining,
        }

    async with AsyncExitStack() as stack:
        beside = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(beside.cancel_scope.cancel)
        presence = Presence(
            store,
            worker.name,
            says=says,
            on_drain=where.operating.on_drain or (lambda: beside.start_soon(tasks.drain)),
            now_ms=now_ms,
        )
        await stack.enter_async_context(Gauges(store, process, now_ms).shown())
        await stack.enter_async_context(presence.running())
        if where.operating.webhook is not None:
            sender = WebhookSender(store, where.operating.webhook, now_ms)
            await stack.enter_async_context(sender.running())
        yield


__all__ = ["Operating", "operated"]
