"""Working on an MCPServer's tasks without serving it: a worker process."""

from __future__ import annotations

from contextlib import AsyncExitStack
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

from awhile.errors import SettingsError
from awhile.server.health import health_served
from awhile.server.signals import told_to_end
from awhile.server.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.mcpserver import MCPServer


async def work(
    server: MCPServer[Any],
    *,
    health_host: str = "127.0.0.1",
    health_port: int | None = None,
    on_ready: Callable[[str | None], None] | None = None,
) -> int:
    """Run the server's tasks until SIGINT or SIGTERM; returns which it was.

    The server's lifespan runs, so bodies see what they see in a server. SIGTERM lets what runs end
    first (`Tasks.drain`); SIGINT stops it and hands it back; a second signal ends the process at
    once.

    Args:
        server: whose tools' tasks to take; its Tasks names the store.
        health_host: the address that ``/healthz`` and ``/readyz`` are served on.
        health_port: their port; 0 takes a free one, None serves neither.
        on_ready: called once tasks are taken, with the URL before those paths, if they are served.

    Raises:
        SettingsError: the server has no tasks, its slots are 0, or the port is taken.
    """
    tasks = Tasks.of(server)
    lifespan = server.settings.lifespan
    if tasks is None or lifespan is None:
        raise SettingsError(
            f"{server.name!r} has no tasks to work on: build it as "
            "MCPServer(name, **tasks.install())."
        )
    if tasks.deployment.slots == 0:
        raise SettingsError("slots is 0: a worker would do nothing; use at least 1.")
    async with AsyncExitStack() as stack:
        told = stack.enter_context(told_to_end())
        health: str | None = None
        if health_port is not None:
            served = health_served(tasks.ready, host=health_host, port=health_port)
            health = await stack.enter_async_context(served)
        await stack.enter_async_context(lifespan(server))
        if on_ready is not None:
            on_ready(health)
        if await told.wait() == SIGTERM:
            await tasks.drain()
    assert told.by is not None
    return told.by
