"""A tool that starts calls of another one for its caller."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INVALID_PARAMS, accepted

pytestmark = pytest.mark.anyio


class Which(BaseModel):
    """What is asked."""

    year: int


def starting(app: App) -> None:
    """A task tool that asks, and a plain tool that starts a call of it."""

    @app.tool(kept="always", request_key="key")
    async def report(ctx: Context[Any, Any], of: str, key: str | None = None) -> str:
        answer = await ctx.elicit("Which year?", Which)
        return f"{of} of {answer.data.year if answer.action == 'accept' else answer.action}"

    @app.mcp.tool()
    async def begin(ctx: Context[Any, Any], of: str, key: str) -> str:
        return (await app.tasks.start(ctx, "report", {"of": of, "key": key})).task_id


async def test_what_a_tool_starts_is_a_task_of_its_caller_who_can_be_asked(app: App) -> None:
    """Ours."""
    starting(app)
    async with app.serving() as peer:
        started = await peer.call("begin", of="sales", key="k")
        task_id = started.result["structuredContent"]["result"]
        asks = await peer.until(task_id, lambda one: one["status"] == "input_required")
        [key] = asks["inputRequests"]
        await peer.update(task_id, {key: accepted(year=2025)})
        ended = await peer.ended(task_id)
        assert ended["result"]["content"][0]["text"] == "sales of 2025"


async def test_a_key_finds_what_was_started_and_no_other_call(app: App) -> None:
    """Ours: as for any call with a request key."""
    starting(app)
    async with app.serving() as peer:
        first = await peer.call("begin", of="sales", key="k")
        again = await peer.call("begin", of="sales", key="k")
        assert again.result == first.result
        other = await peer.call("begin", of="costs", key="k")
        assert other.error["code"] == INVALID_PARAMS
        await peer.cancel(first.result["structuredContent"]["result"])
