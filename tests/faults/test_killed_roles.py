"""One of each process of a fleet killed or frozen: what was promised is kept, and nothing twice."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import httpx2
import pytest

from awhile.tasks import Status
from tests.faults.broken import LEASE_SECONDS, Broken, broken, now_ms, text_of
from tests.faults.checker import DONE
from tests.interaction.fleet.fleet import Member
from tests.interaction.server.peer import until

pytestmark = pytest.mark.anyio


async def test_A10_kill_9_of_a_worker(tmp_path: Path, store_url: str) -> None:
    """Ours, promise one; field case A10: run again only what is declared safe, the rest says so.

    The other worker goes on with its own, and listeners at the other replica hear of each end once.
    """
    async with broken(tmp_path, store_url) as fleet:
        one, two, *workers = await fleet.all_four()
        for number in range(4):
            for tool in ("safe", "unsafe", "thread"):
                await fleet.begin(one.peer, tool, f"{tool}-{number}", two)
        names = list(fleet.names.values())
        where = {name: await fleet.at_work(name) for name in names}
        killed = where["unsafe-0"]
        await fleet.kill(killed)
        for name in names:
            if where[name] is killed and not name.startswith("unsafe"):
                again = await fleet.at_work(name, attempt=2)
                assert again in workers
        fleet.let_go("everything")
        stories = await fleet.honest(one, two)
    lost = [name for name in names if where[name] is killed]
    told = [
        line
        for member in (one, two, *workers)
        for line in member.log.read_text().splitlines()
        if " was lost with a task of " in line
    ]
    assert len(told) == len(lost), "whoever notices says so, once for each"
    for name in lost:
        [line] = [each for each in told if stories[name].record.task_id in each]
        assert f":{killed.process.pid}:" in line
        assert name.startswith("unsafe") != ("takes it over for attempt 2 of" in line)
    for name in names:
        task = stories[name].answers[0]
        if name in lost and name.startswith("unsafe"):
            assert task["status"] == "failed"
            assert task["error"]["data"] == {"reason": "worker_lost"}
            assert task["statusMessage"] == "The server stopped while this was running."
        else:
            assert f"attempt {2 if name in lost else 1}, " in text_of(task)


@pytest.mark.long
async def test_A10_work_four_times_as_long_as_its_lease_runs_once(
    tmp_path: Path, store_url: str
) -> None:
    """Ours; field case A10: leases are renewed while there is life, and two workers look."""
    async with broken(tmp_path, store_url) as fleet:
        one, two, *_ = await fleet.all_four()
        for tool in ("safe", "unsafe", "deaf", "child"):
            await fleet.begin(one.peer, tool, tool, two, seconds=4 * LEASE_SECONDS)
        stories = await fleet.honest(one, two)
    for story in stories.values():
        assert story.record.status is Status.COMPLETED
        assert story.leases == 1


async def test_A7_kill_9_of_a_replica_loses_neither_work_nor_results(
    tmp_path: Path, store_url: str
) -> None:
    """Ours; field case A7: results are read any number of times, at any replica, also a new one.

    What the killed one has taken runs on; its listeners go to the other.
    """
    async with broken(tmp_path, store_url) as fleet:
        one, two, *_ = await fleet.all_four()
        done = await fleet.begin(one.peer, "safe", "done", one, two, seconds=0.2)
        before = await one.peer.ended(done)
        for name in ("a", "b"):
            await fleet.begin(one.peer, "safe", name, one, two)
        await fleet.begin(two.peer, "unsafe", "c", one, two)
        for name in ("a", "b", "c"):
            await fleet.at_work(name)
        async with anyio.create_task_group() as callers:
            callers.start_soon(_call_in_vain, one, "quick", "inline")
            await fleet.at_work("inline")
            await fleet.kill(one)
        three = await fleet.replica()
        fleet.let_go("everything")
        stories = await fleet.honest(two, three)
        [inline] = [one for one in await fleet.store.find(owner="ada") if one.tool == "quick"]
        for reader in (two, three, two, three, two):
            task = await reader.peer.get(done)
            assert {**task, "pollIntervalMs": 0} == {**before, "pollIntervalMs": 0}
    assert all(text_of(story.answers[0]) for story in stories.values())
    assert inline.status.ended, "its caller is gone, and so nobody is left to stop it"


async def test_A6_a_cancel_while_no_worker_is_there_is_honoured(
    tmp_path: Path, store_url: str
) -> None:
    """Ours; field case A6: the intent is kept, and the next worker does not resume the work."""
    async with broken(tmp_path, store_url) as fleet:
        one, worker = await fleet.replica(), await fleet.worker()
        running = await fleet.begin(one.peer, "safe", "running", one)
        await fleet.at_work("running")
        await fleet.kill(worker)
        waiting = await fleet.begin(one.peer, "safe", "waiting", one)
        for task_id in (running, waiting):
            await one.peer.cancel(task_id)
        await fleet.worker()
        stories = await fleet.honest(one)
    assert [one.attempt for one in stories["running"].effects if one.what == "begun"] == [1]
    assert "the server running it stopped" in stories["running"].answers[0]["statusMessage"]
    assert stories["waiting"].effects == []
    assert stories["waiting"].answers[0]["statusMessage"] == "Cancelled before it started."


async def test_a_worker_frozen_past_its_lease_writes_nothing_when_it_goes_on(
    tmp_path: Path, store_url: str
) -> None:
    """Ours, decision 3: its late results are dropped; it takes work again."""
    async with broken(tmp_path, store_url) as fleet:
        one, two, *workers = await fleet.all_four()
        for number in range(3):
            for tool in ("deaf", "unsafe", "safe"):
                await fleet.begin(one.peer, tool, f"{tool}-{number}", two)
        names = list(fleet.names.values())
        where = {name: await fleet.at_work(name) for name in names}
        frozen = where["deaf-0"]
        await _freeze(fleet, frozen)
        lost = [name for name in names if where[name] is frozen]
        for name in lost:
            if not name.startswith("unsafe"):
                assert await fleet.at_work(name, attempt=2) is not frozen
            fleet.let_go(f"{name}-2")
        for task_id, name in fleet.names.items():
            if name in lost:
                await two.peer.ended(task_id)
        frozen.process.send_signal(signal.SIGCONT)
        fleet.let_go("everything")
        await until(lambda: _done(fleet, "deaf-0", 1), "the late result is there")
        stories = await fleet.honest(one, two)
        other = next(worker for worker in workers if worker is not frozen)
        await fleet.kill(other)
        assert (await one.peer.call("quick", name="later")).text.startswith("later, attempt 1, ")
        assert "Traceback" not in frozen.log.read_text()
    for name in lost:
        task = stories[name].answers[0]
        if name.startswith("unsafe"):
            assert task["error"]["data"] == {"reason": "worker_lost"}
        else:
            assert "attempt 2, " in text_of(task)


async def _freeze(fleet: Broken, member: Member) -> None:
    """SIGSTOP, at a moment at which it does not hold the lock of a file that all write to."""
    while True:
        member.process.send_signal(signal.SIGSTOP)
        at_ms = now_ms()
        with anyio.move_on_after(0.5):
            await fleet.store.sweep(at_ms=0)
            fleet.mourn(member, at_ms)
            return
        member.process.send_signal(signal.SIGCONT)


async def _call_in_vain(member: Member, tool: str, name: str) -> None:
    with pytest.raises(httpx2.TransportError):
        await member.peer.call(tool, name=name, seconds=30)


def _done(fleet: Broken, name: str, attempt: int) -> bool:
    return any(one.what == DONE and one.attempt == attempt for one in fleet.did(name))
