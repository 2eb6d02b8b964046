"""Our client at fastmcp 4.1.4 with fastmcp-tasks 4.1.4: a 2026-07-28 server without pushes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from awhile.client import CancelOutcome, Handle, Ledger, State, connect
from awhile.errors import Cancelled, Expired, ToolFailed
from tests.serving import Served, serving

pytestmark = [pytest.mark.anyio, pytest.mark.peers]


@pytest.fixture(scope="module")
def peer() -> Iterator[Served]:
    with serving("checks.fastmcp_server") as server:
        yield server


async def text_of(handle: Handle) -> str:
    block = (await handle.result(timeout_seconds=30)).content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_a_required_tool_is_watched_to_its_end_by_asking(peer: Served) -> None:
    """It answers ``subscriptions/listen`` with -32601."""
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("long_job", {"steps": 3})
        assert handle.id
        shown = [now async for now in handle.watch()]
        assert await text_of(handle) == "finished 3 steps"
        assert not handle.work.pace.pushed
    assert shown[-1].state is State.FINISHED
    assert "step" in "".join(step.message for step in shown[-1].steps)


async def test_a_quick_tool_answers_without_a_handle(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("quick", {"text": "hello"})
        assert handle.id is None
        assert await text_of(handle) == "quick: hello"


async def test_a_tool_that_says_no(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        with pytest.raises(ToolFailed, match="disk is full"):
            await server.call("failing_job")


async def test_a_question_is_answered(peer: Served) -> None:
    asked: list[str] = []

    async def person(request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(request["params"]["message"])
        return {"action": "accept", "content": {"value": True}}

    async with connect(peer.url, ledger=None, on_input=person) as server:
        handle = await server.start("confirm", {"file": "a.txt"})
        assert await text_of(handle) == "Deleted a.txt."
    assert asked == ["Delete a.txt?"]


async def test_work_is_stopped(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("long_job", {"steps": 100})
        assert await handle.cancel() is CancelOutcome.CANCELLED
        with pytest.raises(Cancelled):
            await handle.result()


async def test_an_unknown_id_is_expired(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        with pytest.raises(Expired):
            await (await server.resume("nothing-like-it")).result()


async def test_a_task_is_resumed_by_another_program(peer: Served, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "handles.sqlite3")
    async with connect(peer.url, ledger=ledger) as server:
        await server.start("long_job", {"steps": 3})
    [entry] = ledger.entries()
    async with connect(peer.url, ledger=ledger) as server:
        assert await text_of(await server.resume(entry.task_id)) == "finished 3 steps"
    ledger.close()
