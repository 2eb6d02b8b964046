"""Requirements of 2026-07-28 on a client that no test of a feature shows by the way.

The manifest in `tests/requirements` says which requirement each of them is for.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer

from awhile.client import connect
from awhile.errors import ProtocolFailed, Unreachable
from tests.interaction.client.scripted_server import Script, add_tool, task

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
SERVER = "tests.interaction.client.long_work_server"


async def test_a_task_in_answer_to_anything_but_a_call_is_no_valid_answer() -> None:
    """Spec: ext-tasks, Capability Negotiation."""

    async def lists_a_task(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.method == "tools/list":
            return {"resultType": "task", **task("working")}
        return await call_next(ctx)

    odd = add_tool(
        MCPServer("odd", extensions=[Script([task("working")])], middleware=[lists_a_task])
    )
    async with connect(odd, ledger=None) as server:
        with pytest.raises(ProtocolFailed):
            await server.list_tools()


async def test_a_stdio_server_that_was_started_again_is_listened_to_again(tmp_path: Path) -> None:
    """Spec: subscriptions, Graceful Closure: the server holds nothing across connections."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", SERVER, "--stdio", "--store", str(tmp_path / "tasks.db")],
        cwd=ROOT,
    )
    died, pushed_after = False, False
    with anyio.fail_after(40):
        async with connect(program, ledger=None) as server:
            handle = await server.start("count_again", {"steps": 40, "seconds": 0.1})
            async for _ in handle.watch():
                pushed = handle.work.pace.pushed
                if died and pushed:
                    pushed_after = True
                elif pushed:
                    with pytest.raises(Unreachable):
                        await server.call("die")
                    died = True
    assert pushed_after


async def test_two_calls_at_once_hear_their_own_progress_alone() -> None:
    """Spec: progress: a token is unique among the requests that are open."""
    plain: MCPServer[Any] = MCPServer("plain")

    @plain.tool()
    async def count(name: str, ctx: Context[Any, Any]) -> str:
        for done in range(3):
            await ctx.report_progress(done + 1, 3, f"{name} {done}")
            await anyio.sleep(0.05)
        return name

    steps: dict[str, list[str | None]] = {}
    async with connect(plain, ledger=None) as server, anyio.create_task_group() as group:

        async def watch(name: str) -> None:
            handle = await server.start("count", {"name": name})
            async for now in handle.watch():
                steps[name] = [step.message for step in now.steps]

        for name in ("a", "b", "c"):
            group.start_soon(watch, name)
    assert steps == {name: [f"{name} {done}" for done in range(3)] for name in ("a", "b", "c")}
