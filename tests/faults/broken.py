"""Replicas and workers whose processes, store and connections a test breaks, and the checker."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx2
import psutil

from awhile.stores.contract import Store
from awhile.stores.open import open_store
from tests.faults.checker import (
    Death,
    Effect,
    Story,
    nothing_promised_is_missing,
    story_of,
    wrong,
)
from tests.interaction.fleet.fleet import Fleet, Member
from tests.interaction.server.peer import PATIENCE_SECONDS, Peer, until

MODULE = "tests.faults.module:mcp"

LEASE_SECONDS = 1.0

SLACK_SECONDS = 3.0
"""What a busy machine may add to a lease."""


class Broken(Fleet):
    """A fleet that remembers what it promised to whom."""

    def __init__(
        self,
        folder: Path,
        store_url: str,
        store: Store,
        http: httpx2.AsyncClient,
        streams: anyio.abc.TaskGroup,
    ) -> None:
        super().__init__(folder, store_url, http)
        self.store = store
        self.more: dict[str, str] = {}
        """Variables of the environment of whatever is started from here on."""
        self.names: dict[str, str] = {}
        """Of each promised task, the name of its call."""
        self.deaths: list[Death] = []
        self._heard: dict[str, list[list[str]]] = {}
        self._streams = streams

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.more}

    async def replica(self, *more: str, module: str = MODULE) -> Member:
        return await super().replica(*_leased(more), module=module)

    async def server(self, *more: str) -> Member:
        return await super()._start("serve", MODULE, "--port=0", *_leased(more))

    async def worker(self, *more: str, module: str = MODULE) -> Member:
        return await super().worker(*_leased(more), module=module)

    async def begin(
        self, peer: Peer, tool: str, name: str, *listening: Member, **how: object
    ) -> str:
        """Start a task, and hear of it by a stream at each of these replicas; its id."""
        task_id = await peer.start(tool, name=name, **how)
        self.names[task_id] = name
        for member in listening:
            await self._streams.start(self._listen, member.peer, task_id)
        return task_id

    async def at_work(self, name: str, *, attempt: int = 1) -> Member:
        """Wait until a body of that name has begun; the process it is in."""
        found: list[Effect] = []

        def begun() -> bool:
            found[:] = [one for one in self.did(name) if one.attempt == attempt]
            return bool(found)

        await until(begun, f"attempt {attempt} of {name} has begun")
        pids = {found[0].pid, psutil.Process(found[0].pid).ppid()}  # or in a child of it
        return next(one for one in self.members if one.process.pid in pids)

    def did(self, name: str) -> list[Effect]:
        """What the bodies of that call did."""
        return self.did_by_name().get(name, [])

    def did_by_name(self) -> dict[str, list[Effect]]:
        """What all bodies did, by the names of their calls."""
        path = self.folder / "effects"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        found: dict[str, list[Effect]] = {}
        for line in lines:
            if line.endswith("\n"):  # else it is just being written
                effect = Effect.read(line)
                found.setdefault(effect.name, []).append(effect)
        return found

    async def kill(self, member: Member) -> None:
        """SIGKILL."""
        at_ms = now_ms()
        member.process.send_signal(signal.SIGKILL)
        await member.ended()
        self.mourn(member, at_ms)

    def mourn(self, member: Member, at_ms: int, *, away_seconds: float = 0) -> None:
        """Note that a worker is gone; ``away_seconds``: how long nobody can notice."""
        seconds = LEASE_SECONDS + SLACK_SECONDS + away_seconds
        noticed_by_ms = at_ms + round(seconds * 1000)
        self.deaths.append(Death(pid=member.process.pid, at_ms=at_ms, noticed_by_ms=noticed_by_ms))

    def is_back(self, member: Member) -> None:
        """Note that a worker that was mourned can be reached again."""
        self.deaths = [
            replace(one, back_at_ms=now_ms()) if one.pid == member.process.pid else one
            for one in self.deaths
        ]

    async def stories(self, *readers: Member) -> list[Story]:
        """What became of every promised task; each is shown to these replicas' clients twice."""
        found: list[Story] = []
        for task_id, name in self.names.items():
            answers = [await one.peer.get(task_id) for one in [*readers, *readers]]
            story = await story_of(
                self.store,
                task_id,
                effects=self.did(name),
                heard=self._heard.get(task_id, []),
                answers=answers,
            )
            if story is not None:
                found.append(story)
        return found

    async def honest(self, *readers: Member) -> dict[str, Story]:
        """Check all that was promised; the stories, by the name of the call."""
        for task_id in self.names:
            await readers[0].peer.ended(task_id)
        await self._all_told(readers)
        stories = await self.stories(*readers)
        found = [*nothing_promised_is_missing(self.names, stories), *wrong(stories, self.deaths)]
        assert not found, "\n".join(found)
        return {self.names[one.record.task_id]: one for one in stories}

    async def _all_told(self, readers: Collection[Member]) -> None:
        """Wait until the streams have told of something later than any of these tasks' ends."""
        for number, member in enumerate(readers):
            name = f"marker-{number}"
            marker = await self.begin(member.peer, "big", name, member, size=2)
            self.let_go(name)
            await until(lambda marker=marker: _told_end(self._heard[marker]), "a later end is told")

    async def _listen(
        self, peer: Peer, task_id: str, *, task_status: anyio.abc.TaskStatus[None]
    ) -> None:
        statuses: list[str] = []
        self._heard.setdefault(task_id, []).append(statuses)
        request = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
        try:
            async with peer.opened(request) as (_, messages):
                assert "acknowledged" in (await anext(messages))["method"]
                task_status.started()
                async for message in messages:
                    if message.get("method") == "notifications/tasks":
                        statuses.append(message["params"]["status"])
        except httpx2.TransportError:  # its replica was killed
            return


def _told_end(heard: list[list[str]]) -> bool:
    ends = {"completed", "failed", "cancelled"}
    return all(ends & set(statuses) for statuses in heard)


def _leased(more: tuple[str, ...]) -> tuple[str, ...]:
    return (f"--lease-seconds={LEASE_SECONDS:g}", *more)


def now_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000


def text_of(task: Mapping[str, Any]) -> str:
    """The first text of a completed task."""
    assert task["status"] == "completed", json.dumps(task, indent=1)
    return task["result"]["content"][0]["text"]


@asynccontextmanager
async def broken(folder: Path, store_url: str) -> AsyncGenerator[Broken]:
    """A store, and no process yet; everything is continued and killed at the end."""
    limits = httpx2.Limits(max_connections=None)
    async with (
        httpx2.AsyncClient(timeout=3 * PATIENCE_SECONDS, limits=limits) as http,
        open_store(store_url) as store,  # closed after the streams' scope is left: it has to wait
        anyio.create_task_group() as streams,
    ):
        one = Broken(folder, store_url, store, http, streams)
        try:
            yield one
        finally:
            await one.close()
            streams.cancel_scope.cancel()
