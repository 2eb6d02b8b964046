"""The example of work that lives elsewhere, with every process of ours killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.interaction.fleet.fleet import ROOT, START_SECONDS, Fleet, Member, fleet
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS, run_facts

pytestmark = pytest.mark.anyio

MODULE = "examples.external_job.reports:mcp"


@dataclass
class Warehouse:
    """The one process that is not ours, and so is never killed."""

    url: str
    http: httpx2.AsyncClient
    answers: Path
    """Without this file, submissions are taken but not answered."""

    async def jobs(self) -> list[dict[str, Any]]:
        """What it has."""
        return (await self.http.get(f"{self.url}/jobs")).json()

    async def has_one(self, *, asked: int = 1) -> dict[str, Any]:
        """Wait until a job was submitted, so often; there is never a second."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:
                jobs = await self.jobs()
                assert len(jobs) <= 1
                if jobs and jobs[0]["asked"] >= asked:
                    return jobs[0]
                await anyio.sleep(0.02)


@asynccontextmanager
async def warehouse(folder: Path, *, seconds: float) -> AsyncGenerator[Warehouse]:
    """A warehouse whose jobs take so long."""
    answers = folder / "answers"
    command = [sys.executable, "-m", "examples.external_job.warehouse", "0"]
    command += [f"--seconds={seconds}", f"--hold={answers}"]
    with _opened(command) as process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(START_SECONDS):
                line = await anyio.to_thread.run_sync(process.stdout.readline)
            async with httpx2.AsyncClient() as http:
                yield Warehouse(line.strip(), http, answers)
        finally:
            process.kill()


def _opened(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


class Ours(Fleet):
    """Our processes, which know the warehouse."""

    warehouse = ""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "WAREHOUSE": self.warehouse}

    async def kill_all(self) -> None:
        """kill -9 of whatever is there."""
        for one in self.members:
            if one.process.poll() is None:
                one.process.send_signal(signal.SIGKILL)
                await one.ended()

    async def both(self) -> tuple[Member, Member]:
        """A replica and a worker."""
        return await self.replica(module=MODULE), await self.worker(module=MODULE)


@asynccontextmanager
async def ours(folder: Path, elsewhere: Warehouse) -> AsyncGenerator[Ours]:
    """A store, and no process of ours yet."""
    async with fleet(folder, f"sqlite:///{folder / 'tasks.db'}") as plain:
        plain.__class__ = Ours
        assert isinstance(plain, Ours)
        plain.warehouse = elsewhere.url
        yield plain


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "not noted yet"])
async def test_a_job_elsewhere_survives_kill_9_of_every_process_and_is_submitted_once(
    tmp_path: Path, noted: bool
) -> None:
    """Ours: killed while the job runs, or between its submission and the warehouse's answer."""
    async with warehouse(tmp_path, seconds=4) as elsewhere, ours(tmp_path, elsewhere) as fleet_:
        if noted:
            elsewhere.answers.touch()
        replica, _ = await fleet_.both()
        task_id = await replica.peer.start("yearly", year=2026)
        await elsewhere.has_one()
        if noted:
            await replica.peer.until(task_id, lambda task: "runs" in task["statusMessage"])
        await fleet_.kill_all()
        elsewhere.answers.touch()
        replica, _ = await fleet_.both()
        task = await replica.peer.ended(task_id)
        jobs = await elsewhere.jobs()
    assert task["status"] == "completed", task
    text = task["result"]["content"][0]["text"]
    assert text == "2026 is added up by job-1, which attempt 2 saw to its end."
    assert [(one["id"], one["asked"]) for one in jobs] == [("job-1", 1 if noted else 2)]


async def test_A6_a_cancel_after_kill_9_of_every_process_still_reaches_the_job(
    tmp_path: Path,
) -> None:
    """Ours; field case A6: asked while no worker is there, carried out by the next one, although
    the warehouse's answer with the job's id was lost with the process."""
    async with warehouse(tmp_path, seconds=600) as elsewhere, ours(tmp_path, elsewhere) as fleet_:
        replica, _ = await fleet_.both()
        task_id = await replica.peer.start("yearly", year=2026)
        await elsewhere.has_one()
        await fleet_.kill_all()
        elsewhere.answers.touch()
        replica = await fleet_.replica(module=MODULE)
        await replica.peer.cancel(task_id)
        assert (await replica.peer.get(task_id))["status"] == "working"
        assert (await elsewhere.jobs())[0]["state"] == "running"
        await fleet_.worker(module=MODULE)
        task = await replica.peer.ended(task_id)
        [job] = await elsewhere.jobs()
    assert (task["status"], job["state"], job["asked"]) == ("cancelled", "cancelled", 1)
    assert run_facts(task)["stoppedHow"] == "engine_confirmed"
    assert task["statusMessage"].startswith("Cancelled: confirmed by the engine after ")


async def test_A6_a_cancel_of_the_older_era_after_kill_9_reaches_the_job_too(
    tmp_path: Path,
) -> None:
    """Ours; field case A6: that cancel ends its task at once, so its replica stops the job."""
    async with warehouse(tmp_path, seconds=600) as elsewhere, ours(tmp_path, elsewhere) as fleet_:
        replica, _ = await fleet_.both()
        task_id = await replica.peer.start("yearly", year=2026)
        await elsewhere.has_one()
        await fleet_.kill_all()
        elsewhere.answers.touch()
        replica = await fleet_.replica(module=MODULE)
        async with httpx2.AsyncClient(timeout=10) as http:
            old = await Legacy(replica.peer.url, http).opened()
            assert (await old.cancel(task_id)).result["status"] == "cancelled"
        task = await replica.peer.until(task_id, lambda one: "stoppedHow" in run_facts(one))
        [job] = await elsewhere.jobs()
    assert (task["status"], job["state"], job["asked"]) == ("cancelled", "cancelled", 1)
    assert run_facts(task)["stoppedHow"] == "engine_confirmed"
