"""A server with tasks beside other extensions and middleware; and what tasks open is closed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ToolBinding
from mcp.server.mcpserver import Context
from mcp_types import CallToolRequestParams, RequestParams

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import REVISION, TASKS, until

pytestmark = pytest.mark.anyio


class Counting(Extension):
    """Another author's extension: a method, a tool, and a look at every call."""

    identifier = "com.example/counting"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def methods(self) -> Sequence[MethodBinding]:
        """One method."""

        async def count(_ctx: ServerRequestContext[Any, Any], _params: RequestParams) -> Any:
            return {"count": len(self.calls)}

        return [MethodBinding("counting/get", RequestParams, count, frozenset({REVISION}))]

    def tools(self) -> Sequence[ToolBinding]:
        """One tool."""

        def counted() -> int:
            return len(self.calls)

        return [ToolBinding(counted)]

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """Counts."""
        self.calls.append(params.name)
        return await call_next(ctx)


async def test_another_extension_works_beside_tasks(tmp_path: Path) -> None:
    """Ours: its method, its tool and its interceptor, and our tasks as ever, in both eras."""
    counting, heard = Counting(), list[str]()

    async def hear(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        heard.append(ctx.method)
        return await call_next(ctx)

    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncGenerator[dict[str, int]]:
        yield {"year": 2026}

    app = App(
        tmp_path / "tasks.db",
        install={"extensions": [counting], "middleware": [hear], "lifespan": lifespan},
    )

    @app.tool(inline_seconds=0)
    async def work(ctx: Context[Any, Any]) -> str:
        await anyio.sleep(0.05)
        return f"done in {ctx.request_context.lifespan_context['year']}"

    async with app.serving() as peer:
        capabilities = (await peer.ask("server/discover", {})).result["capabilities"]
        assert set(capabilities["extensions"]) == {TASKS, Counting.identifier}
        task = await peer.ended(await peer.start("work"))
        assert task["result"]["content"][0]["text"] == "done in 2026"
        assert (await peer.call("counted")).result["structuredContent"] == {"result": 2}
        assert (await peer.ask("counting/get", {})).result["count"] == 2
        async with httpx2.AsyncClient() as http:
            old = await Legacy(peer.url, http).opened()
            result = await old.result(await old.start("work"))
            await old.leave()
    assert result.text == "done in 2026"
    assert counting.calls == ["work", "counted", "work"]
    assert {"tools/call", "tasks/get", "tasks/result"} <= set(heard)


class Connection:
    """Something a task opens, whose close fails, as drivers' do."""

    opened: list[Connection]
    closed: list[Connection]

    def __init__(self) -> None:
        self.opened.append(self)

    def close(self) -> None:
        """Fails, and counts."""
        self.closed.append(self)
        raise RuntimeError("the connection was gone already")


@pytest.fixture
def connect() -> Callable[[], Connection]:
    """Opens one; those of each test are counted anew."""
    Connection.opened, Connection.closed = [], []
    return Connection


@pytest.mark.parametrize("how", ["returns", "raises", "stopped", "abandoned", "server stops"])
async def test_A11_what_a_task_opens_is_closed_whatever_happens(
    tmp_path: Path, connect: Callable[[], Connection], how: str
) -> None:
    """Ours: field case A11: an ordinary ``async with`` of the body is left in every way it ends."""
    app = App(tmp_path / "tasks.db", drain_seconds=5)
    began = anyio.Event()

    @asynccontextmanager
    async def resource() -> AsyncGenerator[Connection]:
        one = connect()
        try:
            yield one
        finally:
            with suppress(RuntimeError):
                one.close()

    @app.tool(inline_seconds=60 if how == "abandoned" else 0)
    async def work(run: Run) -> str:
        async with resource():
            run.report(1, 2, "begun")
            began.set()
            if how == "raises":
                raise ValueError("no")
            if how == "returns":
                return "done"
            await anyio.sleep_forever()
        raise AssertionError

    async with app.serving() as peer:
        if how == "abandoned":
            request = peer.request(
                "tools/call", {"name": "work", "arguments": {}}, meta={"progressToken": 1}
            )
            async with peer.opened(request) as (_, messages):
                await anext(messages)
        else:
            task_id = await peer.start("work")
            await began.wait()
            if how == "stopped":
                await peer.cancel(task_id)
            if how != "server stops":
                await peer.ended(task_id)
        if how != "server stops":
            await until(lambda: len(Connection.closed) == 1, "it was closed")
    assert Connection.closed == Connection.opened
    assert len(Connection.opened) == 1


async def test_A11_a_close_that_raises_undoes_no_other_result(
    app: App, connect: Callable[[], Connection]
) -> None:
    """Ours: field case A11: twenty at once, each with a resource of its own whose close raises:
    twenty side effects, none twice, and each task says what became of it."""
    effects: list[int] = []

    @app.tool(inline_seconds=0)
    async def work(number: int) -> str:
        one = connect()
        try:
            await anyio.sleep(0.02)
            effects.append(number)
            return f"done {number}"
        finally:
            if number % 2:
                one.close()

    async with app.serving() as peer:
        ids = [await peer.start("work", number=number) for number in range(20)]
        tasks = [await peer.ended(task_id) for task_id in ids]
    assert sorted(effects) == list(range(20))
    assert [task["status"] for task in tasks] == ["completed"] * 20
    said = [task["result"]["content"][0]["text"] for task in tasks]
    assert said[::2] == [f"done {number}" for number in range(0, 20, 2)]
    assert all("the connection was gone already" in one for one in said[1::2])
