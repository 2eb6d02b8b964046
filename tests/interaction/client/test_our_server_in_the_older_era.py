"""Both halves of this project, in the protocol revision before the Tasks extension."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import TextContent

from awhile.client import CancelOutcome, Handle, Ledger, State, connect
from awhile.errors import Expired, ToolFailed
from awhile.tasks import StoppedHow
from tests.interaction.client.older import older
from tests.interaction.client.running import RunningServer

pytestmark = pytest.mark.anyio


async def text_of(handle: Handle) -> str:
    block = (await handle.result(timeout_seconds=20)).content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_work_is_watched_step_by_step_to_its_end(url: str, ledger: Ledger) -> None:
    async with connect(older(url), ledger=ledger) as server:
        handle = await server.start("count", {"steps": 5, "seconds": 0.1})
        assert handle.id
        shown = [now async for now in handle.watch()]
        assert await text_of(handle) == "counted to 5"
    assert ledger.entries()[0].era == "2025-11-25"
    assert shown[-1].state is State.FINISHED
    assert [step.message for step in shown[-1].steps][-1] == "all steps done"
    assert any(now.percent for now in shown)


async def test_B5_progress_goes_on_in_both_eras_after_the_handle_is_there(url: str) -> None:
    percents: list[set[float]] = []
    for target in (url, older(url)):
        async with connect(target, ledger=None) as server:
            handle = await server.start("count", {"steps": 10, "seconds": 0.1})
            percents.append({now.percent async for now in handle.watch() if now.percent})
    assert all(len(one) >= 5 for one in percents), percents


async def test_a_stop_is_proven_although_the_reply_came_first(url: str) -> None:
    async with connect(older(url), ledger=None) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        async for now in handle.watch():
            if now.steps:
                break
        assert await handle.cancel() is CancelOutcome.CANCELLED
        assert handle.now.how_stopped is StoppedHow.COROUTINE_ENDED


async def test_work_that_ignores_the_stop_is_cancelled_without_proof(url: str) -> None:
    async with connect(older(url), ledger=None) as server:
        handle = await server.start("stubborn", {"seconds": 2.0})
        outcome = await handle.cancel(give_up_seconds=0.3)
        assert outcome is CancelOutcome.CANCELLED_UNPROVEN
        assert "may still be working" in handle.now.words


async def test_a_tool_that_says_no_and_an_unknown_id(url: str) -> None:
    async with connect(older(url), ledger=None) as server:
        with pytest.raises(ToolFailed, match="the disk is full"):
            await server.call("fail")
        with pytest.raises(Expired):
            await (await server.resume("f" * 32)).result()


async def test_a_question_is_answered(url: str) -> None:
    asked: list[str] = []

    async def person(request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(request["params"]["message"])
        return {"action": "accept", "content": {"confirm": True}}

    async with connect(older(url), ledger=None, on_input=person) as server:
        with anyio.fail_after(20):
            assert await text_of(await server.start("delete", {"file": "a.txt"})) == (
                "Deleted a.txt."
            )
    assert asked == ["Delete a.txt?"]


async def test_a_task_is_collected_in_the_newer_era(url: str, ledger: Ledger) -> None:
    async with connect(older(url), ledger=None) as server:
        handle = await server.start("count", {"steps": 2, "seconds": 0.1})
    async with connect(url, ledger=ledger) as server:
        assert await text_of(await server.resume(handle.id or "")) == "counted to 2"


async def test_a_watch_outlives_the_session_and_the_server(tmp_path: Path) -> None:
    """In that era a restarted server has lost the session, so the client makes a new one."""
    own = RunningServer(tmp_path / "tasks.db", "--older")
    own.start()
    try:
        async with connect(own.url, ledger=None) as server:
            handle = await server.start("count_again", {"steps": 5, "seconds": 0.3})
            async for now in handle.watch():
                if now.steps:
                    own.kill()
                    break
            await own.start_again()
            assert await text_of(handle) == "counted to 5"
            await server.call("greet", {"name": "Ada"})
    finally:
        own.kill()
