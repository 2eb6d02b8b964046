"""What operators ask of the PostgreSQL store; see `awhile.stores.operated`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.stores.operated import OURS, QUEUED, RECENT_CHANGES, Count, Line, Notice, Overview
from awhile.stores.postgres.changing import stored
from awhile.stores.postgres.values import Numbers, Texts, keep, kept

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from awhile.stores.postgres.connections import Connections


async def overview(connections: Connections, limit: int) -> Overview:
    """See `Operated.overview`."""
    asked = {"limit": limit}
    recent = {**asked, "changes": RECENT_CHANGES, "ours": keep(OURS)}
    waiting, held, lines, holding, endings = await connections.retried(
        lambda on: connections.each(
            on,
            [
                ("waiting_by_tool", {}),
                ("held_by_tool", {}),
                ("lines", asked),
                ("leases", asked),
                ("endings", recent),
            ],
        )
    )
    counts = [(tool, QUEUED, tasks, oldest_ms) for tool, tasks, oldest_ms in waiting]
    counts += [(tool, state, tasks, oldest_ms) for tool, state, tasks, oldest_ms in held]
    return Overview(
        counts=[
            Count(tool=kept(tool), state=state, tasks=tasks, oldest_ms=oldest_ms)
            for tool, state, tasks, oldest_ms in counts
        ],
        lines=[
            Line(tool=kept(tool), owner=kept(owner), waiting=tasks, oldest_ms=oldest_ms)
            for tool, owner, tasks, oldest_ms in lines
        ],
        held=[stored(row).record for row in holding],
        endings=[stored(row).record for row in endings],
    )


async def unstopped(
    connections: Connections, owner: str | None, tool: str | None, limit: int
) -> list[str]:
    """See `Operated.unstopped`."""
    asked = {
        "owner": None if owner is None else keep(owner),
        "tool": None if tool is None else keep(tool),
        "limit": limit,
    }
    return [kept(row[0]) for row in await connections.read("unstopped", asked)]


async def take_notices(
    connections: Connections, at_ms: int, until_ms: int, limit: int
) -> list[Notice]:
    """See `Notifies.take_notices`."""
    asked = {"at_ms": at_ms, "until_ms": until_ms, "limit": limit}
    rows = await connections.read("take_notices", asked)
    return [Notice(record=stored(row[1:]).record, attempt=row[0]) for row in rows]


async def settle_notices(
    connections: Connections, told: Collection[str], again_ms: Mapping[str, int]
) -> None:
    """See `Notifies.settle_notices`."""
    asked = {
        "told": Texts(told),
        "task_ids": Texts(again_ms),
        "due_ms": Numbers(again_ms.values()),
    }
    await connections.read("settle_notices", asked)


__all__ = ["overview", "settle_notices", "take_notices", "unstopped"]
