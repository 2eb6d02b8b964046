"""What the official suite does not notice: defects that leave it green, and what it never calls.

Each line of that list is a test; those that are not here are where their subject is: ids that can
be guessed (test_inline_or_task), HTTP statuses and a missing ``Mcp-Name`` (test_the_wire,
test_streams), whole milliseconds and zones, a result beside ``cancelled``, ``lastUpdatedAt``
(test_the_wire), work after a cancel and a cancel of what waits for an answer (test_stopping),
unknown ids (test_the_wire, test_requirements_http), owners and tokens (test_owners,
test_every_exit), listening to tasks (test_listening), 2025-11-25 (test_2025_tasks).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from awhile.stores.contract import Store
from awhile.wire.codec import read_instant
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy, served
from tests.interaction.server.peer import Json, Peer, accepted

pytestmark = pytest.mark.anyio

WORDS = {"working", "input_required", "completed", "failed", "cancelled"}
"""All that a task's status may be, in both eras."""


class Name(BaseModel):
    """What is asked."""

    name: str


def every_ending(app: App) -> None:
    """Tools that end in each way there is."""

    @app.tool(inline_seconds=0)
    async def ask(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Your name?", Name)
        return answer.data.name if answer.action == "accept" else "nobody"

    @app.tool(inline_seconds=0)
    async def refuse() -> str:
        raise ValueError("no such table")

    @app.tool(inline_seconds=0)
    async def break_down() -> str:
        raise MCPError(code=-32050, message="The warehouse is closed.")

    @app.tool(inline_seconds=0)
    async def wait() -> str:
        await anyio.sleep_forever()
        raise AssertionError


async def seen_of(client: Peer | Legacy, tool: str) -> list[Json]:
    """Every different look of a task, from its first to its last."""
    seen: list[Json] = []
    task_id = await client.start(tool)
    if tool == "wait":
        await client.cancel(task_id)

    def ended(task: Json) -> bool:
        if task not in seen:
            seen.append(task)
        return task["status"] in {"completed", "failed", "cancelled"}

    await client.until(task_id, lambda task: ended(task) or task["status"] == "input_required")
    if isinstance(client, Peer) and seen[-1]["status"] == "input_required":
        [key] = seen[-1]["inputRequests"]
        await client.update(task_id, {key: accepted(name="Ada")})
    await client.until(task_id, ended)
    return seen


@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_a_status_is_always_one_of_five_words(app: App, era: str) -> None:
    """Spec: both eras, Task Status; and what belongs to another status is never there."""
    every_ending(app)

    async def answer(_request: Json) -> Json:
        return {"result": accepted(name="Ada")}

    async def look(client: Peer | Legacy) -> dict[str, list[str]]:
        seen: dict[str, list[str]] = {}
        for tool in ("ask", "refuse", "break_down", "wait"):
            looks = await seen_of(client, tool)
            seen[tool] = [one["status"] for one in looks]
            for task in looks:
                assert ("result" in task) <= (task["status"] == "completed")
                assert ("error" in task) <= (task["status"] == "failed")
                assert ("inputRequests" in task) <= (task["status"] == "input_required")
        return seen

    if era == "2026-07-28":
        async with app.serving() as peer:
            seen = await look(peer)
    else:
        async with served(app) as old:
            old.on_request = answer
            async with old.listening():
                seen = await look(old)
    assert {word for words in seen.values() for word in words} <= WORDS
    ends = {tool: words[-1] for tool, words in seen.items()}
    assert ends == {
        "ask": "completed",
        "refuse": "completed" if era == "2026-07-28" else "failed",
        "break_down": "failed",
        "wait": "cancelled",
    }


async def test_a_task_is_there_until_its_ttl_has_passed(tmp_path: Path) -> None:
    """Spec: ext-tasks: ``ttlMs`` counts from ``createdAt``, and a task is kept for as long."""
    now = [1_795_953_600_000]
    app = App(tmp_path / "tasks.db", now_ms=lambda: now[0], lease_seconds=86_400)

    @app.tool(inline_seconds=0, keep_seconds=60)
    async def work() -> str:
        return "done"

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
        expires_ms = read_instant(task["createdAt"]) + task["ttlMs"]
        now[0] = expires_ms - 1
        store = cast("Store", app.tasks.store)
        await store.sweep(at_ms=now[0])
        still = await peer.get(task["taskId"])
        assert still | {"pollIntervalMs": task["pollIntervalMs"]} == task
        now[0] = expires_ms + 1
        await store.sweep(at_ms=now[0])
        gone = await peer.ask("tasks/get", {"taskId": task["taskId"]})
    assert "error" in gone.message


async def test_a_task_is_the_same_after_its_server_was_started_again(app: App) -> None:
    """Ours: its result, its times and its message, to the byte."""
    every_ending(app)
    async with app.serving() as peer:
        task_id = await peer.start("refuse")
        before = await peer.ended(task_id)
    again = App(app.store)
    every_ending(again)
    async with again.serving() as peer:
        assert await peer.get(task_id) == before
        assert await peer.cancel(task_id) is not None
        assert await peer.get(task_id) == before
