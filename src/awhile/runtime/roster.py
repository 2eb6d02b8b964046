"""Which tools workers know, and the end of tasks whose tool none of them knows any more.

A worker says which tools it knows by a row that has ended already and expires (as
`awhile.server.publishing` carries events), so every store keeps the roster. Of a tool that none of
these rows names, others may still know more (an older worker that starts again, a newer one to
come): its tasks wait, and end only when nobody has known it for as long as the operator allows.
Source: ours.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.errors import AwhileError, IllegalEvent, TaskNotFound
from awhile.tasks import Status, TaskRecord
from awhile.tasks import events as ev
from awhile.telemetry.logs import about_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence

    from awhile.stores.contract import Store

logger = logging.getLogger(__name__)

OWNER = "awhile:workers"
"""The owner of the roster's rows; no caller's principal reads like it."""

LOOKS = 3
"""How often a worker looks within the time it takes a tool to be gone."""

LONGEST_LOOK_SECONDS = 60.0

MOST_ENTRIES = 1000


class Roster:
    """What one worker says and reads of the tools that are known.

    Args:
        store: where the tasks are.
        tools: the tools this worker knows.
        gone_seconds: for how long nobody has to have known a tool before its tasks end.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(
        self,
        store: Store,
        tools: Collection[str],
        *,
        gone_seconds: float,
        now_ms: Callable[[], int],
    ) -> None:
        self._store = store
        self._tools = sorted(tools)
        self._gone_seconds = gone_seconds
        self._gone_ms = round(gone_seconds * 1000)
        self._now_ms = now_ms
        self._missed: dict[str, int] = {}
        """Since when this worker has seen tasks of a tool, and nobody who knows it."""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Say and look while the block runs."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._keep)
            yield
            beside.cancel_scope.cancel()

    async def _keep(self) -> None:
        pause = min(LONGEST_LOOK_SECONDS, self._gone_seconds / LOOKS)
        while True:
            try:
                await self.look(fresh_for_ms=round(pause * 1000))
            except AwhileError as error:
                logger.error(
                    "Tools that are gone could not be looked for; trying again later. %s", error
                )
            await anyio.sleep(pause)

    async def look(self, *, fresh_for_ms: int = 0) -> None:
        """Say what this worker knows, unless that was said just now, and end what is to end."""
        now = self._now_ms()
        said = await self._store.find(owner=OWNER, limit=MOST_ENTRIES)
        if not any(
            one.created_at_ms + fresh_for_ms > now and _tools(one) == self._tools for one in said
        ):
            await self._say(now)
        valid = [one for one in said if one.expires_at_ms is None or one.expires_at_ms > now]
        await self._end_what_is_gone(
            {*self._tools, *(tool for one in valid for tool in _tools(one))}
        )

    async def _say(self, now: int) -> None:
        await self._store.create(
            TaskRecord(
                task_id=f"workers-{secrets.token_hex(16)}",
                owner=OWNER,
                tool=OWNER,
                arguments={"tools": self._tools},
                status=Status.COMPLETED,
                created_at_ms=now,
                last_updated_at_ms=now,
                ended_at_ms=now,
                keep_ms=self._gone_ms,
                result={},
            )
        )

    async def _end_what_is_gone(self, known: Collection[str]) -> None:
        ended = True
        while ended:  # each pass finds the first in line of each owner
            now = self._now_ms()
            waiting = await self._store.unclaimed(besides=known, at_ms=now)
            self._missed = {one.tool: self._missed.get(one.tool, now) for one in waiting}
            ended = False
            for record in waiting:
                since = max(self._missed[record.tool], record.created_at_ms)
                if now - since >= self._gone_ms:
                    ended = await self._end(record, now) or ended

    async def _end(self, record: TaskRecord, now: int) -> bool:
        try:
            await self._store.append(record.task_id, ev.ToolGone(seconds=self._gone_seconds), now)
        except (IllegalEvent, TaskNotFound):  # it was taken, stopped, or ended just now
            return False
        logger.warning(
            "Task %s ended: no worker has known its tool %r for %g s.",
            record.task_id,
            record.tool,
            self._gone_seconds,
            extra=about_task(record.task_id),
        )
        return True


def _tools(said: TaskRecord) -> Sequence[str]:
    return list(said.arguments.get("tools", ()))


__all__ = ["OWNER", "Roster"]
