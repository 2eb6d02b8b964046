"""``make soak``: random faults on a fleet under random load, and the checker at the end.

Two replicas and two workers on one store, and callers who start, listen to, answer, cancel and
repeat calls of every kind; meanwhile processes are killed, frozen and drained, and the store is
locked, killed or paused. In the end everything is let go, and `checker` reads every history.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import httpx2

from awhile.tasks import TaskRecord
from checks.postgres import Cluster
from tests.faults.broken import LEASE_SECONDS, Broken, broken, now_ms
from tests.faults.checker import (
    Death,
    Effect,
    Story,
    nothing_promised_is_missing,
    one_key_is_one_task,
    story_of,
    wrong,
)
from tests.faults.locking import foreign_program, stopped_process
from tests.interaction.fleet.fleet import Member
from tests.interaction.server.peer import Json, Peer, accepted

ENDED = frozenset({"completed", "failed", "cancelled"})

SLACK_MS = 15_000
"""What a loaded machine may add to a lease; the times of all faults since are added as well."""

CALLERS = 12
SETTLE_SECONDS = 120

HONEST_REASONS = frozenset({"store", "worker_lost", "server_stopped", "cancelled", "queue_full"})
"""Why a call may be refused or end badly while everything around it breaks."""


class Soak:
    """One run."""

    def __init__(self, fleet: Broken, chance: random.Random, cluster: Cluster | None) -> None:
        self.fleet = fleet
        self.chance = chance
        self.cluster = cluster
        self.replicas: list[Member] = []
        self.workers: list[Member] = []
        self.promised: dict[str, str] = {}
        self.keys: dict[str, list[str]] = {}
        self.heard: dict[str, list[list[str]]] = {}
        self.counts: Counter[str] = Counter()
        self.odd: list[str] = []
        self.faults: list[tuple[int, int]] = []
        """When something was broken, from and to (Unix milliseconds)."""
        self.killed: list[tuple[int, int]] = []
        self._number = 0

    async def run(self, seconds: float) -> list[str]:
        """Break things for so long; what is wrong in the end."""
        self.replicas = [await self.fleet.replica(), await self.fleet.replica()]
        self.workers = [await self.fleet.worker(), await self.fleet.worker()]
        stories: list[Story] = []
        async with anyio.create_task_group() as everything:
            async with anyio.create_task_group() as callers:
                with anyio.move_on_after(seconds) as time_is_up:
                    for _ in range(CALLERS):
                        callers.start_soon(self._calls, everything, time_is_up)
                    await self._break_things()
            self.fleet.let_go("everything")
            stories = await self._settled()
            everything.cancel_scope.cancel()
        deaths = [self._death(pid, at_ms) for pid, at_ms in self.killed]
        return [
            *nothing_promised_is_missing(self.promised, stories),
            *one_key_is_one_task(self.keys),
            *wrong(stories, deaths),
            *self.odd,
        ]

    # --- faults ---------------------------------------------------------------------------

    async def _break_things(self) -> None:
        ways = [self._kill_worker, self._kill_replica, self._freeze_worker, self._drain_worker]
        ways += [self._kill_postgres, self._pause_postgres] if self.cluster else [self._lock_file]
        while True:
            await anyio.sleep(self.chance.uniform(0.5, 3))
            way = self.chance.choice(ways)
            self.counts[f"fault: {way.__name__.strip('_').replace('_', ' ')}"] += 1
            began = now_ms()
            with anyio.CancelScope(shield=True):  # what is broken is mended
                await way()
            self.faults.append((began, now_ms()))

    async def _kill_worker(self) -> None:
        victim = self.workers.pop(self.chance.randrange(2))
        self.killed.append((victim.process.pid, now_ms()))
        victim.process.kill()
        await self._pause(2)
        self.workers.append(await self.fleet.worker())

    async def _kill_replica(self) -> None:
        self.replicas.pop(self.chance.randrange(2)).process.kill()
        await self._pause(2)
        self.replicas.append(await self.fleet.replica())

    async def _freeze_worker(self) -> None:
        victim = self.chance.choice(self.workers)
        victim.process.send_signal(signal.SIGSTOP)
        await self._pause(3 * LEASE_SECONDS)
        victim.process.send_signal(signal.SIGCONT)

    async def _drain_worker(self) -> None:
        victim = self.workers.pop(self.chance.randrange(2))
        victim.process.send_signal(signal.SIGTERM)
        self.workers.append(await self.fleet.worker("--drain-seconds=1"))

    async def _lock_file(self) -> None:
        file = Path(self.fleet.store_url.removeprefix("sqlite:///"))
        lock = self.chance.choice([foreign_program, stopped_process])
        with lock(file):
            await self._pause(3 * LEASE_SECONDS)

    async def _kill_postgres(self) -> None:
        assert self.cluster
        await anyio.to_thread.run_sync(self.cluster.kill)
        await self._pause(2 * LEASE_SECONDS)
        await anyio.to_thread.run_sync(self.cluster.start)

    async def _pause_postgres(self) -> None:
        assert self.cluster
        await anyio.to_thread.run_sync(self.cluster.pause)
        await self._pause(2 * LEASE_SECONDS)
        await anyio.to_thread.run_sync(self.cluster.go_on)

    async def _pause(self, longest: float) -> None:
        await anyio.sleep(self.chance.uniform(0, longest))

    def _death(self, pid: int, at_ms: int) -> Death:
        by_ms = at_ms + round(LEASE_SECONDS * 1000) + SLACK_MS
        by_ms += sum(to - began for began, to in self.faults if to > at_ms and began < by_ms)
        return Death(pid=pid, at_ms=at_ms, noticed_by_ms=by_ms)

    # --- load -----------------------------------------------------------------------------

    @property
    def _peer(self) -> Peer:
        return self.chance.choice(self.replicas).peer

    async def _calls(self, everything: anyio.abc.TaskGroup, time_is_up: anyio.CancelScope) -> None:
        while not time_is_up.cancel_called:
            self._number += 1
            name = f"call-{self._number}"
            tool = self.chance.choice(
                ["safe", "unsafe", "thread", "deaf", "child", "asks", "kept", "quick"]
            )
            self.counts[f"call: {tool}"] += 1
            how: Json = {"name": name}
            if tool != "asks":
                how["seconds"] = round(self.chance.uniform(0, 2.5), 2)
            if tool == "kept":
                how["key"] = name
            task_id = await self._start(tool, how)
            if tool == "kept" and self.chance.random() < 0.7:
                again = await self._start(tool, how)
                self.keys[name] = [one for one in (task_id, again) if one]
                task_id = task_id or again
            if task_id is None:
                continue
            if self.chance.random() < 0.6:
                everything.start_soon(self._listen, task_id)
            if tool == "asks":
                await self._answer(task_id)
            if self.chance.random() < 0.3:
                await self._pause(1.5)
                self.counts["cancel"] += 1
                await self._ask("tasks/cancel", {"taskId": task_id})

    async def _start(self, tool: str, how: Json) -> str | None:
        message = await self._ask("tools/call", {"name": tool, "arguments": how})
        task_id = (message or {}).get("result", {}).get("taskId")
        if task_id is not None:
            self.promised[task_id] = how["name"]
        return task_id

    async def _ask(self, method: str, params: Json) -> Json | None:
        """The answer; None: nobody answered."""
        try:
            message = (await self._peer.ask(method, params)).message
        except (httpx2.HTTPError, AssertionError):  # its replica was killed under it
            self.counts["unanswered"] += 1
            return None
        error: Json | None = message.get("error")
        if error is not None:
            data: Json = error.get("data") or {}
            reason = data.get("reason")
            self.counts[f"refused: {reason}"] += 1
            if reason not in HONEST_REASONS:
                self.odd.append(f"{method} {params} was answered with {error}")
        return message

    async def _answer(self, task_id: str) -> None:
        with anyio.move_on_after(10):
            while True:
                task = ((await self._ask("tasks/get", {"taskId": task_id})) or {}).get("result", {})
                if task.get("status") in ENDED:
                    return
                if asked := task.get("inputRequests"):
                    answers = {key: accepted(name="Ada") for key in asked}
                    params = {"taskId": task_id, "inputResponses": answers}
                    await self._ask("tasks/update", params)
                await anyio.sleep(0.1)

    async def _listen(self, task_id: str) -> None:
        """Hear of the task until its end was told, and a while longer."""
        streams = self.heard.setdefault(task_id, [])
        while True:
            statuses: list[str] = []
            streams.append(statuses)
            over = anyio.CancelScope()
            # Its replica may be killed: another one tells it then.
            with over, suppress(httpx2.HTTPError):
                await self._hear(task_id, statuses, over)
            if any(one in ENDED for one in statuses):
                return
            await anyio.sleep(0.2)

    async def _hear(self, task_id: str, statuses: list[str], over: anyio.CancelScope) -> None:
        peer = self._peer
        request = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
        async with peer.opened(request) as (_, messages):
            async for message in messages:
                if message.get("method") == "notifications/tasks":
                    statuses.append(message["params"]["status"])
                    if statuses[-1] in ENDED:
                        over.deadline = min(over.deadline, anyio.current_time() + 1)

    # --- the end --------------------------------------------------------------------------

    async def _settled(self) -> list[Story]:
        """Every task of the store, once all have ended, or as it is when that takes too long."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            records = await self._records()
            living = [one for one in records if not one.status.ended]
            unheard = [
                task_id
                for task_id, streams in self.heard.items()
                if not any(one in ENDED for statuses in streams for one in statuses)
            ]
            if (not living and not unheard) or time.monotonic() > deadline:
                break
            await anyio.sleep(0.2)
        await anyio.sleep(2)  # a late second notification would come now
        self.counts["tasks"] = len(records)
        self.counts |= Counter(f"ended: {one.status}" for one in await self._records())
        by_name = self.fleet.did_by_name()
        return [
            await self._story(one.task_id, str(one.arguments["name"]), by_name) for one in records
        ]

    async def _story(self, task_id: str, name: str, by_name: dict[str, list[Effect]]) -> Story:
        answers: list[Json] = []
        for member in self.replicas:
            message = (await member.peer.ask("tasks/get", {"taskId": task_id})).message
            answers.append(message.get("result") or message)
        story = await story_of(
            self.fleet.store,
            task_id,
            effects=by_name.get(name, []),
            heard=self.heard.get(task_id, []),
            answers=answers,
        )
        assert story is not None
        return story

    async def _records(self) -> list[TaskRecord]:
        found: list[TaskRecord] = []
        before: str | None = None
        while more := await self.fleet.store.find(owner="ada", before=before, limit=500):
            found += more
            before = more[-1].task_id
        return found


async def soak(
    folder: Path, store_url: str, seconds: float, seed: int, cluster: Cluster | None = None
) -> tuple[Counter[str], list[str]]:
    """One run in ``folder``; what there was, and what is wrong."""
    async with broken(folder, store_url) as fleet:
        fleet.more |= {"FAULTS_BUSY_MS": "1000", "FAULTS_LOCK_SECONDS": "1"}
        one = Soak(fleet, random.Random(seed), cluster)
        found = await one.run(seconds)
    return one.counts, found


def main() -> None:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4))
    print(f"soak: {given.seconds:g} s on {given.store}, seed {seed}", flush=True)  # noqa: T201
    folder = Path(tempfile.mkdtemp(prefix="awhile-soak-"))
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster()) if given.store == "postgres" else None
        url = cluster.url() if cluster else f"sqlite:///{folder / 'tasks.db'}"
        counts, found = anyio.run(soak, folder, url, given.seconds, seed, cluster)
    for what, count in sorted(counts.items()):
        print(f"  {count:6} {what}")  # noqa: T201
    for words in found:
        print(f"  WRONG {words}")  # noqa: T201
    print(f"soak: {len(found)} wrong; seed {seed}; logs and effects are in {folder}")  # noqa: T201
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
