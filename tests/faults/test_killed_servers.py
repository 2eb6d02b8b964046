"""Real servers, really killed: nothing is lost, nothing runs twice unless it may."""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from pathlib import Path

import anyio
import httpx2
import psutil
import pytest

from awhile.tasks import Status, StoppedHow
from awhile.tasks import events as ev
from tests.faults.fleet import OWNER, Fleet, fleet
from tests.interaction.server.peer import Json, Peer, until

pytestmark = pytest.mark.anyio

LEASE_SECONDS = 1
SLACK_SECONDS = 2
"""What a busy machine may add."""


async def test_a8_kill_9_with_twenty_tasks_running(tmp_path: Path) -> None:
    """Ours, promise one; field cases A8 (worker killed), A10.

    Ten are declared safe to run again and ten are not; three had finished before.
    """
    async with fleet(tmp_path) as servers:
        first = await servers.start(lease=LEASE_SECONDS)
        for number in range(3):
            await first.peer.call("quick", number=number)
        done = {
            one.task_id: await first.peer.get(one.task_id)
            for one in await servers.store.find(owner=OWNER)
        }
        safe = await _start_ten(first.peer, "safe")
        unsafe = await _start_ten(first.peer, "unsafe")
        await until(lambda: len(servers.effects) == 20, "all twenty run")

        killed = await first.kill()
        second = await servers.start(lease=LEASE_SECONDS)
        ready = time.monotonic()
        async with servers.store.watch() as watch:
            while held := await _held_by_the_dead(servers):
                assert await watch.wait(10), f"still said to run: {held}"
        settled = time.monotonic()
        assert settled - max(killed + LEASE_SECONDS, ready) < SLACK_SECONDS

        for task_id in unsafe:
            task = await second.peer.get(task_id)
            assert task["status"] == "failed"
            assert task["statusMessage"] == "The server stopped while this was running."
            assert task["error"]["message"] == task["statusMessage"]
            assert task["error"]["data"] == {"reason": "worker_lost"}
        servers.let_go()
        for task_id in safe:
            task = await second.peer.ended(task_id)
            assert task["status"] == "completed"
            assert task["result"]["content"][0]["text"].endswith(", attempt 2")
        for task_id, task in done.items():
            assert _but_for_the_poll(await second.peer.get(task_id)) == _but_for_the_poll(task)

        times = Counter(servers.effects)
        assert {times[f"unsafe {number}"] for number in range(10)} == {1}
        assert {times[f"safe {number}"] for number in range(10)} == {2}
        for task_id in [*safe, *unsafe, *done]:
            assert len(await servers.endings(task_id)) == 1


async def test_a_lost_task_says_working_no_longer_than_its_lease(tmp_path: Path) -> None:
    """Ours: the time until another worker looks is part of ``lease_seconds``."""
    async with fleet(tmp_path) as servers:
        first = await servers.start(lease=LEASE_SECONDS)
        task_id = await first.peer.start("unsafe", name="x")
        await servers.start(lease=LEASE_SECONDS)
        running = (await servers.record(task_id)).lease
        assert running is not None
        assert running.until_ms - _now_ms() < LEASE_SECONDS * 1000 * 5 / 6
        async with servers.store.watch([task_id]) as watch:
            await first.kill()
            killed_ms = _now_ms()
            while not (record := await servers.record(task_id)).status.ended:
                assert await watch.wait(10), "nobody noticed"
        assert record.ended_at_ms is not None
        late_ms = record.ended_at_ms - killed_ms - LEASE_SECONDS * 1000
        assert late_ms < SLACK_SECONDS * 1000


async def test_work_that_kills_its_server_each_time_is_tried_three_times(tmp_path: Path) -> None:
    """Ours: at most three attempts, also of what is safe to run again."""
    async with fleet(tmp_path) as servers:
        first = await servers.start(lease=0.3)
        with contextlib.suppress(httpx2.TransportError):  # if it died before the handle was sent
            await first.peer.call("deadly", name="x")
        await first.ended()
        [record] = await servers.store.find(owner=OWNER)
        for _ in range(2):
            again = await servers.start(lease=0.3)
            await again.ended()
        last = await servers.start(lease=0.3)
        task = await last.peer.ended(record.task_id)
        assert task["status"] == "failed"
        assert task["statusMessage"] == (
            "The server stopped while this was running. It was tried 3 times."
        )
        assert servers.effects == ["deadly x"] * 3


async def test_a_server_that_was_frozen_past_its_lease_changes_nothing(tmp_path: Path) -> None:
    """Ours, decision 3: the late result of a fenced worker is dropped, silently."""
    async with fleet(tmp_path) as servers:
        frozen = await servers.start(lease=0.5)
        task_id = await frozen.peer.start("deaf", name="x")
        await until(lambda: servers.effects == ["deaf x 1"], "it runs")
        frozen.signal(signal.SIGSTOP)
        other = await servers.start(lease=0.5)
        await until(lambda: "deaf x 2" in servers.effects, "the other server took it over")
        servers.let_go("go-2")
        task = await other.peer.ended(task_id)
        assert task["result"]["content"][0]["text"] == "x, attempt 2"

        servers.let_go("go-1")
        frozen.signal(signal.SIGCONT)
        await until(lambda: "deaf x 1 returned" in servers.effects, "the late result is there")
        # A later write of the same process has passed, so the late one would have been made.
        await frozen.peer.call("quick", number=1)
        assert _but_for_the_poll(await frozen.peer.get(task_id)) == _but_for_the_poll(task)
        assert await servers.endings(task_id) == ["Completed"]
        assert "Traceback" not in frozen.log.read_text()


async def test_a_machine_that_slept_goes_on_where_it_was(tmp_path: Path) -> None:
    """Ours: every lease has run out, and nobody is lost: no ending, no second run."""
    async with fleet(tmp_path) as servers:
        runs_it, other = await servers.start(lease=0.5), await servers.start(lease=0.5)
        ids = [
            await runs_it.peer.start("unsafe", name="x"),
            await runs_it.peer.start("safe", name="x"),
        ]
        for server in (runs_it, other):
            server.signal(signal.SIGSTOP)
        leases = [(await servers.record(task_id)).lease for task_id in ids]
        looked = 0.5  # each looks for lost leases several times in that
        expired_ms = max(one.until_ms for one in leases if one) + 1000 * looked
        await until(lambda: _now_ms() > expired_ms, "every timer of theirs has run out")
        for server in (other, runs_it):
            server.signal(signal.SIGCONT)
        async with servers.store.watch(ids) as watch:
            await watch.wait(2)  # nothing happens to them
            for task_id, lease in zip(ids, leases, strict=True):
                renewed = (await servers.record(task_id)).lease
                assert lease is not None
                assert renewed is not None, "it was ended or handed back"
                assert renewed.worker == lease.worker
                assert renewed.until_ms > _now_ms()
        servers.let_go()
        for task_id in ids:
            assert (await other.peer.ended(task_id))["status"] == "completed"
        assert sorted(servers.effects) == ["safe x", "unsafe x"]


async def test_the_child_of_a_killed_server_is_gone_within_a_second(tmp_path: Path) -> None:
    """Ours: nothing goes on having effects that nobody can stop any more."""
    effects = tmp_path / "ticks"
    async with fleet(tmp_path) as servers:
        server = await servers.start()
        await server.peer.start("tick", path=str(effects))
        await until(lambda: effects.exists() and "x" in effects.read_text(), "it has effects")
        child = psutil.Process(int(effects.read_text().splitlines()[0]))
        killed = server.signal(signal.SIGKILL)
        await until(lambda: not _runs(child), "the child is gone")
        assert time.monotonic() - killed < 1


async def test_sigterm_hands_back_what_may_run_again_and_ends_the_rest(tmp_path: Path) -> None:
    """Ours: a deploy is no crash; a client that waits holds nothing up, nor does a deaf thread."""
    async with fleet(tmp_path) as servers:
        server = await servers.start(lease=30)
        safe = await server.peer.start("safe", name="s")
        unsafe = await server.peer.start("unsafe", name="u")
        deaf = await server.peer.start("deaf", name="d")
        async with anyio.create_task_group() as group:
            group.start_soon(_wait_on_a_stream, server.peer)
            await until(lambda: len(servers.effects) == 4, "all run")
            asked = server.signal(signal.SIGTERM)
            assert await server.ended() - asked < 6
            group.cancel_scope.cancel()

        ended = await servers.record(unsafe)
        assert ended.status is Status.FAILED
        assert ended.status_message == "The server was stopped while this was running."
        for task_id in (safe, deaf):
            handed_back = await servers.record(task_id)
            assert handed_back.status is Status.WORKING
            assert handed_back.status_message == "Waiting to start again."
            assert handed_back.lease is None
            assert handed_back.attempt == 0
        servers.let_go()
        servers.let_go("go-1")
        again = await servers.start()
        for task_id in (safe, deaf):
            assert (await again.peer.ended(task_id))["status"] == "completed"


async def test_a21_a_cancel_at_one_server_stops_the_work_at_the_other(tmp_path: Path) -> None:
    """Ours: field case A21: any server answers for any task."""
    async with fleet(tmp_path) as servers:
        runs_it, other = await servers.start(), await servers.start()
        task_id = await runs_it.peer.start("unsafe", name="x")
        await other.peer.cancel(task_id)
        task = await other.peer.ended(task_id)
        assert task["status"] == "cancelled"
        assert task["_meta"]["awhile/run"]["stoppedHow"] == StoppedHow.COROUTINE_ENDED
        assert _but_for_the_poll(await runs_it.peer.get(task_id)) == _but_for_the_poll(task)


async def test_a6_a_cancel_while_no_server_runs_is_honoured_at_the_next_start(
    tmp_path: Path,
) -> None:
    """Ours: field case A6: the intent is kept; the work must not resume."""
    async with fleet(tmp_path) as servers:
        first = await servers.start()
        task_id = await first.peer.start("safe", name="x")
        await until(lambda: servers.effects == ["safe x"], "it runs")
        await first.kill()
        await servers.store.append(task_id, ev.CancelAsked(), _now_ms())
        second = await servers.start()
        task = await second.peer.ended(task_id)
        assert task["status"] == "cancelled"
        assert "the server running it stopped" in task["statusMessage"]
        assert servers.effects == ["safe x"]


async def _start_ten(peer: Peer, tool: str) -> list[str]:
    return [await peer.start(tool, name=str(number)) for number in range(10)]


async def _held_by_the_dead(servers: Fleet) -> list[str]:
    """Tasks whose lease names a process that is gone."""
    live = await servers.store.find(owner=OWNER, statuses=[Status.WORKING])
    return [
        one.task_id
        for one in live
        if one.lease is not None and not psutil.pid_exists(int(one.lease.worker.split(":")[1]))
    ]


async def _wait_on_a_stream(peer: Peer) -> None:
    arguments = {"name": "safe", "arguments": {"name": "inline"}}
    request = peer.undeclared().request("tools/call", arguments, meta={"progressToken": "p"})
    with contextlib.suppress(httpx2.TransportError):  # the server goes away under it
        async with peer.opened(request) as (_, messages):
            async for _ in messages:
                pass


def _but_for_the_poll(task: Json) -> Json:
    return {name: value for name, value in task.items() if name != "pollIntervalMs"}


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
