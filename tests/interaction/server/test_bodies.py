"""Bodies of every kind beside each other: none is in another's way, and each ends once."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel
import pytest

from tests.interaction.server.conftest import App
from tests.interaction.server.peer import Json, until

pytestmark = pytest.mark.anyio


async def test_A2_a_tool_that_blocks_leaves_polls_and_health_answered(app: App) -> None:
    """Field case A2: twenty polls and the health are answered while the thread is in C code, or
    waits; the loop is free."""
    blocked, go_on = threading.Event(), threading.Event()

    @app.tool(inline_seconds=0)
    def query() -> str:
        hashlib.pbkdf2_hmac("sha256", b"busy", b"salt", 200_000)
        blocked.set()
        go_on.wait()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("query")
        seen: list[Json] = []

        async def poll() -> None:
            seen.append(await peer.get(task_id))

        async with anyio.create_task_group() as pollers:
            for _ in range(20):
                pollers.start_soon(poll)
        await until(blocked.is_set, "the thread has come to its wait")
        quick = await peer.ask("tools/list", {})
        assert [one["status"] for one in seen] == ["working"] * 20
        assert quick.result["tools"]
        go_on.set()
        assert (await peer.ended(task_id))["status"] == "completed"


class Resource:
    """Something a task holds, whose closing fails."""

    closed = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        Resource.closed += 1
        raise ConnectionError("it was closed already")


async def test_A11_a_teardown_that_raises_ends_each_task_once_and_runs_none_again(
    app: App,
) -> None:
    """Field case A11: twenty at once, each with a resource of its own whose close raises. It is the
    tool's error, told as such: nothing is queued again although it may be."""
    effects: Counter[int] = Counter()

    @app.tool(inline_seconds=0, kept="always", rerun="safe")
    async def work(number: int) -> str:
        async with Resource():
            await anyio.lowlevel.checkpoint()
            effects[number] += 1
        return "never"

    async with app.serving() as peer:
        ids: dict[int, str] = {}

        async def start(number: int) -> None:
            ids[number] = await peer.start("work", number=number)

        async with anyio.create_task_group() as callers:
            for number in range(20):
                callers.start_soon(start, number)
        ended = [await peer.ended(task_id) for task_id in ids.values()]
        kinds = [await _kinds(app, task_id) for task_id in ids.values()]
    assert [(one["status"], one["result"]["isError"]) for one in ended] == [
        ("completed", True)
    ] * 20
    assert ended[0]["result"]["content"][0]["text"].endswith("it was closed already")
    assert effects == Counter(range(20))
    assert Resource.closed == 20
    assert all(one.count("Completed") == 1 and "Released" not in one for one in kinds)


async def _kinds(app: App, task_id: str) -> list[str]:
    return [one.kind for one in await app.tasks.store.history(task_id)]
