"""When a call is answered at once, and when by a task: the same running body either way."""

from __future__ import annotations

import re

import anyio
import pytest
from mcp.server.mcpserver import MCPServer

from awhile import Run
from awhile.errors import SettingsError
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INVALID_PARAMS, MISSING_CAPABILITY, TASKS, serving

pytestmark = pytest.mark.anyio


class Gate:
    """A body that counts its starts and ends when it is let go."""

    def __init__(self) -> None:
        self.starts = 0
        self.started = anyio.Event()
        self.open = anyio.Event()

    async def pass_through(self) -> str:
        self.starts += 1
        self.started.set()
        await self.open.wait()
        return f"start {self.starts}"


async def test_a_quick_call_is_answered_at_once_and_keeps_no_task(app: App) -> None:
    """Ours: design decision 6."""

    @app.tool(inline_seconds=10)
    async def add(left: int, right: int) -> int:
        return left + right

    async with app.serving() as peer:
        reply = await peer.call("add", left=1, right=2)
        assert reply.result["resultType"] == "complete"
        assert reply.text == "3"
        assert reply.result["structuredContent"] == {"result": 3}
        assert await app.tasks.store.find(owner="anonymous") == []


async def test_a_slow_call_becomes_a_task_of_the_same_running_body(app: App) -> None:
    """Ours: the body is handed over, not started again."""
    gate = Gate()

    @app.tool(inline_seconds=0.05)
    async def slow() -> str:
        return await gate.pass_through()

    async with app.serving() as peer:
        reply = await peer.call("slow")
        created = reply.result
        assert created["resultType"] == "task"
        assert created["status"] == "working"
        assert created.keys().isdisjoint({"result", "error", "inputRequests"})
        gate.open.set()
        ended = await peer.ended(created["taskId"])
    assert ended["result"]["content"] == [{"type": "text", "text": "start 1"}]
    assert gate.starts == 1


async def test_a_running_body_is_not_said_to_wait_for_its_start(app: App) -> None:
    """Ours: what is shown is true."""
    gate = Gate()

    @app.tool(inline_seconds=0)
    async def slow() -> str:
        return await gate.pass_through()

    async with app.serving() as peer:
        reply = await peer.call("slow")
        assert gate.started.is_set()
        assert reply.result["statusMessage"] == "Started."
        gate.open.set()
        await peer.ended(reply.result["taskId"])


async def test_the_task_can_be_read_as_soon_as_its_handle_is_there(app: App) -> None:
    """Spec: ext-tasks, Task Creation: durable before the answer."""

    @app.tool(inline_seconds=0)
    async def slow() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async with app.serving() as peer:
        task_id = await peer.start("slow")
        assert (await peer.get(task_id))["status"] == "working"
        await peer.cancel(task_id)
        await peer.ended(task_id)


async def test_ids_cannot_be_guessed(app: App) -> None:
    """Spec: ext-tasks, Task ID unguessability: 128 random bits."""

    @app.tool(task_support="required", kept="always")
    async def quick() -> str:
        return "done"

    async with app.serving() as peer:
        ids = [await peer.start("quick") for _ in range(5)]
        for task_id in ids:
            await peer.ended(task_id)
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)
    assert len(set(ids)) == 5


async def test_a_required_task_is_one_even_when_it_is_quick(app: App) -> None:
    """Ours: `required` has no inline budget; its handle comes once the body runs."""
    gate = Gate()

    @app.tool(task_support="required", inline_seconds=10)
    async def quick() -> str:
        return await gate.pass_through()

    async with app.serving() as peer:
        task_id = await peer.start("quick")
        gate.open.set()
        assert (await peer.ended(task_id))["status"] == "completed"


async def test_a_required_task_is_refused_to_a_client_without_the_extension(app: App) -> None:
    """Spec: ext-tasks, Capability Negotiation: -32021 with the extension it would take."""
    gate = Gate()

    @app.tool(task_support="required")
    async def slow() -> str:
        return await gate.pass_through()

    async with app.serving() as peer:
        reply = await peer.undeclared().call("slow")
        assert reply.http == 400
        assert reply.error["code"] == MISSING_CAPABILITY
        assert reply.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    assert gate.starts == 0


async def test_a_forbidden_tool_is_never_a_task(app: App) -> None:
    """Ours: the tool still gets its run, and its progress goes out on the stream."""
    gate = Gate()

    @app.tool(task_support="forbidden", inline_seconds=0)
    async def plain(run: Run) -> str:
        run.report(1, 2, "half way")
        return await gate.pass_through()

    async with app.serving() as peer:
        replies: list[str] = []

        async def ask() -> None:
            replies.append((await peer.call("plain", meta={"progressToken": "p"})).text)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await gate.started.wait()
            gate.open.set()
        assert replies == ["start 1"]


async def test_a_client_without_the_extension_waits_on_its_stream(app: App) -> None:
    """Spec: ext-tasks: no CreateTaskResult for it, ever. Ours: it keeps progress."""
    gate = Gate()

    @app.tool(inline_seconds=0)
    async def slow(run: Run) -> str:
        run.report(1, 10, "begun")
        return await gate.pass_through()

    async with app.serving() as peer:
        request = peer.undeclared().request(
            "tools/call", {"name": "slow", "arguments": {}}, meta={"progressToken": 7}
        )
        async with peer.opened(request) as (_, messages):
            first = await anext(messages)
            assert first["params"] == {
                "progressToken": 7,
                "progress": 1,
                "total": 10,
                "message": "begun",
            }
            gate.open.set()
            last = [one async for one in messages][-1]
        assert last["result"]["resultType"] == "complete"
        assert last["result"]["content"] == [{"type": "text", "text": "start 1"}]
        assert await app.tasks.store.find(owner="anonymous") == []


async def test_a_tool_that_is_none_of_ours_passes_through_untouched(app: App) -> None:
    """Ours."""

    @app.mcp.tool()
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    async with app.serving() as peer:
        assert (await peer.call("greet", name="Ada")).text == "Hello, Ada!"


async def test_a_call_kept_always_is_a_task_even_when_it_is_quick(app: App) -> None:
    """Ours: it is answered inline within its budget, and the task is still there."""

    @app.tool(kept="always", inline_seconds=10)
    async def quick() -> str:
        return "done"

    async with app.serving() as peer:
        assert (await peer.call("quick")).text == "done"
        [record] = await app.tasks.store.find(owner="anonymous")
        task = await peer.get(record.task_id)
    assert task["status"] == "completed"
    assert task["result"]["content"] == [{"type": "text", "text": "done"}]


async def test_twenty_calls_with_one_key_are_one_task_and_one_run_of_its_body(app: App) -> None:
    """Ours: a retry after a lost answer finds the work it started (issue: `request_key`)."""
    gate = Gate()

    @app.tool(kept="always", request_key="key", inline_seconds=0)
    async def slow(key: str) -> str:
        return await gate.pass_through()

    async with app.serving() as peer:
        ids: set[str] = set()

        async def ask() -> None:
            ids.add(await peer.start("slow", key="k-1"))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(ask)
        [task_id] = ids
        other = await peer.start("slow", key="k-2")
        assert other != task_id
        gate.open.set()
        await peer.ended(task_id)
        await peer.ended(other)
        again = await peer.call("slow", key="k-1")
        assert again.result["content"] == [{"type": "text", "text": "start 2"}]
    assert gate.starts == 2


async def test_a_key_that_stands_for_another_call_is_refused(app: App) -> None:
    """Ours: the first call's answer would be taken for the answer to the second."""

    @app.tool(kept="always", request_key="key")
    async def work(question: str, key: str) -> str:
        return f"about {question}"

    async with app.serving() as peer:
        assert (await peer.call("work", question="one", key="k")).text == "about one"
        refused = (await peer.call("work", question="two", key="k")).error
        assert refused["code"] == INVALID_PARAMS
        assert "key 'k' was used before, in a call with other arguments" in refused["message"]
        assert (await peer.call("work", question="one", key="k")).text == "about one"


async def test_without_a_key_every_call_is_a_task_of_its_own(app: App) -> None:
    """Ours: an empty key is no key."""

    @app.tool(kept="always", request_key="key", task_support="required")
    async def quick(key: str = "") -> str:
        return "done"

    async with app.serving() as peer:
        ids = {await peer.start("quick"), await peer.start("quick"), await peer.start("quick")}
        for task_id in ids:
            await peer.ended(task_id)
    assert len(ids) == 3


async def test_a_server_without_a_free_place_queues_the_call_as_a_task(app: App) -> None:
    """Ours: bounded concurrency; nothing is refused, nothing runs beyond the slots."""
    crowded = App(app.store, slots=1)
    gate = Gate()

    @crowded.tool(inline_seconds=0)
    async def slow() -> str:
        return await gate.pass_through()

    async with crowded.serving() as peer:
        first = await peer.start("slow")
        queued = [await peer.start("slow") for _ in range(3)]
        assert [(await peer.get(one))["statusMessage"] for one in queued] == [
            f"Waiting to start: {place} in line." for place in ("1st", "2nd", "3rd")
        ]
        assert gate.starts == 1
        gate.open.set()
        for task_id in [first, *queued]:
            assert (await peer.ended(task_id))["status"] == "completed"
    assert gate.starts == 4


async def test_inline_calls_and_queued_tasks_share_the_places(app: App) -> None:
    """Ours: a place that is taken while work is being claimed breaks nothing."""
    crowded = App(app.store, slots=2)
    running: list[int] = []
    most = 0

    @crowded.tool(inline_seconds=0.02)
    async def slow(seconds: float) -> str:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        await anyio.sleep(seconds)
        running.pop()
        return "done"

    async with crowded.serving() as peer:
        plain, ended = peer.undeclared(), 0

        async def inline() -> None:
            nonlocal ended
            for _ in range(8):
                assert (await plain.call("slow", seconds=0.001)).text == "done"
                ended += 1

        async def durable() -> None:
            nonlocal ended
            for _ in range(8):
                reply = await peer.call("slow", seconds=0.03)
                if reply.result["resultType"] == "task":
                    assert (await peer.ended(reply.result["taskId"]))["status"] == "completed"
                ended += 1

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(inline)
                group.start_soon(durable)
    assert ended == 64
    assert most == 2


async def test_a_tool_that_mcp_does_not_know_is_refused_when_serving_starts(app: App) -> None:
    """Ours: a decorator in the wrong place is said at once, not at the first call."""
    app.tasks.tool()(_unregistered)
    with pytest.raises(SettingsError, match="not registered"):
        async with app.mcp.settings.lifespan(app.mcp):  # type: ignore[misc]
            pass


async def _unregistered() -> None: ...


async def test_a_call_outside_of_an_installed_server_says_what_to_do(app: App) -> None:
    """Ours."""
    bare: MCPServer[None] = MCPServer("bare", log_level="WARNING")

    @bare.tool()
    @app.tasks.tool()
    async def lonely() -> str:
        return "done"

    async with serving(bare) as peer:
        reply = await peer.call("lonely")
    assert reply.result["isError"]
    assert "tasks.install()" in reply.text


async def test_a_second_serving_in_the_same_process_is_refused(app: App) -> None:
    """Ours: one worker in a process."""

    @app.tool()
    async def quick() -> str:
        return "done"

    async with app.serving():
        with pytest.raises(SettingsError, match="being served already"):
            async with app.mcp.settings.lifespan(app.mcp):  # type: ignore[misc]
                pass
