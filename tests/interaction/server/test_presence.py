"""A served program says that it is there, and drains when told to, wherever it is embedded."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import MCPServer

from awhile import Tasks
from awhile.errors import StoreError
from awhile.runtime.presence import present, tell_to_drain
from awhile.runtime.worker import wall_clock_ms
from awhile.server import reach
from awhile.stores.open import open_store
from awhile.stores.sqlite import SqliteStore
from awhile.tasks import TaskRecord
from tests.interaction.server.peer import serving, until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def tasks(tmp_path: Path) -> Tasks:
    return Tasks(f"sqlite:///{tmp_path / 'tasks.db'}", slots=3)


@pytest.fixture
async def mcp(tasks: Tasks) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("seen", log_level="WARNING", **tasks.install())

    @server.tool()
    @tasks.tool()
    async def work() -> str:
        return "done"

    return server


async def test_a_program_is_there_while_it_is_served(tmp_path: Path, mcp: MCPServer[Any]) -> None:
    """Ours: it says so at once, and that it is gone when it ends."""
    async with open_store(f"sqlite:///{tmp_path / 'tasks.db'}") as store:
        assert await present(store, wall_clock_ms()) == []
        async with serving(mcp):
            async with store.watch() as watch:
                while not (there := await present(store, wall_clock_ms())):
                    await watch.wait(10)
            assert [(one.slots, one.tools, one.draining) for one in there] == [(3, ["work"], False)]
            # Silent for long, it is no longer taken to be there.
            assert await present(store, wall_clock_ms() + 60_000) == []
        assert await present(store, wall_clock_ms()) == []


class Away(SqliteStore):
    """The real store, which a test can have fail, or not answer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.answers: anyio.Event | None = None
        self.fails = False

    async def get(self, task_id: str) -> TaskRecord | None:
        if self.fails:
            raise StoreError("The disk is gone.")
        if self.answers is not None:
            await self.answers.wait()
        return await super().get(task_id)


async def test_an_outage_of_the_store_is_told_in_one_line_however_often_a_probe_asks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: with the reason and without a traceback; and that it is over, in another."""
    caplog.set_level(logging.INFO, logger=reach.__name__)
    monkeypatch.setattr(reach, "READY_SECONDS", 0.05)
    ready = reach.Reach()
    async with Away(tmp_path / "tasks.db") as store:
        for reason in ("It took longer than 0.05 s.", "The disk is gone."):
            caplog.clear()
            assert await ready.answers(store)
            store.fails = "disk" in reason
            store.answers = anyio.Event()
            assert [await ready.answers(store) for _ in range(3)] == [False] * 3
            store.fails, store.answers = False, None
            assert await ready.answers(store)
            away, back = caplog.records
            assert away.getMessage() == f"Not ready: the store does not answer. {reason}"
            assert away.exc_info is None
            assert back.getMessage() == "Ready again: the store answers."


async def test_a_program_of_somebody_elses_drains_without_ending(
    tmp_path: Path, mcp: MCPServer[Any], tasks: Tasks
) -> None:
    """Ours: it takes no more work and goes on answering; the one who embeds it ends it."""
    async with open_store(f"sqlite:///{tmp_path / 'tasks.db'}") as store, serving(mcp) as peer:
        async with store.watch() as watch:
            while not (there := await present(store, wall_clock_ms())):
                await watch.wait(10)
        name = there[0].name
        assert await tell_to_drain(store, name, by="olga", now_ms=wall_clock_ms())
        assert not await tell_to_drain(store, name, by="olga", now_ms=wall_clock_ms())
        await until(lambda: tasks.draining, "it drains")
        assert not await tasks.ready()
        assert (await peer.ask("tools/list", {})).result["tools"]
