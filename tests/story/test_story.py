"""What Awhile is for, one idea a test. Read from top to bottom; nothing internal is used.

A server is an ordinary `MCPServer` with `Tasks` installed. Its client here is a bare one, so that
what goes over the wire can be seen.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

from awhile import Run, Tasks
from tests.interaction.server.peer import accepted, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def tasks(tmp_path: Path) -> Tasks:
    """Tasks are rows of one file, so that they outlive every process."""
    return Tasks(f"sqlite:///{tmp_path / 'tasks.db'}")


@pytest.fixture
def mcp(tasks: Tasks) -> MCPServer[Any]:
    """Any MCPServer; ``install()`` brings the extension and the lifespan."""
    return MCPServer("story", log_level="WARNING", **tasks.install())


async def test_a_quick_call_is_just_a_call(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    @mcp.tool()
    @tasks.tool()
    async def add(left: int, right: int) -> int:
        return left + right

    async with serving(mcp) as client:
        assert (await client.call("add", left=1, right=2)).text == "3"


async def test_a_slow_call_becomes_a_task_while_its_work_goes_on(
    tasks: Tasks, mcp: MCPServer[Any]
) -> None:
    finish = anyio.Event()

    @mcp.tool()
    @tasks.tool(inline_seconds=0.05)
    async def report() -> str:
        await finish.wait()
        return "the report"

    async with serving(mcp) as client:
        task_id = await client.start("report")
        assert (await client.get(task_id))["status"] == "working"
        finish.set()
        task = await client.ended(task_id)
        assert task["result"]["content"][0]["text"] == "the report"


async def test_work_says_how_far_it_is(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    finish = anyio.Event()

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def load(run: Run) -> str:
        run.report(370, 1000, "loading customers")
        await finish.wait()
        return "loaded"

    async with serving(mcp) as client:
        task_id = await client.start("load")
        task = await client.until(task_id, lambda one: one["statusMessage"] != "Started.")
        assert task["statusMessage"] == "loading customers"
        assert task["_meta"]["awhile/run"]["progress"]["done"] == 370
        finish.set()
        await client.ended(task_id)


async def test_stop_means_stopped(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    stopped = anyio.Event()

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def work() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return "never"

    async with serving(mcp) as client:
        task_id = await client.start("work")
        await client.cancel(task_id)
        task = await client.ended(task_id)
        assert task["status"] == "cancelled"
        assert stopped.is_set()


async def test_what_cannot_be_stopped_yet_is_not_called_stopped(
    tasks: Tasks, mcp: MCPServer[Any]
) -> None:
    finish = threading.Event()

    @mcp.tool()
    @tasks.tool(task_support="required")
    def blocking() -> str:
        finish.wait()
        return "finished anyway"

    async with serving(mcp) as client:
        task_id = await client.start("blocking")
        await client.cancel(task_id)
        task = await client.get(task_id)
        assert task["status"] == "working"
        assert task["statusMessage"] == "Stop asked; the work has not stopped yet."
        finish.set()
        task = await client.ended(task_id)
        assert task["result"]["content"][0]["text"] == "finished anyway"


async def test_a_thread_looks_now_and_then_whether_it_should_stop(
    tasks: Tasks, mcp: MCPServer[Any]
) -> None:
    @mcp.tool()
    @tasks.tool(task_support="required")
    def count(run: Run) -> str:
        number = 0
        while not run.wait(0.001):
            number += 1
        run.check()
        return "never"

    async with serving(mcp) as client:
        task_id = await client.start("count")
        await client.cancel(task_id)
        assert (await client.ended(task_id))["status"] == "cancelled"


async def test_work_can_ask_its_caller(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    class Choice(BaseModel):
        database: str

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def count_orders(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Which database?", Choice)
        return f"counting in {answer.data.database}" if answer.action == "accept" else "none"

    async with serving(mcp) as client:
        task_id = await client.start("count_orders")
        task = await client.until(task_id, lambda one: one["status"] == "input_required")
        [(key, question)] = task["inputRequests"].items()
        assert question["params"]["message"] == "Which database?"
        await client.update(task_id, {key: accepted(database="sales")})
        task = await client.ended(task_id)
        assert task["result"]["content"][0]["text"] == "counting in sales"


async def test_an_error_is_told_in_its_own_words(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    @mcp.tool()
    @tasks.tool(task_support="required")
    async def query() -> str:
        raise LookupError("there is no table named 'custmers'")

    async with serving(mcp) as client:
        task = await client.ended(await client.start("query"))
        assert task["result"]["isError"] is True
        assert "there is no table named 'custmers'" in task["statusMessage"]


async def test_a_retry_finds_the_work_it_started(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    runs: list[str] = []
    finish = anyio.Event()

    @mcp.tool()
    @tasks.tool(kept="always", request_key="key", inline_seconds=0)
    async def order(key: str) -> str:
        runs.append(key)
        await finish.wait()
        return f"ordered {key}"

    async with serving(mcp) as client:
        first = await client.start("order", key="42")
        again = await client.start("order", key="42")
        assert again == first
        finish.set()
        await client.ended(first)
        assert runs == ["42"]


async def test_a_result_outlives_the_server_that_made_it(tmp_path: Path) -> None:
    def build() -> MCPServer[Any]:
        tasks = Tasks(f"sqlite:///{tmp_path / 'tasks.db'}")
        mcp: MCPServer[Any] = MCPServer("story", log_level="WARNING", **tasks.install())

        @mcp.tool()
        @tasks.tool(task_support="required")
        async def answer() -> int:
            return 42

        return mcp

    async with serving(build()) as client:
        task_id = await client.start("answer")
        before = await client.ended(task_id)
    async with serving(build()) as client:
        assert (await client.get(task_id))["result"] == before["result"]


async def test_a_client_that_knows_no_tasks_simply_waits(tasks: Tasks, mcp: MCPServer[Any]) -> None:
    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def work(run: Run) -> str:
        run.report(1, 2, "half way")
        await anyio.sleep(0.05)
        return "done"

    async with serving(mcp) as client:
        reply = await client.undeclared().call("work", meta={"progressToken": "p"})
        assert reply.progress[0]["message"] == "half way"
        assert reply.text == "done"
