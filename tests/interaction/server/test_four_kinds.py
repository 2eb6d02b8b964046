"""The four ways in which work comes to nothing, each told usefully, in both eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import served
from tests.interaction.server.peer import Json

pytestmark = pytest.mark.anyio

KINDS: dict[str, tuple[str, str, Json]] = {
    "says_no": ("completed", "failed", {"isError": True}),
    "protocol": ("failed", "failed", {"code": -32050, "data": {"opens": "8:00"}}),
    "overdue": ("failed", "failed", {"code": -32603, "data": {"reason": "work_deadline"}}),
    "lost": ("failed", "failed", {"code": -32603, "data": {"reason": "server_stopped"}}),
}
"""Of each: its status in 2026-07-28 and in 2025-11-25, and what of its outcome a program reads."""


def built(store: Path) -> App:
    """A server whose tools fail in each way."""
    app = App(store, drain_seconds=0.1)

    @app.tool(inline_seconds=0)
    async def says_no() -> str:
        raise ValueError("no table named 'salse'")

    @app.tool(inline_seconds=0)
    async def protocol() -> str:
        raise MCPError(code=-32050, message="The warehouse is closed.", data={"opens": "8:00"})

    @app.tool(inline_seconds=0, work_seconds=0.05)
    async def overdue() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    @app.tool(inline_seconds=0)
    async def lost() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    return app


WORDS = {
    "says_no": "no table named 'salse'",
    "protocol": "The warehouse is closed.",
    "overdue": "as long as its tool may",
    "lost": "stopped while this was running",
}


def part_of(whole: Json, part: Json) -> Any:
    """Of ``whole``, what ``part`` names."""
    return {name: whole.get(name) for name in part}


@pytest.mark.parametrize("kind", KINDS)
async def test_A8_each_kind_is_told_in_2026(tmp_path: Path, kind: str) -> None:
    """Spec: ext-tasks, Task Execution Errors. Ours: field case A8."""
    status, _, outcome = KINDS[kind]
    async with built(tmp_path / "tasks.db").serving() as peer:
        task_id = await peer.start(kind)
        if kind != "lost":
            await peer.ended(task_id)
    async with built(tmp_path / "tasks.db").serving() as peer:
        task = await peer.ended(task_id)
    assert task["status"] == status
    told = task["result"] if status == "completed" else task["error"]
    assert part_of(told, outcome) == outcome
    assert WORDS[kind] in (told.get("message") or told["content"][0]["text"])
    assert WORDS[kind] in task["statusMessage"]


@pytest.mark.parametrize("kind", KINDS)
async def test_A8_each_kind_is_told_in_2025(tmp_path: Path, kind: str) -> None:
    """Spec: 2025-11-25, Result Retrieval: what the call itself would have returned. Ours: A8."""
    _, status, outcome = KINDS[kind]
    async with served(built(tmp_path / "tasks.db")) as client:
        task_id = await client.start(kind)
        if kind != "lost":
            await client.ended(task_id)
    async with served(built(tmp_path / "tasks.db")) as client:
        task = await client.ended(task_id)
        reply = await client.result(task_id)
    assert task["status"] == status
    told = reply.message.get("error") or reply.result
    assert part_of(told, outcome) == outcome
    assert WORDS[kind] in (told.get("message") or told["content"][0]["text"])
    assert WORDS[kind] in task["statusMessage"]
