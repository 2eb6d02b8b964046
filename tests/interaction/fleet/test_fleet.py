"""Real replicas and real workers on one store: any replica answers for any task."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import anyio
import pytest

from awhile.tasks import StoppedHow
from tests.interaction.fleet.fleet import Member, fleet
from tests.interaction.server.peer import PATIENCE_SECONDS, Json, accepted, run_facts
from tests.interaction.server.test_listening import listening

pytestmark = pytest.mark.anyio

EASY = "--drain-seconds=30"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty store."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return on_a_file(tmp_path)


def on_a_file(folder: Path) -> str:
    """A store for what does not depend on the kind of store."""
    return f"sqlite:///{folder / 'tasks.db'}"


async def test_a21_any_replica_answers_for_any_task(tmp_path: Path, store_url: str) -> None:
    """Ours; field case A21: created at one replica, run in a worker; looked at, listened to,
    answered, cancelled and collected at the other."""
    async with fleet(tmp_path, store_url) as servers:
        one, two, *workers = await servers.all_four()
        pids = {worker.process.pid for worker in workers}
        assert (await one.peer.call("where")).text == str(one.process.pid)

        task_id = await one.peer.start("work", name="a")
        assert await servers.begun("a") in pids
        async with listening(two.peer, taskIds=[task_id]) as stream:
            await stream.acknowledged()
            task = await two.peer.until(task_id, lambda now: "under way" in now["statusMessage"])
            assert task["status"] == "working"
            servers.let_go("a")
            ended = await stream.task("completed")
        for replica in (one, two):
            text = (await replica.peer.get(task_id))["result"]["content"][0]["text"]
            assert text == ended["result"]["content"][0]["text"]
            assert text.startswith("a, attempt 1, process ")

        stopped = await one.peer.start("work", name="b")
        await servers.begun("b")
        await two.peer.cancel(stopped)
        task = await one.peer.ended(stopped)
        assert task["status"] == "cancelled"
        assert run_facts(task)["stoppedHow"] == StoppedHow.COROUTINE_ENDED

        asking = await one.peer.start("asks")
        task = await two.peer.until(asking, lambda now: now["status"] == "input_required")
        [key] = task["inputRequests"]
        await two.peer.update(asking, {key: accepted(name="Ada")})
        task = await one.peer.ended(asking)
        assert task["result"]["content"][0]["text"] == "accept name='Ada'"

        first = (await one.peer.call("greet")).result
        assert first["resultType"] == "input_required"
        [key] = first["inputRequests"]
        answered: Json = {
            "name": "greet",
            "arguments": {},
            "inputResponses": {key: accepted(name="Ada")},
            "requestState": first["requestState"],
        }
        assert (await two.peer.ask("tools/call", answered)).text == "Hello, Ada!"


async def test_a_worker_that_is_told_to_end_lets_its_work_end(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: it is not ready at once, takes nothing more, lives on until its work has ended."""
    async with fleet(tmp_path, store_url) as servers:
        replica = await servers.replica()
        worker = await servers.worker(EASY)
        for member in (replica, worker):
            assert await member.says("/healthz") == (200, "ok")
            assert await member.says("/readyz") == (200, "ok")
        task_id = await replica.peer.start("work", name="a")
        await servers.begun("a")
        worker.process.send_signal(signal.SIGTERM)
        await _not_ready(worker)
        assert await worker.says("/healthz") == (200, "ok")
        later = await replica.peer.start("work", name="later")
        servers.let_go("a")
        assert (await replica.peer.ended(task_id))["status"] == "completed"
        assert await worker.ended() == 0
        assert (await replica.peer.get(later))["statusMessage"].startswith("Waiting to start")
        assert servers.effects("later begun") == []


async def test_what_does_not_end_in_time_is_handed_to_another_worker(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: at once, not when its lease runs out, and it costs the task no attempt."""
    async with fleet(tmp_path, store_url) as servers:
        replica = await servers.replica()
        first = await servers.worker("--drain-seconds=0.2", "--lease-seconds=60")
        task_id = await replica.peer.start("work", name="a")
        assert await servers.begun("a") == first.process.pid
        second = await servers.worker()
        first.process.send_signal(signal.SIGTERM)
        assert await first.ended() == 0
        assert await servers.begun("a", times=2) == second.process.pid
        servers.let_go("a")
        task = await replica.peer.ended(task_id)
        assert task["result"]["content"][0]["text"].startswith("a, attempt 1, process ")
        kinds = [one.kind for one in await servers.store.history(task_id)]
        assert kinds.count("Released") == 1


async def test_a_second_signal_ends_a_process_at_once(tmp_path: Path) -> None:
    """Ours: though what it runs has not ended."""
    async with fleet(tmp_path, on_a_file(tmp_path)) as servers:
        server = await servers.server(EASY)
        await server.peer.start("work", name="a")
        await servers.begun("a")
        server.process.send_signal(signal.SIGTERM)
        await _not_ready(server)
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == -signal.SIGTERM
        worker = await servers.worker(EASY)
        assert await servers.begun("a", times=2) == worker.process.pid
        worker.process.send_signal(signal.SIGTERM)
        await _not_ready(worker)
        worker.process.send_signal(signal.SIGINT)
        assert await worker.ended() == -signal.SIGINT


async def test_a_server_that_is_told_to_end_answers_what_it_has_begun(tmp_path: Path) -> None:
    """Ours: its listen streams end in order, at once; its calls are answered to the end."""
    async with fleet(tmp_path, on_a_file(tmp_path)) as servers:
        server = await servers.server(EASY)
        task_id = await server.peer.start("work", name="a")
        await servers.begun("a")
        async with listening(server.peer, taskIds=[task_id]) as stream:
            await stream.acknowledged()
            server.process.send_signal(signal.SIGTERM)
            await stream.farewell()
        await _not_ready(server)
        assert (await server.peer.get(task_id))["status"] == "working"
        servers.let_go("a")
        assert await server.ended() == 0
        record = await servers.store.get(task_id)
        assert record is not None
        assert json.dumps(record.result).count("a, attempt 1") == 2
        assert "Traceback" not in server.log.read_text()


async def test_a_task_whose_tool_is_gone_after_a_deploy_ends_saying_so(tmp_path: Path) -> None:
    """Ours: kept by an older replica, and no worker knows its tool any more."""
    async with fleet(tmp_path, on_a_file(tmp_path)) as servers:
        older = await servers.replica(module="tests.interaction.fleet.module:older")
        task_id = await older.peer.start("renamed_since")
        await servers.worker("--gone-tool-seconds=0.5")
        task = await older.peer.ended(task_id)
        assert task["status"] == "failed"
        assert task["error"]["data"] == {"reason": "tool_gone"}
        assert "'renamed_since'" in task["statusMessage"]


async def _not_ready(member: Member) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        while (said := await member.says("/readyz"))[0] == 200:  # noqa: ASYNC110 - a process
            await anyio.sleep(0.01)
    assert said == (503, "not ready")
