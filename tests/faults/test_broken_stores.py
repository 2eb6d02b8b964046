"""The store itself broken under a running fleet: full, locked, killed, cut off."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import pytest

from checks.postgres import Cluster
from tests.contract.stores.proxy import Proxy
from tests.faults.broken import LEASE_SECONDS, Broken, broken, now_ms, text_of
from tests.faults.disks import Disk, small_disk
from tests.faults.locking import foreign_program, stopped_process
from tests.interaction.fleet.fleet import Member
from tests.interaction.server.peer import Json, until

pytestmark = pytest.mark.anyio

KB = 1024
MB = 1024 * KB


# --- full ---------------------------------------------------------------------------------------


async def test_a_full_disk_under_sqlite_loses_nothing_and_says_so(tmp_path: Path) -> None:
    """Ours: what is kept can be read, new work is refused with the next step, endings wait."""
    with small_disk(tmp_path / "disk", megabytes=4) as disk:
        file = disk.folder / "tasks.db"
        async with broken(tmp_path, f"sqlite:///{file}") as fleet:

            def pids() -> list[int]:
                return [one.process.pid for one in fleet.members]

            # Less than what is to be written, and more than what the bodies note meanwhile.
            await _fill_and_free(fleet, disk, pids, largest_file=MB // 2)


@pytest.mark.long
@pytest.mark.postgres
async def test_a_full_disk_under_postgresql_loses_nothing_and_says_so(tmp_path: Path) -> None:
    """Ours: the same, although PostgreSQL may end when it cannot write its log."""
    cluster = Cluster()
    data = cluster.folder / "data"
    try:
        with small_disk(data, megabytes=96) as disk:
            if disk.mounted:
                owner = data.with_name("data-before").stat()
                os.chown(data, owner.st_uid, owner.st_gid)
                data.chmod(0o700)

            def pids() -> list[int]:
                postmaster = int((data / "postmaster.pid").read_text().split()[0])
                backends = psutil.Process(postmaster).children(recursive=True)
                return [postmaster, *(one.pid for one in backends)]

            try:
                cluster.start()
                async with broken(tmp_path, cluster.url()) as fleet:
                    await _fill_and_free(fleet, disk, pids, largest_file=16 * MB, again=cluster)
            finally:
                cluster.close()
    finally:
        shutil.rmtree(cluster.folder, ignore_errors=True)  # nothing is mounted in it any more


async def _fill_and_free(
    fleet: Broken,
    disk: Disk,
    pids: Callable[[], list[int]],
    *,
    largest_file: int,
    again: Cluster | None = None,
) -> None:
    one, two = await fleet.replica(), await fleet.replica()
    worker = await fleet.worker()
    kept = await fleet.begin(one.peer, "safe", "kept", two, seconds=0.2)
    shown = await one.peer.ended(kept)
    size = (200 * KB) if disk.mounted or not again else 4 * MB
    bigs = [await fleet.begin(one.peer, "big", f"big-{n}", two, size=size) for n in range(5)]
    for name in ("safe", "unsafe"):
        await fleet.begin(one.peer, name, name, two)
    for name in fleet.names.values():
        await fleet.at_work(name)

    disk.fill(pids(), largest_file=largest_file)
    for number in range(len(bigs)):
        fleet.let_go(f"big-{number}")
    refused = "An ending could not be written; trying again."
    await until(lambda: refused in worker.log.read_text(), "no ending can be written")
    if disk.mounted:
        error = await _refused(one, "big", size=size, padding=os.urandom(size).hex())
        if again is None or "is on a full disk" in error["message"]:  # else the server is gone
            assert "is on a full disk. This change was not kept" in error["message"]
            assert "Make room and try again." in error["message"]
            assert error["data"] == {"reason": "store"}
            for reader in (one, two):
                task = await reader.peer.get(kept)
                assert {**task, "pollIntervalMs": 0} == {**shown, "pollIntervalMs": 0}
    full_until_ms = now_ms() + round(LEASE_SECONDS * 1500)
    await until(lambda: now_ms() > full_until_ms, "every lease has run out")

    disk.free()
    if again is not None:
        await anyio.to_thread.run_sync(_there, again)
    fleet.let_go("everything")
    stories = await fleet.honest(one, two)
    for name, story in stories.items():
        text = text_of(story.answers[0])
        assert "attempt 1, " in text
        if name.startswith("big"):
            assert len(text) > size


def _there(cluster: Cluster) -> None:
    """Start it again, if it has ended."""
    try:
        pid = int((cluster.folder / "data" / "postmaster.pid").read_text().split()[0])
        if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            return
    except (OSError, psutil.NoSuchProcess):
        pass
    cluster.kill()
    cluster.start()


# --- locked -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lock", "next_step"),
    [
        (foreign_program, "is locked by another program. End what has it open (`fuser`"),
        (stopped_process, "Look for a stopped process that has this store open (`fuser`"),
    ],
)
async def test_a_file_that_others_lock_for_longer_than_we_wait_loses_nothing(
    tmp_path: Path, lock: Callable[[Path], AbstractContextManager[None]], next_step: str
) -> None:
    """Ours: new work is refused with the next step; what runs goes on, and ends once it can."""
    file = tmp_path / "tasks.db"
    async with broken(tmp_path, f"sqlite:///{file}") as fleet:
        fleet.more |= {"FAULTS_BUSY_MS": "500", "FAULTS_LOCK_SECONDS": "0.5"}
        one, two = await fleet.replica(), await fleet.replica()
        worker = await fleet.worker()
        for name in ("safe", "unsafe", "thread"):
            await fleet.begin(one.peer, name, name, two)
            await fleet.at_work(name)
        with lock(file):
            error = await _refused(one, "safe")
            assert next_step in error["message"]
            assert error["data"] == {"reason": "store"}
            fleet.let_go("everything")
            text = "An ending could not be written; trying again."
            await until(lambda: text in worker.log.read_text(), "no ending can be written")
            assert next_step in worker.log.read_text()
            for task_id in fleet.names:
                assert (await two.peer.get(task_id))["status"] == "working"
            locked_until_ms = now_ms() + round(LEASE_SECONDS * 1500)
            await until(lambda: now_ms() > locked_until_ms, "every lease has run out")
        stories = await fleet.honest(one, two)
    assert all("attempt 1, " in text_of(story.answers[0]) for story in stories.values())


async def _refused(member: Member, tool: str, **arguments: Any) -> Json:
    """The error that a call is refused with."""
    return (await member.peer.call(tool, name="refused", **arguments)).error


# --- killed -------------------------------------------------------------------------------------


@pytest.mark.postgres
async def test_kill_9_of_postgresql_for_longer_than_a_lease_costs_no_task_its_run(
    tmp_path: Path, own_cluster: Cluster
) -> None:
    """Ours: what was confirmed is there, what ended meanwhile is written when it is back, and no
    worker is taken for lost because nobody could renew a lease."""
    async with broken(tmp_path, own_cluster.url()) as fleet:
        one, two, *_ = await fleet.all_four()
        done = await fleet.begin(one.peer, "safe", "done", two, seconds=0.2)
        await one.peer.ended(done)
        for name in ("safe", "unsafe", "thread", "child"):
            await fleet.begin(one.peer, name, name, two)
            await fleet.at_work(name)
        await anyio.to_thread.run_sync(own_cluster.kill)
        down_until_ms = now_ms() + round(LEASE_SECONDS * 2000)
        for member in fleet.members:
            assert (await member.says("/healthz"))[0] == 200
            assert (await member.says("/readyz"))[0] == 503
        fleet.let_go("safe")
        fleet.let_go("unsafe")
        await until(lambda: now_ms() > down_until_ms, "every lease has run out")
        answers: list[str] = []
        async with anyio.create_task_group() as callers:
            callers.start_soon(_call, one, "quick", answers)  # waits, and is answered in the end
            await anyio.to_thread.run_sync(own_cluster.start)
        [text] = answers
        assert text.startswith("quick, attempt 1, ")
        fleet.let_go("everything")
        stories = await fleet.honest(one, two)
        for story in stories.values():
            assert "attempt 1, " in text_of(story.answers[0])
        for member in fleet.members:
            await _ready(member)


async def _call(member: Member, name: str, answers: list[str]) -> None:
    answers.append((await member.peer.call("quick", name=name)).text)


async def _ready(member: Member) -> None:
    with anyio.fail_after(30):
        while (await member.says("/readyz"))[0] != 200:  # noqa: ASYNC110 - another process
            await anyio.sleep(0.05)


# --- cut off ------------------------------------------------------------------------------------


@pytest.fixture
def dsn_behind(postgres_url: str) -> Callable[[Proxy], str]:
    """The same store by way of a proxy."""
    port = _port(postgres_url)
    return lambda proxy: postgres_url.replace(f":{port}/", f":{proxy.port}/")


def _port(url: str) -> int:
    return int(url.partition("@")[2].partition(":")[2].partition("/")[0])


@pytest.mark.postgres
async def test_a_worker_whose_connections_are_reset_goes_on(
    tmp_path: Path, postgres_url: str, dsn_behind: Callable[[Proxy], str]
) -> None:
    """Ours: again and again, in the middle of everything; nothing is done twice for that."""
    async with Proxy(_port(postgres_url)) as proxy, broken(tmp_path, postgres_url) as fleet:
        one, two = await fleet.replica(), await fleet.replica()
        await fleet.worker("--store", dsn_behind(proxy))
        for number in range(8):
            tool = ("safe", "unsafe")[number % 2]
            await fleet.begin(one.peer, tool, f"{tool}-{number}", two, seconds=(1 + number) / 2)
        over = now_ms() + 4000
        while now_ms() < over:
            proxy.cut()
            await anyio.sleep(0.15)
        stories = await fleet.honest(one, two)
    assert all("attempt 1, " in text_of(story.answers[0]) for story in stories.values())


@pytest.mark.postgres
async def test_a_worker_behind_a_silent_network_is_taken_for_lost_and_changes_nothing_later(
    tmp_path: Path, postgres_url: str, dsn_behind: Callable[[Proxy], str]
) -> None:
    """Ours: nothing is refused, nothing arrives. Others take over, and its late results count for
    nothing; when the network is back, it takes work again."""
    async with Proxy(_port(postgres_url)) as proxy, broken(tmp_path, postgres_url) as fleet:
        fleet.more["FAULTS_ANSWER_SECONDS"] = "1"
        one, two = await fleet.replica(), await fleet.replica()
        cut_off = await fleet.worker("--store", dsn_behind(proxy))
        for name in ("deaf", "unsafe", "safe"):
            await fleet.begin(one.peer, name, name, two)
            await fleet.at_work(name)
        proxy.silent = True
        fleet.mourn(cut_off, now_ms())
        other = await fleet.worker()
        for name in ("deaf", "safe"):
            assert await fleet.at_work(name, attempt=2) is other
            fleet.let_go(f"{name}-2")
        for task_id in fleet.names:
            await two.peer.ended(task_id)
        fleet.let_go("deaf-1")
        await until(lambda: _done(fleet, "deaf", 1), "the late result is there")
        fleet.is_back(cut_off)
        proxy.silent = False
        await fleet.kill(other)
        answers: list[str] = []
        await _call(one, "later", answers)
        stories = await fleet.honest(one, two)
        assert f"process {cut_off.process.pid}" in answers[0]
    assert stories["unsafe"].answers[0]["error"]["data"] == {"reason": "worker_lost"}
    assert all("attempt 2, " in text_of(stories[name].answers[0]) for name in ("deaf", "safe"))


def _done(fleet: Broken, name: str, attempt: int) -> bool:
    return any(one.what == "done" and one.attempt == attempt for one in fleet.did(name))
