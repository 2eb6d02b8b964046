"""What is said of a worker process that is gone, and what is left to the log."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from awhile.ask.engines.contract import Budget, Capabilities, Estimate, Scalar
from awhile.ask.engines.errors import EngineLost, QueryError
from awhile.ask.engines.workers.engine import PooledEngine
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.pool import Worker
from awhile.ask.engines.workers.serving import Running, serve
from awhile.ask.schema import Schema
from awhile.processes import Child, Link

pytestmark = pytest.mark.anyio


class Failing:
    """A session that fails as its text says."""

    token = None

    def stale(self) -> bool:
        return False

    def catalog(self, principal: str | None) -> str:
        return ""

    def describe(self, seconds: float, principal: str | None) -> Schema:
        raise NotImplementedError

    def estimate(self, order: ToEstimate) -> Estimate | None:
        return None

    def run(self, order: ToRun, running: Running) -> Fetched:
        if order.sql == "a full disk":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if order.sql == "a mistake":
            raise KeyError("since")
        if order.sql == "an exit":
            os._exit(3)
        os.kill(os.getpid(), signal.Signals[order.sql])
        raise AssertionError

    def percent(self, running: Running) -> float | None:
        return None

    def interrupt(self) -> None: ...

    def end(self, token: object) -> None: ...

    def close(self) -> None: ...


def serve_failing(link: Link) -> None:
    serve(link, Failing, 60)


class FailingEngine(PooledEngine):
    def __init__(self) -> None:
        capabilities = Capabilities(
            name="Failing",
            dialect="duckdb",
            percent="none",
            estimate="none",
            interrupt="prompt",
            stop_within_seconds=1,
            stop_is_proven=True,
            side_by_side=1,
        )
        super().__init__(capabilities, grace_seconds=1)

    async def start_worker(self) -> Worker:
        return Worker(await Child.start("tests.machine.engines.test_lost:serve_failing"))

    def stamp(self) -> object:
        return None

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None: ...


async def test_a_lost_process_is_told_in_a_sentence_with_what_to_do_and_logged_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = FailingEngine()
    await engine.open()
    told: dict[str, str] = {}
    for how in ("a mistake", "an exit", "SIGABRT", "SIGKILL"):
        with anyio.fail_after(20), pytest.raises(EngineLost) as lost:
            await engine.run(how, report=print, budget=Budget(), destination=tmp_path / "r.parquet")
        told[how] = str(lost.value)
    await engine.close()
    again = "the database is unharmed. Ask again; if it happens again, the server's log tells"
    assert told["a mistake"].startswith(
        "the process that ran the query met an error that nobody expected (KeyError: 'since'); "
        + again
    )
    assert f"ended by itself (exit code 3); {again}" in told["an exit"]
    assert f"crashed (signal 6); {again}" in told["SIGABRT"]
    assert "was killed, as a system does that runs out of memory" in told["SIGKILL"]
    assert not any("Traceback" in one or "\n" in one for one in told.values())
    assert "Traceback" in caplog.text


async def test_a_full_disk_is_named_with_what_to_do_and_costs_no_process(tmp_path: Path) -> None:
    """Ours: the next query has the same process."""
    engine = FailingEngine()
    await engine.open()
    for _ in range(2):
        with (
            anyio.fail_after(20),
            pytest.raises(QueryError, match="no room for its rows"),
        ):
            await engine.run(
                "a full disk", report=print, budget=Budget(), destination=tmp_path / "r.parquet"
            )
    await engine.close()
