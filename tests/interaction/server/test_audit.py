"""The audit trail: one log record for each time somebody asks, sees, answers or stops."""

from __future__ import annotations

import logging
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import INVALID_PARAMS, accepted

pytestmark = pytest.mark.anyio

UNKNOWN = "0" * 32


class Name(BaseModel):
    """What is asked."""

    name: str


class Trail(logging.Handler):
    """What the trail's logger was given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.records.append(record)

    def told(self, *fields: str) -> list[tuple[object, ...]]:
        """These fields of each."""
        return [tuple(getattr(one, name) for name in fields) for one in self.records]


@pytest.fixture
def trail() -> Generator[Trail]:
    """The trail, switched on."""
    logger, handler = logging.getLogger("awhile.audit"), Trail()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


@pytest.fixture
def app(tmp_path: Path) -> App:
    """A server whose principal is the name its caller gives, with one tool that asks."""

    def who(ctx: ServerRequestContext[Any, Any]) -> str:
        return ctx.request.headers.get("x-who", "ada") if ctx.request else "ada"

    app = App(tmp_path / "tasks.db", principal=who, inline_limit_seconds=0.05)

    @app.tool(inline_seconds=0)
    async def greet(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Your name?", Name)
        return answer.data.name if answer.action == "accept" else "nobody"

    @app.tool(inline_seconds=0)
    async def wait() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    @app.tool(kept="always", inline_seconds=30)
    async def quick() -> str:
        return "done"

    return app


async def test_of_2026_who_asked_saw_answered_listened_and_stopped(app: App, trail: Trail) -> None:
    """Ours: with the owner, the task, and what came of it."""
    async with app.serving() as peer:
        task_id = await peer.start("greet")
        task = await peer.until(task_id, lambda one: one["status"] == "input_required")
        saw = len(trail.records) - 1
        [key] = task["inputRequests"]
        await peer.update(task_id, {key: accepted(name="Ada")})
        request = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
        async with peer.opened(request) as (_, messages):
            await anext(messages)
        await peer.cancel(task_id)
        refused = await peer.ask("tasks/get", {"taskId": task_id}, headers={"x-who": "eve"})
        assert refused.error["code"] == INVALID_PARAMS
    told = trail.told("owner", "did", "how", "outcome")
    assert told[0] == ("ada", "asked", "tools/call", "done")
    assert told[1 : 1 + saw] == [("ada", "saw", "tasks/get", "done")] * saw
    assert told[1 + saw :] == [
        ("ada", "answered", "tasks/update", "done"),
        ("ada", "listened", "subscriptions/listen", "done"),
        ("ada", "stopped", "tasks/cancel", "done"),
        ("eve", "saw", "tasks/get", INVALID_PARAMS),
    ]
    assert {one for (one,) in trail.told("task_id")} == {task_id}
    assert trail.records[0].__dict__["tool"] == "greet"
    assert trail.records[0].getMessage() == f"ada asked {task_id} by tools/call: done"


async def test_of_2025_who_asked_saw_listed_and_stopped(app: App, trail: Trail) -> None:
    """Spec: 2025-11-25: creation and retrieval SHOULD be logged, with who it was."""
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        old = await Legacy(peer.url, http).opened()
        task_id = await old.start("wait")
        await old.get(task_id)
        await old.ask("tasks/list", {})
        await old.cancel(task_id)
        await old.result(task_id)
        await old.cancel(UNKNOWN)
    assert trail.told("owner", "did", "task_id", "how", "outcome") == [
        ("ada", "asked", task_id, "tools/call", "done"),
        ("ada", "saw", task_id, "tasks/get", "done"),
        ("ada", "listed", None, "tasks/list", "done"),
        ("ada", "stopped", task_id, "tasks/cancel", "done"),
        ("ada", "saw", task_id, "tasks/result", -32603),
        ("ada", "stopped", UNKNOWN, "tasks/cancel", INVALID_PARAMS),
    ]


async def test_what_hosts_without_tasks_do_is_written_down_too(app: App, trail: Trail) -> None:
    """Ours."""
    async with app.serving() as peer:
        host = peer.undeclared()
        first = (await host.call("greet")).result
        task_id = first["_meta"]["awhile/stillRunning"]["taskId"]
        await host.call("task_result", id=task_id)
        await host.call("task_answer", id=task_id, answers={"name": "Ada"})
        await host.call("task_list")
        await host.call("task_cancel", id=UNKNOWN)
    assert trail.told("did", "task_id", "how") == [
        ("asked", task_id, "tools/call"),
        ("saw", task_id, "task_result"),
        ("answered", task_id, "task_answer"),
        ("listed", None, "task_list"),
        ("stopped", UNKNOWN, "task_cancel"),
    ]
    assert trail.told("outcome")[-1] == ("error",)


async def test_a_kept_call_is_written_down_although_it_was_answered_inline(
    app: App, trail: Trail
) -> None:
    """Ours: it is a task, which its owner can find."""
    async with app.serving() as peer:
        assert (await peer.call("quick")).text == "done"
        [record] = await app.tasks.store.find(owner="ada")
    assert trail.told("did", "task_id", "tool") == [("asked", record.task_id, "quick")]


async def test_what_is_no_task_leaves_no_trail(app: App, trail: Trail) -> None:
    """Ours."""

    @app.mcp.tool()
    def plain() -> str:
        return "done"

    async with app.serving() as peer:
        await peer.ask("tools/list", {})
        await peer.call("plain")
    assert trail.records == []
