"""``awhile top`` and ``awhile admin`` on real fleets: what is shown, and what is done."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.cli import ends
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.open import open_store
from awhile.testing.store_case import task
from tests.interaction.cli.terminal import Place
from tests.interaction.fleet.fleet import Fleet, Member, fleet
from tests.interaction.server.peer import PATIENCE_SECONDS, Json

pytestmark = pytest.mark.anyio

CALM = "--lease-seconds=60"
"""No worker here is lost, however slow the machine."""

AWHILE = (sys.executable, "-m", "awhile.cli.main")


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.db'}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def any_store_url(request: pytest.FixtureRequest, store_url: str) -> str:
    """Of each kind of store a new one."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return store_url


async def awhile(
    servers: Fleet, *arguments: str, code: int = ends.RESULT
) -> subprocess.CompletedProcess[str]:
    """Run a command on the fleet's store, to its end."""
    done = await anyio.run_process(
        [*AWHILE, *arguments, "--store", servers.store_url],
        env={**servers.environment, "AWHILE_AUDIT_FILE": str(servers.folder / "audit.jsonl")},
        check=False,
    )
    said = subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
    assert said.returncode == code, (said.stdout, said.stderr)
    return said


async def seen(servers: Fleet) -> Json:
    """What ``awhile top --json`` says."""
    found: Json = json.loads((await awhile(servers, "top", "--json")).stdout)
    return found


def audited(servers: Fleet) -> list[tuple[Any, Any]]:
    """What the audit trail of the commands says was done to which task or worker."""
    lines = (servers.folder / "audit.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert all(one["owner"].startswith("operator ") for one in told)
    return [(one["did"], one["task_id"] or one["worker"]) for one in told]


async def test_top_shows_workers_queue_what_runs_and_what_ended(
    tmp_path: Path, any_store_url: str
) -> None:
    """Ours: as JSON and as text; an idle worker is there, too, and a server that works not."""
    async with fleet(tmp_path, any_store_url) as servers:
        replica = await servers.replica()
        await servers.worker(CALM, "--slots=1")
        running = await replica.peer.start("work", name="a")
        await servers.begun("a")
        waiting = await replica.peer.start("work", name="b")
        now = await seen(servers)
        [busy, idle] = sorted(now["workers"], key=lambda one: one["slots"], reverse=True)
        assert (busy["slots"], busy["leases"], idle["slots"]) == (1, [running], 0)
        assert "work" in busy["tools"]
        tasks = {(one["tool"], one["state"]): one["tasks"] for one in now["tasks"]}
        assert tasks == {("work", "queued"): 1, ("work", "working"): 1}
        [line] = now["queue"]
        assert (line["tool"], line["owner"], line["waiting"]) == ("work", "anonymous", 1)
        [held] = now["held"]
        assert (held["task_id"], held["worker"]) == (running, busy["name"])
        assert now["endings"] == []

        await replica.peer.cancel(waiting)
        text = (await awhile(servers, "top")).stdout
        for words in (busy["name"], running, "takes tasks", "Running (1)", "Queue (0)", waiting):
            assert words in text
        assert "cancelled" in text


def test_top_at_a_terminal_follows_until_ctrl_c(tmp_path: Path, store_url: str) -> None:
    """Ours."""

    async def submit() -> None:
        async with open_store(store_url) as store:
            await store.create(task(at_ms=wall_clock_ms(), owner="a\x1b[31mda"))

    anyio.run(submit)
    place = Place(tmp_path, tmp_path / "none.duckdb")
    with place.at_a_terminal("top", "--every=0.2", "--store", store_url, columns=120) as terminal:
        terminal.wait_for("Queue (1, the oldest for")
        assert "a\\x1b[31mda" in terminal.text
        anyio.run(submit)
        terminal.wait_for("Queue (2, the oldest for")
        terminal.press_ctrl_c()
        assert terminal.wait() == 0


async def test_looking_at_a_store_that_is_not_there_makes_none(tmp_path: Path) -> None:
    """Ours."""
    url = f"sqlite:///{tmp_path / 'nothing.db'}"
    for command in (["top"], ["admin", "drain", "w", "--yes"]):
        done = await anyio.run_process([*AWHILE, *command, "--store", url], check=False)
        assert done.returncode == ends.USAGE
        assert b"looking must not make one" in done.stderr
    assert not (tmp_path / "nothing.db").exists()


async def test_admin_stops_one_task_and_all_of_an_owner_or_tool(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: what waits never starts, what runs is told and waited for, what has ended is left."""
    async with fleet(tmp_path, store_url) as servers:
        replica = await servers.replica()
        await servers.worker(CALM, "--slots=2")
        ids = [await replica.peer.start("work", name=name) for name in "ab"]
        await servers.begun("a")
        await servers.begun("b")
        waiting = [await replica.peer.start("work", name=name) for name in "cd"]

        done = await awhile(servers, "admin", "stop", ids[0], code=ends.USAGE)
        assert "Nothing was done" in done.stderr
        done = await awhile(servers, "admin", "stop", ids[0], "--reason", "too slow", "--yes")
        assert "1: stopped." in done.stderr
        record = await servers.store.get(ids[0])
        assert record is not None
        assert (record.cancel_reason or "").startswith("operator ")
        assert (record.cancel_reason or "").endswith(": too slow")

        done = await awhile(servers, "admin", "stop", "--tool", "nothing", "--yes")
        assert "Nothing to stop" in done.stderr
        done = await awhile(servers, "admin", "stop", "--owner", "anonymous", "--yes")
        for task_id in (*ids, *waiting):
            assert (await replica.peer.get(task_id))["status"] == "cancelled"
        done = await awhile(servers, "admin", "stop", ids[1], "--yes")
        assert "1: had ended already; nothing was done to them." in done.stderr
        await awhile(servers, "admin", "stop", code=ends.USAGE)
        await awhile(servers, "admin", "stop", "0" * 32, "--yes", code=ends.FAILED)
        assert audited(servers)[0] == ("stopped", ids[0])
        assert len(audited(servers)) == 4


async def test_a_task_taken_from_a_stuck_worker_is_run_by_another(
    tmp_path: Path, any_store_url: str
) -> None:
    """Ours: what the first one still sends is not taken, and it is told to stop."""
    async with fleet(tmp_path, any_store_url) as servers:
        replica, stuck = await servers.replica(), await servers.worker(CALM, "--drain-seconds=60")
        task_id = await replica.peer.start("work", name="a")
        assert await servers.begun("a") == stuck.process.pid
        other = await servers.worker(CALM)
        [name] = [one["name"] for one in (await seen(servers))["workers"] if one["leases"]]
        await awhile(servers, "admin", "drain", name, "--yes")
        await not_ready(stuck)
        done = await awhile(servers, "admin", "requeue", task_id, "--yes")
        assert f"Taken from {name}" in done.stderr
        assert await servers.begun("a", times=2) == other.process.pid
        servers.let_go("a")
        task = await replica.peer.ended(task_id)
        text = task["result"]["content"][0]["text"]
        assert text == f"a, attempt 1, process {other.process.pid}"
        assert await stuck.ended() == 0
        kinds = [one.kind for one in await servers.store.history(task_id)]
        assert kinds.count("TakenBack") == 1
        assert kinds.count("Completed") == 1
        done = await awhile(servers, "admin", "requeue", task_id, "--yes", code=ends.FAILED)
        assert "'completed'" in done.stderr
        assert audited(servers) == [("drained", name), ("requeued", task_id)]


async def not_ready(worker: Member) -> None:
    """Wait until the worker takes nothing more."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while (await worker.says("/readyz"))[0] == 200:  # noqa: ASYNC110 - in another process
            await anyio.sleep(0.02)


async def test_what_is_not_safe_to_run_again_is_requeued_only_on_insistence(
    tmp_path: Path, store_url: str
) -> None:
    """Ours."""
    async with fleet(tmp_path, store_url) as servers:
        replica = await servers.replica()
        await servers.worker(CALM)
        task_id = await replica.peer.start("asks")
        await replica.peer.until(task_id, lambda now: now["status"] == "input_required")
        done = await awhile(servers, "admin", "requeue", task_id, "--yes", code=ends.FAILED)
        assert "not declared safe to run again" in done.stderr
        assert (await replica.peer.get(task_id))["status"] == "input_required"
        await awhile(servers, "admin", "requeue", task_id, "--even-if-unsafe", "--yes")
        await replica.peer.until(task_id, lambda now: "input-1-2" in now.get("inputRequests", {}))


async def test_a_drained_worker_ends_as_on_sigterm_and_others_go_on(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: what it runs ends first; a name that nobody has is refused."""
    async with fleet(tmp_path, store_url) as servers:
        replica, worker = await servers.replica(), await servers.worker(CALM, "--drain-seconds=60")
        task_id = await replica.peer.start("work", name="a")
        await servers.begun("a")
        [name] = [one["name"] for one in (await seen(servers))["workers"] if one["slots"]]
        done = await awhile(servers, "admin", "drain", "nobody", "--yes", code=ends.USAGE)
        assert name in done.stderr
        done = await awhile(servers, "admin", "drain", name, "--yes")
        assert "Told " in done.stderr
        assert worker.process.poll() is None
        servers.let_go("a")
        assert await worker.ended() == 0
        assert (await replica.peer.ended(task_id))["status"] == "completed"
        assert [one["slots"] for one in (await seen(servers))["workers"]] == [0]
        assert replica.process.poll() is None


async def test_a_workers_log_is_json_with_the_task_of_each_line(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: a line that a tool writes, and one of a library, bear the task's id."""
    async with fleet(tmp_path, store_url) as servers:
        replica = await servers.replica()
        worker = await servers.worker(CALM, "--log-format=json")
        task_id = await replica.peer.start("breaks")
        task = await replica.peer.ended(task_id)
        assert task["status"] == "completed"
        lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
        [said] = [one for one in lines if one["logger"] == "fleet.tool"]
        assert (said["task_id"], said["message"]) == (task_id, "about to break")
        [raised] = [one for one in lines if one["logger"] == "awhile.server.wrap"]
        assert raised["task_id"] == task_id
        assert "ValueError: broken" in raised["exception"]


def bytes_of(folder: Path) -> bytes:
    """All there is in the store's files."""
    files = [one for one in folder.iterdir() if one.name.startswith("tasks.db") and one.is_file()]
    return b"".join(one.read_bytes() for one in files)


async def test_a_fleet_with_keys_keeps_nothing_readable_and_works_as_ever(
    tmp_path: Path, store_url: str
) -> None:
    """Ours: a replica seals, a worker opens; an operator without the key sees, and reads none."""
    key = base64.b64encode(b"k" * 32).decode()
    async with fleet(tmp_path, store_url) as servers:
        (tmp_path / "config.toml").write_text(f'seal_keys = "k1:{key}"\n')
        replica = await servers.replica()
        await servers.worker(CALM)
        task_id = await replica.peer.start("work", name="a-secret-name")
        await servers.begun("a-secret-name")
        servers.let_go("a-secret-name")
        task = await replica.peer.ended(task_id)
        assert task["result"]["content"][0]["text"].startswith("a-secret-name, attempt 1")
        (tmp_path / "config.toml").write_text("")
        done = await awhile(servers, "top")
        assert "a-secret-name" not in done.stdout + str(await servers.store.get(task_id))
        assert task_id in done.stdout
        data = bytes_of(tmp_path)
        assert task_id.encode() in data
        assert b"a-secret-name" not in data
